import MoultBasics

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

/// The results of one shard: a file for each store, until all are known; then one file.
package struct ShardFolder: Sendable {
    package let path: String
    package let index: Int
    private let system = POSIXSystem()

    init(_ path: String, _ index: Int) { (self.path, self.index) = (path, index) }

    /// The contents of the folder, as they were found.
    package struct Contents: Sendable {
        package var results: [Int: FleetResult] = [:]
        /// Files that hold no result: torn by a machine that lost power, or written by something else.
        package var torn: [String] = []

        package init() {}
    }

    private var together: String { Path.join(path, "results.jsonl") }
    package var attemptsPath: String { Path.join(path, "attempts.log") }
    package var lockPath: String { Path.join(path, "lock") }
    package var ownerPath: String { Path.join(path, "owner.json") }
    package var canaryPath: String { Path.join(path, "canary.json") }
    private func file(_ number: Int) -> String { Path.join(path, "\(number).json") }

    package func make() throws { try system.makeFolder(path) }

    /// Writes a result so that a reader finds the whole of it or nothing.
    ///
    /// It is not synchronised: what a power cut takes is found out again, from the store itself.
    package func write(_ result: FleetResult) throws {
        let part = Path.join(path, ".\(result.number).part")
        try system.write(Array((result.json.compact + "\n").utf8), to: part)
        try system.rename(part, to: file(result.number))
    }

    /// Every result, while others write.
    package func contents() throws -> Contents {
        var contents = Contents()
        guard try system.exists(path) else { return contents }
        // The single files first: one that goes into the other file in the meantime is found there.
        for entry in try system.entries(of: path) where entry.kind == .file && entry.name.hasSuffix(".json") {
            guard let number = Int(entry.name.dropLast(5)) else { continue }
            let file = Path.join(path, entry.name)
            let bytes: [UInt8]
            do {
                bytes = try system.read(file)
            } catch let error as MigrationError {
                if error.code != .fileNotFound { contents.torn.append(file) }
                continue
            }
            if let result = FleetResult(bytes), result.number == number {
                contents.results[number] = result
            } else {
                contents.torn.append(file)
            }
        }
        if try system.exists(together) {
            try FleetManifest.forEachLine(of: together) { line in
                guard let result = FleetResult(line) else { return contents.torn.append(together) }
                if contents.results[result.number] == nil { contents.results[result.number] = result }
            }
        }
        return contents
    }

    /// Puts all results into one file, so that a fleet of millions does not leave millions of files.
    package func join(_ results: [Int: FleetResult]) throws {
        let lines = results.values.sorted { $0.number < $1.number }.map { $0.json.compact + "\n" }
        try system.writeAtomically(Array(lines.joined().utf8), to: together)
        for number in results.keys { try system.remove(file(number)) }
        try system.remove(attemptsPath)
    }

    // MARK: - Who works on it

    /// Takes the shard for this process, and waits for it at most so long. Files that a killed process has not finished are
    /// removed.
    ///
    /// - Throws: `locked` if another process has it.
    package func take(waiting seconds: Double) throws -> FileLock {
        let start = system.monotonicNanoseconds
        while true {
            if let lock = try system.lock(lockPath) {
                for name in try system.list(path) where name.hasSuffix(".part") {
                    try system.remove(Path.join(path, name))
                }
                try system.write(Array((Owner(system).json.compact + "\n").utf8), to: ownerPath)
                return lock
            }
            guard system.seconds(since: start) < seconds else { throw locked }
            ForkedProcess.wait(for: [], milliseconds: 200)
        }
    }

    private var locked: MigrationError {
        let who = owner.map { "Process \($0.process) on \($0.host)" } ?? "Another process"
        return MigrationError(
            .locked, "\(who) works on shard \(index).", place: path,
            remedy: "Wait until it has ended, or let this run wait: \(option: .wait("10min")).")
    }

    package func leave() { _ = try? system.remove(ownerPath) }

    package struct Owner: Sendable, Equatable {
        package var host: String
        package var process: Int32
        package var startTime: String

        /// False if it is known to have ended; a process of another machine is believed.
        package var mayBeAlive: Bool {
            let system = POSIXSystem()
            return host != system.hostName || system.startTime(ofProcess: process) == startTime
        }

        init(_ system: POSIXSystem) {
            (host, process) = (system.hostName, system.processIdentifier)
            startTime = system.startTime(ofProcess: process) ?? ""
        }

        var json: JSONValue {
            ["host": .string(host), "process": .integer(Int64(process)), "startTime": .string(startTime)]
        }

        init?(_ json: JSONValue) {
            guard let host = json["host"]?.string, let process = json["process"]?.integer else { return nil }
            (self.host, self.process) = (host, Int32(clamping: process))
            startTime = json["startTime"]?.string ?? ""
        }
    }

    /// The process that has taken the shard, or had it and died.
    package var owner: Owner? {
        guard let bytes = try? system.read(ownerPath),
            let json = try? JSONValue(parsing: bytes, place: ownerPath, code: .metadataInvalid)
        else { return nil }
        return Owner(json)
    }
}
