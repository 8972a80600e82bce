import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import MoultVerify

/// The tables, columns and indexes that a store lacks, and the statements that make them.
struct SchemaRepair: Sendable {
    /// The findings, one for each table, column and index.
    let report: RepairReport
    /// The unique indexes to make after rows with shared values are repaired.
    let waiting: [WaitingIndex]
    /// The gaps in persistent history, which stay where the rules do not include history.
    let history: HistoryGaps
    /// Whether the rows cannot be read until this repair is done.
    let breaksReading: Bool
    private let script: SchemaScript
    /// The indexes to rebuild before anything is read through them.
    let faults: [IndexFault]
    /// The most bytes that the indexes and values to be made take.
    let newBytes: Int64

    var statements: [StoreScript.Statement] { script.statements + faults.compactMap(\.statement) }
    /// Whether an index gives other rows than its table.
    var hasIndexFaults: Bool { !faults.isEmpty }
    var isEmpty: Bool { statements.isEmpty }
    /// Whether this repair may leave dangling rows in persistent history.
    var makesHistory: Bool {
        !breaksReading && !(script.gaps.history.tables.isEmpty && script.gaps.history.columns.isEmpty)
    }

    /// - Parameters:
    ///   - connection: a connection to the store, for reading.
    ///   - known: the indexes that do not match their tables; nil to look for them.
    /// - Throws: `storeCorrupted` if the entity of a table is unknown, or if a fault that the rules leave but could
    ///   repair, in the schema or an index, keeps the rows from being read.
    init(
        _ snapshot: StoreSnapshot, model: ManagedObjectModel, _ rules: Set<RepairRule>, over connection: Connection,
        knowing known: [IndexFault]? = nil
    ) throws {
        var gaps = SchemaGaps()
        let layout = try StoreLayout(completing: snapshot, model: model, gaps: &gaps)
        faults = try known ?? IndexFault.all(connection)
        if let fault = faults.first, !rules.contains(.indexes) {
            throw MigrationError(
                .storeCorrupted,
                "The index \(fault.index.name) does not match its table: rows cannot be looked up by it.",
                place: fault.index.name, remedy: "Leave \(option: .only([])) out, or name indexes in it.")
        }
        breaksReading = gaps.breaksReading || !faults.isEmpty
        history = gaps.history
        let obstacles = gaps.obstacles
        gaps = gaps.possible
        try Self.check(gaps, rules)
        var search = SchemaSearch(connection, snapshot, layout)
        // The indexes of a history table are made with it.
        gaps.indexes.removeAll { index in
            !rules.contains(gaps.history.tables.contains { $0.name == index.table } ? .history : .indexes)
        }
        let entries = try gaps.indexes.map(connection.bytesOfEntries)
        waiting = try search.lookAtIndexes(&gaps, repairsRows: rules.contains(.duplicates) && !breaksReading)
        gaps.history.keep(rules)
        script = SchemaScript(gaps, layout: layout, catalogue: snapshot.catalogue)
        let values = try script.fills.map { fill in
            try connection.attempt {
                try connection.integer("SELECT 12 * count(*) FROM main.\(fill.table.quotedName)") ?? 0
            } ?? 0
        }
        newBytes = (entries + values).reduce(0, &+)
        try search.lookAtTables(script)
        let remarks = layout.findings.filter { $0.code == "column-type" }
        report = RepairReport(
            faults: try search.findings + faults.map(search.finding),
            remarks: remarks + obstacles + history.lasting + search.remarks + faults.compactMap(\.remark))
    }

    private static func check(_ gaps: SchemaGaps, _ rules: Set<RepairRule>) throws {
        let hasTables = !(gaps.numbers.isEmpty && gaps.tables.isEmpty && gaps.joinTables.isEmpty)
        guard hasTables && !rules.contains(.tables) || !gaps.columns.isEmpty && !rules.contains(.columns) else {
            return
        }
        let place =
            gaps.tableNames.min() ?? gaps.columns.first.map { "\($0.table).\($0.column.name)" } ?? "Z_PRIMARYKEY"
        throw MigrationError(
            .storeCorrupted, "Tables or columns are missing, such as \(place): the rows cannot be read without them.",
            place: place, remedy: "Leave \(option: .only([])) out, or name tables and columns in it.")
    }

