import MoultModel
import MoultSQLite

extension JoinTable {
    /// The join table of a real store that plays the part of `expected`, a fresh one.
    ///
    /// It may be named after the other relationship of the pair (both sides in one entity, MORE 9), and table and
    /// columns may keep the numbers of an earlier version (STORE_FORMAT 10).
    init(_ expected: JoinTable, in tables: inout CatalogueTables, findings: inout [Finding]) throws {
        let names = expected.relationships.map { $0.name.uppercased() }
        let numbers = expected.keyColumns.map { $0.dropFirst(2).prefix { $0.isNumber } }
        // Each key column is numbered by its own relationship's entity.
        let swapped = zip(numbers, names).map { "Z_\($0)\($1)" }
        let patterns = names.map { NumberedName(before: "Z_", name: $0) }
        let table =
            tables.claim(named: [expected.name] + swapped)
            ?? tables.claim { name in patterns.contains { $0.matches(name.uppercased()) } }
        guard let table else {
            throw Self.unusable("The table \(expected.name) of \(expected.owner.place) is missing.", expected.name)
        }
        var matching = JoinColumnMatching(table.columns.map(\.name))
        matching.match(expected)
        self.init(name: table.name, owner: expected.owner, columns: matching.columns, sql: table.sql)
        if let missing = matching.missing.first {
            throw Self.unusable("The table \(table.name) has no column \(missing.name).", table.name)
        }
        findings += columns.filter { $0.role == .unknown }.map { column in
            Finding(
                code: "column-unknown", severity: .warning, place: "\(table.name).\(column.name)",
                message: "No part of the model explains the column \(column.name) of \(table.name).")
        }
    }

    /// The relationships that the table serves: the owner, then its inverse unless that is the owner itself.
    var relationships: [RelationshipReference] {
        columns.compactMap { column in
            guard case .source(let reference) = column.role else { return nil }
            return reference
        }
    }

    private static func unusable(_ message: String, _ place: String) -> MigrationError {
        MigrationError(
            .storeCorrupted, message, place: place,
            remedy: "Name the model that made the store, or restore the store from a backup.")
    }
}

extension RelationshipReference {
    /// `Entity.relationship`
    package var place: String { "\(entity).\(name)" }
}

/// The columns of a real join table on their way to the parts they play.
private struct JoinColumnMatching {
    private let actual: [String]
    private var roles: [Int: JoinTable.Column.Role] = [:]
    private(set) var missing: [JoinTable.Column] = []

    init(_ actual: [String]) { self.actual = actual }

    mutating func match(_ expected: JoinTable) {
        var left = assign(expected.columns) { $0.name == $1.uppercased() }
        left = assign(left) { column, name in
            expected.pattern(of: column)?.matches(name.uppercased()) == true
        }
        missing = left
    }

    var columns: [JoinTable.Column] {
        actual.enumerated().map { JoinTable.Column(name: $1, role: roles[$0] ?? .unknown) }
    }

    private mutating func assign(_ expected: [JoinTable.Column], where fits: (JoinTable.Column, String) -> Bool)
        -> [JoinTable.Column]
    {
        expected.filter { column in
            let position = actual.indices.first { roles[$0] == nil && fits(column, actual[$0]) }
            if let position { roles[position] = column.role }
            return position == nil
        }
    }
}

extension JoinTable {
    /// How a column may be called where its numbers are old: a key after the inverse of its relationship, a place
    /// after the relationship whose list it orders.
    fileprivate func pattern(of column: Column) -> NumberedName? {
        switch column.role {
        case .source(let reference):
            let inverse = relationships.first { $0 != reference } ?? reference
            return NumberedName(before: "Z_", name: inverse.name.uppercased())
        case .order(let reference): return NumberedName(before: "Z_FOK_", name: reference.name.uppercased())
        case .reflexiveDestination, .unknown: return nil
        }
    }
}
