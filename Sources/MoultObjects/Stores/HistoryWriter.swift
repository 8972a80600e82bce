import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// A writer of a transaction's changes to a store's persistent history.
///
/// The first change writes the row of the transaction; a transaction without changes leaves none.
package final class HistoryWriter {
    private let writer: RowWriter
    private let numbers: [String: Int]
    /// The number of tombstone columns of the table.
    private let tombstones: Int
    private let hasStrings: Bool
    private var slots: [String: [HistorySlots.Slot: Int]] = [:]
    private var toManyCounts: [String: Int] = [:]
    /// The statements that write a change, by the number of tombstone values.
    private var statements: [Int: Statement] = [:]
    /// The statement that writes the changes of objects with consecutive keys.
    private var runStatement: Statement?
    private var changeNumber: Int?
    /// The number of the current or last transaction; nil while it has changed nothing.
    private(set) var transaction: Int64?
    /// The author of the current transaction.
    var author: String?
    var contextName: String?

    /// The program that saves, as the rows name it.
    var program = Program()

    package struct Program: Sendable {
        package var bundleIdentifier: String?
        package var processName: String?

        package init(bundleIdentifier: String? = nil, processName: String? = nil) {
            self.bundleIdentifier = bundleIdentifier
            self.processName = processName
        }
    }

    /// Returns nil for a store without history.
    init?(_ writer: RowWriter, changeColumns: [String], transactionColumns: [String], rows: [PrimaryKeyRow]) {
        guard writer.layout.hasHistory else { return nil }
        self.writer = writer
        numbers = Dictionary(rows.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
        tombstones = changeColumns.filter { $0.hasPrefix("ZTOMBSTONE") }.count
        hasStrings = transactionColumns.contains("ZAUTHORTS")
    }

    func begin(author: String?, contextName: String?) {
        transaction = nil
        changeNumber = nil
        self.author = author
        self.contextName = contextName
    }

    private enum Change: Int64 {
        case insert = 0
        case update = 1
        case delete = 2
    }

    /// Writes a change of each of the objects.
    func write(_ changed: ChangedKeys) throws {
        try write(changed.bits == nil ? .insert : .update, changed.entity.number, changed.keys, columns: changed.bits)
    }

    /// - Parameter properties: the names of the changed properties.
    package func updated(_ entity: EntityColumns, _ key: Int64, properties: some Sequence<String>) throws {
        let bits = bits(of: Set(properties.flatMap(entity.historySlots)), entity)
        try write(ChangedKeys(entity: entity, keys: key...key, bits: bits))
    }

    /// Returns the `ZCOLUMNS` of a change to these slots.
    func bits(of changed: Set<HistorySlots.Slot>, _ entity: EntityColumns) -> [UInt8] {
        let places = places(of: entity)
        var bits = [UInt8](repeating: 0, count: (places.count + 7) / 8)
        let name = entity.shape.entity.name
        // The order of several to-many slots is not predictable: a change of one is recorded as a change of each.
        let all = (toManyCounts[name] ?? 0) > 1 && changed.contains { $0.isToMany }
        for (slot, place) in places where changed.contains(slot) || (all && slot.isToMany) {
            bits[place / 8] |= 0x80 >> UInt8(place % 8)
        }
        return bits
    }

    /// - Parameter kept: the values of the attributes preserved after deletion, in the order of
    ///   ``EntityColumns/tombstoneColumns``.
    package func deleted(_ entity: EntityColumns, _ key: Int64, kept: [SQLiteValue]) throws {
        try write(.delete, entity.number, key...key, kept: kept)
    }

    private func places(of entity: EntityColumns) -> [HistorySlots.Slot: Int] {
        let name = entity.shape.entity.name
        if let known = slots[name] { return known }
        let found = HistorySlots(of: entity.shape.entity, in: writer.layout)
        let places = Dictionary(found.slots.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        slots[name] = places
        toManyCounts[name] = found.toManyNames.count
        return places
    }

    // MARK: - Rows

    private func write(
        _ change: Change, _ entityNumber: Int64, _ keys: ClosedRange<Int64>, columns: [UInt8]? = nil,
        kept: [SQLiteValue] = []
    ) throws {
        let transaction = try self.transaction ?? makeTransaction()
        let kept = kept.prefix(tombstones)
        let count = keys.upperBound - keys.lowerBound + 1
        let statement = try count > 1 ? statementOfRun() : statement(keeping: kept.count)
        let entity = try changeNumber ?? number(of: "CHANGE")
        changeNumber = entity
        try statement.bind(writer.keys.next(entity, table: "ACHANGE", count: count), at: 1)
        try statement.bind(Int64(entity), at: 2)
        try statement.bind(change.rawValue, at: 3)
        try statement.bind(entityNumber, at: 4)
        try statement.bind(keys.lowerBound, at: 5)
        try statement.bind(transaction, at: 6)
        if let columns {
            try columns.withUnsafeBytes { try statement.bind($0, at: 7) }
        } else {
            try statement.bindNull(at: 7)
        }
        for (position, value) in kept.enumerated() { try statement.bind(value, at: position + 8) }
        if count > 1 { try statement.bind(count, at: 8) }
        try statement.run()
    }

    private static let columns = "Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS"

    private func statement(keeping count: Int) throws -> Statement {
        if let known = statements[count] { return known }
        let names = (0..<count).map { ", ZTOMBSTONE\($0)" }.joined()
        let parameters = String(repeating: ", ?", count: count)
        let made = try writer.connection.prepare(
            "INSERT INTO ACHANGE (\(Self.columns)\(names)) VALUES (?, ?, ?, ?, ?, ?, ?\(parameters))")
        statements[count] = made
        return made
    }

    /// Returns the statement that writes as many rows as its eighth parameter, with consecutive keys of rows and
    /// objects.
    private func statementOfRun() throws -> Statement {
        if let runStatement { return runStatement }
        let made = try writer.connection.prepare(
            "INSERT INTO ACHANGE (\(Self.columns)) "
                + "WITH RECURSIVE place(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM place WHERE n + 1 < ?8) "
                + "SELECT ?1 + n, ?2, ?3, ?4, ?5 + n, ?6, ?7 FROM place")
        runStatement = made
        return made
    }

    private func makeTransaction() throws -> Int64 {
        let entity = try number(of: "TRANSACTION")
        let key = try writer.keys.next(entity, table: "ATRANSACTION")
        let texts = [
            ("AUTHOR", author), ("BUNDLEID", program.bundleIdentifier), ("CONTEXTNAME", contextName),
            ("PROCESSID", program.processName),
        ]
        // The texts are in a table of their own or, in older stores, in the row.
        let columns = texts.map { hasStrings ? "Z\($0.0)TS" : "Z\($0.0)" }.joined(separator: ", ")
        let values = try texts.map { try hasStrings ? string($0.1) : $0.1.map(SQLiteValue.text) ?? .null }
        try writer.statement(
            "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, \(columns)) VALUES (?, ?, ?, ?, ?, ?, ?)"
        ).run([.integer(key), .integer(Int64(entity)), .real(writer.now.sinceReferenceDate)] + values)
        transaction = key
        return key
    }

    /// Returns the key of a text in `ATRANSACTIONSTRING`, where each text is stored once.
    private func string(_ text: String?) throws -> SQLiteValue {
        guard let text else { return .null }
        if let known = try writer.connection.integer(
            "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?", [.text(text)])
        {
            return .integer(known)
        }
        let entity = try number(of: "TRANSACTIONSTRING")
        let key = try writer.keys.next(entity, table: "ATRANSACTIONSTRING")
        try writer.connection.run(
            "INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, ?, ?)",
            [.integer(key), .integer(Int64(entity)), .text(text)])
        return .integer(key)
    }

    /// Returns the number of a history entity. A store without any saves has the history tables, but no rows for them
    /// in `Z_PRIMARYKEY`: the first transaction inserts them, and its rollback removes them.
    private func number(of name: String) throws -> Int {
        if let number = numbers[name] { return number }
        let row = PersistentHistory(of: writer.layout).primaryKeyRows.first { $0.name == name }
        if let row {
            try writer.statement(
                "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, 0, 0)"
            )
            .run([.integer(Int64(row.number)), .text(name)])
            let found = try writer.connection.integer("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = ?", [.text(name)])
            if found == Int64(row.number) { return row.number }
        }
        throw MigrationError(
            .storeCorrupted, "The table Z_PRIMARYKEY has no row for \(name), which its history needs.",
            place: "Z_PRIMARYKEY", remedy: MigrationError.damagedStoreRemedy)
    }
}

extension HistorySlots.Slot {
    fileprivate var isToMany: Bool { if case .toMany = self { true } else { false } }
}

extension EntityColumns {
    /// Returns the slots that a change to a property sets.
    func historySlots(of name: String) -> [HistorySlots.Slot] {
        guard let position = shape.position(of: name) else { return [] }
        switch places[position] {
        case .none:
            return []
        case .attribute:
            return [.attribute(name)]
        case .toOne(_, let entityColumn, let relationship):
            return [.toOne(name)] + (entityColumn == nil ? [] : [.toOneEntity(name)])
                + (relationship.inverseOrderColumn == nil ? [] : [.order(name)])
        case .toMany:
            return [.toMany(name)]
        }
    }

    /// Returns the columns of the attributes that history preserves after deletion: inherited ones first, then by name.
    func tombstoneColumns(in layout: StoreLayout) -> [String] {
        layout.model.lineage(of: shape.entity).reversed().flatMap(\.attributes)
            .filter { $0.preservesValueInHistoryOnDeletion && $0.isStored }
            .compactMap { layout.column(forAttribute: $0.name, in: shape.entity) }
    }
}