    /// Verifies the repair; `main` is the new store, the schema `source` the old one.
    func verify(_ connection: Connection) throws {
        let gaps = script.gaps
        let tables =
            gaps.tables.map { ("table", $0.name, $0.sql) } + gaps.joinTables.map { ("table", $0.name, $0.sql) }
            + gaps.virtualTables.map { ("table", $0.name, $0.sql) }
            + gaps.history.tables.map { ("table", $0.name, $0.sql) }
        let others =
            gaps.indexes.map { ("index", $0.name, $0.sql) } + gaps.triggers.map { ("trigger", $0.name, $0.sql) }
        let objects = (tables + others).map { StoreShape.Object(kind: $0.0, name: $0.1, sql: $0.2) }
        try SchemaRepairVerifier(
            connection, objects: objects,
            columns: script.fills.map(SchemaRepairVerifier.Column.init)
                + gaps.history.columns.map(SchemaRepairVerifier.Column.init),
            numbers: gaps.numbers.map(\.number) + gaps.history.counters.map(\.number),
            gone: faults.filter(\.isDropped).map(\.index.name)
        ).verify()
        let shape = StoreShape(objects: [], entities: [])
        let left = Set(faults.filter { $0.statement == nil }.map(\.index.name))
        let verifier = StoreVerifier(connection, shape: shape)
        if let fault = try verifier.pages(full: hasIndexFaults).first(where: { !left.contains($0.place) }) {
            throw MigrationError(
                .verificationFailed, "The new store is damaged. \(fault.message)", place: connection.path,
                remedy: "The store is unchanged. Report this as a bug.")
        }
    }
}

extension Connection {
    /// Returns the most bytes that the entries of an index take: the values of its columns, and the keys.
    fileprivate func bytesOfEntries(of index: IndexDefinition) throws -> Int64 {
        let names = Set(index.sql.sqlTokens.map(\.name))
        let values = try columns(of: index.table).map(\.name).filter(names.contains).map { name in
            let value = name.quotedName
            return " + iif(typeof(\(value)) IN ('text', 'blob'), length(CAST(\(value) AS BLOB)) + 5, 10)"
        }
        // A missing table has no rows, and a full page is not filled to the last byte.
        guard !values.isEmpty else { return 0 }
        let sum = "total(12\(values.joined())) * 1.25"
        return try integer("SELECT CAST(\(sum) AS INTEGER) FROM main.\(index.table.quotedName)") ?? 0
    }
}

extension SchemaRepairVerifier.Column {
    fileprivate init(_ fill: ColumnFill) {
        self.init(table: fill.table, name: fill.column.name, type: fill.column.type, numbers: fill.numbers)
        switch fill.value {
        case .expression(let value): self.value = value
        case .places(let key): listKey = key
        case .unknown: return
        }
    }

    fileprivate init(_ gap: HistoryGaps.Column) {
        self.init(
            table: gap.table.name, name: gap.column.name, type: gap.column.declaredType, numbers: [gap.table.number],
            value: gap.value)
    }
}

extension HistoryGaps {
    /// Removes the gaps that other rules fill, or that no repair can.
    fileprivate mutating func keep(_ rules: Set<RepairRule>) {
        let isComplete = tables.isEmpty && columns.isEmpty
        if !rules.contains(.history) {
            // Computing the counters reads every table.
            if !isComplete { counters = [] }
            (tables, columns) = ([], [])
        }
        if !rules.contains(.keyCounters) { counters.removeAll { !tables.contains($0) } }
        columns.removeAll { !$0.canBeAdded }
    }
}

extension IndexFault {
    /// Whether this is a unique index with repeated values: it is dropped, and the next repair treats it as missing.
    fileprivate var isDropped: Bool { doubles > 0 && index.sql != nil }

    /// The statement that rebuilds the index. A unique index with repeated values is dropped; for the index of a
    /// constraint this is nil then.
    fileprivate var statement: StoreScript.Statement? {
        guard doubles == 0 else {
            let reason = "Take the index \(index.name) away, until the rows that share a value are repaired."
            return index.sql.map { _ in .dropIndex(index.name, of: index.tableName, reason) }
        }
        return .init(
            .createIndex, index.tableName, "REINDEX main.\(index.name.quotedName)",
            "Create the index \(index.name) again.")
    }

    fileprivate var remark: Finding? {
        guard doubles > 0 else { return nil }
        return Finding(
            code: "index-damaged", severity: .error, place: index.name,
            message: "The unique index \(index.name) does not match its table, in which "
                + "\(Quantity.count(doubles, "value occurs", plural: "values occur")) more than once.",
            remedy: isDropped
                ? "It is taken away. Run \(.repair) again: it repairs the rows, and makes the index."
                : "Change the rows of \(index.tableName) that share a value; then run \(.repair) again.")
    }
}

