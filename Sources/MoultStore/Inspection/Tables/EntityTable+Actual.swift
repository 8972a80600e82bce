import MoultBasics
import MoultSQLite

extension EntityTable {
    /// Finds the table of an existing store that corresponds to `expected`, a new one; nil if there is none.
    ///
    /// - Parameters:
    ///   - formerNames: other names of the root entity, after which the table may still be named.
    ///   - missing: receives the columns that the table lacks.
    /// - Throws: `storeCorrupted` for a table without keys.
    init?(
        _ expected: EntityTable, formerNames: [String], in tables: inout CatalogueTables,
        missing: inout [EntityTable.Column], findings: inout [Finding]
    ) throws {
        let names = [expected.name] + formerNames.map { "Z" + $0.uppercased() }
        guard let table = tables.claim(named: names) else { return nil }
        if table.name == expected.name, table.sql == expected.sql {
            self = expected
            return
        }
        var matching = ColumnMatching(table.columns)
        matching.match(expected.columns)
        findings += matching.findings(in: table.name)
        missing = matching.missing
        self.init(
            name: table.name, rootEntityName: expected.rootEntityName, columns: matching.columns,
            constraints: expected.constraints, sql: table.sql)
        for role in [Column.Role.primaryKey, .entity] where column(role) == nil {
            throw MigrationError(
                .storeCorrupted, "The table \(table.name) has no column \(role == .primaryKey ? "Z_PK" : "Z_ENT").",
                place: table.name, remedy: MigrationError.damagedStoreRemedy)
        }
    }
}

/// The columns of an existing table, matched with those that the model expects.
private struct ColumnMatching {
    private let actual: [Catalogue.Column]
    /// The columns' positions, by uppercase name.
    private let places: [String: [Int]]
    private var roles: [Int: EntityTable.Column.Role] = [:]
    /// The names as spelled in a new store.
    private var names: [Int: String] = [:]
    private(set) var missing: [EntityTable.Column] = []
    private var retyped: [(name: String, expected: String, actual: String)] = []

    init(_ actual: [Catalogue.Column]) {
        self.actual = actual
        places = Dictionary(grouping: actual.indices) { actual[$0].name.uppercased() }
    }

    /// Matches the expected columns by name and type first, then by the same property with another suffix or an old
    /// number, and finally by name alone.
    mutating func match(_ expected: [EntityTable.Column]) {
        let places = places
        func named(_ column: EntityTable.Column) -> [Int] { places[column.name.uppercased()] ?? [] }
        // Type names are not case-sensitive, like all names.
        var left = assign(expected, among: named) { $1.declaredType.uppercased() == $0.type }
        let open = actual.indices.filter { roles[$0] == nil }
        func stillOpen(_: EntityTable.Column) -> [Int] { open }
        left = assign(left, among: stillOpen) {
            $1.declaredType.uppercased() == $0.type && $0.role.mayBeNamed($1.name)
        }
        let untyped = left
        left = assign(left, among: named) { _, _ in true }
        let nameless = Set(left.map(\.name))
        retyped = untyped.filter { !nameless.contains($0.name) }.map { column in
            (column.name, column.type, named(column).first.map { actual[$0].declaredType } ?? "")
        }
        missing = left
    }

    /// The columns in the table's order, each with its role.
    var columns: [EntityTable.Column] {
        actual.enumerated().map { position, column in
            let role = roles[position] ?? .unknown
            let type = role == .unknown ? column.declaredType : column.declaredType.uppercased()
            return EntityTable.Column(name: names[position] ?? column.name, type: type, role: role)
        }
    }

    func findings(in table: String) -> [Finding] {
        let unknown = columns.filter { $0.role == .unknown }.map { column in
            Finding(
                code: "column-unknown", severity: .warning, place: "\(table).\(column.name)",
                message: "No part of the model explains the column \(column.name) of \(table).",
                remedy: "Name the model that made the store, or find out whose column it is before you migrate.")
        }
        let absent = missing.map { column in
            Finding(
                code: "column-missing", severity: .error, place: "\(table).\(column.name)",
                message: "The table \(table) has no column \(column.name), which the model needs.",
                remedy: Finding.schemaRemedy)
        }
        let other = retyped.map { column in
            Finding(
                code: "column-type", severity: .warning, place: "\(table).\(column.name)",
                message:
                    "The column \(column.name) of \(table) has the declared type \(column.actual), not \(column.expected).",
                remedy:
                    "SQLite may have converted values when they were written. \(.salvage) copies every object into a "
                    + "new store, whose columns have the declared types of the model.")
        }
        return unknown + absent + other
    }

    /// Returns the columns without a match.
    private mutating func assign(
        _ expected: [EntityTable.Column], among candidates: (EntityTable.Column) -> [Int],
        where fits: (EntityTable.Column, Catalogue.Column) -> Bool
    ) -> [EntityTable.Column] {
        expected.filter { column in
            let position = candidates(column).first { roles[$0] == nil && fits(column, actual[$0]) }
            if let position {
                roles[position] = column.role
                if actual[position].name.uppercased() == column.name.uppercased() { names[position] = column.name }
            }
            return position == nil
        }
    }
}

extension EntityTable.Column.Role {
    /// Whether a column with this role may have a name, which need not be the one used in a new store.
    func mayBeNamed(_ name: String) -> Bool { pattern?.matches(name.uppercased()) == true }

    /// The possible names of a column that does not have the name used in a new store.
    private var pattern: NumberedName? {
        switch self {
        case .primaryKey, .entity, .optimisticLock, .unknown: nil
        case .attribute(_, let name):
            NumberedName(before: "Z", name: (name.split(separator: ".").last ?? "").uppercased(), number: .none)
        case .toOne(_, let name): NumberedName(before: "Z", name: name.uppercased(), number: .none)
        case .toOneEntity(_, let name): NumberedName(before: "Z", name: "_" + name.uppercased())
        case .inverselessToMany(_, let name): NumberedName(before: "Z", name: name.uppercased())
        case .inverselessOrder(_, let name): NumberedName(before: "Z_FOK_", name: name.uppercased())
        case .order(_, let name): NumberedName(before: "Z_FOK_", name: name.uppercased(), number: .optional)
        }
    }
}
