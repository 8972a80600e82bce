import MoultModel
import MoultSQLite
import MoultStore

/// The places of the values of an entity's objects in a store: the table, the entity's number, and for each property of
/// its shape a place.
package final class EntityColumns {
    package let shape: EntityShape
    /// `Z_ENT`
    package let number: Int64
    package let table: String
    /// The root entity, whose table it is.
    package let root: String
    /// One for each of the shape's properties.
    let places: [Place]
    /// The positions of what an object's own row holds as it was set: attributes that nothing derives, to-ones.
    let writtenPositions: [Int]
    let relationshipPositions: [Int]
    /// By position, whether it is an attribute that nothing derives, with its whole value in the row.
    let isPlain: [Bool]
    /// The positions of the dates that `now()` derives.
    let nowPositions: [Int]
    // A run of policies belongs to one thread: that is not checked for each value.
    /// By position, whether a policy has read the property of any object.
    @exclusivity(unchecked) package var isRead: [Bool]

    enum Place {
        /// Transient, or missing from the store.
        case none
        case attribute(column: String, AttributeDescription)
        case toOne(column: String, entityColumn: String?, StoredRelationship)
        case toMany(StoredRelationship)
    }

    /// Nil for an entity that the store does not hold.
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

    /// `Entity.property`
    func place(_ position: Int) -> String { "\(shape.entity.name).\(shape.properties[position].name)" }

    func relationship(_ name: String) -> StoredRelationship? {
        switch shape.position(of: name).map({ places[$0] }) {
        case .toOne(_, _, let relationship), .toMany(let relationship): relationship
        default: nil
        }
    }
}
