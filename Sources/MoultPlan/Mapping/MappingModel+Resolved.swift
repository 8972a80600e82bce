import MoultModel

extension MappingModel {
    /// An inferred mapping as a mapping model, which does the same when it runs.
    ///
    /// An abstract entity has no objects to map, so it is omitted. An entity that became abstract is removed.
    package init(_ mapping: ResolvedMapping, from source: ManagedObjectModel, to destination: ManagedObjectModel) {
        self.init(
            mapping.entityMappings.compactMap { mapping in
                func isAbstract(_ name: String?, in model: ManagedObjectModel) -> Bool {
                    name.flatMap(model.entity)?.isAbstract == true
                }
                if isAbstract(mapping.sourceEntityName, in: source) { return nil }
                guard isAbstract(mapping.destinationEntityName, in: destination) else { return EntityMapping(mapping) }
                return mapping.sourceEntityName.map { EntityMapping(removing: $0) }
            })
    }
}

extension EntityMapping {
    fileprivate init(_ mapping: ResolvedEntityMapping) {
        // As Core Data names inferred mappings.
        let name = "\(mapping.sourceEntityName ?? "")_to_\(mapping.destinationEntityName ?? "")"
        self.init(from: mapping.sourceEntityName, to: mapping.destinationEntityName, name: name)
        attributeMappings = mapping.attributes.map { PropertyMapping($0, $1.expression) }
        relationshipMappings = mapping.relationships.map { PropertyMapping($0, $1.expression) }
        attributeMappings.sort { $0.name.precedesInByteOrder($1.name) }
        relationshipMappings.sort { $0.name.precedesInByteOrder($1.name) }
        type =
            switch (mapping.sourceEntityName, mapping.destinationEntityName) {
            case (nil, _): .add
            case (_, nil): .remove
            case (let old, let new): old == new && mapping.keepsNames ? .copy : .transform
            }
    }
}

extension ResolvedEntityMapping {
    /// Whether every property comes from the one of its name.
    fileprivate var keepsNames: Bool {
        attributes.allSatisfy { if case .attribute($0.key, _) = $0.value { true } else { false } }
            && relationships.allSatisfy { $0.value == .relationship($0.key) }
    }
}

extension AttributeSource {
    fileprivate var expression: Expression? {
        switch self {
        case .attribute(let name, nil): return .source(name)
        case .attribute(let name, let substitute?):
            let isNil = Predicate.comparison(
                Predicate.Comparison(.source(name), .equal, .constant(.null)))
            return .conditional(isNil, .constant(ExpressionValue(substitute)), .source(name))
        case .constant(let value): return value.map { .constant(ExpressionValue($0)) }
        case .expression(let expression): return expression
        }
    }
}

extension RelationshipSource {
    fileprivate var expression: Expression? {
        switch self {
        case .relationship(let name):
            return .destinationInstances(.ofSourceRelationship, named: name, for: .source(name))
        case .path(let keys, let mapping):
            let source: Expression = keys.isEmpty ? .variable("source") : .source(keys.joined(separator: "."))
            guard let mapping else {
                return .destinationInstances(.ofSourceRelationship, named: keys.last ?? "", for: source)
            }
            return .destinationInstances(.ofEntityMapping, named: mapping, for: source)
        case .empty: return nil
        }
    }
}
