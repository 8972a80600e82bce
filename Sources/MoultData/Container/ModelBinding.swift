import Foundation
import MoultModel
import MoultObjects

/// The description of a model's class by which a context makes objects of it out of rows: made once for a container.
final class ModelBinding {
    let entityName: String
    let type: any PersistentModel.Type
    /// By their positions in the entity's ``EntityShape``; one of several columns stands at the position of each.
    let properties: [Schema.PropertyMetadata?]
    let distinctProperties: [Schema.PropertyMetadata]
    let keyPathsByName: [String: AnyKeyPath]
    /// The demands that a row has to meet before an object may be made of it.
    let demands: [Demand]
    /// Whether every attribute has something to show where a row holds no value of it.
    let hasStandIns: Bool
    /// The relationships that another one leads back from.
    let namesWithInverse: Set<String>
    /// The properties that may not be empty.
    let requiredNames: Set<String>
    /// When the row of an object lacks a value of one of them, as far as its being NULL says it.
    let emptiness: [StoredPredicate]
    /// By position: a property's name, or the path of one column of a composite attribute.
    private let paths: [String]

    /// A demand on an attribute or a to-one relationship, which a row has to meet. It holds no references, so that
    /// looking through the demands on each row counts none.
    struct Demand {
        /// Of the property, among ``properties``; of the first column of a composite attribute.
        let position: Int
        /// The number of columns that are asked about together, which stand one behind the other in a composite
        /// attribute; 0 where the only column is asked about by itself.
        var count = 0
        /// Whether it has no value to stand for NULL.
        let isRequired: Bool
        /// Whether the property is asked about each value.
        let isParticular: Bool
        /// Whether the property is a `Decimal`.
        var isDecimal = false
    }

    init(_ type: any PersistentModel.Type, _ shape: EntityShape) {
        let metadata = type.schemaMetadata
        self.type = type
        entityName = metadata.name
        keyPathsByName = Dictionary(
            metadata.properties.flatMap { property in
                ([property.name] + property.paths).map { ($0, property.keyPath) }
            }
        ) { first, _ in first }
        var properties = [Schema.PropertyMetadata?](repeating: nil, count: shape.properties.count)
        for property in metadata.properties {
            for position in property.paths.compactMap(shape.position) { properties[position] = property }
        }
        self.properties = properties
        distinctProperties = metadata.properties
        paths = shape.properties.map(\.name)
        demands = properties.indices.flatMap { Self.demands(at: $0, properties) }
        namesWithInverse = Set(
            shape.properties.compactMap { property in
                if case .relationship(let relationship, inverse: .some) = property { relationship.name } else { nil }
            })
        let required = demands.filter(\.isRequired).compactMap { properties[$0.position] }
        requiredNames = Set(required.map(\.name))
        emptiness = required.compactMap(\.emptiness)
        hasStandIns = required.allSatisfy { !$0.shape.isAttribute || $0.hasStandIn() }
    }

    /// Returns the demands on the column at a position. A demand on several columns of one property together stands
    /// with the first of them.
    private static func demands(at position: Int, _ properties: [Schema.PropertyMetadata?]) -> [Demand] {
        guard let property = properties[position], let isRequired = property.isRequired else { return [] }
        guard property.readsColumnsTogether else {
            return [
                Demand(
                    position: position, isRequired: isRequired,
                    isParticular: isRequired && property.shape.isAttribute && !property.readsEveryValue,
                    isDecimal: property.valueType == Decimal.self)
            ]
        }
        let own = Demand(position: position, isRequired: false, isParticular: false)
        guard isRequired, position == 0 || properties[position - 1]?.name != property.name else { return [own] }
        return [own, Demand(position: position, count: property.paths.count, isRequired: true, isParticular: true)]
    }

    /// The first demand that values of an object do not meet.
    ///
    /// - Parameter isFault: whether only some values were read; of the others nothing is demanded.
    func firstUnmet(by values: PositionedValues, isFault: Bool) -> Demand? {
        // A fault of which nothing was read.
        if values.isEmpty { return nil }
        // What was not read of a fault may be anything.
        return demands.first { demand in
            !isMet(demand, by: values) && !(isFault && isMissing(demand, of: values))
        }
    }

    private func isMissing(_ demand: Demand, of values: PositionedValues) -> Bool {
        (demand.position..<demand.position + max(demand.count, 1)).contains { values.presence(at: $0) == .missing }
    }

    func isMet(_ demand: Demand, by values: PositionedValues) -> Bool {
        if demand.count > 0 { return areColumns(of: demand, metBy: values) }
        switch values.presence(at: demand.position) {
        case .missing: return !demand.isRequired
        case .empty: return !demand.isRequired
        case .decimal where demand.isDecimal: return true
        case .decimal, .present:
            guard demand.isParticular, case .attribute(let value?)? = values[demand.position] else { return true }
            return properties[demand.position]?.canRead(value) ?? true
        }
    }

    private func areColumns(of demand: Demand, metBy values: PositionedValues) -> Bool {
        var columns: [String: AttributeValue] = [:]
        for position in demand.position..<demand.position + demand.count {
            if case .attribute(let value?)? = values[position] { columns[paths[position]] = value }
        }
        return properties[demand.position]?.canReadColumns(AbsentBacking(columns)) ?? true
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
        case .attribute(let attribute): !attribute.isOptional
        case .toOne(_, let isOptional): !isOptional
        case .toMany: nil
        }
    }

    /// When a row lacks a value, as far as its being NULL says it; nil if that says nothing.
    fileprivate var emptiness: StoredPredicate? {
        guard case .attribute(let attribute) = shape, attribute.type == .composite else {
            return .isNull(.keyPath(name))
        }
        if attribute.isEnum { return .and(paths.map { .isNull(.keyPath($0)) }) }
        let required = attribute.requiredPaths
        return required.isEmpty ? nil : .or(required.map { .isNull(.keyPath($0)) })
    }
}

extension AttributeDescription {
    /// The paths of the leaves that no object may be without.
    fileprivate var requiredPaths: [String] {
        if type != .composite { return isOptional ? [] : [name] }
        return elements.flatMap(\.requiredPaths).map { "\(name).\($0)" }
    }
}
