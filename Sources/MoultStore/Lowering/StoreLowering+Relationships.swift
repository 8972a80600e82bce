import MoultModel
import MoultPlan
import MoultSQLite

extension StoreLowering {
    /// The links of a to-one relationship that the rows of a contribution hold.
    func links(_ entity: String, _ name: String, of contribution: Contribution) -> [Links] {
        links(of: .init(entity: entity, name: name)).filter { links in
            links.owners.contains { $0.position == contribution.position }
        }
    }

    /// The entity number of the object with key `key` of the source entity `entity`, as SQL.
    func entityNumber(ofKey key: String, in entity: String) -> String {
        guard let table = source.table(forEntity: entity) else { return "NULL" }
        return "(SELECT t.Z_ENT FROM source.\(table.name.quotedName) AS t WHERE t.Z_PK = \(key))"
    }

    /// The condition that the destination of a pair is carried over; nil where all are. The pair is a row called
    /// `alias`.
    func condition(_ links: Links, alias: String = "p") -> String? {
        let pairs = links.pairs
        return numbers(of: pairs.destinationEntity, carriedBy: links.destinations).map { numbers in
            let key = "\(alias).\(pairs.destinationColumn.quotedName)"
            return "\(entityNumber(ofKey: key, in: pairs.destinationEntity)) IN (\(numbers.sqlList))"
        }
    }
}

// MARK: - Columns of a row

extension StoreLowering {
    /// The first value that one of the links gives; several fill one relationship where its destinations come from
    /// several entities.
    private func first(_ links: [Links], _ value: (Links) -> String) -> String {
        var values: [String] = []
        for value in links.map(value) where !values.contains(value) { values.append(value) }
        return values.coalesced
    }

    /// The key of a to-one relationship's destination.
    ///
    /// - Parameter relationship: nil for one that the other end declares, without inverse.
    func toOneKey(_ links: [Links], _ relationship: RelationshipDescription?, _ contribution: Contribution) -> String {
        if let inverse = contendedInverse(of: relationship, links) {
            return mutual("new", links, inverse, contribution)
        }
        return first(links) { links in
            let key = key(links)
            return agreed(key, key: key, links, of: relationship, contribution)
        }
    }

    private func key(_ links: Links) -> String {
        let pairs = links.pairs
        guard keepsKeys(links.destinations) else { return translated("new", links) }
        let key = pairs.value(pairs.destinationColumn, filter: condition(links), in: byOwner(pairs))
        guard pairs.row == .owner, let onRow = condition(links, alias: "s") else { return key }
        return "CASE WHEN \(onRow) THEN \(key) END"
    }

    /// The entity number of a to-one relationship's destination, in the destination's numbering.
    func toOneEntity(
        _ links: [Links], _ relationship: RelationshipDescription?, _ contribution: Contribution
    ) -> String {
        if let inverse = contendedInverse(of: relationship, links) {
            return mutual("number", links, inverse, contribution)
        }
        return first(links) { links in
            guard keepsKeys(links.destinations) else { return translated("number", links) }
            let entity = links.pairs.destinationEntity
            let fitting = numbers(of: entity, carriedBy: links.destinations)
            let all = source.model.entity(entity).map(source.numbers(ofEntityAndDescendants:)) ?? []
            let number = agreed(
                sourceEntityNumber(links, contribution), key: key(links), links, of: relationship, contribution)
            return renumbered(
                number, candidates: fitting ?? all,
                by: Self.numberMap(of: links.destinations), mayPassThrough: fitting == nil)
        }
    }

    /// A column of ``translation(_:)`` for the first destination of a row `s` that becomes anything.
    private func translated(_ column: String, _ links: Links) -> String {
        let (pairs, table) = (links.pairs, translation(links.destinations))
        if pairs.row == .owner {
            return
                "(SELECT t.\(column) FROM \(table) AS t WHERE t.old = s.\(pairs.destinationColumn.quotedName) LIMIT 1)"
        }
        return "(SELECT t.\(column) FROM \(firstPair(links, joining: table)))"
    }

    private func firstPair(_ links: Links, joining table: String) -> String {
        let pairs = links.pairs
        let order = pairs.ownerOrderColumn.map { "p.\($0.quotedName), " } ?? ""
        let destination = "p.\(pairs.destinationColumn.quotedName)"
        return """
            \(byOwner(pairs)) AS p JOIN \(table) AS t ON t.old = \(destination) \
            WHERE p.\(pairs.ownerColumn.quotedName) = s.Z_PK ORDER BY \(order)\(destination) LIMIT 1
            """
    }

    /// A source entity number as the destination's; the value itself where no number changes.
    func renumbered(_ number: String, candidates: [Int], by map: [Int: Int], mayPassThrough: Bool) -> String {
        if mayPassThrough && candidates.allSatisfy({ map[$0] == nil || map[$0] == $0 }) { return number }
        let cases = candidates.compactMap { old in map[old].map { " WHEN \(old) THEN \($0)" } }
        return cases.isEmpty ? "NULL" : "CASE \(number)\(cases.joined()) END"
    }

    private func sourceEntityNumber(_ links: Links, _ contribution: Contribution) -> String {
        let pairs = links.pairs
        if pairs.row == .owner, let table = source.table(named: pairs.table),
            let column = table.entityColumn(besideKey: pairs.destinationColumn)
        {
            return "s.\(column.quotedName)"
        }
        let key = pairs.value(pairs.destinationColumn, filter: condition(links), in: byOwner(pairs))
        return entityNumber(ofKey: key, in: pairs.destinationEntity)
    }

    /// The place of a row in the ordered list that is the inverse of its to-one relationship; nil where the source
    /// holds no order, so that one has to be made.
    func toOneOrder(_ links: [Links]) -> String? {
        let values = links.compactMap(order)
        return values.isEmpty || values.count < links.count ? nil : first(links) { order($0) ?? "NULL" }
    }

    private func order(_ links: Links) -> String? {
        let pairs = links.pairs
        guard let column = pairs.destinationOrderColumn else { return nil }
        if pairs.row == .owner || keepsKeys(links.destinations) {
            return pairs.value(column, filter: condition(links), in: byOwner(pairs))
        }
        return "(SELECT p.\(column.quotedName) FROM \(firstPair(links, joining: translation(links.destinations))))"
    }

    /// The links of a to-many relationship without inverse, seen from its destination, whose row holds the key.
    func inverselessLinks(_ reference: RelationshipReference, _ contribution: Contribution) -> [Links] {
        links(of: reference).filter { links in
            links.destinations.contains { $0.position == contribution.position }
        }.map(\.flipped)
    }
}

extension EntityTable {
    /// The column with the entity number of the object whose key is in `column`.
    func entityColumn(besideKey column: String) -> String? {
        guard case .toOne(let entity, let name)? = columns.first(where: { $0.name == column })?.role else { return nil }
        return self.column(.toOneEntity(entity: entity, name: name))
    }
}
