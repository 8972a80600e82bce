import MoultModel
import MoultPlan

extension StoreLowering {
    /// The links of a to-one relationship that the rows of a contribution hold.
    func links(_ entity: String, _ name: String, of contribution: Contribution) -> [Links] {
        links(of: .init(entity: entity, name: name)).filter { links in
            links.owners.contains { $0.position == contribution.position }
        }
    }

    /// The entity number of the object with key `key` of the source entity `entity`, as SQL.
    func entityNumber(ofKey key: SQLText, in entity: String) -> ColumnSource {
        guard let table = source.table(forEntity: entity)?.name else { return .null }
        return .expression("(SELECT t.Z_ENT FROM source.\(table: table) AS t WHERE t.Z_PK = \(key))")
    }

    /// The condition that the destination of a pair is carried over; nil where all are. The pair is a row called
    /// `alias`.
    func condition(_ links: Links, alias: SQLText = "p") -> SQLText? {
        let pairs = links.pairs
        return numbers(of: pairs.destinationEntity, carriedBy: links.destinations).map { numbers in
            let key: SQLText = "\(alias).\(name: pairs.destinationColumn)"
            return "\(entityNumber(ofKey: key, in: pairs.destinationEntity).sql) IN (\(list: numbers))"
        }
    }

    // MARK: - Columns of a row

    /// The first value that one of the links gives; several fill one relationship where its destinations come from
    /// several entities.
    private func first(_ links: [Links], _ value: (Links) -> ColumnSource) -> ColumnSource {
        var values: [ColumnSource] = []
        for value in links.map(value) where !values.contains(value) { values.append(value) }
        return values.count > 1 ? .expression(values.map(\.sql).coalesced) : values.first ?? .null
    }

    /// The key of a to-one relationship's destination.
    ///
    /// - Parameter relationship: nil for one that the other end declares, without inverse.
    func toOneKey(_ links: [Links], _ relationship: RelationshipDescription?, _ contribution: Contribution)
        -> ColumnSource
    {
        if let inverse = contendedInverse(of: relationship, links) {
            return mutual("new", links, inverse, contribution)
        }
        return first(links) { links in
            let key = key(links)
            return agreed(key, key: key.sql, links, of: relationship, contribution)
        }
    }

    private func key(_ links: Links) -> ColumnSource {
        let pairs = links.pairs
        guard keepsKeys(links.destinations) else { return translated("new", links) }
        let key = pairs.value(pairs.destinationColumn, filter: condition(links), in: byOwner(pairs))
        guard pairs.row == .owner, let onRow = condition(links, alias: "s") else { return key }
        return .expression("CASE WHEN \(onRow) THEN \(key.sql) END")
    }

    /// The entity number of a to-one relationship's destination, in the destination's numbering.
    func toOneEntity(
        _ links: [Links], _ relationship: RelationshipDescription?, _ contribution: Contribution
    ) -> ColumnSource {
        if let inverse = contendedInverse(of: relationship, links) {
            return mutual("number", links, inverse, contribution)
        }
        return first(links) { links in
            guard keepsKeys(links.destinations) else { return translated("number", links) }
            let entity = links.pairs.destinationEntity
            let fitting = numbers(of: entity, carriedBy: links.destinations)
            let all = source.model.entity(entity).map(source.numbers(ofEntityAndDescendants:)) ?? []
            let number = agreed(
                sourceEntityNumber(links, contribution), key: key(links).sql, links, of: relationship, contribution)
            return renumbered(
                number, candidates: fitting ?? all,
                by: Self.numberMap(of: links.destinations), mayPassThrough: fitting == nil)
        }
    }

    /// A column of ``translation(_:)`` for the first destination of a row `s` that becomes anything.
    private func translated(_ column: SQLText, _ links: Links) -> ColumnSource {
        let (pairs, table) = (links.pairs, translation(links.destinations))
        if pairs.row == .owner {
            return .expression(
                "(SELECT t.\(column) FROM \(table) AS t WHERE t.old = s.\(name: pairs.destinationColumn) LIMIT 1)")
        }
        return .expression("(SELECT t.\(column) FROM \(firstPair(links, joining: table)))")
    }

