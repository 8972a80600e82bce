import MoultBasics

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

/// A store as the plan of a fleet found it: one line of the manifest.
package struct FleetEntry: Sendable, Equatable {
    /// The relation of the store to the version aimed at.
    package enum State: String, Sendable, Hashable, CaseIterable {
        case behind, current, ahead, unknown
        /// It could not be read: the findings say why.
        case unreadable
    }

    /// Its place in the manifest, from 1.
    package var number: Int
    /// Absolute, without symbolic links.
    package var path: String
    /// Its name on the device, for a store in a device's backup.
    package var name: String?
    package var device: UInt64
    package var inode: UInt64
    /// Bytes, with those of its log.
    package var size: Int64
    /// SQLite's change counter, at byte 24 of the header.
    package var counter: Int64
    package var uuid: String
    /// The name of its version; empty if it is of none.
    package var version: String
    package var state: State
    /// An estimate of the number of its rows, by the highest keys that were given out.
    package var rows: Int64
    /// Seconds that the work on it is expected to take.
    package var estimate: Double
    /// The index of the shard that it belongs to, from 0.
    package var shard: Int
    package var findings: [Note]

    /// A finding, without place and severity.
    package struct Note: Sendable, Hashable {
        package var code: String
        package var message: String

        package init(code: String, message: String) { (self.code, self.message) = (code, message) }
    }

    /// The file itself, whatever its name is.
    package var identity: FileIdentity { FileIdentity(device: device, inode: inode) }
    package var isInDeviceBackup: Bool { name != nil }

    /// No store has more bytes or rows than this; what a file says of itself is cut off here, so that sums hold.
    static let most: Int64 = 1 << 44
}

/// The identity of a file, whatever names it has.
package struct FileIdentity: Sendable, Hashable {
    package var device: UInt64
    package var inode: UInt64
}

// MARK: - As a line

extension FleetEntry {
    package var json: JSONValue {
        var members: [JSONValue.Member] = [.init("n", JSONValue(number)), .init("path", .string(path))]
        if let name { members.append(.init("name", .string(name))) }
        members += [
            // An inode's number may be larger than what programs read as a number.
            .init("device", .string(String(device))), .init("inode", .string(String(inode))),
            .init("size", .integer(size)), .init("counter", .integer(counter)), .init("uuid", .string(uuid)),
            .init("version", .string(version)), .init("state", .string(state.rawValue)), .init("rows", .integer(rows)),
            .init("estimate", .double((estimate * 1000).rounded() / 1000)), .init("shard", JSONValue(shard)),
        ]
        if !findings.isEmpty {
            members.append(
                .init(
                    "findings",
                    .array(findings.map { ["code": .string($0.code), "message": .string($0.message)] })))
        }
        return .object(members)
    }

    /// Nil if the line is none of a store.
    init?(_ json: JSONValue) {
        guard let number = json["n"]?.integer, number > 0, let path = json["path"]?.string, path.hasPrefix("/"),
            let device = json["device"]?.string.flatMap(UInt64.init),
            let inode = json["inode"]?.string.flatMap(UInt64.init), let size = json["size"]?.integer,
            let counter = json["counter"]?.integer, counter >= 0, let uuid = json["uuid"]?.string,
            let version = json["version"]?.string, let state = json["state"]?.string.flatMap(State.init),
            let rows = json["rows"]?.integer, let estimate = json["estimate"]?.double, estimate >= 0,
            let shard = json["shard"]?.integer, shard >= 0, (0...Self.most).contains(size),
            (0...Self.most).contains(rows)
        else { return nil }
        let notes = (json["findings"]?.array ?? []).compactMap { note -> Note? in
            guard let code = note["code"]?.string, let message = note["message"]?.string else { return nil }
            return Note(code: code, message: message)
        }
        self.init(
            number: Int(number), path: path, name: json["name"]?.string, device: device, inode: inode, size: size,
            counter: counter, uuid: uuid, version: version, state: state, rows: rows, estimate: estimate,
            shard: Int(shard), findings: notes)
    }
}
