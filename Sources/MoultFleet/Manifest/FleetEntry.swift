import MoultModel

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
