import MoultModel
import MoultStore

extension EntityColumns {
    /// Returns the column of a stored attribute with its description; nil for any other property.
    package func attribute(at position: Int) -> (column: String, description: AttributeDescription)? {
        if case .attribute(let column, let attribute) = places[position] { (column, attribute) } else { nil }
    }

    /// The columns of a to-one: its key, its entity's number, and the place in the ordered list at the other end.
    package func toOne(at position: Int) -> (column: String, entity: String?, order: String?)? {
        guard case .toOne(let column, let entity, let relationship) = places[position] else { return nil }
        return (column, entity, relationship.inverseOrderColumn)
    }

    package func isToMany(_ position: Int) -> Bool { if case .toMany = places[position] { true } else { false } }

    /// Whether a to-many's pairs lie in a join table.
    package func isManyToMany(_ position: Int) -> Bool {
        guard case .toMany(let relationship) = places[position], case .joinTable = relationship.storage else {
            return false
        }
        return true
    }

    /// Whether a to-one's other end is a to-one too, whose row has to follow.
    package func isOneToOne(_ position: Int) -> Bool {
        if case .toOne(_, _, let relationship) = places[position] { relationship.isOneToOne } else { false }
    }

    /// The to-one at the other end of a to-many whose members' rows hold it.
    package func inverseToOne(of position: Int) -> RelationshipReference? {
        guard case .toMany(let relationship) = places[position], case .inverseForeignKey = relationship.storage else {
            return nil
        }
        return relationship.inverse
    }
}
