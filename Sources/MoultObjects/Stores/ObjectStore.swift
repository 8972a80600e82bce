import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One open store: `NSPersistentStore`.
///
/// It has one connection and is used by one thread at a time. Every read sees one state of the store; every write is
/// one transaction, which ends with everything written or nothing. Another process may migrate the store in the
/// meantime: then the next read or write throws `storeAhead`.
package final class ObjectStore {
    /// Without symbolic links; empty for a store in memory.
    package let path: String
    /// `NSStoreUUID`
    package let identifier: UUID
    package let layout: StoreLayout
    package let isReadOnly: Bool
    /// The findings about the store, such as a derived attribute that nothing keeps.
    package var findings: [Finding] { layout.findings + writer.findings }
    package let system: any System

    let connection: Connection
    /// The coordinator that the store was added to.
    package internal(set) weak var coordinator: ObjectCoordinator?
    /// The owner that keeps the rows; nil for a store that keeps them itself.
    package var owner: (any RowOwner)?
    /// Writes rows in the transaction that is open.
    let writer: RowWriter
    let externalData: (String) throws -> [UInt8]?
    var schemaVersion: Int64
    /// The version hashes of the version that the store was opened with.
    let hashes: VersionHashes
    /// Takes the rows that the store's triggers compute in the transaction that is open.
    let recomputed = RecomputedRows()
    /// The permanent identities that temporary ones were promised.
    var reserved: [ObjectID: ObjectID] = [:]
    var readers: [String: SnapshotReader] = [:]
    /// Takes what a transaction changes; nil for a store without persistent history.
    package let history: HistoryWriter?
    var incomingReferences: [String: [IncomingReference]] = [:]
    private var constraints: [String: [UniqueColumns]] = [:]
    private var inserters: [String: RowInserter] = [:]
    private var updaters: [UpdateShape: RowUpdater] = [:]
    private var lastUpdater: (shape: UpdateShape, updater: RowUpdater)?
    /// Whether a transaction that writes is open.
    var isWriting = false
    /// The number of objects that were deleted since the store was opened, by entity.
    package internal(set) var deletions: [String: Int64] = [:]
    /// The same of the transaction that is open.
    var openDeletions: [String: Int64] = [:]
    private let entityNames: [Int64: String]
    private var origins: [String: ObjectID.Origin] = [:]
    /// The file that was opened; nil in memory, and for a store that somebody else has open.
    private let file: (device: UInt64, inode: UInt64)?

    private struct UpdateShape: Hashable {
        let entityName: String
        let positions: [Int]
    }

    package var model: ManagedObjectModel { layout.model }

    /// Opens a store of just this model.
    ///
    /// - Parameters:
    ///   - configuration: the name of the configuration whose entities the store holds; nil for all of the model.
    ///   - busyTimeout: milliseconds to wait for another connection that writes.
    /// - Throws: `storeAhead` if the model is not the one that made the store, naming the entities that differ;
    ///   `fileNotFound`, `notAStore`, `metadataInvalid`, `storeCorrupted` for what is no usable store.
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

    /// The store that somebody has open already, such as a working copy; it stays theirs, and open. It may hold one
    /// configuration of the model.
    ///
    /// What is written needs a journal for the transactions that do not end well.
    ///
    /// - Parameters:
    ///   - external: where its external data lie.
    /// - Throws: as above.
    package convenience init(
        over connection: Connection, model: ManagedObjectModel, external: ExternalStorage, isReadOnly: Bool = false,
        keepsHistory: Bool = true, on system: any System = POSIXSystem()
    ) throws {
        try self.init(
            connection, path: connection.path, model, as: nil, isReadOnly: isReadOnly, external: external,
            keepsHistory: keepsHistory, system)
    }

    /// Makes a store that lives in memory, and only as long as this object does.
    package convenience init(
        inMemory model: ManagedObjectModel, configuration: String? = nil, identifier: UUID = UUID(),
        history: Bool = false, on system: any System = POSIXSystem()
    ) throws {
        var version = ModelVersion(names: ["memory"], model: model)
        if let configuration { version = try version.restricted(to: configuration) }
        let connection = try Connection(":memory:", mode: .create)
        try StoreMaker(version, history: history, uuid: identifier.uuidString, experimental: true).fill(connection)
        try self.init(connection, path: "", version.model, as: .whole, isReadOnly: false, external: nil, system)
    }

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
        schemaVersion = opened.schemaVersion
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

    /// SQLite would go on writing into a file that was removed, and everything would be gone with the process.
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

    /// Ends the connection. Nothing can be asked of the store afterwards.
    package func close() { connection.close() }

    // MARK: - Entities

    /// The properties of an entity's objects; nil for an entity that the store does not hold.
    package func shape(of entityName: String) -> EntityShape? { writer.columns(of: entityName)?.shape }

    /// - Throws: `usage` for an entity that the store does not hold.
    package func columns(of entityName: String) throws -> EntityColumns {
        if let columns = writer.columns(of: entityName) { return columns }
        throw MigrationError(
            .usage, "The store holds no objects of \(entityName).", place: entityName,
            remedy:
                "Use one of: \(layout.entityNumbers.keys.sorted { $0.precedesInByteOrder($1) }.joined(separator: ", "))."
        )
    }

    /// Returns the origin that the identities of an entity's objects share.
    func origin(of entityName: String) -> ObjectID.Origin {
        if let known = origins[entityName] { return known }
        let origin = ObjectID.Origin(store: identifier, entityName: entityName)
        origins[entityName] = origin
        return origin
    }

    /// The identity of an object of this store.
    package func id(_ entityName: String, key: Int64) -> ObjectID { ObjectID(origin(of: entityName), key: key) }

    /// The key of an object of this store.
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

    /// The entity that a number of `Z_ENT` stands for.
    func entityName(_ number: Int64) -> String? { entityNames[number] }

    // MARK: - Statements that are kept

    /// The uniqueness constraints of the table of a root entity.
    func uniqueColumns(of root: String) -> [UniqueColumns] {
        if let known = constraints[root] { return known }
        let found = UniqueColumns.all(of: root, in: writer)
        constraints[root] = found
        return found
    }

    /// Inserts objects of an entity, one statement of its own for each caller.
    ///
    /// - Throws: `usage` for an entity that the store does not hold or that is abstract.
    package func newInserter(_ entityName: String) throws -> RowInserter {
        let entity = try columns(of: entityName)
        return try RowInserter(entity, positions: entity.writtenPositions, writer: writer)
    }

    /// Inserts whole objects of an entity.
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

    /// Reads the present metadata of the store, with what applications keep there.
    package func metadata() throws -> StoreMetadata { try reading { try StoreMetadata(from: connection) } }

    /// Changes what applications keep in the metadata, under names of their own: one step, over what is there now.
    ///
    /// - Throws: `usage` where `body` adds one of Core Data's own entries; then nothing is written.
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

    /// - Parameters: a pragma and a value, both plain words or numbers.
    package func setPragma(_ name: String, _ value: String) throws {
        try connection.execute("PRAGMA \(name) = \(value)")
    }

    /// Has SQLite count what its indexes hold, for better plans.
    package func analyze() throws { try connection.execute("ANALYZE") }

    /// Rebuilds the file without its unused space.
    package func vacuum() throws { try connection.execute("VACUUM") }

    /// The connection, for copying its pages; nothing else may be done with it.
    package func withConnection<Result>(_ body: (Connection) throws -> Result) rethrows -> Result {
        try body(connection)
    }
}
