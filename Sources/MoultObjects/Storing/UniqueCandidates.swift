import MoultModel
import MoultSQLite

/// The values of one uniqueness constraint that rows will have, in a temporary table.
final class UniqueCandidates {
    let constraint: UniqueColumns
    private(set) var count = 0
    /// Attributes of stored rows that get another value.
    var changed: [EmptiedColumn] = []
    private let writer: RowWriter
    private let table: String
    private var positions: [String: [Int]?] = [:]

    init(_ constraint: UniqueColumns, number: Int, _ writer: RowWriter) throws {
        self.constraint = constraint
        self.writer = writer
        table = "temp.\("Z_UNIQUE_\(constraint.table)_\(number)".quotedName)"
        let columns = constraint.columns.enumerated().map { "c\($0) \($1.type)" }.joined(separator: ", ")
        try writer.connection.execute("CREATE TEMP TABLE IF NOT EXISTS \(table) (pk INTEGER PRIMARY KEY, \(columns))")
        try clear()
    }

    func clear() throws { try writer.statement("DELETE FROM \(table)").run() }

    func positions(in entity: EntityColumns) -> [Int]? {
        let name = entity.shape.entity.name
        if let known = positions[name] { return known }
        let found = constraint.positions(in: entity)
        positions[name] = .some(found)
        return found
    }

    private var columnNames: String { constraint.columns.indices.map { "c\($0)" }.joined(separator: ", ") }

    /// Adds a new row, without values yet.
    func add(_ key: Int64, _ entity: EntityColumns) throws {
        count += 1
        try writer.statement("INSERT INTO \(table) (pk) VALUES (?)").run([.integer(key)])
    }

    /// Adds a row with the values that it has.
    func addStored(_ key: Int64) throws {
        count += 1
        let stored = constraint.columns.map(\.name.quotedName).joined(separator: ", ")
        try writer.statement(
            "INSERT INTO \(table) (pk, \(columnNames)) SELECT Z_PK, \(stored) FROM \(constraint.table.quotedName) "
                + "WHERE Z_PK = ?"
        ).run([.integer(key)])
    }

    func set(_ column: Int, of key: Int64, to value: AttributeValue, _ entity: EntityColumns) throws {
        let statement = try update(column)
        guard let position = entity.position(ofColumn: constraint.columns[column].name),
            case .attribute(_, let attribute) = entity.places[position]
        else { return }
        try AttributeBinder(
            attribute: attribute, parameter: 1, external: writer.external, place: entity.place(position)
        ).bind(value, to: statement)
        try statement.bind(key, at: 2)
        try statement.run()
    }

    func set(_ column: Int, of key: Int64, to value: Int64?) throws {
        let statement = try update(column)
        try statement.bind(value, at: 1)
        try statement.bind(key, at: 2)
        try statement.run()
    }

    private func update(_ column: Int) throws -> Statement {
        try writer.statement("UPDATE \(table) SET c\(column) = ? WHERE pk = ?")
    }

    // MARK: - Conflicts

    /// The keys of candidates that have equal values among themselves.
    func groups() throws -> [[Int64]] {
        let present = constraint.columns.indices.map { "c\($0) IS NOT NULL" }.conditions(joinedBy: "AND")
        let sql = """
            SELECT group_concat(pk) FROM (SELECT * FROM \(table) ORDER BY pk) WHERE \(present)
            GROUP BY \(columnNames) HAVING count(*) > 1 ORDER BY min(pk)
            """
        return try writer.connection.rows(sql) { row in
            (row.text(0) ?? "").split(separator: ",").compactMap { Int64($0) }
        }
    }

    /// The stored rows, not candidates themselves, that have the values of a candidate.
    func stored() throws -> [(candidate: Int64, key: Int64, number: Int64)] {
        let equal = constraint.columns.enumerated().map { "t.\($1.name.quotedName) = c.c\($0)" }
            .conditions(joinedBy: "AND")
        let sql = """
            SELECT c.pk, t.Z_PK, t.Z_ENT FROM \(table) AS c JOIN main.\(constraint.table.quotedName) AS t ON \(equal)
            WHERE t.Z_PK NOT IN (SELECT pk FROM \(table)) ORDER BY c.pk, t.Z_PK
            """
        return try writer.connection.rows(sql) { ($0.integer(0), $0.integer(1), $0.integer(2)) }
    }
}