/// A search that counts the rows that gaps affect.
private struct SchemaSearch {
    private let connection: Connection
    private let snapshot: StoreSnapshot
    private let layout: StoreLayout
    private(set) var findings: [RepairReport.Fault] = []
    private(set) var remarks: [Finding] = []
    private var indexes: [RepairReport.Fault] = []

    init(_ connection: Connection, _ snapshot: StoreSnapshot, _ layout: StoreLayout) {
        (self.connection, self.snapshot, self.layout) = (connection, snapshot, layout)
    }

    /// Leaves out unique indexes with repeated values.
    ///
    /// - Parameter repairsRows: whether objects that share a value are repaired in the same run.
    /// - Returns: the indexes to make after that repair.
    mutating func lookAtIndexes(_ gaps: inout SchemaGaps, repairsRows: Bool) throws -> [WaitingIndex] {
        let new = Dictionary(grouping: gaps.columns, by: \.table).mapValues { Set($0.map(\.column.name)) }
        let differing = gaps.differing
        var waiting: [WaitingIndex] = []
        gaps.indexes = try gaps.indexes.filter { index in
            guard let table = snapshot.catalogue.table(index.table) else {
                indexes.append(.init(rule: .indexes, place: index.name, count: 0, keys: []))
                return true
            }
            var finding = RepairReport.Fault(rule: .indexes, place: index.name, count: try rows(index.table), keys: [])
            // A new column has no values yet.
            let isNew = new[index.table]?.contains { index.sql.names($0) } == true
            guard index.isUnique, !isNew,
                let late = try WaitingIndex(
                    index, on: table.sql, isThere: differing.contains(index.name), rows: finding.count),
                case let doubles = try late.doubles(connection), doubles > 0
            else {
                indexes.append(finding)
                return true
            }
            if repairsRows, layout.table(named: index.table) != nil {
                waiting.append(late)
            } else {
                finding.left = doubles
                indexes.append(finding)
                let isOfEntity = layout.table(named: index.table) != nil
                remarks.append(try late.remark(doubles, repairsRows: isOfEntity, connection))
            }
            return false
        }
        return waiting
    }

    mutating func lookAtTables(_ script: SchemaScript) throws {
        for table in script.gaps.tableNames.sorted() {
            findings.append(.init(rule: .tables, place: table, count: 0, keys: []))
        }
        findings += try history(script.gaps.history)
        for row in script.gaps.numbers where !script.gaps.tables.contains(where: { $0.rootEntityName == row.name }) {
            findings.append(.init(rule: .tables, place: RepairReport.numberPlace + row.name, count: 0, keys: []))
        }
        for fill in script.fills {
            // The rows of a join table have no entity.
            let count = try rows(fill.table, layout.joinTable(named: fill.table) == nil ? fill.numbers : nil)
            var finding = RepairReport.Fault(rule: .columns, place: fill.place, count: count, keys: [])
            if fill.isRequired, fill.value == .unknown { finding.left = count }
            findings.append(finding)
            remarks += remark(on: fill)
        }
        findings += indexes
    }

    func finding(_ fault: IndexFault) throws -> RepairReport.Fault {
        .init(
            rule: .indexes, place: fault.index.name, count: try rows(fault.index.tableName), keys: [],
            left: fault.doubles)
    }

    private func rows(_ table: String, _ numbers: [Int]? = nil) throws -> Int64 {
        let condition = numbers.map { " WHERE Z_ENT IN (\($0.map(String.init).joined(separator: ", ")))" } ?? ""
        return try connection.integer("SELECT count(*) FROM main.\(table.quotedName) NOT INDEXED\(condition)") ?? 0
    }

    private func history(_ gaps: HistoryGaps) throws -> [RepairReport.Fault] {
        gaps.tables.map { .init(rule: .history, place: $0.name, count: 0, keys: []) }
            + (try gaps.columns.map { gap in
                .init(rule: .history, place: gap.place, count: try rows(gap.table.name), keys: [])
            })
            + gaps.counters.filter { !gaps.tables.contains($0) }.map { table in
                .init(rule: .keyCounters, place: table.entityName, count: 1, keys: [Int64(table.number)])
            }
    }

    private func remark(on fill: ColumnFill) -> [Finding] {
        let table = layout.table(named: fill.table)
        guard table?.constraints.contains(where: { $0.columns.contains(fill.column.name) }) == true else { return [] }
        return [
            Finding(
                code: "constraint-missing", severity: .warning, place: fill.place,
                message: "SQLite cannot add the uniqueness of \(fill.column.name) to the table \(fill.table).",
                remedy: "\(.salvage) copies every object into a new store, whose tables are as the model asks.")
        ]
    }
}
