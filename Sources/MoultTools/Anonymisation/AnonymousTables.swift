import MoultBasics
import MoultObjects
import MoultSQLite
import MoultStore

/// The tables of a database, whose values are replaced with stand-ins.
///
/// Its SQL function requires it to be Sendable; only the thread of the connection uses it.
final class AnonymousTables: @unchecked Sendable {
    private let connection: Connection
    private let rows: [AnonymousRows]
    private let standIns: StandIns
    private let columns: [AnonymousRows.Column]
    /// Whether the current pass only notes values.
    private var isNoting = true
    /// The number of values that stay the same, by the column's position in `columns`.
    private var unchanged: [Int] = []
    /// The external files of values that a rule keeps.
    private(set) var keptFiles: Set<String> = []

    private static let function = "moult_stand_in"

    init(_ connection: Connection, _ rows: [AnonymousRows], _ standIns: StandIns) throws {
        (self.connection, self.rows, self.standIns) = (connection, rows, standIns)
        columns = rows.flatMap(\.columns)
        unchanged = columns.map { _ in 0 }
        // The connection owns the function, and this object owns the connection.
        try connection.register(
            SQLiteFunction(Self.function, argumentCount: 2, isDeterministic: false) { [weak self] arguments in
                self?.standIn(for: arguments.cell(1), in: Int(arguments.integer(0))) ?? .null
            })
    }

    /// The number of unchanged values of each property, with the property's rule.
    var kept: [(place: String, rule: StandInRules.Rule, count: Int)] {
        var kept: [(place: String, rule: StandInRules.Rule, count: Int)] = []
        for (column, count) in zip(columns, unchanged) where count > 0 {
            kept.append((column.place, column.rule, count))
        }
        return kept.inByteOrder { $0.place }
    }

    // MARK: - Tables

    /// Notes every value.
    func note() throws {
        let meter = WorkMeter.current
        for (rows, list) in selections {
            try connection.forEachRow("SELECT \(list) FROM \(rows.table.quotedName) WHERE \(rows.condition)") { _ in
                meter?.advance()
            }
        }
        isNoting = false
    }

    /// Replaces all rows of a table at once, so that a stand-in may equal a value that another row still has.
    ///
    /// - Parameter others: tables to rewrite although none of their values gets a stand-in.
    func replace(and others: Set<String>) throws {
        let tables = Set(rows.filter { !$0.columns.isEmpty || others.contains($0.table) }.map(\.table))
        let sorted = tables.inByteOrder()
        let pieces = try sorted.map { table -> WorkMeter.Piece<Void> in
            let size = try connection.integer("SELECT count(*) FROM main.\(table.quotedName)") ?? 0
            return (size, { [try self.replace(table)] })
        }
        _ = try WorkMeter.each(pieces)
    }

    private func replace(_ table: String) throws {
        let names = try connection.columns(of: table).map(\.name)
        let list = names.map(\.quotedName).joined(separator: ", ")
        // Columns without affinity store values unchanged.
        try connection.execute("CREATE TEMP TABLE moult_rows (\(list))")
        for rows in rows where rows.table == table {
            let first = first(of: rows)
            let expressions = Dictionary(
                rows.columns.enumerated().map { ($1.name, expression($1, first + $0)) },
                uniquingKeysWith: { first, _ in first })
            let values = names.map { expressions[$0] ?? $0.quotedName }
            try connection.execute(
                "INSERT INTO temp.moult_rows SELECT \(values.joined(separator: ", ")) FROM main.\(table.quotedName) "
                    + "WHERE \(rows.condition)")
        }
        try connection.execute(
            "DELETE FROM main.\(table.quotedName); INSERT INTO main.\(table.quotedName) (\(list)) "
                + "SELECT \(list) FROM temp.moult_rows; DROP TABLE temp.moult_rows")
    }

