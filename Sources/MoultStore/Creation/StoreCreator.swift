import MoultBasics
import MoultModel
import MoultSQLite

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A new store without objects, as Core Data would create it.
package struct StoreCreator: Sendable {
    package let layout: StoreLayout
    package let metadata: StoreMetadata
    /// The content of `Z_MODELCACHE`; nil for framework levels that do not write it.
    package let modelCache: [UInt8]?

    /// - Parameters:
    ///   - framework: the framework level to imitate, 230 to 1526.
    ///   - history: whether to create the tables of persistent history.
    ///   - uuid: the store's UUID; a random one by default.
    ///   - experimental: whether to write version hashes that are not certain.
    ///   - stored: the store that the new one replaces, whose names are kept where the model leaves them open.
    /// - Throws: `unsupported` if the hashes of the model are not certain.
    package init(
        _ version: ModelVersion, framework: Int = FrameworkLevel.newest.number, history: Bool = false,
        uuid: String? = nil, experimental: Bool = false, namesOf stored: StoreLayout? = nil
    ) throws {
        if let reason = version.hashes.uncertain.values.min(), !experimental {
            throw MigrationError(
                .unsupported, "The version hash of this model is not certain: \(reason).", place: version.name,
                remedy:
                    "Remove the attribute, or pass \(option: .experimental) to write Moult's best guess, which Core "
                    + "Data may refuse to open.")
        }
        layout = try StoreLayout(
            model: version.model, framework: framework, history: history,
            keeping: stored.map(PhysicalNames.init(of:)) ?? PhysicalNames())
        metadata = StoreMetadata(
            newStoreOf: version, level: layout.level, uuid: (uuid ?? UUID().uuidString).uppercased())
        modelCache = layout.level.hasModelCache ? try version.wholeModel.modelCache() : nil
    }

    /// Creates the file, and the folder of external data if the model needs one.
    ///
    /// - Parameter rights: the permissions of the file and of that folder.
    /// - Throws: `usage` if the path is taken. Nothing is changed after this or any other error.
    package func make(at path: String, _ rights: FileRights = .byUmask, on system: some System = POSIXSystem()) throws {
        try system.checkNewPath(path, isStore: true)
        do {
            try system.makeFile(path, rights)
            let connection = try Connection(path, mode: .readWrite, isProven: true)
            defer { connection.close() }
            try fill(connection)
            if layout.hasExternalStorage { try ExternalStorage(store: path).makeFolder(on: system) }
        } catch {
            for file in [path, path + "-wal", path + "-shm", path + "-journal"] { _ = try? system.remove(file) }
            throw error
        }
    }

    /// Fills an empty database with the header, tables, indexes, triggers and the rows that are not objects.
    package func fill(_ connection: Connection) throws {
        try connection.execute("PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8'")
        if layout.level.hasAutoVacuum { try connection.execute("PRAGMA auto_vacuum = INCREMENTAL") }
        if layout.level.writesAheadLog { try connection.execute("PRAGMA journal_mode = WAL") }
        try connection.registerCoreDataStubs()
        try connection.transaction {
            let groups = layout.tableGroups
            if groups.count > 1 { try connection.make(groups) }
            let made = groups.count > 1 ? Set(groups.joined()) : []
            for statement in layout.createStatements where !made.contains(statement) {
                try connection.execute(statement)
            }
            for row in layout.primaryKeyRows { try connection.execute(row.insertStatement) }
            try metadata.write(to: connection)
            if layout.level.hasModelCache {
                let content = modelCache.map(SQLiteValue.blob) ?? .null
                try connection.run("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [content])
            }
        }
    }
}

extension StoreLayout {
    /// Whether an attribute of the model may keep its bytes in files next to the store.
    package var hasExternalStorage: Bool {
        model.entities.contains { $0.attributes.contains { $0.allowsExternalBinaryDataStorage && $0.isStored } }
    }
}

extension System {
    /// Checks that a file can be created at a path: its folder exists, and the name is free, even of dangling links.
    ///
    /// - Parameters:
    ///   - isStore: whether SQLite will open the file and use side files next to it.
    ///   - store: a store that must not share the folder of external data.
    /// - Throws: `usage` if the path is taken, if it is the name of a side file of an existing database, or if both
    ///   stores would share a folder; `fileNotFound` if the folder does not exist.
    package func checkNewPath(_ path: String, isStore: Bool = false, apartFrom store: String? = nil) throws {
        let sideFiles = isStore ? ReadOnlyStore.sideFileSuffixes.map { path + $0 } : []
        if let taken = try ([path] + sideFiles).first(where: { try exists($0) || isLink($0) }) {
            throw MigrationError.taken(taken, for: path)
        }
        if isStore, let owner = try ownName(path) {
            throw MigrationError(
                .usage, "\(path) is a place of \(owner).", place: path, remedy: "Name another path.")
        }
        let support = ExternalStorage(store: path).supportFolder
        if let store, support == ExternalStorage(store: store).supportFolder {
            throw MigrationError(
                .usage, "Both stores would keep their external data in \(support).", place: path,
                remedy: "Name a path with another file name, or in another folder.")
        }
        for suffix in ReadOnlyStore.sideFileSuffixes where path.hasSuffix(suffix) {
            let database = String(path.dropLast(suffix.count))
            guard try exists(database) else { continue }
            throw MigrationError(
                .usage, "SQLite uses \(path) for the database \(database), and removes it.", place: path,
                remedy: "Name another path.")
        }
        let folder = Path.folder(of: path)
        guard try status(of: folder)?.kind == .folder else {
            throw MigrationError(
                .fileNotFound, "There is no folder \(folder).", place: path,
                remedy: "Create the folder first, or name a path in an existing one.")
        }
    }

    /// Returns a description of the data that Moult or Core Data keeps at a path; nil for any other path. Moult keeps
    /// its records in `<name>.moult`, Core Data its external data in `.<stem>_SUPPORT`.
    private func ownName(_ path: String) throws -> String? {
        let (folder, name) = (Path.folder(of: path), Path.name(of: path))
        if name.hasPrefix("."), name.hasSuffix("_SUPPORT") { return "Core Data's external data" }
        for records in [path, folder] where records.hasSuffix(".moult") {
            if try exists(String(records.dropLast(".moult".count))) { return "Moult's own records" }
        }
        return nil
    }
}
