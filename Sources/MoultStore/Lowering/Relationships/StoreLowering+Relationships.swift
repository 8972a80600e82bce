import MoultModel
import MoultPlan

extension StoreLowering {
    /// Returns the links of a to-one relationship in the rows of a contribution.
    func links(_ entity: String, _ name: String, of contribution: RowSource) -> [Links] {
        links(of: .init(entity: entity, name: name)).filter { links in
            links.owners.contains { $0.position == contribution.position }
        }
    }

    /// Returns the entity number of the object with key `key` of the source entity `entity`, as SQL.
    func entityNumber(ofKey key: SQLText, in entity: String) -> ColumnSource {
        guard let table = source.table(forEntity: entity)?.name else { return .null }
        return .expression("(SELECT t.Z_ENT FROM source.\(table: table) AS t WHERE t.Z_PK = \(key))")
    }

    /// Returns the condition that the destination of a pair, in a row called `alias`, is migrated; nil if all are.
    func condition(_ links: Links, alias: SQLText = "p") -> SQLText? {
        let pairs = links.pairs
        return numbers(of: pairs.destinationEntity, carriedBy: links.destinations).map { numbers in
            let key: SQLText = "\(alias).\(name: pairs.destinationColumn)"
            return "\(entityNumber(ofKey: key, in: pairs.destinationEntity).sql) IN (\(list: numbers))"
        }
    }

    // MARK: - Columns of a row

    /// Returns the first value that one of the links gives. A relationship has several links if its destinations come
    /// from several entities.
    private func first(_ links: [Links], _ value: (Links) -> ColumnSource) -> ColumnSource {
        var values: [ColumnSource] = []
        for value in links.map(value) where !values.contains(value) { values.append(value) }
        return values.count > 1 ? .expression(values.map(\.sql).coalesced) : values.first ?? .null
    }

    /// Returns the key of a to-one relationship's destination.
    ///
    /// - Parameter relationship: the relationship; nil for one without an inverse that the other end declares.
    func toOneKey(_ links: [Links], _ relationship: RelationshipDescription?, _ contribution: RowSource)
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

    /// Returns the entity number of a to-one relationship's destination, in the numbering of the new version.
    func toOneEntity(
        _ links: [Links], _ relationship: RelationshipDescription?, _ contribution: RowSource
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

    /// Returns a column of ``translation(_:)`` for the first migrated destination of a row `s`.
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

    /// Returns the destination's entity number for a source entity number; the value itself if no number changes.
    func renumbered(_ number: ColumnSource, candidates: [Int], by map: [Int: Int], mayPassThrough: Bool) -> ColumnSource
    {
        if mayPassThrough && candidates.allSatisfy({ map[$0] == nil || map[$0] == $0 }) { return number }
        let cases = candidates.compactMap { old -> SQLText? in map[old].map { " WHEN \(old) THEN \($0)" } }
        return cases.isEmpty ? .null : .expression("CASE \(number.sql)\(cases.joined(separator: "")) END")
    }

    private func sourceEntityNumber(_ links: Links, _ contribution: RowSource) -> ColumnSource {
        let pairs = links.pairs
        if pairs.row == .owner, let table = source.table(named: pairs.table),
            let column = table.entityColumn(besideKey: pairs.destinationColumn)
        {
            return .column(column)
        }
        let key = pairs.value(pairs.destinationColumn, filter: condition(links), in: byOwner(pairs))
        return entityNumber(ofKey: key.sql, in: pairs.destinationEntity)
    }

    /// Returns the position of a row in the ordered list that is the inverse of its to-one relationship; nil if the
    /// source has no order, so that one has to be created.
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

    /// Returns the links of a to-many without an inverse, seen from its destination, whose row contains the key.
    func inverselessLinks(_ reference: RelationshipReference, _ contribution: RowSource) -> [Links] {
        links(of: reference).filter { links in
            links.destinations.contains { $0.position == contribution.position }
        }.map(\.flipped)
    }
}

extension EntityTable {
    /// Returns the column with the entity number of the object whose key is in `column`.
    func entityColumn(besideKey column: String) -> String? {
        guard case .toOne(let entity, let name)? = columns.first(where: { $0.name == column })?.role else { return nil }
        return self.column(.toOneEntity(entity: entity, name: name))
    }
}

extension StoreLowering {
    /// Returns the value of a to-one's column if its inverse also becomes a to-one. Of several objects with the same
    /// destination, only the one that the destination chooses keeps it, so that both ends agree.
    ///
    /// - Parameters:
    ///   - key: the destination's key, as SQL over the row `s`.
    func agreed(
        _ value: ColumnSource, key: SQLText, _ links: Links, of relationship: RelationshipDescription?,
        _ contribution: RowSource
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

    /// Returns whether several source objects may have the same destination.
    func mayLeadToOne(
        _ pairs: RelationshipPairs, _ relationship: RelationshipDescription, _ contribution: RowSource
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

    // MARK: - Changed keys

    /// Returns the to-one inverse of a to-one relationship if objects at either end get other keys, become several
    /// objects or come from several tables. Each end then has to choose among all objects that refer to it.
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

    /// Returns whether the links of a one-to-one relationship are kept unchanged, because every object at either end
    /// becomes one object. Ends that disagree in the store are left as they are.
    private func isCarriedWhole(_ links: [Links], _ relationship: RelationshipDescription) -> Bool {
        guard links.count == 1, let links = links.first, let owner = links.owners.first else { return false }
        return links.pairs.row == .owner && (links.owners + links.destinations).allSatisfy(isAlone)
            && !mayLeadToOne(links.pairs, relationship, owner)
    }

    /// Returns whether a mapping takes all of its objects, which no other mapping takes, without a condition or policy.
    func isAlone(_ contribution: RowSource) -> Bool {
        contribution.values.condition == nil && contribution.mapping.policy == nil
            && isTakenOnce(contribution.sourceNumber)
    }

    /// Returns a column of ``translation(_:)`` for the destination that the object created from a row `s` chooses, if
    /// the destination also chooses the object. Both ends thus have the same link, or none.
    func mutual(
        _ column: SQLText, _ links: [Links], _ inverse: RelationshipReference, _ contribution: RowSource
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

    /// Returns the first destination of a row `s`, as `old`, `new` and `number`.
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

    /// Returns the new key of the object that the destination with the old key `key` would choose through the inverse.
    private func chooser(_ key: SQLText, _ links: Links, _ inverse: RelationshipReference) -> SQLText {
        let table = source.table(forEntity: links.pairs.destinationEntity)?.name
        let mappings = Set(links.destinations.map(\.position))
        let backs = self.links(of: inverse).filter { back in
            source.table(forEntity: back.pairs.ownerEntity)?.name == table
                && back.owners.contains { mappings.contains($0.position) }
        }
        return backs.map { "(SELECT t.new FROM \(offered($0.pairs, translation($0.destinations), to: key)))" }.coalesced
    }

    /// Returns the first pair of the owner with the old key `key` whose destination is migrated.
    private func offered(_ pairs: RelationshipPairs, _ table: SQLText, to key: SQLText) -> SQLText {
        let destination: SQLText = "p.\(name: pairs.destinationColumn)"
        return """
            \(byOwner(pairs)) AS p JOIN \(table) AS t ON t.old = \(destination) \
            WHERE p.\(name: pairs.ownerColumn) = \(key) ORDER BY \(pairs.ownerOrder)\(destination), t.new LIMIT 1
            """
    }
}