    private func firstPair(_ links: Links, joining table: SQLText) -> SQLText {
        let pairs = links.pairs
        let destination: SQLText = "p.\(name: pairs.destinationColumn)"
        return """
            \(byOwner(pairs)) AS p JOIN \(table) AS t ON t.old = \(destination) \
            WHERE p.\(name: pairs.ownerColumn) = s.Z_PK ORDER BY \(pairs.ownerOrder)\(destination) LIMIT 1
            """
    }

    /// A source entity number as the destination's; the value itself where no number changes.
    func renumbered(_ number: ColumnSource, candidates: [Int], by map: [Int: Int], mayPassThrough: Bool) -> ColumnSource
    {
        if mayPassThrough && candidates.allSatisfy({ map[$0] == nil || map[$0] == $0 }) { return number }
        let cases = candidates.compactMap { old -> SQLText? in map[old].map { " WHEN \(old) THEN \($0)" } }
        return cases.isEmpty ? .null : .expression("CASE \(number.sql)\(cases.joined(separator: "")) END")
    }

    private func sourceEntityNumber(_ links: Links, _ contribution: Contribution) -> ColumnSource {
        let pairs = links.pairs
        if pairs.row == .owner, let table = source.table(named: pairs.table),
            let column = table.entityColumn(besideKey: pairs.destinationColumn)
        {
            return .column(column)
        }
        let key = pairs.value(pairs.destinationColumn, filter: condition(links), in: byOwner(pairs))
        return entityNumber(ofKey: key.sql, in: pairs.destinationEntity)
    }

    /// The place of a row in the ordered list that is the inverse of its to-one relationship; nil where the source
    /// holds no order, so that one has to be made.
    func toOneOrder(_ links: [Links]) -> ColumnSource? {
        let values = links.compactMap(order)
        return values.isEmpty || values.count < links.count ? nil : first(links) { order($0) ?? .null }
    }

