import MoultSQLite

/// The change of a join table of the destination.
package struct JoinChange {
    package enum Kind: Hashable {
        case untouched
        /// Rebuilt, and filled by these statements.
        case rebuilt(inserts: [Insert])
    }

    package struct Insert: Hashable {
        let sql: SQLText
        /// Whether each pair comes from a single row that contains both keys, independent of other rows.
        package let isLocal: Bool
    }

    package let table: JoinTable
    package let kind: Kind
    /// Whether its pairs are kept unchanged, even if the table's text changes.
    var keepsPairs = false
    /// The app's own definitions in a table that is kept.
    var own = UserTableAdditions()
    /// The order columns without an order in the source, each with the key column that identifies its lists.
    package let ordersToMake: [(order: String, key: String)]
}

extension StoreLowering {
    package func joinChange(of table: JoinTable) -> JoinChange {
        let reference = table.owner
        guard let own = table.column(.source(reference)),
            let other = table.keyColumns.first(where: { $0 != own })
        else { return JoinChange(table: table, kind: .rebuilt(inserts: []), ordersToMake: []) }
        let sources = links(of: reference)
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
        let keepsPairs = isSame(table, sources, own, other, orders.map(\.column), sourceOrders)
        if keepsPairs, catalogue.table(table.name)?.sql == table.sql {
            return JoinChange(table: table, kind: .untouched, keepsPairs: true, ordersToMake: [])
        }
        if keepsPairs, reasonToRebuild == nil, let old = source.joinTable(named: table.name),
            let own = UserTableAdditions(old, becoming: table)
        {
            return JoinChange(table: table, kind: .untouched, keepsPairs: true, own: own, ordersToMake: [])
        }
        let isReflexive = table.columns.contains { $0.role == .reflexiveDestination(reference) }
        let inserts = sources.flatMap { links in
            // A pair that the store contains in one direction only is not completed by the migration.
            let isBoth = !isReflexive || links.pairs.isReflexive || links.pairs == links.pairs.flipped
            let directions = isBoth ? [links] : [links, links.flipped]
            return directions.map { links in
                insert(into: table.name, [own, other] + orders.map(\.column), links, sourceOrders(links.pairs))
            }
        }
        return JoinChange(table: table, kind: .rebuilt(inserts: inserts), keepsPairs: keepsPairs, ordersToMake: toMake)
    }

    private func isSame(
        _ table: JoinTable, _ sources: [Links], _ own: String, _ other: String, _ orders: [String],
        _ sourceOrders: (RelationshipPairs) -> [String?]
    ) -> Bool {
        guard sources.count == 1, let links = sources.first, links.pairs.row == .neither, keepsKeys(links) else {
            return false
        }
        let pairs = links.pairs
        return pairs.table == table.name
            && pairs.ownerColumn == own && pairs.destinationColumn == other && sourceOrders(pairs) == orders
            && conditions(links).isEmpty
    }

    private func keepsKeys(_ links: Links) -> Bool { keepsKeys(links.owners) && keepsKeys(links.destinations) }

    /// Returns the conditions that both ends of a pair `p` are migrated to entities that the relationship allows.
    func conditions(_ links: Links) -> [SQLText] {
        [condition(links.flipped), condition(links)].compactMap { $0 }
    }

    private func insert(into table: String, _ columns: [String], _ links: Links, _ orders: [String?])
        -> JoinChange.Insert
    {
        let pairs = links.pairs
        let (own, other): (SQLText, SQLText) = ("p.\(name: pairs.ownerColumn)", "p.\(name: pairs.destinationColumn)")
        let places = orders.map { order -> SQLText in order.map { "p.\(name: $0)" } ?? "NULL" }
        var (keys, rows): ([SQLText], SQLText) = ([own, other], "\(pairs.rows(in: "source")) AS p")
        var conditions: [SQLText] = ["\(own) IS NOT NULL", "\(other) IS NOT NULL"]
        var isLocal = pairs.path == nil
        if keepsKeys(links) {
            let carried = self.conditions(links)
            isLocal = isLocal && carried.isEmpty
            conditions += carried
        } else {
            isLocal = false
            keys = ["o.new", "d.new"]
            rows += " JOIN \(translation(links.owners)) AS o ON o.old = \(own)"
            rows += " JOIN \(translation(links.destinations)) AS d ON d.old = \(other)"
        }
        if isPartial { conditions.append(isListed(own, other, pairs)) }
        let sql: SQLText = """
            INSERT OR IGNORE INTO main.\(name: table) (\(names: columns)) \
            SELECT \((keys + places).joined(separator: ", ")) FROM \(rows) \
            WHERE \(conditions.conditions(joinedBy: "AND")) ORDER BY 1, 2
            """
        return JoinChange.Insert(sql: sql, isLocal: isLocal)
    }

    /// Returns a statement that numbers the members without a place by key, in Core Data's steps: 2048, 3072, 4096 …, or
    /// after the last of their list.
    package static func makeOrder(table: String, order: String, key: String) -> StoreScript.Statement {
        let (order, key, rows) = (order.quotedName, key.quotedName, "main.\(table.quotedName)")
        return .init(
            .update, table,
            """
            UPDATE \(rows) AS t SET \(order) = max(1024, ifnull(p.last, 0)) + o.place FROM (SELECT rowid AS id, \
            \(key) AS list, 1024 * row_number() OVER (PARTITION BY \(key) ORDER BY rowid) AS place FROM \(rows) \
            WHERE \(key) IS NOT NULL AND \(order) IS NULL) AS o LEFT JOIN (SELECT \(key) AS list, \
            max(\(order)) AS last FROM \(rows) WHERE \(order) IS NOT NULL GROUP BY 1) AS p ON p.list = o.list \
            WHERE t.rowid = o.id
            """, "Give the lists in \(table) an order, by key.", rows: .unknown)
    }
}

// MARK: - Some of the objects

extension StoreLowering {
    /// Returns the condition that a pair has a listed object at either end.
    func isListed(_ own: SQLText, _ other: SQLText, _ pairs: RelationshipPairs) -> SQLText {
        let ends = [(own, pairs.ownerEntity), (other, pairs.destinationEntity)].compactMap { column, entity in
            source.table(forEntity: entity).map { Self.isListed(column, of: $0.name) }
        }
        return "(\(ends.isEmpty ? "0" : ends.conditions(joinedBy: "OR")))"
    }

    /// Returns the condition that a column of a row contains the key of a listed object: a row of the table `moult_keys`.
    ///
    /// - Parameter schema: the schema that contains the list.
    package static func isListed(_ column: SQLText, of place: String, in schema: SQLText = "main") -> SQLText {
        "\(column) IN (SELECT key FROM \(schema).moult_keys WHERE place = \(value: .text(place)))"
    }
}
