import MoultBasics

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A backup: a complete store in its own folder, with its original file names, so that Core Data can open it there.
public struct StoreBackup: Sendable, Equatable {
    /// The path of the backup's folder.
    public let folder: String
    package let manifest: Manifest
    /// The error from reading its manifest, which makes the backup unusable as it is; nil for any other backup. With an
    /// error, only the name, the folder and the creation time are known. Among earlier losses, also the error from
    /// reading its files.
    public let error: MigrationError?

    package init(folder: String, manifest: Manifest, error: MigrationError? = nil) {
        (self.folder, self.manifest, self.error) = (folder, manifest, error)
    }

    /// The backup's name, unique among the store's backups.
    public var name: String { Path.name(of: folder) }
    /// The path of the backed-up store, which can be opened there.
    public var store: String { Path.join(folder, manifest.storeName) }
    /// The name of the store's version as the run knew it; empty if it was not known.
    public var version: String { manifest.version }
    /// When it was made.
    public var createdAt: Date { manifest.createdAt.date }
    /// The size of the store's file, in bytes.
    public var bytes: Int64 { manifest.size }
    /// Rows by table.
    public var rows: [String: Int64] { manifest.rows }
    /// The SHA-256 of the store's file, in hexadecimal.
    public var sha256: String { manifest.sha256 }
    /// The number of files of external data.
    public var externalFiles: Int { manifest.externalFiles.count }
    /// The reason for the backup: `migration`, `finish`, `repair`, `rollback`, `move`, `request` or `imported`; nil if unknown.
    public var reason: String? { manifest.reason?.rawValue }

    /// Whether it was requested or imported, so that no run made it.
    var isByHand: Bool { [.request, .imported].contains(manifest.reason) }
    /// Whether a run made it that was about to change the store. A backup without a reason counts.
    var isOfRun: Bool { !isByHand && manifest.reason != .rollback }

    package var support: String { Path.join(folder, StoreRecords.supportName(ofStore: manifest.storeName)) }

    /// Orders backups by time; two from the same millisecond by the number at the end of their names.
    package func isOlder(than other: StoreBackup) -> Bool {
        (manifest.createdAt, name.utf8.count, name) < (other.manifest.createdAt, other.name.utf8.count, other.name)
    }

    /// The contents of a backup, recorded so that it can be verified years later without other data.
    package struct Manifest: Sendable, Equatable {
        package var storeName: String
        /// The version's name as the run knew it.
        package var version: String
        package var createdAt: Timestamp
        package var uuid: String
        /// The hashes in Base64 by entity; empty if the store's metadata is unreadable.
        package var versionHashes: [String: String]
        /// Rows by table.
        package var rows: [String: Int64]
        package var size: Int64
        /// The digest in hexadecimal.
        package var sha256: String
        /// The external files, with paths from the backup's folder.
        package var externalFiles: [File]
        /// The reason for the backup; nil in manifests that predate reasons.
        package var reason: Reason?
        /// The version of Moult that made the backup; empty if unknown.
        package var tool: String

        package init(
            storeName: String, version: String, createdAt: Timestamp, uuid: String = "",
            versionHashes: [String: String] = [:], rows: [String: Int64] = [:], size: Int64, sha256: String,
            externalFiles: [File] = [], reason: Reason? = nil, tool: String = ""
        ) {
            (self.storeName, self.version, self.createdAt, self.uuid) = (storeName, version, createdAt, uuid)
            (self.versionHashes, self.rows, self.size, self.sha256) = (versionHashes, rows, size, sha256)
            (self.externalFiles, self.reason, self.tool) = (externalFiles, reason, tool)
        }

        /// The identity of the backup's version: its hashes, or its name if they are unknown.
        var identity: [String: String] { versionHashes.isEmpty ? ["": version] : versionHashes }

        /// The reason for a backup.
        package enum Reason: String, Sendable, Hashable {
            /// A migration was about to change the store.
            case migration
            /// The leftovers of a deferred migration were about to be removed.
            case finish
            /// A repair, fixes of rules or a restoration from the quarantine were about to change the store.
            case repair
            /// Another backup was about to take the store's place.
            case rollback
            /// The store was about to be moved.
            case move
            /// It was requested.
            case request
            /// It was imported.
            case imported
        }

        package struct File: Sendable, Equatable {
            package var path: String
            package var size: Int64
            package var sha256: String
        }
    }
}

// MARK: - On the disk

extension StoreBackup {
    package static let manifestName = "manifest.json"

    /// The most bytes that a manifest may have: some 600,000 external files.
    static let largestManifest = 128 << 20

