import MoultModel
import MoultSQLite

// What fills a row asks for the pairs of its object. Where the store has no index for that, the pairs are first copied into
// a table of the working copy that has one; it is gone before the script ends.

extension StoreLowering {
    /// The pairs as they stand behind FROM where they are asked for by their owners, one at a time.
    func byOwner(_ pairs: RelationshipPairs) -> SQLText {
        sortedPairs(pairs.table, pairs.ownerColumn).map { "main.\(table: $0)" } ?? pairs.rows(in: "source")
    }

    /// The name of the table that holds the rows of another in the order of one of its columns; nil where an index does.
    private func sortedPairs(_ table: String, _ column: String) -> String? {
        guard sortsPairs, !table.isEmpty, column != "Z_PK", !leadingColumns.contains([table, column]) else {
            return nil
        }
        return Self.prefix + table + "_" + column
    }

    private static let prefix = "Z_MOULT_PAIRS_"

    /// The statements that make and drop the tables that `statements` ask.
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

    /// By table, the first column of each index of all its rows.
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
    /// The first name of the list in parentheses that begins after a place.
    fileprivate func firstListed(after place: Index) -> String? {
        guard let open = self[place...].firstIndex(of: "(") else { return nil }
        let list = self[index(after: open)...].drop { $0 == " " }
        if list.first == "\"" { return list.dropFirst().split(separator: "\"").first.map(String.init) }
        return String(list.prefix { !" ,)".contains($0) })
    }
}

// What the new version keeps of a relationship's pairs, asked of the store as `main` before anything is changed.

extension StoreLowering {
    /// The pairs `p` whose ends are both carried over, as FROM and WHERE.
    ///
    /// - Parameter contributions: with conditions over the store itself (``contributionsOverStore()``).
    func carriedPairs(_ links: Links, _ contributions: [Contribution]) -> SQLText {
        let pairs = links.pairs
        let ends: [(key: SQLText, entity: String, carriers: [Contribution])] = [
            ("p.\(name: pairs.ownerColumn)", pairs.ownerEntity, links.owners),
            ("p.\(name: pairs.destinationColumn)", pairs.destinationEntity, links.destinations),
        ]
        let conditions = ends.flatMap { end -> [SQLText] in
            let keys = keys(of: end.entity, takenBy: end.carriers, contributions)
            return ["\(end.key) IS NOT NULL"] + (keys.map { ["\(end.key) IN (\($0))"] } ?? [])
        }
        return "\(pairs.rows(in: "main")) AS p WHERE \(conditions.conditions(joinedBy: "AND"))"
    }

    /// The pairs that are left once each to-one has made its choice, as a query for their ends `o` and `d`.
    func keptPairs(
        _ links: Links, as relationship: RelationshipDescription, of contribution: Contribution,
        _ contributions: [Contribution]
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

    /// Whether several objects may have led to one destination, and one at most does in the new version.
    func isNarrowed(_ links: Links, as relationship: RelationshipDescription, of contribution: Contribution) -> Bool {
        guard destination.model.isTakenOnce(by: relationship),
            // Where several links offer destinations each end chooses among all.
            let declaring = destination.model.declaringEntity(of: relationship.name, in: contribution.destination),
            self.links(of: .init(entity: declaring.name, name: relationship.name)).count == 1
        else { return false }
        return mayLeadToOne(links.pairs, relationship, contribution)
    }

    /// Whether an object that has a destination may have none in the new version.
    func mayLoseDestination(
        _ links: Links, as relationship: RelationshipDescription, of contribution: Contribution
    ) -> Bool {
        isNarrowed(links, as: relationship, of: contribution)
            || keys(of: links.pairs.destinationEntity, takenBy: links.destinations, []) != nil
    }

    /// The keys of the objects that mappings take; nil if that is every object of `entity`.
    private func keys(
        of entity: String, takenBy carriers: [Contribution], _ contributions: [Contribution]
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
