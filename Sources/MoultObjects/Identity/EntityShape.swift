import MoultModel
import MoultStore

/// The properties of an entity by position, inherited ones included: what every object of it has values for.
///
/// One is made for each entity when a model is first used and shared by all objects, so that a value is found by a
/// number. Fetched properties are not among them: they are asked for, never kept.
package final class EntityShape: Sendable {
    package let entity: EntityDescription
    /// In the byte order of their names.
    package let properties: [Property]
    private let positions: [String: Int]

    package enum Property: Sendable {
        /// Transient and derived ones too. A composite attribute is not one property but one for each of its
        /// elements, named by its path, `attribute.element`.
        case attribute(name: String, AttributeDescription)
        case relationship(RelationshipDescription, inverse: RelationshipDescription?)

        package var name: String {
            switch self {
            case .attribute(let name, _): name
            case .relationship(let relationship, _): relationship.name
            }
        }
    }

    package init(_ entity: EntityDescription, in model: ManagedObjectModel) {
        self.entity = entity
        let stored = model.storedAttributes(of: entity).map { Property.attribute(name: $0.name, $0.description) }
        let others = model.attributes(of: entity).filter { !$0.isStored || $0.type == .objectID }
            .map { Property.attribute(name: $0.name, $0) }
        let relationships = model.relationships(of: entity).map {
            Property.relationship($0, inverse: model.inverse(of: $0))
        }
        properties = (stored + others + relationships).sorted { $0.name.precedesInByteOrder($1.name) }
        positions = Dictionary(
            properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    package func position(of name: String) -> Int? { positions[name] }
    package subscript(name: String) -> Property? { positions[name].map { properties[$0] } }
}