    /// - Throws: `backupInvalid` if the folder has no readable manifest, or a damaged one, whatever the other files
    ///   are.
    package init(reading folder: String, _ system: any System) throws {
        let path = Path.join(folder, Self.manifestName)
        guard let status = try system.status(of: path) else {
            throw Self.invalid("\(folder) holds no manifest.", folder)
        }
        guard status.kind == .file, status.size <= Self.largestManifest else {
            throw Self.invalid(
                "The manifest of \(folder) is not a file of at most \(Self.largestManifest) bytes.", path)
        }
        let json = try JSONValue(
            parsing: try system.read(path, limit: Self.largestManifest, as: .backupInvalid), place: path,
            code: .backupInvalid)
        guard let manifest = Manifest(json) else {
            throw Self.invalid("The manifest of \(folder) was not written by Moult.", path)
        }
        guard Manifest.isWhole(json) else {
            throw MigrationError(
                .backupInvalid,
                "The manifest of \(folder) is damaged: it does not match its own checksum. Nothing is known about the files "
                    + "next to it.", place: path,
                remedy: "Use another backup, or import its store as one that was copied by hand: \(.importBackup).")
        }
        self.init(folder: folder, manifest: manifest)
    }

    /// Writes the manifest into the backup's folder.
    ///
    /// - Throws: `unsupported` for more external files than fit in a manifest.
    static func write(_ manifest: Manifest, to folder: String, _ system: any System) throws {
        let bytes = Array((manifest.json.indented + "\n").utf8)
        guard bytes.count <= largestManifest else {
            throw MigrationError(
                .unsupported, "The store has \(manifest.externalFiles.count) external files, which are too many.",
                place: folder, remedy: "Copy the store and its folder of external data by hand.")
        }
        try system.writeAtomically(bytes, to: Path.join(folder, manifestName), .like(folder))
    }

    static func invalid(_ message: String, _ place: String, cause: String? = nil) -> MigrationError {
        MigrationError(.backupInvalid, message, place: place, remedy: "Use another backup.", cause: cause)
    }
}

extension String {
    /// Whether it is a plain file name: no manifest or archive is trusted to choose where bytes are written.
    var isPlainFileName: Bool { !isEmpty && self != "." && self != ".." && !contains("/") && !contains("\0") }

    /// Whether it is a path from a folder to a file below it.
    package var isPathBelow: Bool {
        split(separator: "/", omittingEmptySubsequences: false).allSatisfy { String($0).isPlainFileName }
    }
}

extension Timestamp {
    package var date: Date { Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9) }
}

extension StoreBackup.Manifest {
    /// The files in the backup's folder besides the manifest, as paths from there.
    package var files: [String] { [storeName] + externalFiles.map(\.path) }

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

    /// Returns the SHA-256 of the members as they are, on one line.
    private static func checksum(_ members: [JSONValue.Member]) -> String {
        Digest.sha256(JSONValue.object(members).compact.utf8).hexadecimal
    }

    /// Whether a manifest matches its checksum. Manifests of format 1 have none.
    static func isWhole(_ json: JSONValue) -> Bool {
        guard json["format"]?.integer != 1 else { return true }
        let contents = (json.members ?? []).filter { $0.key != checksumKey }
        return json[checksumKey]?.string == checksum(contents)
    }

    init?(_ json: JSONValue) {
        // A name with a slash could lead out of the backup's folder.
        guard let format = json["format"]?.integer, (1...2).contains(format), let storeName = json["storeName"]?.string,
            storeName.isPlainFileName,
            let createdAt = json["createdAt"]?.string.flatMap({ Timestamp(iso8601: $0) }),
            let size = json["size"]?.integer, let sha256 = json["sha256"]?.string,
            let files = json["externalFiles"]?.array?.map(File.init), !files.contains(nil),
            // Permit nothing else: SQLite would use a smuggled -wal file as the store's own.
            files.allSatisfy({ $0?.path.hasPrefix(StoreRecords.supportName(ofStore: storeName) + "/") == true })
        else { return nil }
        self.init(
            storeName: storeName, version: json["version"]?.string ?? "", createdAt: createdAt,
            uuid: json["uuid"]?.string ?? "", versionHashes: members(json["versionHashes"]).compactMapValues(\.string),
            rows: members(json["rows"]).compactMapValues(\.integer), size: size, sha256: sha256,
            externalFiles: files.compactMap { $0 }, reason: json["reason"]?.string.flatMap(Reason.init),
            tool: json["tool"]?.string ?? "")
    }

    private func object(_ values: [String: JSONValue]) -> JSONValue {
        .object(values.inByteOrder { $0.key }.map { .init($0.key, $0.value) })
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
