import MoultModel
import MoultStore

/// A relationship with the place where a store keeps it, and the same of its inverse.
final class StoredRelationship {
    /// `Entity.name`, for errors.
    let place: String
    let reference: RelationshipReference
    let description: RelationshipDescription
    let storage: RelationshipStorage
    /// The choice of each destination's entity: by the model alone, or by the number next to the key.
    let destination: EntityChoice
    /// The root entity of the destinations.
    let destinationRoot: String
    let inverse: RelationshipReference?
    let inverseStorage: RelationshipStorage?
    /// The destination's entity and those below it.
    private let entityNames: Set<String>

    /// Nil for a relationship that the store does not keep: a transient one, or one that leaves its configuration.
    init?(_ name: String, of entity: EntityDescription, in layout: StoreLayout) {
        let model = layout.model
        guard let description = model.relationship(name, of: entity),
            let declaring = model.declaringEntity(of: name, in: entity),
            let storage = layout.storage(ofRelationship: name, in: entity),
            let there = model.entity(description.destinationEntityName),
            let destination = EntityChoice(description, in: layout, isTrusted: true)
        else { return nil }
        place = "\(entity.name).\(name)"
        reference = RelationshipReference(entity: declaring.name, name: name)
        self.description = description
        self.storage = storage
        self.destination = destination
        destinationRoot = model.root(of: there).name
        let inverse = model.inverse(of: description)
        self.inverse = inverse.flatMap { inverse in
            model.declaringEntity(of: inverse.name, in: there).map {
                RelationshipReference(entity: $0.name, name: inverse.name)
            }
        }
        inverseStorage = inverse.flatMap { layout.storage(ofRelationship: $0.name, in: there) }
        entityNames = Set(([there] + model.descendants(of: there)).map(\.name))
    }

    func accepts(_ entityName: String) -> Bool {
        entityName == description.destinationEntityName || entityNames.contains(entityName)
    }
}

extension StoredRelationship {
    /// The column of a to-one that keeps the object's place in the ordered list at the other end.
    var inverseOrderColumn: String? {
        if case .inverseForeignKey(_, _, _, let order)? = inverseStorage { order } else { nil }
    }

    /// Whether both ends are to-one.
    var isOneToOne: Bool {
        if case .foreignKey? = inverseStorage, case .foreignKey = storage { true } else { false }
    }
}
