import MoultModel
import MoultSystem

extension StoreBackup.Manifest {
    /// The files in the backup's folder besides the manifest, as paths from there.
    var files: [String] { [storeName] + externalFiles.map(\.path) }

    package var json: JSONValue {
        let contents: [JSONValue.Member] = [
            .init("format", .integer(2)), .init("storeName", .string(storeName)), .init("version", .string(version)),
            .init("createdAt", .string(createdAt.iso8601WithMilliseconds)), .init("uuid", .string(uuid)),
            .init("size", .integer(size)), .init("sha256", .string(sha256)),
            .init("versionHashes", object(versionHashes.mapValues(JSONValue.string))),
            .init("rows", object(rows.mapValues(JSONValue.integer))),
            .init("externalFiles", .array(externalFiles.map(\.json))),
            .init("reason", reason.map { .string($0.rawValue) } ?? .null), .init("tool", .string(tool)),
        ]
        return .object(contents + [.init(Self.checksumKey, .string(Self.checksum(contents)))])
    }

    private static let checksumKey = "checksum"

    /// The SHA-256 of the members as they stand, on one line.
    private static func checksum(_ members: [JSONValue.Member]) -> String {
        Digest.sha256(JSONValue.object(members).compact.utf8).hexadecimal
    }

    /// Whether a manifest is what was written. Those of format 1 have no checksum of their own.
    static func isWhole(_ json: JSONValue) -> Bool {
        guard json["format"]?.integer != 1 else { return true }
        let contents = (json.members ?? []).filter { $0.key != checksumKey }
        return json[checksumKey]?.string == checksum(contents)
    }

    init?(_ json: JSONValue) {
        // A name with a slash would lead out of the backup's folder.
        guard let format = json["format"]?.integer, (1...2).contains(format), let storeName = json["storeName"]?.string,
            storeName.isPlainFileName,
            let createdAt = json["createdAt"]?.string.flatMap({ Timestamp(iso8601: $0) }),
            let size = json["size"]?.integer, let sha256 = json["sha256"]?.string,
            let files = json["externalFiles"]?.array?.map(File.init), !files.contains(nil),
            // Nothing else belongs there: a -wal that was smuggled in would be taken for the store's own.
            files.allSatisfy({ $0?.path.hasPrefix(Sidecar.supportName(ofStore: storeName) + "/") == true })
        else { return nil }
        self.init(
            storeName: storeName, version: json["version"]?.string ?? "", createdAt: createdAt,
            uuid: json["uuid"]?.string ?? "", versionHashes: members(json["versionHashes"]).compactMapValues(\.string),
            rows: members(json["rows"]).compactMapValues(\.integer), size: size, sha256: sha256,
            externalFiles: files.compactMap { $0 }, reason: json["reason"]?.string.flatMap(Reason.init),
            tool: json["tool"]?.string ?? "")
    }

    private func object(_ values: [String: JSONValue]) -> JSONValue {
        .object(values.sorted { $0.key.precedesInByteOrder($1.key) }.map { .init($0.key, $0.value) })
    }
}

private func members(_ json: JSONValue?) -> [String: JSONValue] {
    guard case .object(let members)? = json else { return [:] }
    return Dictionary(members.map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
}

extension StoreBackup.Manifest.File {
    var json: JSONValue {
        .object([.init("path", .string(path)), .init("size", .integer(size)), .init("sha256", .string(sha256))])
    }

    init?(_ json: JSONValue) {
        guard let path = json["path"]?.string, path.isPathBelow,
            let size = json["size"]?.integer, let sha256 = json["sha256"]?.string
        else { return nil }
        self.init(path: path, size: size, sha256: sha256)
    }
}