    private func order(_ links: Links) -> ColumnSource? {
        let pairs = links.pairs
        guard let column = pairs.destinationOrderColumn else { return nil }
        if pairs.row == .owner || keepsKeys(links.destinations) {
            return pairs.value(column, filter: condition(links), in: byOwner(pairs))
        }
        let pair = firstPair(links, joining: translation(links.destinations))
        return .expression("(SELECT p.\(name: column) FROM \(pair))")
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

extension StoreLowering {
    /// The value of a to-one's column where its inverse becomes to-one too: of many objects that led to one
    /// destination, only the one that the destination's own choice falls on keeps it, so that both ends agree.
    ///
    /// - Parameters:
    ///   - key: SQL over the row `s` that gives the destination's key.
    func agreed(
        _ value: ColumnSource, key: SQLText, _ links: Links, of relationship: RelationshipDescription?,
        _ contribution: Contribution
    ) -> ColumnSource {
        guard let relationship, let inverse = destination.model.inverse(of: relationship), !inverse.isToMany,
            keepsKeys(links.owners), keepsKeys(links.destinations),
            mayLeadToOne(links.pairs, relationship, contribution)
        else { return value }
        let back = links.pairs.flipped
        let condition: SQLText = condition(links.flipped).map { " AND \($0)" } ?? ""
        let destination: SQLText = "p.\(name: back.destinationColumn)"
        return .expression(
            """
            CASE WHEN (SELECT \(destination) FROM \(byOwner(back)) AS p \
            WHERE p.\(name: back.ownerColumn) = \(key)\(condition) \
            ORDER BY \(back.ownerOrder)\(destination) LIMIT 1) = s.Z_PK THEN \(value.sql) END
            """)
    }

    /// Whether several objects of the source may lead to the same destination.
    func mayLeadToOne(
        _ pairs: RelationshipPairs, _ relationship: RelationshipDescription, _ contribution: Contribution
    ) -> Bool {
        switch pairs.row {
        case .destination: return false
        case .neither: return true
        case .owner:
            guard case .relationship(let name)? = contribution.mapping.relationships[relationship.name],
                let old = source.model.relationship(name, of: contribution.source)
            else { return true }
            return source.model.inverse(of: old)?.isToMany != false
        }
    }

    // MARK: - Under keys that change

    /// The to-one inverse of a to-one relationship whose objects, at either end, get other keys, become several or come
    /// from several places: each end then has to be asked whom it would choose among all that it is offered.
    func contendedInverse(of relationship: RelationshipDescription?, _ links: [Links]) -> RelationshipReference? {
        guard let relationship, !relationship.isToMany, !links.isEmpty,
            let inverse = destination.model.inverse(of: relationship), !inverse.isToMany,
            links.count > 1 || !links.allSatisfy({ keepsKeys($0.owners) && keepsKeys($0.destinations) }),
            !isCarriedWhole(links, relationship),
            let target = destination.model.entity(relationship.destinationEntityName),
            let declaring = destination.model.declaringEntity(of: inverse.name, in: target)
        else { return nil }
        return RelationshipReference(entity: declaring.name, name: inverse.name)
    }

    /// Whether the links of a one-to-one relationship go on as they were: every object at either end becomes one
    /// object. Ends that disagree in the store are its own fault, and stay.
    private func isCarriedWhole(_ links: [Links], _ relationship: RelationshipDescription) -> Bool {
        guard links.count == 1, let links = links.first, let owner = links.owners.first else { return false }
        return links.pairs.row == .owner && (links.owners + links.destinations).allSatisfy(isAlone)
            && !mayLeadToOne(links.pairs, relationship, owner)
    }

    /// Whether no condition and no other mapping says what becomes of the objects that a mapping takes.
    private func isAlone(_ contribution: Contribution) -> Bool {
        contribution.values.condition == nil && contribution.mapping.policy == nil
            && isTakenOnce(contribution.sourceNumber)
    }

    /// A column of ``translation(_:)`` for the destination that the object made of a row `s` chooses, where that one
    /// chooses it too; so both ends have the same link or none.
    func mutual(
        _ column: SQLText, _ links: [Links], _ inverse: RelationshipReference, _ contribution: Contribution
    ) -> ColumnSource {
        let own = contribution.key("s.Z_PK")
        let choices = links.map { links -> (value: SQLText, asked: SQLText) in
            let (chosen, chooser) = (chosen(links), chooser("f.old", links, inverse))
            let value: SQLText = "(SELECT f.\(column) FROM (\(chosen)) AS f WHERE \(chooser) = \(own))"
            return (value, " WHEN EXISTS (\(chosen)) THEN \(value)")
        }
        if choices.count == 1 { return .expression(choices[0].value) }
        return .expression("CASE\(choices.map(\.asked).joined(separator: "")) END")
    }

    /// The first destination of a row `s`, as `old`, `new` and `number`.
    private func chosen(_ links: Links) -> SQLText {
        let (pairs, table) = (links.pairs, translation(links.destinations))
        if pairs.row == .owner {
            return """
                SELECT t.old, t.new, t.number FROM \(table) AS t WHERE t.old = s.\(name: pairs.destinationColumn) \
                ORDER BY t.new LIMIT 1
                """
        }
        return "SELECT t.old, t.new, t.number FROM \(offered(pairs, table, to: "s.Z_PK"))"
    }

    /// The new key of whom the destination with the old key `key` would choose through the inverse.
    private func chooser(_ key: SQLText, _ links: Links, _ inverse: RelationshipReference) -> SQLText {
        let table = source.table(forEntity: links.pairs.destinationEntity)?.name
        let mappings = Set(links.destinations.map(\.position))
        let backs = self.links(of: inverse).filter { back in
            source.table(forEntity: back.pairs.ownerEntity)?.name == table
                && back.owners.contains { mappings.contains($0.position) }
        }
        return backs.map { "(SELECT t.new FROM \(offered($0.pairs, translation($0.destinations), to: key)))" }.coalesced
    }

    /// The first pair of the owner with the old key `key` whose destination becomes anything.
    private func offered(_ pairs: RelationshipPairs, _ table: SQLText, to key: SQLText) -> SQLText {
        let destination: SQLText = "p.\(name: pairs.destinationColumn)"
        return """
            \(byOwner(pairs)) AS p JOIN \(table) AS t ON t.old = \(destination) \
            WHERE p.\(name: pairs.ownerColumn) = \(key) ORDER BY \(pairs.ownerOrder)\(destination), t.new LIMIT 1
            """
    }
}
