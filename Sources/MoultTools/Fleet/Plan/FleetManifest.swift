import MoultBasics

/// The description of a fleet, from the first and the last line of a manifest.
///
/// A manifest is a text of JSON objects, one on each line: this header, a line for each store, a line for each group of
/// stores that need the same work, and an end with the digest of everything before it. It is written once and never
/// changed, so planning alone decides which store belongs to which shard.
package struct FleetManifest: Sendable, Equatable {
    /// The identifier of the fleet: 16 random digits.
    package var fleet: String
    package var plannedAt: String
    package var host: String
    package var roots: [String]
    /// The options that find the model again, for the verbs that run: `--model`, `--order` and so on, with absolute
    /// paths.
    package var options: [String]
    /// The names of the model's versions, oldest first, and a digest of their hashes.
    package var versions: [String]
    package var modelDigest: String
    /// The name of the target version.
    package var target: String
    package var shards: Int
    package var groups: [FleetGroup] = []
    /// The number of stores, according to the end of the manifest.
    package var stores = 0
    /// The digest of all lines before the end, in hexadecimal. It identifies the manifest.
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

/// The stores of one version, which need the same work.
package struct FleetGroup: Sendable, Equatable {
    package var state: FleetEntry.State
    package var version: String
    package var stores = 0
    package var bytes: Int64 = 0
    package var rows: Int64 = 0
    /// The estimated number of seconds for one process that works through the stores in turn.
    package var estimate: Double = 0
    /// The changes to each store, with a sentence for each.
    package var changes: [String] = []
    /// The reason why the migration of these stores would be refused; nil if it would not.
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

/// A store as planning found it: one line of the manifest.
package struct FleetEntry: Sendable, Equatable {
    /// The relation of the store's version to the target version.
    package enum State: String, Sendable, Hashable, CaseIterable {
        case behind, current, ahead, unknown
        /// The store could not be read; the findings give the reason.
        case unreadable
    }

    /// The number of the store in the manifest, from 1.
    package var number: Int
    /// The absolute path, without symbolic links.
    package var path: String
    /// The name of the file on the device, for a store in a device's backup.
    package var name: String?
    package var device: UInt64
    package var inode: UInt64
    /// The size in bytes, including the log.
    package var size: Int64
    /// SQLite's change counter, at byte 24 of the header.
    package var counter: Int64
    package var uuid: String
    /// The name of the store's version; empty if it matches none.
    package var version: String
    package var state: State
    /// An estimate of the number of rows, from the highest keys assigned so far.
    package var rows: Int64
    /// The estimated number of seconds of work.
    package var estimate: Double
    /// The index of the store's shard, from 0.
    package var shard: Int
    package var findings: [Note]

    /// A finding, without place and severity.
    package struct Note: Sendable, Hashable {
        package var code: String
        package var message: String

        package init(code: String, message: String) { (self.code, self.message) = (code, message) }
    }

    /// The identity of the file, independent of its name.
    package var identity: FileIdentity { FileIdentity(device: device, inode: inode) }
    package var isInDeviceBackup: Bool { name != nil }

    /// The limit of bytes and rows of a store. Larger values in a file are cut off here, so that sums do not overflow.
    static let most: Int64 = 1 << 44
}

/// The identity of a file, independent of its names.
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
            // An inode number may exceed the range of numbers in other JSON parsers.
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

    /// Returns nil if the line does not describe a store.
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
