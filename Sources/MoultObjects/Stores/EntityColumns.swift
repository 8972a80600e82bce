import MoultModel
import MoultStore

/// The storage of an entity's objects: the table, the entity's number, and a place for each property of its shape.
package final class EntityColumns {
    package let shape: EntityShape
    /// The entity number: `Z_ENT`.
    package let number: Int64
    package let table: String
    /// The root entity, to which the table belongs.
    package let root: String
    /// The place of each of the shape's properties.
    let places: [Place]
    /// The positions of the values that an object's own row holds as set: attributes that are not derived, and to-one
    /// relationships.
    let writtenPositions: [Int]
    let relationshipPositions: [Int]
    /// By position, whether the property is an attribute that is not derived, with its whole value in the row.
    let isPlain: [Bool]
    /// The positions of the dates derived from `now()`.
    let nowPositions: [Int]
    // A run of policies belongs to one thread, so exclusivity is not checked for each value.
    /// By position, whether a policy has read the property of any object.
    @exclusivity(unchecked) package var isRead: [Bool]

    enum Place {
        /// The property is transient, or missing from the store.
        case none
        case attribute(column: String, AttributeDescription)
        case toOne(column: String, entityColumn: String?, StoredRelationship)
        case toMany(StoredRelationship)
    }

    /// Returns nil for an entity that the store does not hold.
    init?(_ entity: EntityDescription, in layout: StoreLayout) {
        guard let number = layout.entityNumbers[entity.name], let table = layout.table(for: entity) else { return nil }
        shape = EntityShape(entity, in: layout.model)
        self.number = Int64(number)
        self.table = table.name
        root = table.rootEntityName
        let places = shape.properties.map { property -> Place in
            switch property {
            case .attribute(let name, let attribute):
                return layout.column(forAttribute: name, in: entity).map { .attribute(column: $0, attribute) } ?? .none
            case .relationship(let relationship, _):
                guard let stored = StoredRelationship(relationship.name, of: entity, in: layout) else { return .none }
                guard case .foreignKey(_, let column, let entityColumn) = stored.storage else { return .toMany(stored) }
                return .toOne(column: column, entityColumn: entityColumn, stored)
            }
        }
        self.places = places
        isRead = Array(repeating: false, count: places.count)
        writtenPositions = places.indices.filter { position in
            switch places[position] {
            case .attribute(_, let attribute): attribute.derivation == nil
            case .toOne: true
            case .none, .toMany: false
            }
        }
        relationshipPositions = places.indices.filter { position in
            switch places[position] {
            case .toOne, .toMany: true
            case .none, .attribute: false
            }
        }
        isPlain = places.map { place in
            guard case .attribute(_, let attribute) = place else { return false }
            return attribute.derivation == nil && !attribute.allowsExternalBinaryDataStorage
        }
        nowPositions = places.indices.filter { position in
            guard case .attribute(_, let attribute) = places[position], attribute.type == .date else { return false }
            return attribute.derivation.flatMap { DerivationShape($0.expression) } == .now
        }
    }

    /// Returns the name of a property as `Entity.property`.
    func place(_ position: Int) -> String { "\(shape.entity.name).\(shape.properties[position].name)" }

    func relationship(_ name: String) -> StoredRelationship? {
        switch shape.position(of: name).map({ places[$0] }) {
        case .toOne(_, _, let relationship), .toMany(let relationship): relationship
        default: nil
        }
    }

    /// Returns the column of a stored attribute with its description; nil for any other property.
    package func attribute(at position: Int) -> (column: String, description: AttributeDescription)? {
        if case .attribute(let column, let attribute) = places[position] { (column, attribute) } else { nil }
    }

    /// Returns the columns of a to-one relationship: its key, its entity's number, and the place in the ordered list at
    /// the other end.
    package func toOne(at position: Int) -> (column: String, entity: String?, order: String?)? {
        guard case .toOne(let column, let entity, let relationship) = places[position] else { return nil }
        return (column, entity, relationship.inverseOrderColumn)
    }

    package func isToMany(_ position: Int) -> Bool { if case .toMany = places[position] { true } else { false } }

    /// Whether a to-many relationship is stored in a join table.
    package func isManyToMany(_ position: Int) -> Bool {
        guard case .toMany(let relationship) = places[position], case .joinTable = relationship.storage else {
            return false
        }
        return true
    }

    /// Whether both ends are to-one, so that the other end's row must change too.
    package func isOneToOne(_ position: Int) -> Bool {
        if case .toOne(_, _, let relationship) = places[position] { relationship.isOneToOne } else { false }
    }

    /// Returns the to-one relationship at the other end of a to-many relationship that is stored in its members' rows.
    package func inverseToOne(of position: Int) -> RelationshipReference? {
        guard case .toMany(let relationship) = places[position], case .inverseForeignKey = relationship.storage else {
            return nil
        }
        return relationship.inverse
    }
}

/// A relationship with its storage, and its inverse with its own.
final class StoredRelationship {
    /// `Entity.name`, for errors.
    let place: String
    let reference: RelationshipReference
    let description: RelationshipDescription
    let storage: RelationshipStorage
    /// The columns of its join table, if it has one.
    let pair: JoinPair?
    /// The choice of each destination's entity: by the model alone, or by the number next to the key.
    let destination: EntityChoice
    /// The root entity of the destinations.
    let destinationRoot: String
    let inverse: RelationshipReference?
    let inverseStorage: RelationshipStorage?
    /// The destination entity and its descendants.
    private let entityNames: Set<String>

    /// Returns nil for a relationship that is not stored: a transient one, or one that leaves its configuration.
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
        (self.description, self.storage, self.destination) = (description, storage, destination)
        pair = JoinPair(storage)
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

    /// The column of a to-one relationship with the object's place in the ordered list at the other end.
    var inverseOrderColumn: String? {
        if case .inverseForeignKey(_, _, _, let order)? = inverseStorage { order } else { nil }
    }

    /// Whether both ends are to-one.
    var isOneToOne: Bool {
        if case .foreignKey? = inverseStorage, case .foreignKey = storage { true } else { false }
    }
}
