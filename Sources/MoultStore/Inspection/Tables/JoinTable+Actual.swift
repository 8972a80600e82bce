import MoultBasics
import MoultSQLite

extension JoinTable {
    /// Returns the join tables of an existing store, each in the place of the expected one that it corresponds to; nil
    /// if there is none.
    ///
    /// A table may be named after the other relationship of the pair if both are in one entity, and tables and columns
    /// may keep the numbers of an earlier version. A table is identified by its name together with its two key columns,
    /// because other tables may have similar names.
    ///
    /// - Parameter gaps: receives the columns that a table lacks.
    static func matching(
        _ expected: [JoinTable], in tables: inout CatalogueTables, gaps: inout SchemaGaps, findings: inout [Finding]
    ) -> [JoinTable?] {
        let found = claim(expected, in: &tables)
        return zip(expected, found).map { expected, table in
            guard let table else { return nil }
            let (join, missing) = expected.reading(table)
            gaps.columns += missing.filter { !$0.isKey }.compactMap { $0.gap(in: table.name) }
            gaps.keys += missing.filter(\.isKey).compactMap { $0.gap(in: table.name) }
            findings += join.columns.filter { $0.role == .unknown }.map { column in
                Finding(
                    code: "column-unknown", severity: .warning, place: "\(table.name).\(column.name)",
                    message: "No part of the model explains the column \(column.name) of \(table.name).")
            }
            return join
        }
    }

    /// Returns the join tables that remain in a damaged store, with their remaining columns.
    static func remaining(_ expected: [JoinTable], in tables: inout CatalogueTables) -> [JoinTable] {
        let found = claim(expected, in: &tables)
        return zip(expected, found).compactMap { expected, table in table.map { expected.reading($0).join } }
    }

    /// Claims a table for each join; nil if there is none. Tables with certain names and keys are claimed first.
    private static func claim(_ expected: [JoinTable], in tables: inout CatalogueTables) -> [CatalogueTables.Table?] {
        var found = expected.map { join in tables.claim(named: join.names) { join.fits($0, .named) } }
        for certainty in [Certainty.numbered, .partial] {
            for position in expected.indices where found[position] == nil {
                let join = expected[position]
                let ends = join.relationships.map { $0.name.uppercased() }
                found[position] = tables.claim(named: join.names, numbered: ends) { join.fits($0, certainty) }
            }
        }
        return found
    }

    /// The degree of certainty that a table of a store belongs to a relationship.
    private enum Certainty {
        /// The name and key columns are those of a new store, in either orientation.
        case named
        /// The name and key columns may have other numbers.
        case numbered
        /// A key column is missing.
        case partial
    }

    private func fits(_ table: CatalogueTables.Table, _ certainty: Certainty) -> Bool {
        let name = table.name.uppercased()
        let columns = table.columns.map { $0.name.uppercased() }
        let keys = self.columns.filter(\.isKey)
        let isNumbered = relationships.contains {
            NumberedName(before: "Z_", name: $0.name.uppercased()).matches(name)
        }
        switch certainty {
        case .named:
            return names.contains(name) && keys.allSatisfy { columns.contains($0.name.uppercased()) }
        case .numbered:
            return isNumbered
                && keys.allSatisfy { key in
                    columns.contains { $0 == key.name || pattern(of: key)?.matches($0) == true }
                }
        case .partial: return names.contains(name) || isNumbered
        }
    }

    /// The table's possible names in either orientation, in capitals; its own name first.
    var names: [String] {
        let numbers = keyColumns.map { $0.dropFirst(2).prefix { $0.isNumber } }
        // Each key column is numbered by its own relationship's entity.
        return [name.uppercased()] + zip(numbers, relationships).map { "Z_\($0)\($1.name.uppercased())" }
    }

    /// Returns the store's table in the role of this one, and the columns that it lacks.
    private func reading(_ table: CatalogueTables.Table) -> (join: JoinTable, missing: [Column]) {
        var matching = JoinColumnMatching(table.columns.map(\.name))
        matching.match(self)
        let named = table.name.uppercased().dropFirst(2).drop { $0.isASCII && $0.isNumber }
        // Between two entities, a known rule determines the owner, whatever the table's name.
        let actual = isWithinOneEntity ? relationships.first { $0.name.uppercased() == named } : nil
        return (
            JoinTable(name: table.name, owner: actual ?? owner, columns: matching.columns, sql: table.sql),
            matching.missing
        )
    }

    /// The relationships that the table stores: the owner, then its inverse unless the owner is its own inverse.
    var relationships: [RelationshipReference] {
        columns.compactMap { column in
            guard case .source(let reference) = column.role else { return nil }
            return reference
        }
    }
}

extension JoinTable.Column {
    /// Returns the column as a gap in a table; nil for a column without a role.
    fileprivate func gap(in table: String) -> SchemaGaps.Column? {
        let role: EntityTable.Column.Role
        switch self.role {
        case .order(let list): role = .order(entity: list.entity, name: list.name)
        case .source(let end), .reflexiveDestination(let end): role = .toOne(entity: end.entity, name: end.name)
        case .unknown: return nil
        }
        return SchemaGaps.Column(
            table: table, column: EntityTable.Column(name: name, type: "INTEGER", role: role), isOfPairs: true)
    }
}

extension RelationshipReference {
    /// `Entity.relationship`
    package var place: String { "\(entity).\(name)" }
}

/// The columns of an existing join table, matched with their roles.
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
    /// Returns the possible name of a column with old numbers. A key is named after the inverse of its relationship, a
    /// position after the relationship whose list it orders.
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

/// The name of a column or table that contains an entity number, as an earlier migration may have left it. It consists
/// of `before`, an old number, `name` in capitals, and a suffix if two names clashed.
struct NumberedName {
    let before: String
    let name: String
    var number = Number.required

    enum Number { case none, optional, required }

    /// Returns whether `text` is such a name, with any number and suffix.
    func matches(_ text: String) -> Bool {
        guard text.hasPrefix(before) else { return false }
        var rest = text.dropFirst(before.count)
        if number != .none {
            let digits = rest.prefix { $0.isASCIIDigit }
            if digits.isEmpty, number == .required { return false }
            rest = rest.dropFirst(digits.count)
        }
        guard rest.hasPrefix(name) else { return false }
        return rest.dropFirst(name.count).allSatisfy(\.isASCIIDigit)
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { self >= "0" && self <= "9" }
}
