import MoultModel
import MoultSQLite

/// What becomes of one join table of the destination.
struct JoinChange {
    enum Kind: Hashable {
        case untouched
        /// Made anew and filled by these statements.
        case rebuilt(inserts: [String])
    }

    let table: JoinTable
    let kind: Kind
    /// The order columns that the source has no order for, each with the key column that its lists hang on.
    let ordersToMake: [(order: String, key: String)]
}

extension StoreLowering {
    func joinChanges() -> [JoinChange] { destination.joinTables.map(change(of:)) }

    private func change(of table: JoinTable) -> JoinChange {
        let reference = table.owner
        guard let own = table.column(.source(reference)),
            let other = table.keyColumns.first(where: { $0 != own }),
            let relationship = destination.model.entity(reference.entity)?.relationship(reference.name)
        else { return JoinChange(table: table, kind: .rebuilt(inserts: []), ordersToMake: []) }
        let sources = pairsByOwners(of: reference)
        var orders: [(column: String, isOwners: Bool, key: String)] = []
        for column in table.columns {
            guard case .order(let list) = column.role else { continue }
            let isOwners = list == reference
            orders.append((column.name, isOwners, isOwners ? own : other))
        }
        let sourceOrders = { (pairs: RelationshipPairs) in
            orders.map { $0.isOwners ? pairs.ownerOrderColumn : pairs.destinationOrderColumn }
        }
        let toMake = orders.enumerated().filter { index, _ in
            sources.contains { sourceOrders($0.pairs)[index] == nil }
        }.map { ($0.element.column, $0.element.key) }
        if isSame(table, sources, own, other, orders.map(\.column), sourceOrders, relationship) {
            return JoinChange(table: table, kind: .untouched, ordersToMake: [])
        }
        let isReflexive = table.columns.contains { $0.role == .reflexiveDestination(reference) }
        let inserts = sources.flatMap { pairs, owners in
            let directions = isReflexive && pairs != pairs.flipped ? [pairs, pairs.flipped] : [pairs]
            return directions.map { pairs in
                insert(
                    into: table.name, [own, other] + orders.map(\.column), pairs, sourceOrders(pairs),
                    conditions: conditions(pairs, owners, reference, relationship))
            }
        }
        return JoinChange(table: table, kind: .rebuilt(inserts: inserts), ordersToMake: toMake)
    }

    private func isSame(
        _ table: JoinTable, _ sources: [(pairs: RelationshipPairs, owners: [Int])], _ own: String, _ other: String,
        _ orders: [String], _ sourceOrders: (RelationshipPairs) -> [String?], _ relationship: RelationshipDescription
    ) -> Bool {
        guard sources.count == 1, let (pairs, owners) = sources.first, pairs.row == .neither else { return false }
        return catalogue.table(table.name)?.sql == table.sql && pairs.table == table.name
            && pairs.ownerColumn == own && pairs.destinationColumn == other && sourceOrders(pairs) == orders
            && conditions(pairs, owners, table.owner, relationship).isEmpty
    }

    /// The conditions that both ends of a pair `p` are carried over to where the relationship wants them.
    private func conditions(
        _ pairs: RelationshipPairs, _ owners: [Int], _ reference: RelationshipReference,
        _ relationship: RelationshipDescription
    ) -> [String] {
        [
            condition(pairs.flipped, fits: reference.entity),
            condition(pairs, fits: relationship.destinationEntityName),
        ].compactMap { $0 }
    }

    private func insert(
        into table: String, _ columns: [String], _ pairs: RelationshipPairs, _ orders: [String?], conditions: [String]
    ) -> String {
        let own = "p.\(pairs.ownerColumn.quotedName)"
        let other = "p.\(pairs.destinationColumn.quotedName)"
        let values = [own, other] + orders.map { $0.map { "p.\($0.quotedName)" } ?? "NULL" }
        let all = ["\(own) IS NOT NULL", "\(other) IS NOT NULL"] + conditions
        return """
            INSERT OR IGNORE INTO main.\(table.quotedName) (\(columns.map(\.quotedName).joined(separator: ", "))) \
            SELECT \(values.joined(separator: ", ")) FROM \(pairs.rows(in: "source")) AS p \
            WHERE \(all.joined(separator: " AND ")) ORDER BY 1, 2
            """
    }
}

extension StoreLowering {
    /// Numbers each list that had no order by key, in Core Data's steps: 2048, 3072, 4096 … (STORE_FORMAT 3).
    static func makeOrder(table: String, order: String, key: String) -> String {
        """
        UPDATE main.\(table.quotedName) AS t SET \(order.quotedName) = o.place FROM (SELECT rowid AS id, \
        1024 + 1024 * row_number() OVER (PARTITION BY \(key.quotedName) ORDER BY rowid) AS place \
        FROM main.\(table.quotedName) WHERE \(key.quotedName) IS NOT NULL) AS o \
        WHERE t.rowid = o.id AND t.\(order.quotedName) IS NULL
        """
    }
}
