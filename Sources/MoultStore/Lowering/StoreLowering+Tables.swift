import MoultModel
import MoultPlan
import MoultSQLite

/// What becomes of one entity table of the destination.
struct TableChange {
    enum Kind: Hashable {
        /// No text and no value changes.
        case untouched
        /// The text stays; these columns get new values, and rows of these source entity numbers leave.
        case updated(columns: [Assignment], leaving: [Int])
        /// The table is made anew, from the rows of these; empty where there are none.
        case rebuilt([Fill])
    }

    /// Rows of one table of the source that become rows of the destination's.
    struct Fill: Hashable {
        let source: String
        let columns: [Assignment]
        /// Which rows, as SQL over a row `s`; nil for all.
        let condition: String?
        /// SQL over a row `s`.
        let key: String
        let entities: [String]

        /// Whether each row of the source's table becomes one, under its own key.
        var isWhole: Bool { condition == nil && key == "s.Z_PK" }
    }

    struct Assignment: Hashable {
        let column: String
        /// SQL over a row `s` of the source's table.
        let value: String
    }

    let table: EntityTable
    let kind: Kind
    let contributions: [StoreLowering.Contribution]
    /// The order columns for which the source has no order, each with the key column that its lists hang on.
    let ordersToMake: [(order: String, key: String)]
}

extension StoreLowering {
    func changes() throws -> [TableChange] { try destination.tables.map(change(of:)) }

    private func change(of table: EntityTable) throws -> TableChange {
        let contributions = contributions(toTableOf: table.rootEntityName)
        var blocks: [(from: EntityTable, members: [Contribution])] = []
        for contribution in contributions {
            guard let from = source.table(for: contribution.source) else { continue }
            let block = blocks.firstIndex { block in
                block.from.name == from.name && block.members.allSatisfy { $0.shift == contribution.shift }
                    && !block.members.contains { $0.sourceNumber == contribution.sourceNumber }
            }
            if let block { blocks[block].members.append(contribution) } else { blocks.append((from, [contribution])) }
        }
        var ordersToMake: [(order: String, key: String)] = []
        let fills = blocks.map { fill(table, from: $0.from, $0.members, &ordersToMake) }
        return TableChange(
            table: table, kind: kind(table, fills, contributions), contributions: contributions,
            ordersToMake: ordersToMake)
    }

    private func fill(
        _ table: EntityTable, from: EntityTable, _ members: [Contribution],
        _ ordersToMake: inout [(order: String, key: String)]
    ) -> TableChange.Fill {
        let columns = table.columns.filter { $0.role != .primaryKey }.map { column in
            let values = members.map { value(of: column, in: table, $0) }
            if let key = keyOfOrder(column, in: table, values, members),
                !ordersToMake.contains(where: { $0.order == column.name })
            {
                ordersToMake.append((column.name, key))
            }
            return TableChange.Assignment(
                column: column.name, value: byEntity(members, values.map { $0 ?? "NULL" }))
        }
        return TableChange.Fill(
            source: from.name, columns: columns, condition: condition(members, in: from),
            key: members.first?.key("s.Z_PK") ?? "s.Z_PK", entities: members.map(\.source.name))
    }

    /// The key column that lists hang on for which the source has no order; nil for any other column.
    private func keyOfOrder(
        _ column: EntityTable.Column, in table: EntityTable, _ values: [String?], _ members: [Contribution]
    ) -> String? {
        switch column.role {
        case .order(let entity, let name):
            zip(values, members).contains { $0 == nil && has(entity, $1) }
                ? table.column(.toOne(entity: entity, name: name)) : nil
        case .inverselessOrder(let entity, let name):
            values.contains(nil) ? table.column(.inverselessToMany(entity: entity, name: name)) : nil
        default: nil
        }
    }

    /// Which rows of a table some contributions take; nil for all.
    private func condition(_ members: [Contribution], in from: EntityTable) -> String? {
        let numbers = members.map(\.sourceNumber).sorted()
        let picked = members.filter { $0.values.condition != nil }
        guard !picked.isEmpty else {
            return Set(source.numbers(inTable: from.name)).isSubset(of: numbers)
                ? nil : "s.Z_ENT IN (\(numbers.sqlList))"
        }
        return members.map { member in
            let condition = member.values.condition.map { " AND (\($0))" } ?? ""
            return "(s.Z_ENT = \(member.sourceNumber)\(condition))"
        }.conditions(joinedBy: "OR")
    }

    func has(_ entity: String, _ contribution: Contribution) -> Bool {
        destination.model.entity(entity).map { destination.model.isKind(contribution.destination, of: $0) } ?? false
    }

    private func kind(
        _ table: EntityTable, _ fills: [TableChange.Fill], _ contributions: [Contribution]
    ) -> TableChange.Kind {
        guard let fill = fills.first, fills.count == 1, fill.source == table.name,
            catalogue.table(table.name)?.sql == table.sql, fill.key == "s.Z_PK",
            contributions.allSatisfy({ $0.values.condition == nil })
        else { return .rebuilt(fills) }
        let leaving = Set(source.numbers(inTable: fill.source)).subtracting(contributions.map(\.sourceNumber)).sorted()
        let changed = fill.columns.filter { $0.value != "s.\($0.column.quotedName)" }
        return changed.isEmpty && leaving.isEmpty ? .untouched : .updated(columns: changed, leaving: leaving)
    }

