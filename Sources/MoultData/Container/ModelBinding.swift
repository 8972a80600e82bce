import MoultModel
import MoultObjects

/// What a context has to know of a model's class to make objects of it out of rows: made once for a container.
final class ModelBinding {
    let entityName: String
    let type: any PersistentModel.Type
    /// By their positions in the entity's ``EntityShape``.
    let properties: [Schema.PropertyMetadata?]
    let namesByKeyPath: [AnyKeyPath: String]
    let keyPathsByName: [String: AnyKeyPath]
    /// What a row has to hold before an object may be made of it.
    let demands: [Demand]
    /// The positions of the demands.
    let demandedPositions: [Int]
    /// Those of them that not every value of their attributes can be.
    let choosy: [(position: Int, canRead: (AttributeValue) -> Bool)]

    /// A property that has no value to stand for NULL.
    struct Demand {
        let position: Int
        let name: String
    }

    init(_ type: any PersistentModel.Type, _ shape: EntityShape) {
        let metadata = type.schemaMetadata
        self.type = type
        entityName = metadata.name
        namesByKeyPath = metadata.namesByKeyPath
        keyPathsByName = Dictionary(metadata.properties.map { ($0.name, $0.keyPath) }) { first, _ in first }
        var properties = [Schema.PropertyMetadata?](repeating: nil, count: shape.properties.count)
        for property in metadata.properties {
            if let position = shape.position(of: property.name) { properties[position] = property }
        }
        self.properties = properties
        demands = properties.enumerated().compactMap { position, property in
            guard let property, property.isDemanding else { return nil }
            return Demand(position: position, name: property.name)
        }
        demandedPositions = demands.map(\.position)
        choosy = demandedPositions.compactMap { position in
            properties[position]?.canRead.map { (position, $0) }
        }
    }
}

extension Schema.PropertyMetadata {
    /// Whether a row could hold what no value of the property is.
    fileprivate var isDemanding: Bool {
        if declared.attributeOptions.contains(.ephemeral) { return false }
        return switch shape {
        case .attribute(_, let isOptional, _): !isOptional
        case .toOne(_, let isOptional): !isOptional
        case .toMany: false
        }
    }
}
