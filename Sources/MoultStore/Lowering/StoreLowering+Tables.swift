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
        /// The table is made anew: from the rows of these source numbers (nil: all of them) of `source`, or empty.
        case rebuilt(source: String?, columns: [Assignment], staying: [Int]?)
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
        let tables = Set(contributions.compactMap { source.table(for: $0.source)?.name })
        guard tables.count <= 1 else {
            throw MigrationError(
                .cannotInfer,
                "The rows of \(tables.sorted().joined(separator: " and ")) would share the table \(table.name), where their keys collide.",
                place: table.rootEntityName,
                remedy: "Give these entities a common parent in a version of its own mapping.")
        }
        guard let name = tables.first, let from = source.tables.first(where: { $0.name == name }) else {
            return TableChange(
                table: table, kind: .rebuilt(source: nil, columns: [], staying: nil), contributions: [],
                ordersToMake: [])
        }
        try refuseSharedSources(contributions)
        return change(of: table, from: from, contributions)
    }

    private func refuseSharedSources(_ contributions: [Contribution]) throws {
        let numbers = contributions.map(\.sourceNumber)
        guard Set(numbers).count == numbers.count else {
            throw MigrationError(
                .unsupported, "One entity of the source feeds several entities of the destination in one table.",
                place: contributions.first?.destination.name ?? "",
                remedy: "Use a mapping model for this step.")
        }
    }

    private func change(of table: EntityTable, from: EntityTable, _ contributions: [Contribution]) -> TableChange {
        var ordersToMake: [(order: String, key: String)] = []
        var assignments: [TableChange.Assignment] = []
        for column in table.columns where column.role != .primaryKey {
            let values = contributions.map { value(of: column, in: table, $0) }
            if case .order(let entity, let name) = column.role,
                zip(values, contributions).contains(where: { $0 == nil && has(entity, $1) }),
                let key = table.column(.toOne(entity: entity, name: name))
            {
                ordersToMake.append((column.name, key))
            }
            if case .inverselessOrder(let entity, let name) = column.role, values.contains(nil),
                let key = table.column(.inverselessToMany(entity: entity, name: name))
            {
                ordersToMake.append((column.name, key))
            }
            assignments.append(.init(column: column.name, value: byEntity(contributions, values.map { $0 ?? "NULL" })))
        }
        let staying = contributions.map(\.sourceNumber)
        let leaving = Set(source.entityNumbers.filter { source.table(forEntity: $0.key)?.name == from.name }.values)
            .subtracting(staying).sorted()
        return TableChange(
            table: table, kind: kind(table, from, assignments, staying: staying.sorted(), leaving: leaving),
            contributions: contributions, ordersToMake: ordersToMake)
    }

    private func has(_ entity: String, _ contribution: Contribution) -> Bool {
        destination.model.entity(entity).map { destination.model.isKind(contribution.destination, of: $0) } ?? false
    }

    private func kind(
        _ table: EntityTable, _ from: EntityTable, _ assignments: [TableChange.Assignment], staying: [Int],
        leaving: [Int]
    ) -> TableChange.Kind {
        guard catalogue.table(table.name)?.sql == table.sql else {
            return .rebuilt(source: from.name, columns: assignments, staying: leaving.isEmpty ? nil : staying)
        }
        let changed = assignments.filter { $0.value != "s.\($0.column.quotedName)" }
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
    private func value(of column: EntityTable.Column, in table: EntityTable, _ contribution: Contribution) -> String? {
        switch column.role {
        case .primaryKey: "s.Z_PK"
        case .optimisticLock: "s.\(column.name.quotedName)"
        case .entity:
            contribution.sourceNumber == contribution.destinationNumber
                ? "s.\(column.name.quotedName)" : "\(contribution.destinationNumber)"
        case .attribute(let entity, let name):
            has(entity, contribution) ? attributeValue(name, contribution) : "NULL"
        case .toOne(let entity, let name): has(entity, contribution) ? toOneKey(name, contribution) : "NULL"
        case .toOneEntity(let entity, let name): has(entity, contribution) ? toOneEntity(name, contribution) : "NULL"
        case .order(let entity, let name): has(entity, contribution) ? toOneOrder(name, contribution) : "NULL"
        case .inverselessToMany(let entity, let name):
            isDestination(of: entity, name, contribution)
                ? inverselessPairs(.init(entity: entity, name: name), contribution).map { key($0, fits: entity) }
                    ?? "NULL"
                : "NULL"
        case .inverselessOrder(let entity, let name):
            isDestination(of: entity, name, contribution)
                ? inverselessPairs(.init(entity: entity, name: name), contribution).flatMap { pairs in
                    pairs.destinationOrderColumn.map { pairs.value($0, filter: condition(pairs, fits: entity)) }
                } : "NULL"
        case .unknown: "NULL"
        }
    }

    private func isDestination(of entity: String, _ name: String, _ contribution: Contribution) -> Bool {
        guard let relationship = destination.model.entity(entity)?.relationship(name) else { return false }
        return has(relationship.destinationEntityName, contribution)
    }

    private func attributeValue(_ name: String, _ contribution: Contribution) -> String {
        let path = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard let attribute = path.first.flatMap({ destination.model.attribute($0, of: contribution.destination) })
        else {
            return "NULL"
        }
        if attribute.derivation != nil { return derivedValue(attribute, contribution) }
        switch contribution.mapping.attributes[attribute.name] {
        case .attribute(let from, let substitute):
            let element = path.count > 1 ? ".\(path[1])" : ""
            let column = source.column(forAttribute: from + element, in: contribution.source)
            let old = source.model.attribute(from, of: contribution.source)
            let carried = column.map { movingBytes("s.\($0.quotedName)", from: old, to: attribute) } ?? "NULL"
            guard let substitute else { return carried }
            let literal = substitute.sqlLiteral(for: attribute)
            return column == nil ? literal : "COALESCE(\(carried), \(literal))"
        case .constant(let value?): return value.sqlLiteral(for: attribute)
        case .expression: return contribution.expressions[attribute.name] ?? "NULL"
        case .constant(nil), nil: return "NULL"
        }
    }

    /// Bytes that leave or enter external storage gain or lose their leading byte (STORE_FORMAT 6).
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
