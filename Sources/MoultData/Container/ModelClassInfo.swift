import Foundation
import MoultModel
import MoultObjects

/// A model's class matched to the columns of its entity, for turning rows into objects. A container makes each binding
/// once.
final class ModelClassInfo {
    let entityName: String
    let type: any PersistentModel.Type
    /// The properties by their positions in the entity's ``EntityShape``. A property of several columns appears once
    /// for each.
    let properties: [Schema.PropertyMetadata?]
    let distinctProperties: [Schema.PropertyMetadata]
    let keyPathsByName: [String: AnyKeyPath]
    /// The checks that a row must pass before it becomes an object.
    let demands: [Demand]
    /// Whether every attribute can show a stand-in when its row has no value.
    let hasStandIns: Bool
    /// The names of the relationships that have an inverse.
    let namesWithInverse: Set<String>
    /// The names of the properties that must have a value.
    let requiredNames: Set<String>
    /// Predicates for rows that lack a required value, where NULL alone shows it.
    let emptiness: [StoredPredicate]
    /// The name of the property at each position, or the path of the column for a composite attribute.
    private let paths: [String]

    /// A check of an attribute or a to-one relationship in a row. It holds no references, so iterating over the demands
    /// does no reference counting.
    struct Demand {
        /// The position of the property among ``properties``, or of the first column of a composite attribute.
        let position: Int
        /// The number of adjacent columns of a composite attribute that are checked together; 0 to check a single
        /// column.
        var count = 0
        /// Whether NULL fails the check.
        let isRequired: Bool
        /// Whether the property checks each value.
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

    /// Returns the demands on the column at a position. A demand on all columns of a property is returned for the first
    /// of them.
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

    /// Returns the first demand that the values of an object do not meet.
    ///
    /// - Parameter isFault: whether only some of the values were read; values that were not read meet every demand.
    func firstUnmet(by values: PositionedValues, isFault: Bool) -> Demand? {
        // An unread fault.
        if values.isEmpty { return nil }
        // A value that a fault has not read may be anything.
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
        return properties[demand.position]?.canReadColumns(MissingBackingData(columns)) ?? true
    }
}

extension _PropertyShape {
    fileprivate var isAttribute: Bool { if case .attribute = self { true } else { false } }
}

extension Schema.PropertyMetadata {
    /// Whether a row must have a value for the property; nil for a property without a column in the row.
    fileprivate var isRequired: Bool? {
        if declared.attributeOptions.contains(.ephemeral) { return nil }
        return switch shape {
        case .attribute(let attribute): !attribute.isOptional
        case .toOne(_, let isOptional): !isOptional
        case .toMany: nil
        }
    }

    /// A predicate for rows that lack a value of the property; nil if NULL alone does not show it.
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
    /// The paths of the columns that every object must have a value for.
    fileprivate var requiredPaths: [String] {
        if type != .composite { return isOptional ? [] : [name] }
        return elements.flatMap(\.requiredPaths).map { "\(name).\($0)" }
    }
}
