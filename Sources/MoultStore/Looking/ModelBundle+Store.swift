import MoultModel
import MoultModelFiles
import MoultSystem

extension ModelBundle {
    /// Reads what lies at a path as ``ModelBundle/init(contentsOf:order:)`` does; of a store, the model inside it, as
    /// the one version of a bundle.
    ///
    /// - Throws: as ``ModelBundle/init(contentsOf:order:)``; of a store, what looking at it throws, and what
    ///   ``StoreModelCache/version(of:in:)`` does.
    package init(
        modelOrStoreAt path: String, order: [String]? = nil, system: any System = POSIXSystem()
    ) throws {
        guard try StoreProbe.isDatabase(path, system) else {
            try self.init(contentsOf: path, order: order)
            return
        }
        let version = try ModelVersion(ownOfStore: path, system: system)
        try self.init(version, at: path, order: order ?? [])
    }
}

extension ModelVersion {
    /// The version inside a store; the store is not changed.
    ///
    /// - Throws: what looking at the store throws; `modelNotFound`, `modelInvalid` as
    ///   ``StoreModelCache/version(of:in:)``.
    package init(ownOfStore path: String, system: any System = POSIXSystem()) throws {
        do {
            self = try StoreProbe.read(path, system: system) { try StoreSnapshot($0.connection).ownVersion() }
        } catch var error as MigrationError where [.modelNotFound, .modelInvalid].contains(error.code) {
            // Not that of a private copy.
            error.place = path
            throw error
        }
    }
}

extension StoreProbe {
    /// Whether a file at the path begins like a SQLite database.
    package static func isDatabase(_ path: String, _ system: any System = POSIXSystem()) throws -> Bool {
        guard try system.status(of: path)?.kind == .file else { return false }
        return try system.read(path, prefix: magic.count) == magic
    }

    /// The SQLite file format, section 1.3.
    static let magic = Array("SQLite format 3\0".utf8)
}
