import MoultModel
import MoultPlan
import MoultSQLite

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
}

// MARK: - Under keys that change

extension StoreLowering {
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
