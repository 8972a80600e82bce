import MoultModel

extension ResolvedMapping {
    /// The reverse mapping; nil if this mapping does more than keep, rename, add and remove.
    ///
    /// The reverse mapping cannot restore what this one removes: it starts with its default value, or empty.
    package func inverse(to source: ManagedObjectModel) -> ResolvedMapping? {
        var back: [ResolvedEntityMapping] = []
        for mapping in entityMappings {
            guard mapping.policy == nil, mapping.predicate == nil, mapping.written == nil,
                let inverse = mapping.inverse(to: source)
            else { return nil }
            back.append(inverse)
        }
        let made = back.filter { $0.destinationEntityName != nil }
        guard Set(made.map(\.destinationEntityName)).count == made.count else { return nil }
        return ResolvedMapping(
            entityMappings: made.sorted {
                ($0.destinationEntityName ?? "").precedesInByteOrder($1.destinationEntityName ?? "")
            } + back.filter { $0.destinationEntityName == nil })
    }
}

extension ResolvedEntityMapping {
    fileprivate func inverse(to source: ManagedObjectModel) -> ResolvedEntityMapping? {
        guard let name = sourceEntityName, let entity = source.entity(name) else {
            return ResolvedEntityMapping(sourceEntityName: destinationEntityName, destinationEntityName: nil)
        }
        var values: [String: AttributeSource] = [:]
        for attribute in source.leaves(of: entity) where attribute.isStored && attribute.derivation == nil {
            values[attribute.name] = .constant(attribute.isOptional ? nil : attribute.defaultValue)
        }
        for (own, value) in attributes {
            guard case .attribute(let other, _) = value else { continue }
            guard case .constant? = values.updateValue(.attribute(own, ifNil: nil), forKey: other) else { return nil }
        }
        var links: [String: RelationshipSource] = [:]
        for relationship in source.relationships(of: entity) where !relationship.isTransient {
            links[relationship.name] = .empty
        }
        for (own, value) in relationships {
            guard case .relationship(let other) = value else { continue }
            guard links.updateValue(.relationship(own), forKey: other) == .empty else { return nil }
        }
        return ResolvedEntityMapping(
            sourceEntityName: destinationEntityName, destinationEntityName: name, attributes: values,
            relationships: links)
    }
}
