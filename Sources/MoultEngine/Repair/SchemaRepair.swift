import MoultModel
import MoultSQLite
import MoultStore
import MoultVerify

/// The tables, columns and indexes that a store lacks, and how they are made.
struct SchemaRepair: Sendable {
    /// What was found, one for each table, column and index.
    let report: RepairReport
    /// Whether the rows cannot be looked at before this is done.
    let breaksReading: Bool
    private let script: SchemaScript

    var statements: [StoreScript.Statement] { script.statements }
    var isEmpty: Bool { statements.isEmpty }

    /// - Parameter connection: the store, for reading.
    /// - Throws: `storeCorrupted` where it cannot be told what a table is, or where a gap that is not to be filled keeps
    ///   the rows from being read.
    init(
        _ snapshot: StoreSnapshot, model: ManagedObjectModel, _ rules: Set<RepairRule>, over connection: Connection
    ) throws {
        var gaps = SchemaGaps()
        let layout = try StoreLayout(completing: snapshot, model: model, gaps: &gaps)
        try Self.check(gaps, rules)
        breaksReading = gaps.breaksReading
        var search = SchemaSearch(connection, snapshot, layout)
        if rules.contains(.indexes) {
            try search.lookAtIndexes(&gaps)
        } else {
            gaps.indexes = []
        }
        script = SchemaScript(gaps, layout: layout, catalogue: snapshot.catalogue)
        try search.lookAtTables(script)
        let remarks = layout.findings.filter { $0.code == "column-type" }
        report = RepairReport(findings: search.findings, remarks: remarks + search.remarks)
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
            place: place, remedy: "Leave --only out, or name tables and columns in it.")
    }

    /// `main` is the new store, the schema `source` the old one.
    func verify(_ connection: Connection) throws {
        let gaps = script.gaps
        let tables =
            gaps.tables.map { ("table", $0.name, $0.sql) } + gaps.joinTables.map { ("table", $0.name, $0.sql) }
            + gaps.virtualTables.map { ("table", $0.name, $0.sql) }
        let others =
            gaps.indexes.map { ("index", $0.name, $0.sql) } + gaps.triggers.map { ("trigger", $0.name, $0.sql) }
        let objects = (tables + others).map { StoreShape.Object(kind: $0.0, name: $0.1, sql: $0.2) }
        try SchemaRepairVerifier(
            connection, objects: objects, columns: script.fills.map(SchemaRepairVerifier.Column.init),
            numbers: gaps.numbers.map(\.number)
        ).verify()
        let shape = StoreShape(objects: [], entities: [])
        if let fault = try StoreVerifier(connection, shape: shape).pages().first {
            throw MigrationError(
                .verificationFailed, "The new store is damaged. \(fault.message)", place: connection.path,
                remedy: "The store is as it was. Report this to Moult.")
        }
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
}

/// Counts the rows that gaps concern.
private struct SchemaSearch {
    private let connection: Connection
    private let snapshot: StoreSnapshot
    private let layout: StoreLayout
    private(set) var findings: [RepairReport.Finding] = []
    private(set) var remarks: [Finding] = []
    private var indexes: [RepairReport.Finding] = []

    init(_ connection: Connection, _ snapshot: StoreSnapshot, _ layout: StoreLayout) {
        (self.connection, self.snapshot, self.layout) = (connection, snapshot, layout)
    }

    /// Leaves those out that another index stands in for, and unique ones whose values are not.
    mutating func lookAtIndexes(_ gaps: inout SchemaGaps) throws {
        let known = IndexColumns(connection, snapshot)
        let new = Dictionary(grouping: gaps.columns, by: \.table).mapValues { Set($0.map(\.column.name)) }
        gaps.indexes = try gaps.indexes.filter { index in
            guard snapshot.catalogue.table(index.table) != nil else {
                indexes.append(.init(rule: .indexes, place: index.name, count: 0, keys: []))
                return true
            }
            guard try !known.isCovered(index) else { return false }
            var finding = RepairReport.Finding(
                rule: .indexes, place: index.name, count: try rows(index.table), keys: [])
            // A column that is new has no value yet.
            let isNew = new[index.table]?.contains { index.sql.names($0) } == true
            if index.isUnique, !isNew { finding.left = try doubles(index) }
            indexes.append(finding)
            return finding.left == 0
        }
    }

    mutating func lookAtTables(_ script: SchemaScript) throws {
        for table in script.gaps.tableNames.sorted() {
            findings.append(.init(rule: .tables, place: table, count: 0, keys: []))
        }
        for row in script.gaps.numbers where !script.gaps.tables.contains(where: { $0.rootEntityName == row.name }) {
            findings.append(.init(rule: .tables, place: RepairReport.numberPlace + row.name, count: 0, keys: []))
        }
        for fill in script.fills {
            let count = try rows(fill.table, fill.numbers)
            var finding = RepairReport.Finding(rule: .columns, place: fill.place, count: count, keys: [])
            if fill.isRequired, fill.value == .unknown { finding.left = count }
            findings.append(finding)
            remarks += remark(on: fill)
        }
        findings += indexes
    }

    private func rows(_ table: String, _ numbers: [Int]? = nil) throws -> Int64 {
        let condition = numbers.map { " WHERE Z_ENT IN (\($0.map(String.init).joined(separator: ", ")))" } ?? ""
        return try connection.integer("SELECT count(*) FROM main.\(table.quotedName)\(condition)") ?? 0
    }

    /// Values that occur more than once, of the columns that the index is on.
    private func doubles(_ index: IndexDefinition) throws -> Int64 {
        let entity = layout.model.entities.first { entity in
            entity.uniquenessConstraints.contains {
                index.name == "Z_\(entity.name)_UNIQUE_\($0.joined(separator: "_"))"
            }
        }
        let constraint = entity?.uniquenessConstraints.first {
            index.name == "Z_\(entity?.name ?? "")_UNIQUE_\($0.joined(separator: "_"))"
        }
        let columns = (constraint ?? []).compactMap { name in
            entity.flatMap { layout.column(forProperty: name, in: $0)?.quotedName }
        }
        guard !columns.isEmpty else { return 0 }
        let present = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        return try connection.integer(
            """
            SELECT count(*) FROM (SELECT 1 FROM main.\(index.table.quotedName) WHERE \(present) \
            GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1)
            """) ?? 0
    }

    private func remark(on fill: ColumnFill) -> [Finding] {
        let table = layout.tables.first { $0.name == fill.table }
        guard table?.constraints.contains(where: { $0.columns.contains(fill.column.name) }) == true else { return [] }
        return [
            Finding(
                code: "constraint-missing", severity: .warning, place: fill.place,
                message: "SQLite cannot add the uniqueness of \(fill.column.name) to the table \(fill.table).",
                remedy: "moult salvage copies every object into a new store, whose tables are as the model asks.")
        ]
    }
}