    /// One expression for rows of several entities.
    private func byEntity(_ contributions: [Contribution], _ values: [String]) -> String {
        var order: [String] = []
        var numbers: [String: [Int]] = [:]
        for (contribution, value) in zip(contributions, values) {
            if numbers[value] == nil { order.append(value) }
            numbers[value, default: []].append(contribution.sourceNumber)
        }
        guard order.count > 1 else { return order.first ?? "NULL" }
        let cases = order.map { "WHEN s.Z_ENT IN (\(numbers[$0, default: []].sqlList)) THEN \($0)" }
        return "CASE \(cases.joined(separator: " ")) END"
    }
}

// MARK: - One column

extension StoreLowering {
    /// The value of a column for the rows of one contribution, as SQL over the row `s`; nil for an order that the
    /// source does not hold.
    func value(of column: EntityTable.Column, in table: EntityTable, _ contribution: Contribution) -> String? {
        switch column.role {
        case .primaryKey: "s.Z_PK"
        case .optimisticLock: "s.\(column.name.quotedName)"
        case .entity:
            contribution.sourceNumber == contribution.destinationNumber
                ? "s.\(column.name.quotedName)" : "\(contribution.destinationNumber)"
        case .attribute(let entity, let name):
            has(entity, contribution) ? attributeValue(name, contribution) : "NULL"
        case .toOne(let entity, let name):
            has(entity, contribution)
                ? toOneKey(links(entity, name, of: contribution), relationship(entity, name), contribution)
                : "NULL"
        case .toOneEntity(let entity, let name):
            has(entity, contribution)
                ? toOneEntity(links(entity, name, of: contribution), relationship(entity, name), contribution)
                : "NULL"
        case .order(let entity, let name):
            has(entity, contribution) ? toOneOrder(links(entity, name, of: contribution)) : "NULL"
        case .inverselessToMany(let entity, let name):
            isDestination(of: entity, name, contribution)
                ? toOneKey(inverselessLinks(.init(entity: entity, name: name), contribution), nil, contribution)
                : "NULL"
        case .inverselessOrder(let entity, let name):
            isDestination(of: entity, name, contribution)
                ? toOneOrder(inverselessLinks(.init(entity: entity, name: name), contribution)) : "NULL"
        case .unknown: "NULL"
        }
    }

    private func relationship(_ entity: String, _ name: String) -> RelationshipDescription? {
        destination.model.entity(entity)?.relationship(name)
    }

    func isDestination(of entity: String, _ name: String, _ contribution: Contribution) -> Bool {
        guard let relationship = destination.model.entity(entity)?.relationship(name) else { return false }
        return has(relationship.destinationEntityName, contribution)
    }

    private func attributeValue(_ name: String, _ contribution: Contribution) -> String {
        guard let attribute = destination.model.attribute(name, of: contribution.destination) else { return "NULL" }
        if attribute.derivation != nil { return derivedValue(attribute, contribution) }
        switch contribution.mapping.attributes[name] {
        case .attribute(let from, let substitute):
            let column = source.column(forAttribute: from, in: contribution.source)
            let old = source.model.attribute(from, of: contribution.source)
            let carried = column.map { movingBytes("s.\($0.quotedName)", from: old, to: attribute) } ?? "NULL"
            guard let substitute else { return carried }
            let literal = substitute.sqlLiteral(for: attribute)
            return column == nil ? literal : "COALESCE(\(carried), \(literal))"
        case .constant(let value?): return value.sqlLiteral(for: attribute)
        case .expression: return contribution.values.values[name] ?? "NULL"
        case .constant(nil), nil: return "NULL"
        }
    }

    /// Bytes that leave or enter external storage gain or lose their leading byte.
    private func movingBytes(_ value: String, from: AttributeDescription?, to: AttributeDescription) -> String {
        guard let from, from.allowsExternalBinaryDataStorage != to.allowsExternalBinaryDataStorage,
            to.type == .binary || to.type == .transformable
        else { return value }
        guard to.allowsExternalBinaryDataStorage else { return "moult_inline(\(value))" }
        return "CASE WHEN \(value) IS NOT NULL THEN CAST(x'01' || \(value) AS BLOB) END"
    }

    /// A derived value is carried over where it is derived as before; ``derivedUpdates(of:)`` computes every other.
    private func derivedValue(_ attribute: AttributeDescription, _ contribution: Contribution) -> String {
        guard let old = source.model.attribute(attribute.name, of: contribution.source),
            old.derivation == attribute.derivation,
            let column = source.column(forAttribute: attribute.name, in: contribution.source)
        else { return "NULL" }
        return "s.\(column.quotedName)"
    }
}
