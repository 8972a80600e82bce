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
    /// Whether every attribute has something to show where a row holds no value of it.
    let hasStandIns: Bool
    private let requiredNames: Set<String>

    /// An attribute or a to-one relationship, which not every stored value can be.
    final class Demand {
        let position: Int
        let name: String
        let property: Schema.PropertyMetadata
        /// Whether it has no value to stand for NULL.
        let isRequired: Bool

        init(_ position: Int, _ property: Schema.PropertyMetadata, isRequired: Bool) {
            self.position = position
            name = property.name
            self.property = property
            self.isRequired = isRequired
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
            guard let property, let isRequired = property.isRequired else { return nil }
            return Demand(position, property, isRequired: isRequired)
        }
        demandedPositions = demands.map(\.position)
        hasStandIns = demands.allSatisfy { !$0.isRequired || $0.hasStandIn }
        requiredNames = Set(demands.filter(\.isRequired).map(\.name))
    }

    /// Whether a property of that name may not be empty.
    func requires(_ name: String) -> Bool { requiredNames.contains(name) }
}

extension ModelBinding.Demand {
    /// Of a relationship it is the destination that has to have them.
    var hasStandIn: Bool {
        if case .attribute = property.shape { property.hasStandIn() } else { true }
    }

    /// - Parameter value: nil for what is no value of the property's type.
    func isFulfilled(by value: ObjectValue?) -> Bool {
        switch value {
        case .attribute(let value?)?: !isRequired || property.canRead(value)
        case .attribute(nil)?, .toOne(nil)?: !isRequired
        case .toOne(.some)?: true
        case .toMany?, nil: false
        }
    }
}

extension Schema.PropertyMetadata {
    /// Whether a row has to hold a value of it; nil for what is in no column of the row.
    fileprivate var isRequired: Bool? {
        if declared.attributeOptions.contains(.ephemeral) { return nil }
        return switch shape {
        case .attribute(_, let isOptional, _): !isOptional
        case .toOne(_, let isOptional): !isOptional
        case .toMany: nil
        }
    }
}
