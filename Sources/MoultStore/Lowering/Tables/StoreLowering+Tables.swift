import MoultModel
import MoultPlan
import MoultSQLite

/// The change of an entity table of the destination.
package struct TableChange {
    package enum Kind: Hashable {
        /// Neither the text nor any value changes.
        case untouched
        /// The table is kept. It may be altered, these columns get new values, and rows with these source entity
        /// numbers are deleted.
        case updated(columns: [Assignment], leaving: [Int])
        /// The table is rebuilt from these rows; empty if there are none.
        case rebuilt([Fill])
    }

    /// Rows of a source table that become rows of the destination table.
    package struct Fill: Hashable {
        package let source: String
        package let columns: [Assignment]
        /// The condition for the rows `s`; nil for all.
        package let condition: SQLText?
        /// The number added to the keys of the rows.
        let shift: Int64
        let entities: [String]

        /// Whether each row of the source table becomes one row with the same key.
        var isWhole: Bool { condition == nil && shift == 0 }
    }

    package struct Assignment: Hashable {
        let column: String
        package let source: ColumnSource

        var keepsColumn: Bool { source == .column(column) }
        /// The condition for the rows that get another value; nil if all of them do.
        var limit: SQLText? { if case .filled(column, _) = source { "s.\(name: column) IS NULL" } else { nil } }
    }

    package let table: EntityTable
    let way: StoreLowering.Way
    package let contributions: [StoreLowering.RowSource]
    /// The order columns without an order in the source, each with the key column that identifies its lists.
    package let ordersToMake: [(order: String, key: String)]

    package var kind: Kind { way.kind }
    var alteration: ColumnAlteration { way.alteration }
    var reason: RebuildReason? { way.reason }
}

