import MoultModel
import MoultPlan
import MoultSQLite

extension StoreLowering {
    /// The value of a to-one's column where its inverse becomes to-one too: of many objects that led to one
    /// destination, only the one that the destination's own choice falls on keeps it, so that both ends agree.
    ///
    /// - Parameters:
    ///   - value: SQL over the row `s`.
    ///   - key: SQL over the row `s` that gives the destination's key.
    func agreed(
        _ value: String, key: String, _ links: Links, of relationship: RelationshipDescription?,
        _ contribution: Contribution
    ) -> String {
        guard let relationship, let inverse = destination.model.inverse(of: relationship), !inverse.isToMany,
            keepsKeys(links.owners), keepsKeys(links.destinations),
            mayLeadToOne(links.pairs, relationship, contribution)
        else { return value }
        let back = links.pairs.flipped
        let condition = condition(links.flipped).map { " AND \($0)" } ?? ""
        let order = back.ownerOrderColumn.map { "p.\($0.quotedName), " } ?? ""
        return """
            CASE WHEN (SELECT p.\(back.destinationColumn.quotedName) FROM \(back.rows(in: "source")) AS p \
            WHERE p.\(back.ownerColumn.quotedName) = \(key)\(condition) \
            ORDER BY \(order)p.\(back.destinationColumn.quotedName) LIMIT 1) = s.Z_PK THEN \(value) END
            """
    }

    /// Whether several objects of the source may lead to the same destination.
    private func mayLeadToOne(
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
