import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One open store: `NSPersistentStore`.
///
/// It has one connection and is used by one thread at a time. Every read sees one state of the store; every write is
/// one transaction, which is written entirely or not at all. If another process migrates the store, the next read or
/// write throws `storeAhead`.
package final class ObjectStore {
    /// The path without symbolic links; empty for a store in memory.
    package let path: String
    /// The store's UUID: `NSStoreUUID`.
    package let identifier: UUID
    package let layout: StoreLayout
    package let isReadOnly: Bool
    /// The findings about the store, such as a derived attribute that nothing maintains.
    package var findings: [Finding] { layout.findings + writer.findings }
    package let system: any System

    let connection: Connection
    /// The coordinator that the store was added to.
    package internal(set) weak var coordinator: ObjectCoordinator?
    /// The owner of the rows; nil for a store that owns them itself.
    package var owner: (any RowOwner)?
    /// The writer of rows in the current transaction.
    let writer: RowWriter
    let externalData: (String) throws -> [UInt8]?
    /// SQLite's `schema_version` when the tables were last compared with the layout.
    package internal(set) var schemaVersion: Int64
    /// SQLite's `data_version` at the last check of the store; nil if this connection has changed the schema since.
    var dataVersion: Int64?
    /// The row of `Z_METADATA` when it was last compared with the version hashes.
    var metadataRow: [SQLiteValue]
    /// The version hashes of the version with which the store was opened.
    let hashes: VersionHashes
    /// The rows that the store's triggers compute in the current transaction.
    let recomputed = RecomputedRows()
    /// The permanent identities reserved for temporary ones.
    var reserved: [ObjectID: ObjectID] = [:]
    var readers: [String: SnapshotReader] = [:]
    /// The writer of persistent history; nil for a store without it.
    package let history: HistoryWriter?
    var incomingReferences: [String: [IncomingReference]] = [:]
    private var constraints: [String: [UniqueColumns]] = [:]
    private var inserters: [String: RowInserter] = [:]
    private var updaters: [UpdateShape: RowUpdater] = [:]
    private var lastUpdater: (shape: UpdateShape, updater: RowUpdater)?
    /// Whether a write transaction is open.
    var isWriting = false
    /// The number of objects deleted since the store was opened, by entity.
    package internal(set) var deletions: [String: Int64] = [:]
    /// The same numbers for the current transaction.
    var openDeletions: [String: Int64] = [:]
    private let entityNames: [Int64: String]
    private var origins: [String: ObjectID.Origin] = [:]
    /// The opened file; nil for a store in memory, and for one over an existing connection.
    private let file: (device: UInt64, inode: UInt64)?

    private struct UpdateShape: Hashable {
        let entityName: String
        let positions: [Int]
    }

    package var model: ManagedObjectModel { layout.model }

    /// Opens a store of exactly this model.
    ///
    /// - Parameters:
    ///   - configuration: the name of the configuration whose entities the store holds; nil for the whole model.
    ///   - busyTimeout: the time to wait for another connection that writes, in milliseconds.
    /// - Throws: `storeAhead` with the differing entities if the store has another model; `fileNotFound`, `notAStore`,
    ///   `metadataInvalid` or `storeCorrupted` if the file is not a usable store.
    package convenience init(
        _ path: String, model: ManagedObjectModel, configuration: String? = nil, isReadOnly: Bool = false,
        busyTimeout: Int32 = 5_000, on system: any System = POSIXSystem()
    ) throws {
        guard let status = try system.status(of: path) else {
            throw MigrationError(
                .fileNotFound, "Nothing is at \(path).", place: path, remedy: "Check the path of the store.")
        }
        guard status.kind == .file else {
            throw MigrationError(
                .notAStore, "\(path) is not a file.", place: path, remedy: "Name the file of a Core Data store.")
        }
        let resolved = try system.resolve(path)
        let connection = try Connection(resolved, mode: isReadOnly ? .readOnly : .readWrite, busyTimeout: busyTimeout)
        try self.init(
            connection, path: resolved, model, as: configuration.map(StorePart.configuration) ?? .whole,
            isReadOnly: isReadOnly,
            external: ExternalStorage(store: resolved), file: (status.device, status.inode), system)
    }

    /// Opens a store over an existing connection, such as that of a working copy. The connection belongs to the caller
    /// and stays open. The store may hold one configuration of the model.
    ///
    /// A connection that writes needs a journal, so that transactions can be rolled back.
    ///
    /// - Parameters:
    ///   - external: the place of the store's external data.
    /// - Throws: the same errors as for a path.
    package convenience init(
        over connection: Connection, model: ManagedObjectModel, external: ExternalStorage, isReadOnly: Bool = false,
        keepsHistory: Bool = true, on system: any System = POSIXSystem()
    ) throws {
        try self.init(
            connection, path: connection.path, model, as: nil, isReadOnly: isReadOnly, external: external,
            keepsHistory: keepsHistory, system)
    }

    /// Creates a store in memory, which exists as long as this object does.
    ///
    /// - Parameter name: a path under which the process shares the store: if one is open, it is opened once more. It
    ///   exists as long as one of its objects does.
    /// - Throws: `storeAhead` if the shared store has another model.
    package convenience init(
        inMemory model: ManagedObjectModel, sharedAs name: String? = nil, configuration: String? = nil,
        identifier: UUID = UUID(), history: Bool = false, on system: any System = POSIXSystem()
    ) throws {
        var version = ModelVersion(names: ["memory"], model: model)
        if let configuration { version = try version.restricted(to: configuration) }
        let connection =
            try name.map { try Connection($0, mode: .create, busyTimeout: 5_000, vfs: "memdb") }
            ?? Connection(":memory:", mode: .create)
        try Self.sharing.withLock { _ in
            guard try name == nil || connection.catalogue().entries.isEmpty else { return }
            try StoreCreator(version, history: history, uuid: identifier.uuidString, experimental: true)
                .fill(connection)
        }
        try self.init(connection, path: "", version.model, as: .whole, isReadOnly: false, external: nil, system)
    }

    /// Held while a shared store in memory is created.
    private static let sharing = Mutex<Void>(())

    private init(
        _ connection: Connection, path: String, _ model: ManagedObjectModel, as part: StorePart?, isReadOnly: Bool,
        external: ExternalStorage?, keepsHistory: Bool = true,
        file: (device: UInt64, inode: UInt64)? = nil, _ system: any System
    ) throws {
        (self.connection, self.file, self.path) = (connection, file, path)
        (self.isReadOnly, self.system) = (isReadOnly, system)
        externalData = { name in try external?.contents(of: name, on: system) }
        let opened = try connection.transaction(.deferred) {
            try OpenedStore(
                connection, model: model, part: part, path: path, requiresExpected: !isReadOnly && file != nil)
        }
        (schemaVersion, dataVersion) = (opened.schemaVersion, opened.dataVersion)
        metadataRow = opened.metadataRow
        hashes = opened.hashes
        layout = opened.layout
        identifier = opened.identifier
        entityNames = Dictionary(
            opened.layout.entityNumbers.map { (Int64($1), $0) }, uniquingKeysWith: { first, _ in first })
        writer = try RowWriter(
            connection, layout: opened.layout, external: ExternalFiles(external, of: connection, system),
            recomputed: recomputed, on: system)
        try FormatFunctions.register(on: connection)
        history =
            keepsHistory
            ? HistoryWriter(
                writer, changeColumns: opened.columns("ACHANGE"), transactionColumns: opened.columns("ATRANSACTION"),
                rows: opened.historyRows) : nil
        history?.program = HistoryWriter.Program(processName: Path.name(of: CommandLine.arguments.first ?? ""))
    }

    /// Checks that the file is still in place. SQLite would continue to write to a removed file, and all changes would
    /// be lost.
    ///
    /// - Throws: `fileNotFound` if the file at the path is not the one that was opened.
    func checkFile() throws {
        guard let file else { return }
        let now = try system.status(of: path)
        guard now?.device == file.device, now?.inode == file.inode else {
            throw MigrationError(
                .fileNotFound, "The store's file was \(now == nil ? "removed" : "replaced") while it was open.",
                place: path, remedy: "Open the store again; what was not saved has to be made again.")
        }
    }

    /// Closes the connection. The store cannot be used afterwards.
    package func close() { connection.close() }

    // MARK: - Entities

    /// Returns the properties of an entity's objects; nil for an entity that the store does not hold.
    package func shape(of entityName: String) -> EntityShape? { writer.columns(of: entityName)?.shape }

    /// - Throws: `usage` for an entity that the store does not hold.
    package func columns(of entityName: String) throws -> EntityColumns {
        if let columns = writer.columns(of: entityName) { return columns }
        throw MigrationError(
            .usage, "The store holds no objects of \(entityName).", place: entityName,
            remedy:
                "Use one of: \(layout.entityNumbers.keys.inByteOrder().joined(separator: ", "))."
        )
    }

    /// Returns the origin that the identities of an entity's objects share.
    func origin(of entityName: String) -> ObjectID.Origin {
        if let known = origins[entityName] { return known }
        let origin = ObjectID.Origin(store: identifier, entityName: entityName)
        origins[entityName] = origin
        return origin
    }

    /// Returns the identity of an object of this store.
    package func id(_ entityName: String, key: Int64) -> ObjectID { ObjectID(origin(of: entityName), key: key) }

    /// Returns the key of an object of this store.
    ///
    /// - Throws: `usage` for an object of another store and for one that was never saved.
    package func key(of id: ObjectID) throws -> Int64 {
        guard id.store == identifier else {
            throw MigrationError(
                .usage, id.isTemporary ? "The object was never saved." : "The object belongs to another store.",
                place: id.description, remedy: "Save the object first, and use it with its own store.")
        }
        return id.key
    }

    /// Returns the entity with this number in `Z_ENT`.
    func entityName(_ number: Int64) -> String? { entityNames[number] }

    // MARK: - Cached statements

    /// Returns the uniqueness constraints of the table of a root entity.
    func uniqueColumns(of root: String) -> [UniqueColumns] {
        if let known = constraints[root] { return known }
        let found = UniqueColumns.all(of: root, in: writer)
        constraints[root] = found
        return found
    }

    /// Returns a new inserter of an entity's objects. Each caller gets a statement of its own.
    ///
    /// - Throws: `usage` for an abstract entity, and for one that the store does not hold.
    package func newInserter(_ entityName: String) throws -> RowInserter {
        let entity = try columns(of: entityName)
        return try RowInserter(entity, positions: entity.writtenPositions, writer: writer)
    }

    /// Returns the inserter of whole objects of an entity.
    func inserter(_ entity: EntityColumns) throws -> RowInserter {
        let name = entity.shape.entity.name
        if let known = inserters[name] { return known }
        let inserter = try RowInserter(entity, positions: entity.writtenPositions, writer: writer)
        inserters[name] = inserter
        return inserter
    }

    func updater(_ entity: EntityColumns, _ positions: [Int]) throws -> RowUpdater {
        let shape = UpdateShape(entityName: entity.shape.entity.name, positions: positions)
        if let lastUpdater, lastUpdater.shape == shape { return lastUpdater.updater }
        if let known = updaters[shape] {
            lastUpdater = (shape, known)
            return known
        }
        if updaters.count >= 1_000 { updaters = [:] }
        let updater = try RowUpdater(entity, positions: positions, writer: writer)
        updaters[shape] = updater
        lastUpdater = (shape, updater)
        return updater
    }

    /// Reads the current metadata of the store, including the applications' own entries.
    package func metadata() throws -> StoreMetadata { try reading { try StoreMetadata(from: connection) } }

    /// Changes the applications' own entries in the metadata, in one transaction over the current contents.
    ///
    /// - Throws: `usage` if `body` adds one of Core Data's own entries; nothing is written then.
    package func updateMetadata<Result>(_ body: (inout [String: PropertyList]) throws -> Result) throws -> Result {
        try writing {
            var metadata = try StoreMetadata(from: connection)
            var entries = metadata.applicationEntries
            let result = try body(&entries)
            if let own = entries.keys.filter(StoreMetadata.Key.all.contains).min() {
                throw MigrationError(
                    .usage, "\(own) is an entry of Core Data's own, which an application may not change.", place: own,
                    remedy: "Choose another name.")
            }
            guard entries != metadata.applicationEntries else { return result }
            metadata.entries = metadata.entries.filter { StoreMetadata.Key.all.contains($0.key) }
                .merging(entries) { own, _ in own }
            try metadata.write(to: connection)
            return result
        }
    }

    /// - Parameters:
    ///   - name: the name of a pragma, a plain word.
    ///   - value: a plain word or number.
    package func setPragma(_ name: String, _ value: String) throws {
        try connection.execute("PRAGMA \(name) = \(value)")
    }

    /// Collects statistics about the indexes, for better query plans.
    package func analyze() throws { try changeSchema("ANALYZE") }

    /// Rebuilds the file without its unused space.
    package func vacuum() throws { try changeSchema("VACUUM") }

    private func changeSchema(_ sql: String) throws {
        defer { dataVersion = nil }
        try connection.execute(sql)
    }

    /// Runs `body` with the connection, for copying pages, temporary tables and queries; it must not change the store.
    package func withConnection<Result>(_ body: (Connection) throws -> Result) rethrows -> Result {
        try body(connection)
    }
}