extension StoreLowering {
    func change(of table: EntityTable) -> TableChange {
        let contributions = contributions(toTableOf: table.rootEntityName)
        var blocks: [(from: EntityTable, members: [RowSource])] = []
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
            table: table, way: way(of: table, fills, contributions), contributions: contributions,
            ordersToMake: ordersToMake)
    }

    private func fill(
        _ table: EntityTable, from: EntityTable, _ members: [RowSource],
        _ ordersToMake: inout [(order: String, key: String)]
    ) -> TableChange.Fill {
        let columns = table.columns.filter { $0.role != .primaryKey }.map { column in
            let values = members.map { value(of: column, in: table, $0) }
            if let key = keyOfOrder(column, in: table, values, members),
                !ordersToMake.contains(where: { $0.order == column.name })
            {
                ordersToMake.append((column.name, key))
            }
            let common = commonColumn(column.role, values, members, in: from)
            return TableChange.Assignment(
                column: column.name, source: common ?? byEntity(members, values.map { $0 ?? .null }))
        }
        return TableChange.Fill(
            source: from.name, columns: columns, condition: condition(members, in: from),
            shift: members.first?.shift ?? 0, entities: members.map(\.source.name))
    }

    /// Returns the key column that identifies the lists of an order column, if the source has no order for them; nil
    /// for any other column.
    private func keyOfOrder(
        _ column: EntityTable.Column, in table: EntityTable, _ values: [ColumnSource?], _ members: [RowSource]
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

    /// Returns the condition for the rows of a table that some contributions take; nil for all.
    private func condition(_ members: [RowSource], in from: EntityTable) -> SQLText? {
        let numbers = members.map(\.sourceNumber).sorted()
        let picked = members.filter { $0.values.condition != nil }
        guard !picked.isEmpty else {
            return Set(source.numbers(inTable: from.name)).isSubset(of: numbers) ? nil : "s.Z_ENT IN (\(list: numbers))"
        }
        return members.map { member -> SQLText in
            let condition: SQLText = member.values.condition.map { " AND (\($0))" } ?? ""
            return "(s.Z_ENT = \(member.sourceNumber)\(condition))"
        }.conditions(joinedBy: "OR")
    }

    func has(_ entity: String, _ contribution: RowSource) -> Bool {
        destination.model.entity(entity).map { destination.model.isKind(contribution.destination, of: $0) } ?? false
    }

    /// Returns the column that all members with the property read, if the other members did not have the property of
    /// that column before either. The values in their rows are kept, as Core Data does.
    private func commonColumn(
        _ role: EntityTable.Column.Role, _ values: [ColumnSource?], _ members: [RowSource], in from: EntityTable
    ) -> ColumnSource? {
        let pairs = zip(members, values)
        let taken = Set(pairs.filter { isPart(role, of: $0.0) }.map(\.1))
        guard taken.count == 1, case .column(let name)?? = taken.first,
            let old = from.columns.first(where: { $0.name == name })?.role
        else { return nil }
        let others = members.filter { !isPart(role, of: $0) }
        return others.allSatisfy { !wasPart(old, of: $0) } ? .column(name) : nil
    }

    /// Returns whether the objects that a contribution takes have the property of a source column.
    private func wasPart(_ role: EntityTable.Column.Role, of contribution: RowSource) -> Bool {
        func isKind(of name: String) -> Bool {
            source.model.entity(name).map { source.model.isKind(contribution.source, of: $0) } ?? true
        }
        switch role {
        case .primaryKey, .entity, .optimisticLock, .unknown: return true
        case .attribute(let entity, _), .toOne(let entity, _), .toOneEntity(let entity, _), .order(let entity, _):
            return isKind(of: entity)
        case .inverselessToMany(let entity, let name), .inverselessOrder(let entity, let name):
            let relationship = source.model.entity(entity)?.relationship(name)
            return isKind(of: relationship?.destinationEntityName ?? "")
        }
    }

    /// Returns whether the objects of a contribution have the property of a column.
    func isPart(_ role: EntityTable.Column.Role, of contribution: RowSource) -> Bool {
        switch role {
        case .primaryKey, .entity, .optimisticLock: true
        case .attribute(let entity, _), .toOne(let entity, _), .toOneEntity(let entity, _), .order(let entity, _):
            has(entity, contribution)
        case .inverselessToMany(let entity, let name), .inverselessOrder(let entity, let name):
            isDestination(of: entity, name, contribution)
        case .unknown: false
        }
    }

    /// Returns one expression for rows of several entities.
    private func byEntity(_ contributions: [RowSource], _ values: [ColumnSource]) -> ColumnSource {
        var order: [ColumnSource] = []
        var numbers: [ColumnSource: [Int]] = [:]
        for (contribution, value) in zip(contributions, values) {
            if numbers[value] == nil { order.append(value) }
            numbers[value, default: []].append(contribution.sourceNumber)
        }
        guard order.count > 1 else { return order.first ?? .null }
        let cases = order.map { value -> SQLText in
            "WHEN s.Z_ENT IN (\(list: numbers[value, default: []])) THEN \(value.sql)"
        }
        return .expression("CASE \(cases.joined(separator: " ")) END")
    }

    // MARK: - Columns

    /// Returns the value of a column for the rows of one contribution; nil for an order that the source does not have.
    func value(of column: EntityTable.Column, in table: EntityTable, _ contribution: RowSource) -> ColumnSource? {
        switch column.role {
        case .primaryKey, .optimisticLock: .column(column.name)
        case .entity:
            contribution.sourceNumber == contribution.destinationNumber
                ? .column(column.name) : .literal(.integer(Int64(contribution.destinationNumber)))
        case .attribute(let entity, let name):
            has(entity, contribution) ? attributeValue(name, contribution) : .null
        case .toOne(let entity, let name):
            has(entity, contribution)
                ? toOneKey(links(entity, name, of: contribution), relationship(entity, name), contribution)
                : .null
        case .toOneEntity(let entity, let name):
            has(entity, contribution)
                ? toOneEntity(links(entity, name, of: contribution), relationship(entity, name), contribution)
                : .null
        case .order(let entity, let name):
            has(entity, contribution) ? toOneOrder(links(entity, name, of: contribution)) : .null
        case .inverselessToMany(let entity, let name):
            isDestination(of: entity, name, contribution)
                ? toOneKey(inverselessLinks(.init(entity: entity, name: name), contribution), nil, contribution)
                : .null
        case .inverselessOrder(let entity, let name):
            isDestination(of: entity, name, contribution)
                ? toOneOrder(inverselessLinks(.init(entity: entity, name: name), contribution)) : .null
        case .unknown: .null
        }
    }

    private func relationship(_ entity: String, _ name: String) -> RelationshipDescription? {
        destination.model.entity(entity)?.relationship(name)
    }

    func isDestination(of entity: String, _ name: String, _ contribution: RowSource) -> Bool {
        guard let relationship = destination.model.entity(entity)?.relationship(name) else { return false }
        return has(relationship.destinationEntityName, contribution)
    }

    private func attributeValue(_ name: String, _ contribution: RowSource) -> ColumnSource {
        guard let attribute = destination.model.attribute(name, of: contribution.destination) else { return .null }
        if attribute.derivation != nil { return derivedValue(attribute, contribution) }
        switch contribution.mapping.attributes[name] {
        case .attribute(let from, let substitute):
            let column = source.column(forAttribute: from, in: contribution.source)
            let old = source.model.attribute(from, of: contribution.source)
            let carried = column.map { movingBytes(.column($0), from: old, to: attribute) }
            guard let substitute = substitute?.stored(for: attribute) else { return carried ?? .null }
            guard let carried else { return .literal(substitute) }
            if case .column(let column) = carried { return .filled(column, substitute) }
            return .expression("COALESCE(\(carried.sql), \(value: substitute))")
        case .constant(let value?): return .literal(value.stored(for: attribute))
        case .expression: return contribution.values.values[name] ?? .null
        case .constant(nil), nil: return .null
        }
    }

    /// Adds or removes the leading byte of bytes that move to or from external storage.
    private func movingBytes(
        _ value: ColumnSource, from: AttributeDescription?, to: AttributeDescription
    ) -> ColumnSource {
        guard let from, from.allowsExternalBinaryDataStorage != to.allowsExternalBinaryDataStorage,
            to.type == .binary || to.type == .transformable
        else { return value }
        return .expression(
            to.allowsExternalBinaryDataStorage ? MappedValues.external(value.sql) : "moult_inline(\(value.sql))")
    }
}
