import MoultModel
import MoultSQLite

// The statements that fill a row look up the pairs of its object. If the store has no index for this lookup, the pairs
// are first copied into an indexed table of the working copy, which is dropped before the script ends.

extension StoreLowering {
    /// Returns the pairs as written after FROM, for lookups by single owners.
    func byOwner(_ pairs: RelationshipPairs) -> SQLText {
        sortedPairs(pairs.table, pairs.ownerColumn).map { "main.\(table: $0)" } ?? pairs.rows(in: "source")
    }

    /// Returns the name of the table with another table's rows sorted by one of its columns; nil if an index exists.
    private func sortedPairs(_ table: String, _ column: String) -> String? {
        guard sortsPairs, !table.isEmpty, column != "Z_PK", !leadingColumns.contains([table, column]) else {
            return nil
        }
        return Self.prefix + table + "_" + column
    }

    private static let prefix = "Z_MOULT_PAIRS_"

    /// Returns the statements that create and drop the sorted tables used by `statements`.
    func sortedPairs(for statements: [StoreScript.Statement]) -> (
        making: [StoreScript.Statement], dropping: [StoreScript.Statement]
    ) {
        let lacking = source.tables.flatMap { table in
            table.columns.filter(\.role.isForeignKey).map { (table.name, $0.name) }
        }
        let places = (lacking + source.joinTables.flatMap { join in join.keyColumns.map { (join.name, $0) } })
            .compactMap { table, column in sortedPairs(table, column).map { (name: $0, table: table, column: column) } }
        guard !places.isEmpty else { return ([], []) }
        let asked = places.filter { place in statements.contains { $0.reads.contains(place.name) } }
        let making = asked.flatMap { place -> [StoreScript.Statement] in
            let name = place.name.quotedName
            return [
                .init(
                    .fill, place.name, reads: [place.table],
                    "CREATE TABLE main.\(name) AS SELECT * FROM source.\(place.table.quotedName)",
                    "Copy the pairs of \(place.table), which have no index.", rows: .unknown),
                .init(
                    .createIndex, place.name, reads: [place.table],
                    "CREATE INDEX main.\((place.name + "_INDEX").quotedName) ON \(name) (\(place.column.quotedName))",
                    "Sort the pairs of \(place.table) by \(place.column).", rows: .unknown),
            ]
        }
        return (making, asked.map { .dropTable($0.name, "Take the copy of \($0.table) away.") })
    }

    /// Returns the first column of each index that covers all rows, with its table.
    static func leadingColumns(of layout: StoreLayout) -> Set<[String]> {
        var columns: Set<[String]> = []
        for index in layout.indexes {
            if let column = index.sql.firstListed(after: index.sql.startIndex), !index.sql.contains(" WHERE ") {
                columns.insert([index.table, column])
            }
        }
        for join in layout.joinTables {
            guard let key = join.sql.firstRange(of: "PRIMARY KEY"),
                let column = join.sql.firstListed(after: key.upperBound)
            else { continue }
            columns.insert([join.name, column])
        }
        return columns
    }
}

extension String {
    /// Returns the first name in the parenthesised list that follows a position.
    fileprivate func firstListed(after place: Index) -> String? {
        guard let open = self[place...].firstIndex(of: "(") else { return nil }
        let list = self[index(after: open)...].drop { $0 == " " }
        if list.first == "\"" { return list.dropFirst().split(separator: "\"").first.map(String.init) }
        return String(list.prefix { !" ,)".contains($0) })
    }
}

// Queries, on the store as `main`, for the pairs that the new version keeps. They run before anything is changed.

extension StoreLowering {
    /// Returns the pairs `p` with both ends migrated, as FROM and WHERE.
    ///
    /// - Parameter contributions: the contributions, with conditions over the store itself
    ///   (``contributionsOverStore()``).
    func carriedPairs(_ links: Links, _ contributions: [RowSource]) -> SQLText {
        let pairs = links.pairs
        let ends: [(key: SQLText, entity: String, carriers: [RowSource])] = [
            ("p.\(name: pairs.ownerColumn)", pairs.ownerEntity, links.owners),
            ("p.\(name: pairs.destinationColumn)", pairs.destinationEntity, links.destinations),
        ]
        let conditions = ends.flatMap { end -> [SQLText] in
            let keys = keys(of: end.entity, takenBy: end.carriers, contributions)
            return ["\(end.key) IS NOT NULL"] + (keys.map { ["\(end.key) IN (\($0))"] } ?? [])
        }
        return "\(pairs.rows(in: "main")) AS p WHERE \(conditions.conditions(joinedBy: "AND"))"
    }

    /// Returns a query for the ends `o` and `d` of the pairs that remain after each to-one has chosen its destination.
    func keptPairs(
        _ links: Links, as relationship: RelationshipDescription, of contribution: RowSource,
        _ contributions: [RowSource]
    ) -> SQLText {
        let pairs = links.pairs
        let (owner, destination): (SQLText, SQLText) = (
            "p.\(name: pairs.ownerColumn)", "p.\(name: pairs.destinationColumn)"
        )
        func rank(by end: SQLText, _ order: SQLText, _ other: SQLText) -> SQLText {
            "rank() OVER (PARTITION BY \(end) ORDER BY \(order)\(other))"
        }
        let first = relationship.isToMany ? "1" : rank(by: owner, pairs.ownerOrder, destination)
        let only =
            isNarrowed(links, as: relationship, of: contribution)
            ? rank(by: destination, pairs.flipped.ownerOrder, owner) : "1"
        return """
            SELECT DISTINCT o, d FROM (SELECT \(owner) AS o, \(destination) AS d, \(first) AS choice, \(only) AS turn \
            FROM \(carriedPairs(links, contributions))) WHERE choice = 1 AND turn = 1
            """
    }

    /// Returns whether several objects may have had the same destination, but at most one can in the new version.
    func isNarrowed(_ links: Links, as relationship: RelationshipDescription, of contribution: RowSource) -> Bool {
        guard destination.model.isTakenOnce(by: relationship),
            // If several links supply destinations, each end chooses among all of them.
            let declaring = destination.model.declaringEntity(of: relationship.name, in: contribution.destination),
            self.links(of: .init(entity: declaring.name, name: relationship.name)).count == 1
        else { return false }
        return mayLeadToOne(links.pairs, relationship, contribution)
    }

    /// Returns whether an object with a destination may have none in the new version.
    func mayLoseDestination(
        _ links: Links, as relationship: RelationshipDescription, of contribution: RowSource
    ) -> Bool {
        isNarrowed(links, as: relationship, of: contribution)
            || keys(of: links.pairs.destinationEntity, takenBy: links.destinations, []) != nil
    }

    /// Returns the keys of the objects that mappings take; nil if they take every object of `entity`.
    private func keys(
        of entity: String, takenBy carriers: [RowSource], _ contributions: [RowSource]
    ) -> SQLText? {
        let isPicked = carriers.contains { $0.values.condition != nil }
        guard isPicked || numbers(of: entity, carriedBy: carriers) != nil else { return nil }
        let parts = carriers.compactMap { carrier -> SQLText? in
            guard let table = source.table(for: carrier.source)?.name else { return nil }
            let condition = contributions.first { $0.position == carrier.position }?.values.condition
            let taken: SQLText = condition.map { " AND (\($0))" } ?? ""
            return "SELECT s.Z_PK FROM main.\(table: table) AS s WHERE s.Z_ENT = \(carrier.sourceNumber)\(taken)"
        }
        return parts.isEmpty ? "SELECT NULL WHERE 0" : parts.united
    }
}
