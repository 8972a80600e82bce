import MoultBasics
import MoultModel
import MoultSQLite

/// A store's description of itself, read once: its catalogue, its metadata, its entity numbers and its model.
///
/// Creating a snapshot reads no rows of objects; ``rowCounts(of:over:)`` and `StoreReader` do.
package struct StoreSnapshot: Sendable, Equatable {
    package let path: String
    /// The content of `sqlite_master`, in its own order.
    package let catalogue: Catalogue
    package let columns: TableColumns
    package let metadata: StoreMetadata
    /// Every row of `Z_PRIMARYKEY` that has a name, by number, including those of history and CloudKit.
    package let primaryKeyRows: [PrimaryKeyRow]
    /// The model inside the store.
    package let cache: StoreModelCache
    /// The highest key in each table of persistent history that has rows.
    package let historyKeys: [String: Int64]
    package let file: FileFacts
    private let noticed: [Finding]
    /// The findings about the store, such as a damaged model cache or tables that were altered in place.
    package var findings: [Finding] { noticed + [frameworkFinding].compactMap(\.self) + cache.findings }

    /// Reads the description of the store in the connection's main database.
    ///
    /// - Parameter header: the first bytes of the file, at least 20, if available. Without them, a connection that does
    ///   not use locks cannot determine the journal mode.
    /// - Throws: `notAStore` for a database that is not a Core Data store, with the reason; `metadataInvalid` for NULL
    ///   or damaged metadata; `storeCorrupted` for a damaged file.
    package init(_ connection: Connection, header: [UInt8]? = nil) throws {
        path = connection.place
        catalogue = try connection.catalogue()
        try Self.checkIsStore(catalogue, path)
        columns = try TableColumns(of: catalogue, asking: { try connection.columns(of: $0) })
        var noticed: [Finding] = []
        metadata = try Self.metadata(connection, columns: columns["Z_METADATA"] ?? [])
        primaryKeyRows = try PrimaryKeyRow.all(connection, columns: columns["Z_PRIMARYKEY"] ?? [], findings: &noticed)
        cache = try StoreModelCache(connection, columns: columns["Z_MODELCACHE"])
        historyKeys = try Self.historyKeys(connection, columns)
        file = try FileFacts(connection, header: header)
        self.noticed = noticed
    }

    /// Returns the version inside the store.
    ///
    /// - Throws: `modelNotFound`, `modelInvalid`, as ``StoreModelCache/version(of:in:)``.
    package func ownVersion() throws -> ModelVersion { try cache.version(of: metadata, in: path) }

    /// SHA-256 of the catalogue, which stays the same until a table, index, trigger or view changes.
    package var catalogueDigest: [UInt8] { catalogue.digest }

    /// Throws an error that states why the file is not a store.
    private static func checkIsStore(_ catalogue: Catalogue, _ path: String) throws {
        let missing = ["Z_METADATA", "Z_PRIMARYKEY"].filter { catalogue.table($0) == nil }
        guard !missing.isEmpty else { return }
        let found =
            catalogue.entries.isEmpty
            ? "The SQLite database is empty"
            : "The SQLite database has no \(missing.joined(separator: " and no "))"
        throw MigrationError(
            .notAStore, "\(found), so it is not a Core Data store.", place: path,
            remedy: "Name a store that Core Data or SwiftData made.")
    }

    // MARK: - Contents of the store

    /// The level whose rules the tables follow; the nearest known one if the store's own is unknown.
    package var framework: FrameworkLevel { metadata.framework.map(FrameworkLevel.init)?.nearestKnown ?? .newest }
    /// The hashes of the entities in the store; empty if the metadata contain none.
    package var hashes: VersionHashes { metadata.hashes ?? VersionHashes(read: [:]) }
    /// The content of `Z_MODELCACHE`; nil if the table, its row or its content is missing.
    package var modelCache: [UInt8]? { cache.bytes }
    /// The model in the cache; nil if there is no readable one.
    package var cachedModel: ManagedObjectModel? { cache.model }
    package var hasHistory: Bool { catalogue.table("ACHANGE") != nil && catalogue.table("ATRANSACTION") != nil }

    /// The rows of `Z_PRIMARYKEY` for the model's entities, without those of history and CloudKit.
    package var entityRows: [PrimaryKeyRow] { primaryKeyRows.filter { $0.number < 16_001 } }

    /// The tables of a CloudKit mirror.
    package var cloudKitTables: [String] { catalogue.tables.map(\.name).filter { $0.hasPrefix("ANSCK") } }

    /// Tables whose text shows that an earlier migration altered them in place.
    package var tablesAlteredInPlace: [String] { catalogue.tables.filter(\.wasAlteredInPlace).map(\.name) }

    /// Returns the number of objects of each entity, by `Z_ENT`. Numbers without an entity are included, and -1 stands
    /// for NULL.
    ///
    /// - Parameter table: the name of an entity's table.
    package func rowCounts(of table: String, over connection: Connection) throws -> [Int: Int64] {
        let sql = "SELECT ifnull(Z_ENT, -1), count(*) FROM \(table.quotedName) GROUP BY 1"
        let rows = try connection.rows(sql) { (Int($0.integer(0)), $0.integer(1)) }
        return Dictionary(rows, uniquingKeysWith: +)
    }

    /// Returns the number of objects of each entity in a layout of this store, not counting sub-entities.
    package func rowCounts(in layout: StoreLayout, over connection: Connection) throws -> [String: Int64] {
        try census(in: layout, over: connection).rowCounts
    }

    /// Returns the same numbers, and whether a row belongs to no entity of its table, by reading each table once.
    func census(
        in layout: StoreLayout, over connection: Connection
    ) throws -> (rowCounts: [String: Int64], hasStrangers: Bool) {
        var (rowCounts, hasStrangers): ([String: Int64], Bool) = ([:], false)
        for table in layout.tables {
            let names = layout.numbers(inTable: table.name).reduce(into: [Int64: String]()) { names, number in
                names[Int64(number)] = layout.entityName(number: number)
            }
            for name in names.values { rowCounts[name] = 0 }
            // A table with a single entity needs no grouping.
            if names.count == 1, let (number, name) = names.first {
                let sql = "SELECT count(*) FILTER (WHERE Z_ENT = \(number)), count(*) FROM \(table.name.quotedName)"
                let counts = try connection.rows(sql) { ($0.integer(0), $0.integer(1)) }
                rowCounts[name] = counts.first?.0 ?? 0
                hasStrangers = hasStrangers || counts.contains { $0.0 != $0.1 }
                continue
            }
            let sql = "SELECT Z_ENT, count(*) FROM \(table.name.quotedName) GROUP BY 1"
            let counts = try connection.rows(sql) { ($0.value(0), $0.integer(1)) }
            for (number, count) in counts {
                if case .integer(let number) = number, let name = names[number] {
                    rowCounts[name] = count
                } else {
                    hasStrangers = true
                }
            }
        }
        return (rowCounts, hasStrangers)
    }

    // MARK: - Reading

    /// The tables that Core Data creates in every store; the last one exists from framework level 637.
    package static let coreTables = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
    package static let historyTables = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    private static func metadata(_ connection: Connection, columns: [Catalogue.Column]) throws -> StoreMetadata {
        for name in ["Z_VERSION", "Z_UUID", "Z_PLIST"] where !columns.contains(where: { $0.name == name }) {
            throw StoreMetadata.invalid("The metadata table has no column \(name).")
        }
        let metadata = try StoreMetadata(from: connection)
        if metadata.hashes == nil, metadata.entries[StoreMetadata.Key.hashes] != nil {
            throw StoreMetadata.invalid("The metadata's entry \(StoreMetadata.Key.hashes) has no hashes.")
        }
        return metadata
    }

    /// Returns the number of rows in each table of persistent history; empty without history. The rows are counted.
    package func historyRows(over connection: Connection) throws -> [String: Int64] {
        var rows: [String: Int64] = [:]
        for table in Self.historyTables where catalogue.table(table) != nil {
            rows[table] = try connection.integer("SELECT count(*) FROM \(table.quotedName)")
        }
        return rows
    }

    private static func historyKeys(_ connection: Connection, _ columns: TableColumns) throws -> [String: Int64] {
        var keys: [String: Int64] = [:]
        for table in historyTables where columns[table]?.contains(where: { $0.name == "Z_PK" }) == true {
            keys[table] = try connection.integer("SELECT max(Z_PK) FROM \(table.quotedName)")
        }
        return keys
    }

    /// The facts in the database's header.
    package struct FileFacts: Sendable, Hashable {
        package enum JournalMode: String, Sendable, Hashable { case rollback, wal }

        /// The size in bytes.
        package let pageSize: Int64
        package let pageCount: Int64
        package let freePages: Int64
        /// 0 none, 1 full, 2 incremental.
        package let autoVacuum: Int64
        package let journalMode: JournalMode

        package var size: Int64 { pageSize.multipliedReportingOverflow(by: pageCount).partialValue }

        init(_ connection: Connection, header: [UInt8]?) throws {
            pageSize = try connection.integer("PRAGMA page_size") ?? 0
            pageCount = try connection.integer("PRAGMA page_count") ?? 0
            freePages = try connection.integer("PRAGMA freelist_count") ?? 0
            autoVacuum = try connection.integer("PRAGMA auto_vacuum") ?? 0
            // Byte 18 of the header is the file format write version (SQLite file format 1.3.3).
            if let header, header.count > 18 {
                journalMode = header[18] == 2 ? .wal : .rollback
            } else {
                journalMode = try connection.text("PRAGMA journal_mode") == "wal" ? .wal : .rollback
            }
        }
    }

    /// Returns a note for each table, including those of persistent history, whose counter in `Z_PRIMARYKEY` is below a
    /// key in use. A migration sets the counter to the highest key, which repairs it.
    ///
    /// - Parameter highestKeys: for each table, the highest key in use or ever assigned.
    func counterFindings(in layout: StoreLayout, _ highestKeys: [String: Int64]) -> [Finding] {
        let entities = layout.tables.map { (name: $0.rootEntityName, highest: highestKeys[$0.name]) }
        let history = historyKeys.sorted { $0.key < $1.key }.map {
            (name: String($0.key.dropFirst()), highest: $0.value)
        }
        return (entities + history).compactMap { name, highest in
            guard let highest, let row = primaryKeyRows.first(where: { $0.name == name }),
                row.isUncountable || row.max < highest
            else { return nil }
            guard highest < .max else {
                return Finding(
                    code: "key-counter", severity: .error, place: name,
                    message: "\(name) has an object with the key \(highest), the highest that there is: no other can "
                        + "follow it.",
                    remedy: "Give the object a lower key in SQL, there and in what refers to it, or delete it.")
            }
            let fault =
                row.isUncountable
                ? "holds no number of keys of \(name) that another one follows"
                : "counts \(row.max) keys of \(name), but the highest is \(highest)"
            return Finding(
                code: "key-counter", severity: .note, place: name,
                message: "Z_PRIMARYKEY of the store \(fault). The migration sets the counter to \(highest).",
                remedy: "\(.repair) sets the counter without a migration.")
        }
    }
}

extension EntityTable {
    /// An SQL expression for the highest key among the table's rows.
    package var highestKeySQL: String { "ifnull((SELECT max(Z_PK) FROM main.\(name.quotedName)), 0)" }
}
