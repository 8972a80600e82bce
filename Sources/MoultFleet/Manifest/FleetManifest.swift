import MoultModel
import MoultSystem

/// The description of a fleet: the first line of a manifest, and its last.
///
/// A manifest is a text of JSON objects, one on each line: this header, a line for each store, a line for each group of
/// stores that get the same work, and an end with the digest of everything before it. It is written once and never
/// changed: which store belongs to which shard is decided when it is planned.
package struct FleetManifest: Sendable, Equatable {
    /// Sixteen random digits.
    package var fleet: String
    package var plannedAt: String
    package var host: String
    package var roots: [String]
    /// The options that found the model, for the verbs that run: `--model`, `--order` and so on, paths in full.
    package var options: [String]
    /// The names of the model's versions, oldest first, and a digest of their hashes.
    package var versions: [String]
    package var modelDigest: String
    /// The name of the version aimed at.
    package var target: String
    package var shards: Int
    package var groups: [FleetGroup] = []
    /// The number of stores that the end counts.
    package var stores = 0
    /// The digest of all lines before the end, in hexadecimal: which manifest it is.
    package var digest = ""

    static let format: Int64 = 1

    var header: JSONValue {
        [
            "format": .integer(Self.format), "kind": "moult-fleet", "fleet": .string(fleet),
            "plannedAt": .string(plannedAt), "host": .string(host), "roots": JSONValue(roots),
            "options": JSONValue(options), "versions": JSONValue(versions), "modelDigest": .string(modelDigest),
            "to": .string(target), "shards": JSONValue(shards),
        ]
    }

    init(header json: JSONValue, place: String) throws {
        guard json["kind"]?.string == "moult-fleet" else {
            throw Self.invalid("The file does not begin like the manifest of a fleet.", place)
        }
        guard json["format"]?.integer == Self.format else {
            throw MigrationError(
                .metadataInvalid, "The manifest is of a format that this version of Moult does not know.", place: place,
                remedy: "Use the version of Moult that has planned it, or plan again: \(.planFleet).")
        }
        guard let fleet = json["fleet"]?.string, let target = json["to"]?.string,
            let shards = json["shards"]?.integer, (1...Int64(Self.mostShards)).contains(shards),
            let digest = json["modelDigest"]?.string
        else { throw Self.invalid("The first line of the manifest is not complete.", place) }
        func list(_ key: String) -> [String] { json[key]?.array?.compactMap(\.string) ?? [] }
        self.init(
            fleet: fleet, plannedAt: json["plannedAt"]?.string ?? "", host: json["host"]?.string ?? "",
            roots: list("roots"), options: list("options"), versions: list("versions"), modelDigest: digest,
            target: target, shards: Int(shards))
    }

    package init(
        fleet: String, plannedAt: String, host: String, roots: [String], options: [String], versions: [String],
        modelDigest: String, target: String, shards: Int
    ) {
        (self.fleet, self.plannedAt, self.host, self.roots) = (fleet, plannedAt, host, roots)
        (self.options, self.versions, self.modelDigest) = (options, versions, modelDigest)
        (self.target, self.shards) = (target, shards)
    }

    package static let mostShards = 100_000

    static func invalid(_ message: String, _ place: String) -> MigrationError {
        MigrationError(
            .metadataInvalid, message, place: place,
            remedy:
                "Plan again with \(.planFleet, .path("ROOT"), .model("MODEL"), .file("FILE")). A manifest is never edited."
        )
    }
}

/// Stores of one version, which get the same work.
package struct FleetGroup: Sendable, Equatable {
    package var state: FleetEntry.State
    package var version: String
    package var stores = 0
    package var bytes: Int64 = 0
    package var rows: Int64 = 0
    /// Seconds, if one process works on one store after the other.
    package var estimate: Double = 0
    /// The changes that will happen to each store, one sentence for each change.
    package var changes: [String] = []
    /// The reason why their migration would be refused; nil if it would not.
    package var refusal: FleetEntry.Note?

    package init(state: FleetEntry.State, version: String) { (self.state, self.version) = (state, version) }

    package var json: JSONValue {
        [
            "group": [
                "state": .string(state.rawValue), "version": .string(version), "stores": JSONValue(stores),
                "bytes": .integer(bytes), "rows": .integer(rows),
                "estimate": .double((estimate * 1000).rounded() / 1000), "changes": JSONValue(changes),
                "refusal": refusal.map { ["code": .string($0.code), "message": .string($0.message)] } ?? .null,
            ]
        ]
    }

    init?(_ json: JSONValue) {
        guard let group = json["group"], let state = group["state"]?.string.flatMap(FleetEntry.State.init),
            let version = group["version"]?.string
        else { return nil }
        self.init(state: state, version: version)
        stores = Int(clamping: group["stores"]?.integer ?? 0)
        (bytes, rows) = (group["bytes"]?.integer ?? 0, group["rows"]?.integer ?? 0)
        estimate = group["estimate"]?.double ?? 0
        changes = group["changes"]?.array?.compactMap(\.string) ?? []
        if let code = group["refusal"]?["code"]?.string, let message = group["refusal"]?["message"]?.string {
            refusal = FleetEntry.Note(code: code, message: message)
        }
    }
}