    /// Exchanges the values of properties with the rule `shuffle` among their rows, before the values are noted.
    func shuffle(_ generator: inout SeededGenerator) throws {
        for rows in rows where rows.table != "ACHANGE" {
            for column in rows.columns where column.rule == .shuffle {
                let (table, name) = ("main.\(rows.table.quotedName)", column.name.quotedName)
                let these = "(\(rows.condition)) AND \(name) IS NOT NULL"
                let keys = try connection.rows("SELECT Z_PK FROM \(table) WHERE \(these) ORDER BY Z_PK") {
                    $0.integer(0)
                }
                try connection.execute("CREATE TEMP TABLE moult_places (key INTEGER PRIMARY KEY, value)")
                let insert = try connection.prepare(
                    "INSERT INTO temp.moult_places SELECT ?, \(name) FROM \(table) WHERE Z_PK = ?")
                defer { insert.finalise() }
                for (key, other) in zip(keys, keys.shuffled(using: &generator)) {
                    try insert.run([.integer(key), .integer(other)])
                    insert.reset()
                }
                let shuffled = "Z_PK IN (SELECT key FROM temp.moult_places)"
                // Clear the column first, so that no unique value occurs twice in between.
                try connection.execute(
                    "UPDATE \(table) SET \(name) = NULL WHERE \(shuffled); UPDATE \(table) SET \(name) = "
                        + "(SELECT value FROM temp.moult_places WHERE key = Z_PK) WHERE \(shuffled)")
                insert.finalise()
                try connection.execute("DROP TABLE temp.moult_places")
            }
        }
    }

    /// The rows, each with the list of columns for its SELECT.
    private var selections: [(rows: AnonymousRows, list: String)] {
        rows.compactMap { rows in
            guard !rows.columns.isEmpty else { return (rows, "1") }
            let first = first(of: rows)
            let calls = rows.columns.enumerated().map { "\(Self.function)(\(first + $0), \($1.name.quotedName))" }
            return (rows, calls.joined(separator: ", "))
        }
    }

    private func first(of rows: AnonymousRows) -> Int {
        var place = 0
        for other in self.rows {
            if other.table == rows.table, other.condition == rows.condition { return place }
            place += other.columns.count
        }
        return place
    }

    private func expression(_ column: AnonymousRows.Column, _ place: Int) -> String {
        let name = column.name.quotedName
        if column.rule == .erase { return "iif(\(name) IS NULL, NULL, \(column.erased.literal))" }
        // A text may contain bytes that are not UTF-8, so the function returns its bytes.
        let call = "\(Self.function)(\(place), \(name))"
        return "iif(typeof(\(name)) = 'text', CAST(\(call) AS TEXT), \(call))"
    }

    // MARK: - Values

    private func standIn(for cell: SQLiteCell, in place: Int) -> SQLiteValue {
        guard columns.indices.contains(place), !cell.isNull else { return .null }
        let column = columns[place]
        let value: SQLiteValue = cell.storageClass == .text ? .blob(cell.withBytes { Array($0) }) : cell.copy
        if column.rule == .keep || column.rule == .shuffle { return keep(value, cell, column, place) }
        let new = standIn(for: value, isText: cell.storageClass == .text, column.kind)
        if !isNoting, new == value { unchanged[place] += 1 }
        return new
    }

    private func keep(
        _ value: SQLiteValue, _ cell: SQLiteCell, _ column: AnonymousRows.Column, _ place: Int
    ) -> SQLiteValue {
        if !isNoting { unchanged[place] += 1 }
        guard let bytes = value.blob else { return value }
        standIns.keep(bytes)
        guard column.kind == .external, case .file(let name)? = ExternalStorage.Cell(bytes) else { return value }
        keptFiles.insert(name)
        return .blob(ExternalStorage.Cell.file(standIns.fileName(name)).bytes)
    }

    private func standIn(for value: SQLiteValue, isText: Bool, _ kind: AnonymousRows.Kind) -> SQLiteValue {
        switch value {
        case .blob(let bytes):
            if isText { return .blob(standIns.text(bytes)) }
            if kind == .uuid, bytes.count == 16 { return .blob(standIns.uuid(bytes)) }
            guard kind == .external, let cell = ExternalStorage.Cell(bytes) else { return .blob(standIns.bytes(bytes)) }
            switch cell {
            case .inline(let bytes): return .blob(ExternalStorage.Cell.inline(standIns.bytes(bytes)).bytes)
            case .file(let name): return .blob(ExternalStorage.Cell.file(standIns.fileName(name)).bytes)
            }
        case .integer(let number):
            switch kind {
            case .boolean, .unknown, .key: return value
            case .date: return .real(standIns.date(Double(number)))
            default: return .integer(standIns.whole(number))
            }
        case .real(let number):
            if kind == .key { return value }
            return .real(kind == .date ? standIns.date(number) : standIns.real(number, isFloat: kind == .float))
        case .null, .text: return value
        }
    }
}
