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
    /// Whether every attribute has something to show where a row holds no value of it.
    let hasStandIns: Bool
    /// The properties that may not be empty.
    let requiredNames: Set<String>

    /// What an attribute or a to-one relationship may not be. It holds nothing, so that looking through those of each
    /// row counts no references.
    struct Demand {
        /// Of the property, among ``properties``.
        let position: Int
        /// Whether it has no value to stand for NULL.
        let isRequired: Bool
        /// Whether the property is asked about each value.
        let isParticular: Bool
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
            return Demand(
                position: position, isRequired: isRequired,
                isParticular: isRequired && property.shape.isAttribute && !property.readsEveryValue)
        }
        let required = demands.filter(\.isRequired).compactMap { properties[$0.position] }
        requiredNames = Set(required.map(\.name))
        hasStandIns = required.allSatisfy { !$0.shape.isAttribute || $0.hasStandIn() }
    }
}

extension ModelBinding {
    /// The first demand that values of an object do not meet.
    ///
    /// - Parameter isFault: whether only some values were read; of the others nothing is demanded.
    func firstUnmet(by values: PositionedValues, isFault: Bool) -> Demand? {
        // A fault of which nothing was read.
        if values.isEmpty { return nil }
        // What was not read of a fault may be anything.
        return demands.first { demand in
            !isMet(demand, by: values) && !(isFault && values.presence(at: demand.position) == .missing)
        }
    }

    func isMet(_ demand: Demand, by values: PositionedValues) -> Bool {
        switch values.presence(at: demand.position) {
        case .missing: return false
        case .empty: return !demand.isRequired
        case .present:
            guard demand.isParticular, case .attribute(let value?)? = values[demand.position] else { return true }
            return properties[demand.position]?.canRead(value) ?? true
        }
    }
}

extension _PropertyShape {
    fileprivate var isAttribute: Bool { if case .attribute = self { true } else { false } }
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
