import MoultModel

/// A relationship at its place in an entity's shape, with what keeping it takes.
final class RelationshipLink: Sendable {
    let position: Int
    let name: String
    let isToMany: Bool
    let isOrdered: Bool
    let deleteRule: DeleteRule
    /// The relationship at the other end; nil if there is none.
    let inverseName: String?
    let isInverseToMany: Bool
    let destination: String
    /// The entities whose objects it may lead to.
    let destinations: Set<String>

    /// Nil for an attribute.
    init?(_ property: EntityShape.Property, at position: Int, model: ManagedObjectModel) {
        guard case .relationship(let relationship, let inverse) = property else { return nil }
        self.position = position
        name = relationship.name
        isToMany = relationship.isToMany
        isOrdered = relationship.isOrdered && relationship.isToMany
        deleteRule = relationship.deleteRule
        inverseName = inverse?.name
        isInverseToMany = inverse?.isToMany ?? false
        destination = relationship.destinationEntityName
        let below = model.entity(destination).map { model.descendants(of: $0).map(\.name) } ?? []
        destinations = Set([destination] + below)
    }

    /// Whether the other end's to-one says all there is to say of it.
    var isKeptByInverse: Bool { isToMany && !isOrdered && inverseName != nil && !isInverseToMany }

    func leads(to entityName: String) -> Bool { entityName == destination || destinations.contains(entityName) }
}
