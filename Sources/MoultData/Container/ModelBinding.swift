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

    /// A property that has no value to stand for NULL, or that not every value can be.
    final class Demand {
        let position: Int
        let name: String
        let property: Schema.PropertyMetadata

        init(_ position: Int, _ property: Schema.PropertyMetadata) {
            self.position = position
            name = property.name
            self.property = property
        }
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
            return Demand(position, property)
        }
        demandedPositions = demands.map(\.position)
    }
}

extension ModelBinding.Demand {
    func isFulfilled(by value: ObjectValue?) -> Bool {
        switch value {
        case .attribute(let value?)?: property.canRead(value)
        case .toOne(.some)?: true
        default: false
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
