import MoultModel
import MoultSystem

/// The folder with the results of one fleet and one verb: any number of processes and machines write to it, each its
/// own shard.
package struct ResultsFolder: Sendable {
    package let path: String
    private let system = POSIXSystem()

    /// The fleet, the manifest and the verb that the folder belongs to.
    package struct Purpose: Sendable, Equatable {
        package var fleet: String
        /// The digest of the manifest.
        package var manifest: String
        package var verb: String
        /// Options of the verb.
        package var options: [String]
        package var shards: Int

        package init(_ manifest: FleetManifest, verb: String, options: [String]) {
            (fleet, self.manifest, self.verb) = (manifest.fleet, manifest.digest, verb)
            (self.options, shards) = (options, manifest.shards)
        }
    }

    package init(_ path: String) { self.path = path }

    /// The folder next to a manifest, by default.
    package static func path(of manifest: String, verb: String) -> String {
        let stem = manifest.hasSuffix(".jsonl") ? String(manifest.dropLast(6)) : manifest
        return "\(stem).\(verb.split(separator: " ").joined(separator: "-"))"
    }

    package var purposePath: String { Path.join(path, "fleet.json") }
    /// The prefix of a record's name until the record is whole.
    private static let unfinished = ".fleet.json."

    /// Makes the folder what it is for, or checks that it is.
    ///
    /// - Throws: `wouldReplace` if it belongs to another fleet, to another manifest or to another verb.
    package func open(for purpose: Purpose) throws {
        if let known = try known() {
            try check(known, purpose)
            // Those of killed processes; whoever still writes one finds the record whole.
            for name in try system.list(path) where name.hasPrefix(Self.unfinished) {
                try system.remove(Path.join(path, name))
            }
            return
        }
        try system.makeFolder(path)
        let temporary = Path.join(path, Self.unfinished + system.uniqueName())
        try system.write(Array((purpose.json.compact + "\n").utf8), to: temporary)
        defer { _ = try? system.remove(temporary) }
        do {
            try system.rename(temporary, toUnused: purposePath)
        } catch let error as MigrationError {
            // Another shard was first.
            guard let known = try known() else { throw error }
            try check(known, purpose)
        }
    }

    /// Reads the purpose of the folder; nil if there is no such folder yet.
    package func known() throws -> Purpose? {
        guard try system.exists(purposePath) else { return nil }
        let json = try JSONValue(parsing: system.read(purposePath), place: purposePath, code: .metadataInvalid)
        guard let known = Purpose(json) else {
            throw MigrationError(
                .metadataInvalid, "The record in the results folder was not written by Moult.",
                place: purposePath, remedy: "Name another folder with \(option: .results).")
        }
        return known
    }

    private func check(_ known: Purpose, _ purpose: Purpose) throws {
        guard known != purpose else { return }
        let what =
            known.fleet != purpose.fleet
            ? "another fleet" : known.manifest != purpose.manifest ? "another manifest" : "\(known.command)"
        throw MigrationError(
            .wouldReplace, "The folder has the results of \(what).", place: path,
            remedy:
                "Name the manifest, the verb and the options that it was begun with, or another folder with "
                + "\(option: .results)."
        )
    }

    package func shard(_ index: Int) -> ShardFolder { ShardFolder(Path.join(path, "shard-\(index)"), index) }
}

extension ResultsFolder.Purpose {
    var command: String { ([verb] + options).joined(separator: " ") }

    var json: JSONValue {
        [
            "format": 1, "fleet": .string(fleet), "manifest": .string(manifest), "verb": .string(verb),
            "options": JSONValue(options), "shards": JSONValue(shards),
        ]
    }

    init?(_ json: JSONValue) {
        guard json["format"]?.integer == 1, let fleet = json["fleet"]?.string,
            let manifest = json["manifest"]?.string, let verb = json["verb"]?.string,
            let options = json["options"]?.array?.compactMap(\.string), let shards = json["shards"]?.integer
        else { return nil }
        (self.fleet, self.manifest, self.verb, self.options) = (fleet, manifest, verb, options)
        self.shards = Int(clamping: shards)
    }
}
