import MoultBasics
import MoultModel
import MoultModelFiles
import MoultSQLite

/// The model inside a store, in `Z_MODELCACHE`. Its bytes are read on first use, because a store whose hashes identify
/// its version can be opened without it.
package struct StoreModelCache: Sendable, Equatable {
    /// The bytes as stored; nil if the table, its row or its content is missing.
    package let bytes: [UInt8]?
    /// The reason why there are no bytes; nil if there are bytes, or if the table does not exist.
    private let absence: Finding?
    private let reading = Once<(model: ManagedObjectModel?, findings: [Finding])>()

    /// The model; nil if there is none, or if it cannot be read.
    package var model: ManagedObjectModel? { read.model }
    /// The reason why there is no model, and the findings from reading it.
    package var findings: [Finding] { absence.map { [$0] } ?? read.findings }

    private var read: (model: ManagedObjectModel?, findings: [Finding]) {
        guard let bytes else { return (nil, []) }
        return reading.value {
            var findings: [Finding] = []
            let model = Self.model(from: bytes, findings: &findings)
            return (model, findings)
        }
    }

    /// - Parameter columns: the columns of `Z_MODELCACHE`; nil if the store has no such table.
    /// - Throws: the errors of reading a damaged table.
    package init(_ connection: Connection, columns: [Catalogue.Column]?) throws {
        guard let columns, columns.contains(where: { $0.name == "Z_CONTENT" }) else {
            (bytes, absence) = (nil, nil)
            return
        }
        switch try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1") {
        case .blob(let bytes): (self.bytes, absence) = (bytes, nil)
        case nil, .null: (bytes, absence) = (nil, .modelCache("The model cache is empty.", severity: .note))
        default: (bytes, absence) = (nil, .modelCache("The model cache holds another kind of value, not bytes."))
        }
    }

    private static func model(from bytes: [UInt8], findings: inout [Finding]) -> ManagedObjectModel? {
        do {
            return try ManagedObjectModel(modelCache: bytes, findings: &findings)
        } catch {
            let cause = (error as? MigrationError)?.message ?? "\(error)"
            findings.append(.modelCache("The model cache cannot be read: \(cause)"))
            return nil
        }
    }

    /// Returns the model as the store's version.
    ///
    /// The version is named after the store's own version identifier, or else after the store's file, like a single
    /// `.mom`.
    ///
    /// - Parameters:
    ///   - metadata: the store's metadata; nil if they cannot be read, in which case the model's hashes are not
    ///     checked.
    ///   - store: the store's path.
    /// - Throws: `modelNotFound` if there is no model; `modelInvalid` if it cannot be read, or if its hashes differ
    ///   from the version hashes of the store.
    package func version(of metadata: StoreMetadata?, in store: String) throws -> ModelVersion {
        guard let model else { throw missing(in: store) }
        let identifier = metadata?.versionIdentifiers.first(where: Self.isFileName)
        var version = ModelVersion(names: [identifier ?? store.storeStem], model: model)
        (version.isInsideStore, version.isUnnamed) = (true, identifier == nil)
        let hashes = version.hashes.entities
        let wrong = (metadata?.hashes?.entities ?? [:]).filter { hashes[$0.key] != $0.value }.keys.sorted()
        guard wrong.isEmpty else { throw Self.contradiction(wrong, in: store) }
        return version
    }

    private func missing(in store: String) -> MigrationError {
        guard let finding = findings.last(where: { $0.code == Finding.modelCacheCode }), finding.severity > .note else {
            return MigrationError(
                .modelNotFound, "The store contains no model: it has no Z_MODELCACHE, or an empty one.",
                place: store, remedy: Self.remedy)
        }
        return MigrationError(.modelInvalid, finding.message, place: store, remedy: Self.remedy)
    }

    private static func contradiction(_ entities: [String], in store: String) -> MigrationError {
        let shown = entities.prefix(5).joined(separator: ", ") + (entities.count > 5 ? ", …" : "")
        return MigrationError(
            .modelInvalid,
            "The model inside the store does not match its metadata: the version hashes of \(shown) differ.",
            place: store, remedy: remedy)
    }

    private static let remedy: Remedy = "Name the model that made the store: \(option: .model("PATH"))."

    /// Returns whether a version with that name can be written to a file.
    private static func isFileName(_ name: String) -> Bool {
        !name.isEmpty && !name.contains("/") && !name.hasPrefix(".")
    }
}

extension Finding {
    fileprivate static let modelCacheCode = "model-cache"

    fileprivate static func modelCache(_ message: String, severity: Severity = .warning) -> Finding {
        Finding(
            code: modelCacheCode, severity: severity, place: "Z_MODELCACHE", message: message,
            remedy: "Name the model that made the store. Core Data rewrites the cache by itself.")
    }
}

extension String {
    /// The name of a store's file without its extension; `store` if the result would be empty.
    fileprivate var storeStem: String {
        let name = split(separator: "/").last.map(String.init) ?? self
        let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name[...]
        return stem.isEmpty ? "store" : String(stem)
    }
}

extension ModelBundle {
    /// Reads the models at a path as ``ModelBundle/init(contentsOf:order:)`` does. From a store, it reads the model
    /// inside, as the only version of a bundle; from a folder of frozen stores, the model inside each.
    ///
    /// - Throws: the errors of ``ModelBundle/init(contentsOf:order:)``; for a store, those of opening it and of
    ///   ``StoreModelCache/version(of:in:)``.
    package init(modelOrStoreAt path: String, order: [String]? = nil, system: any System = POSIXSystem()) throws {
        guard try ReadOnlyStore.isDatabase(path, system) else {
            if let stores = try FrozenStores(inFolder: path, system) {
                self = try stores.bundle(order: order, system)
            } else {
                try self.init(contentsOf: path, order: order)
            }
            return
        }
        let version = try ModelVersion(ownOfStore: path, system: system)
        try self.init(version, at: path, order: order ?? [])
    }
}

extension ModelVersion {
    /// Reads the version inside a store, without changing the store.
    ///
    /// - Throws: the errors of opening the store; `modelNotFound`, `modelInvalid` as
    ///   ``StoreModelCache/version(of:in:)``.
    package init(ownOfStore path: String, system: any System = POSIXSystem()) throws {
        do {
            self = try ReadOnlyStore.read(path, system: system) { try StoreSnapshot($0.connection).ownVersion() }
        } catch var error as MigrationError where [.modelNotFound, .modelInvalid].contains(error.code) {
            // Replace the path of the private copy.
            error.place = path
            throw error
        }
    }
}

extension ReadOnlyStore {
    /// Returns whether the file at a path starts with the header of an SQLite database.
    package static func isDatabase(_ path: String, _ system: any System = POSIXSystem()) throws -> Bool {
        guard try system.status(of: path)?.kind == .file else { return false }
        return try system.read(path, prefix: magic.count) == magic
    }

    /// The first bytes of every SQLite database (the SQLite file format, section 1.3).
    package static let magic = Array("SQLite format 3\0".utf8)
}
