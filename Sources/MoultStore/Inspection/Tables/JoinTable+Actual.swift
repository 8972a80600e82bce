import MoultBasics
import MoultSQLite

extension JoinTable {
    /// The join tables of a real store, each with the part of the new one that it plays; nil if there is none.
    ///
    /// A table may be named after the other relationship of the pair (both sides in one entity), and table and columns
    /// may keep the numbers of an earlier version. It is found by its name and by its two key columns together: the
    /// names of other tables may look like its own.
    ///
    /// - Parameter gaps: gets the columns that one lacks.
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

    /// The join tables that a damaged store still has, with the columns that each still has.
    static func remaining(_ expected: [JoinTable], in tables: inout CatalogueTables) -> [JoinTable] {
        let found = claim(expected, in: &tables)
        return zip(expected, found).compactMap { expected, table in table.map { expected.reading($0).join } }
    }

    /// The table of each, nil if there is none: first those whose name and keys are certain.
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

    /// The certainty that a table of a store belongs to a relationship.
    private enum Certainty {
        /// Name and key columns are those of a new store, in either orientation.
        case named
        /// Name and key columns may have other numbers.
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

    /// In capitals, the names that the table has in either orientation; its own first.
    var names: [String] {
        let numbers = keyColumns.map { $0.dropFirst(2).prefix { $0.isNumber } }
        // Each key column is numbered by its own relationship's entity.
        return [name.uppercased()] + zip(numbers, relationships).map { "Z_\($0)\($1.name.uppercased())" }
    }

    /// The table of a store in this one's part, and the columns that it lacks.
    private func reading(_ table: CatalogueTables.Table) -> (join: JoinTable, missing: [Column]) {
        var matching = JoinColumnMatching(table.columns.map(\.name))
        matching.match(self)
        let named = table.name.uppercased().dropFirst(2).drop { $0.isASCII && $0.isNumber }
        // Between two entities the rule is known, whatever the table is called.
        let actual = isWithinOneEntity ? relationships.first { $0.name.uppercased() == named } : nil
        return (
            JoinTable(name: table.name, owner: actual ?? owner, columns: matching.columns, sql: table.sql),
            matching.missing
        )
    }

    /// The relationships that the table serves: the owner, then its inverse unless that is the owner itself.
    var relationships: [RelationshipReference] {
        columns.compactMap { column in
            guard case .source(let reference) = column.role else { return nil }
            return reference
        }
    }
}

extension JoinTable.Column {
    /// The column as a table lacks it; nil for one that has no part.
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
    /// Returns the name that a column may have where its numbers are old: a key is named after the inverse of its
    /// relationship, a place after the relationship whose list it orders.
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

/// The name of a column or table with an entity number in it, as an earlier migration may have left it: `before`, an
/// old number, `name` in capitals, and a suffix where two clashed.
struct NumberedName {
    let before: String
    let name: String
    var number = Number.required

    enum Number { case none, optional, required }

    /// Whether `text` is such a name, whatever its number and suffix.
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
