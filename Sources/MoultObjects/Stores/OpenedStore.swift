import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The facts about a store, collected when it is opened, after a check that the model is the one that made it.
struct OpenedStore {
    let layout: StoreLayout
    let identifier: UUID
    /// The version hashes in the store's metadata.
    var hashes: VersionHashes { snapshot.hashes }
    /// SQLite's `schema_version`, which every change to the tables increments.
    let schemaVersion: Int64
    /// SQLite's `data_version`, which every commit of another connection changes.
    let dataVersion: Int64
    /// The row of `Z_METADATA`.
    let metadataRow: [SQLiteValue]
    /// The rows of `Z_PRIMARYKEY` for persistent history.
    let historyRows: [PrimaryKeyRow]
    private let snapshot: StoreSnapshot

    /// - Parameters:
    ///   - part: the part of the model that the store must hold; nil for whatever it holds.
    ///   - requiresExpected: whether the tables must be as expected, because rows will be written to an app's store.
    init(
        _ connection: Connection, model: ManagedObjectModel, part: StorePart?, path: String, requiresExpected: Bool
    ) throws {
        let snapshot = try StoreSnapshot(connection)
        let version = ModelVersion(names: ["the model"], model: model)
        let expected = try part.map { try version.restricted(to: $0) } ?? version.held(by: snapshot.hashes)
        try Self.check(snapshot.hashes, expected.hashes, path: path)
        layout = try StoreLayout(actual: snapshot, model: part == nil ? expected.model : model)
        if let fault = layout.noticed.first(where: { $0.severity == .error }) {
            // If an entity's hash was not compared, another model version is a likelier cause than damage.
            let isOther = snapshot.hashes.entities.contains { expected.hashes.entities[$0.key] != $0.value }
            guard !isOther else { throw Self.differs(fault.message, path) }
            throw MigrationError(
                .storeCorrupted, fault.message, place: fault.place, remedy: MigrationError.damagedStoreRemedy)
        }
        if requiresExpected { try snapshot.requireExpectedCatalogue(for: model) }
        identifier = try snapshot.metadata.identifier(place: path)
        self.snapshot = snapshot
        historyRows = snapshot.primaryKeyRows.filter { (16_001...16_003).contains($0.number) }
        schemaVersion = try connection.integer("PRAGMA schema_version") ?? 0
        dataVersion = try connection.integer("PRAGMA data_version") ?? 0
        metadataRow = try Self.metadataRow(connection)
    }

    static func metadataRow(_ connection: Connection) throws -> [SQLiteValue] {
        let query = "SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1"
        return try connection.rows(query) { $0.row }.first ?? []
    }

    /// Returns the names of a table's columns.
    func columns(_ table: String) -> [String] { (snapshot.columns[table] ?? []).map(\.name) }

    /// Compares version hashes. An uncertain hash is not compared, because Moult may have computed it wrongly.
    private static func check(_ stored: VersionHashes, _ expected: VersionHashes, path: String) throws {
        let names = Set(stored.entities.keys).union(expected.entities.keys)
        let different = names.filter { name in
            guard let one = stored.entities[name], let other = expected.entities[name] else { return true }
            return one != other && expected.uncertain[name] == nil
        }
        guard !different.isEmpty else { return }
        let list = different.inByteOrder().map { name in
            stored.entities[name] == nil
                ? "\(name) (not in the store)" : expected.entities[name] == nil ? "\(name) (not in the model)" : name
        }
        throw differs("These entities differ: \(list.joined(separator: ", ")).", path)
    }

    private static func differs(_ difference: String, _ path: String) -> MigrationError {
        MigrationError(
            .storeAhead, "The model is not the one of the store. \(difference)", place: path,
            remedy: "Open the store with the model of its version, or migrate it first.")
    }
}

extension ObjectStore {
    /// Checks, inside a transaction, that the store is still the same, and of the version with which it was opened.
    ///
    /// - Throws: `storeAhead` if another process has migrated or replaced the store.
    func checkSchema() throws {
        let statement = try writer.statement("PRAGMA data_version")
        let commits = try statement.step() ? statement.integer(0) : 0
        statement.reset()
        guard commits != dataVersion else { return }
        // A migration may change the metadata and no table. Then only the counter of commits tells.
        let version = try connection.integer("PRAGMA schema_version") ?? 0
        let row = try OpenedStore.metadataRow(connection)
        if version != schemaVersion || row != metadataRow {
            try checkDescription()
            (schemaVersion, metadataRow) = (version, row)
        }
        dataVersion = commits
    }

    private func checkDescription() throws {
        let snapshot = try StoreSnapshot(connection)
        // A vacuum, a new index, or the end of deferred work changes the counter, and an app the metadata, but nothing
        // that matters here: columns are accessed by name.
        guard let now = try? StoreLayout(actual: snapshot, model: model), now.continues(layout),
            snapshot.hashes == hashes, now.entityNumbers == layout.entityNumbers,
            now.triggers == layout.triggers, now.hasHistory == layout.hasHistory,
            snapshot.metadata.uuid == identifier.uuidString
        else {
            throw MigrationError(
                .storeAhead, "The store was migrated to another version since it was opened.", place: path,
                remedy: "Close it and open it again with the model of its version.")
        }
    }

    /// Runs `body` on one state of the store; inside another transaction, as a part of that.
    package func reading<Result>(_ body: () throws -> Result) throws -> Result {
        if connection.isInTransaction { return try body() }
        try writer.statement("BEGIN DEFERRED").run()
        defer { if connection.isInTransaction { try? writer.statement("COMMIT").run() } }
        try checkSchema()
        return try body()
    }
}

extension StoreLayout {
    /// Whether each property is where an earlier layout of the store had it. The order of columns may differ, and
    /// columns without a property may be gone.
    fileprivate func continues(_ earlier: StoreLayout) -> Bool {
        guard tables.count == earlier.tables.count, joinTables.count == earlier.joinTables.count else { return false }
        return tables.allSatisfy { table in
            guard let before = earlier.table(named: table.name) else { return false }
            let (now, then) = (Set(table.columns), Set(before.columns))
            return now.isSubset(of: then) && then.subtracting(now).allSatisfy { $0.role == .unknown }
        }
            && joinTables.allSatisfy { join in
                earlier.joinTables.contains { $0.name == join.name && Set($0.columns) == Set(join.columns) }
            }
    }
}

extension StoreMetadata {
    /// Returns the store's UUID as a value.
    ///
    /// - Throws: `metadataInvalid` if the text is not a UUID.
    package func identifier(place: String) throws(MigrationError) -> UUID {
        guard let identifier = UUID(uuidString: uuid) else {
            throw MigrationError(
                .metadataInvalid, "The store's UUID is \"\(uuid)\", which is not a UUID.", place: place,
                remedy: MigrationError.damagedStoreRemedy)
        }
        return identifier
    }
}
