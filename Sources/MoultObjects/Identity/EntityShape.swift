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
    /// The names by their lengths in UTF-8, with their positions. Few names are of one length, and a length is known
    /// without hashing: an app's code looks properties up by name for every object.
    private let names: [(name: String, position: Int)]
    /// The indexes in that list at which the names of each length begin, and behind the longest its end.
    private let starts: [Int]

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
        let names = positions.map { (name: $0, position: $1) }.sorted { $0.name.utf8.count < $1.name.utf8.count }
        let longest = names.last?.name.utf8.count ?? 0
        starts = (0...longest + 1).map { length in
            names.firstIndex { $0.name.utf8.count >= length } ?? names.count
        }
        self.names = names
    }

    package func position(of name: String) -> Int? {
        let length = name.utf8.count
        if length < starts.count - 1 {
            for index in starts[length]..<starts[length + 1] where names[index].name == name {
                return names[index].position
            }
        }
        // The same name in another form of Unicode may have another length.
        return positions[name]
    }

    /// Whether the path names a composite attribute, or one inside another: its elements are properties.
    package func isComposite(_ path: String) -> Bool {
        guard position(of: path) == nil else { return false }
        let start = path + "."
        return properties.contains { $0.name.hasPrefix(start) }
    }

    package subscript(name: String) -> Property? { position(of: name).map { properties[$0] } }
}
