import MoultModel
import MoultSystem

/// A whole store in a folder of its own, under its original names, so that the folder opens in Core Data as it stands.
package struct StoreBackup: Sendable, Equatable {
    /// The folder's path.
    package let folder: String
    package let manifest: Manifest

    package init(folder: String, manifest: Manifest) {
        self.folder = folder
        self.manifest = manifest
    }

    package var name: String { Path.name(of: folder) }
    package var store: String { Path.join(folder, manifest.storeName) }
    package var support: String { Path.join(folder, Sidecar.supportName(ofStore: manifest.storeName)) }

    /// By time; of two that were made in one millisecond, by the number that ends their names.
    package func isOlder(than other: StoreBackup) -> Bool {
        (manifest.createdAt, name.utf8.count, name) < (other.manifest.createdAt, other.name.utf8.count, other.name)
    }

    /// What a backup holds, so that it can be proven years later without anything else (B-52).
    package struct Manifest: Sendable, Equatable {
        package var storeName: String
        /// The version's name as the run knew it.
        package var version: String
        package var createdAt: Timestamp
        package var uuid: String
        /// Base64 by entity; empty where the store's metadata cannot be read.
        package var versionHashes: [String: String]
        /// Rows by table.
        package var rows: [String: Int64]
        package var size: Int64
        /// Hexadecimal.
        package var sha256: String
        /// The external files, with paths from the backup's folder.
        package var externalFiles: [File]
        /// Why it was made; nil in manifests of before reasons were kept.
        package var reason: Reason?
        /// The version of Moult that made it; empty where it is not known.
        package var tool: String

        package init(
            storeName: String, version: String, createdAt: Timestamp, uuid: String = "",
            versionHashes: [String: String] = [:], rows: [String: Int64] = [:], size: Int64, sha256: String,
            externalFiles: [File] = [], reason: Reason? = nil, tool: String = ""
        ) {
            self.storeName = storeName
            self.version = version
            self.createdAt = createdAt
            self.uuid = uuid
            self.versionHashes = versionHashes
            self.rows = rows
            self.size = size
            self.sha256 = sha256
            self.externalFiles = externalFiles
            self.reason = reason
            self.tool = tool
        }

        /// Why a backup was made.
        package enum Reason: String, Sendable, Hashable {
            /// A migration was about to change the store.
            case migration
            /// A repair, the fixes of rules or the quarantine were.
            case repair
            /// Another backup was about to take the store's place.
            case rollback
            /// Somebody asked for it.
            case request
            /// It was made elsewhere, or by hand, and taken in.
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
    static let manifestName = "manifest.json"

    /// - Throws: `backupInvalid` where the folder holds no manifest that can be read.
    package init(reading folder: String, _ system: any System) throws {
        let path = Path.join(folder, Self.manifestName)
        guard try system.exists(path) else { throw Self.invalid("\(folder) holds no manifest.", folder) }
        let json = try JSONValue(parsing: try system.read(path), place: path, code: .backupInvalid)
        guard let manifest = Manifest(json) else { throw Self.invalid("The manifest of \(folder) is damaged.", folder) }
        self.init(folder: folder, manifest: manifest)
    }

    static func invalid(_ message: String, _ place: String, cause: String? = nil) -> MigrationError {
        MigrationError(.backupInvalid, message, place: place, remedy: "Use another backup.", cause: cause)
    }
}

extension StoreBackup.Manifest {
    var json: JSONValue {
        .object([
            .init("format", .integer(1)), .init("storeName", .string(storeName)), .init("version", .string(version)),
            .init("createdAt", .string(createdAt.iso8601WithMilliseconds)), .init("uuid", .string(uuid)),
            .init("size", .integer(size)), .init("sha256", .string(sha256)),
            .init("versionHashes", object(versionHashes.mapValues(JSONValue.string))),
            .init("rows", object(rows.mapValues(JSONValue.integer))),
            .init("externalFiles", .array(externalFiles.map(\.json))),
            .init("reason", reason.map { .string($0.rawValue) } ?? .null), .init("tool", .string(tool)),
        ])
    }

    init?(_ json: JSONValue) {
        // A name with a slash would lead out of the backup's folder.
        guard json["format"]?.integer == 1, let storeName = json["storeName"]?.string, storeName.isPlainFileName,
            let createdAt = json["createdAt"]?.string.flatMap({ Timestamp(iso8601: $0) }),
            let size = json["size"]?.integer, let sha256 = json["sha256"]?.string,
            let files = json["externalFiles"]?.array?.map(File.init), !files.contains(nil)
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

extension String {
    /// Whether it names a file in a folder, and nothing else: no manifest and no archive is trusted to say where bytes
    /// are written.
    var isPlainFileName: Bool { !isEmpty && self != "." && self != ".." && !contains("/") && !contains("\0") }

    /// Whether it leads from a folder to a file below it, and nowhere else.
    var isPathBelow: Bool {
        split(separator: "/", omittingEmptySubsequences: false).allSatisfy { String($0).isPlainFileName }
    }
}
