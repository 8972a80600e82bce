import MoultBasics
import MoultModel

extension ResolvedMapping {
    /// Resolves a mapping model between the two models it was made for, and decides everything that it leaves open.
    ///
    /// - Parameter policies: the migration policies that the program has. An entity mapping with one of them keeps the
    ///   policy's name; expressions that statements cannot evaluate are left out, because the policy makes the objects.
    /// - Throws: `cannotInfer` with every reason why the mapping does not fit the models; `codeMissing` for a policy
    ///   that the program lacks; `unsupported` for anything else that statements cannot do.
    package init(
        _ mapping: MappingModel, from source: ManagedObjectModel, to destination: ManagedObjectModel,
        policies: Set<String> = []
    ) throws(MigrationError) {
        let faults = mapping.findings(from: source, to: destination).filter { $0.severity == .error }
        if let first = faults.first {
            throw MigrationError(
                .cannotInfer, "The mapping model cannot run: \(faults.map(\.message).joined(separator: " "))",
                place: first.place, remedy: first.advice)
        }
        for entityMapping in mapping.entityMappings {
            guard let policy = entityMapping.entityMigrationPolicyClassName, !policies.contains(policy) else {
                continue
            }
            throw .policyMissing(policy, of: entityMapping.name)
        }
        var resolver = MappingResolver(mapping: mapping, source: source, destination: destination)
        try resolver.run()
        self.init(entityMappings: resolver.entityMappings)
    }
}

extension MigrationError {
    /// The error for a migration policy that is not registered.
    package static func policyMissing(_ policy: String, of mapping: String) -> MigrationError {
        MigrationError(
            .codeMissing, "The mapping needs the migration policy \(policy), which this program does not have.",
            place: mapping,
            remedy: "Run the app's own tool, whose registry has it: registry.policies[\"\(policy)\"] = { … }.")
    }
}

/// Determines the source of each entity and stored property of the destination.
private struct MappingResolver {
    let mapping: MappingModel
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    private(set) var entityMappings: [ResolvedEntityMapping] = []

    mutating func run() throws(MigrationError) {
        for entity in destination.entities {
            let makers = mapping.entityMappings.filter { $0.destinationEntityName == entity.name && $0.takesPart }
            for maker in makers { entityMappings.append(try resolve(entity, by: maker)) }
            if makers.isEmpty { entityMappings.append(try resolve(entity, by: nil)) }
        }
        let removers = mapping.entityMappings.filter { $0.destinationEntityName == nil && $0.takesPart }
        let taken = Set(entityMappings.compactMap(\.sourceEntityName))
        for entity in source.entities {
            let removing = removers.filter { $0.sourceEntityName == entity.name }
            guard !taken.contains(entity.name) || removing.contains(where: \.hasPolicy) else { continue }
            for remover in removing.isEmpty ? [nil] : removing.map(Optional.some) {
                entityMappings.append(resolved(remover, from: entity.name, to: nil))
            }
        }
    }

    private func resolved(_ maker: EntityMapping?, from: String?, to: String?) -> ResolvedEntityMapping {
        var resolved = ResolvedEntityMapping(sourceEntityName: from, destinationEntityName: to)
        resolved.written = maker
        resolved.name = maker?.name ?? ""
        resolved.policy = maker?.entityMigrationPolicyClassName
        if let predicate = maker?.sourcePredicate, predicate != .constant(true) { resolved.predicate = predicate }
        return resolved
    }

    private func resolve(
        _ entity: EntityDescription, by maker: EntityMapping?
    ) throws(MigrationError) -> ResolvedEntityMapping {
        var resolved = resolved(maker, from: maker?.sourceEntityName, to: entity.name)
        for attribute in destination.attributes(of: entity) where attribute.isStored && attribute.derivation == nil {
            for leaf in attribute.leaves where leaf.isStored {
                let expression = try self.expression(for: leaf, of: attribute, by: maker)
                resolved.attributes[leaf.name] = try self.source(of: leaf, expression, by: maker)
            }
        }
        for relationship in destination.relationships(of: entity) where !relationship.isTransient {
            resolved.relationships[relationship.name] = try self.source(of: relationship, by: maker)
        }
        return resolved
    }

    // MARK: Properties

    /// Returns the expression of a mapping for an attribute, or for a leaf of a composite one. A leaf may have a mapping
    /// of its own, named by its path, as in an inferred mapping model. Otherwise a key path to a composite is extended
    /// to its leaf of the same path; without such a leaf, the new one gets its default value.
    private func expression(
        for leaf: AttributeDescription, of attribute: AttributeDescription, by maker: EntityMapping?
    ) throws(MigrationError) -> Expression? {
        guard let maker else { return nil }
        if attribute.type == .composite, let own = maker.attributeMapping(leaf.name) { return own.valueExpression }
        guard let expression = maker.attributeMapping(attribute.name)?.valueExpression else { return nil }
        let entity = maker.sourceEntityName.flatMap(source.entity)
        if case .keyPath(let path, let base) = expression {
            let from = base == .variable("source") ? entity.flatMap { source.attribute(path, of: $0) } : nil
            if let plain = from?.plain, plain.type != .composite, attribute.plain == leaf {
                return .keyPath(plain.name, of: base)
            }
            guard attribute.type == .composite else { return expression }
            let leafPath = path + leaf.name.dropFirst(attribute.name.count)
            if let from, !from.leaves.contains(where: { $0.name == leafPath }) { return nil }
            return .keyPath(leafPath, of: base)
        }
        if attribute.type != .composite || expression == .constant(.null) || attribute.plain == leaf {
            return expression
        }
        // The policy sets attributes that an expression cannot.
        if maker.hasPolicy { return nil }
        throw unsupported(
            "\(attribute.name) is composite, and \(expression.format) gives one value",
            place: "\(maker.name).\(attribute.name)")
    }

    private func source(
        of attribute: AttributeDescription, _ expression: Expression?, by maker: EntityMapping?
    ) throws(MigrationError) -> AttributeSource {
        guard let maker, let expression else { return .constant(attribute.defaultValue) }
        switch expression {
        case .keyPath(let name, .variable("source")) where isTaken(name, of: maker, by: attribute):
            return .attribute(name, ifNil: nil)
        // An inferred mapping is written like this for a value that became required.
        case .conditional(let condition, .constant(let constant), .keyPath(let name, .variable("source")))
        where condition == .comparison(.init(.source(name), .equal, .constant(.null)))
            && isTaken(name, of: maker, by: attribute):
            guard let value = AttributeValue(constant, for: attribute.type) else { return .expression(expression) }
            return .attribute(name, ifNil: value)
        case .constant(.null): return .constant(nil)
        case .constant(let constant):
            guard let value = AttributeValue(constant, for: attribute.type) else {
                if maker.hasPolicy { return .expression(expression) }
                throw .modelInvalid(
                    "\(expression.format) is not a value of type \(attribute.type.name).",
                    place: "\(maker.name).\(attribute.name)", remedy: "Correct the value expression.")
            }
            return .constant(value)
        default: return .expression(expression)
        }
    }

    /// Whether the attribute takes every value of a source attribute unchanged; otherwise the value needs a conversion.
    private func isTaken(_ name: String, of maker: EntityMapping, by attribute: AttributeDescription) -> Bool {
        guard let entity = maker.sourceEntityName.flatMap(source.entity),
            let from = source.attribute(name, of: entity), from.isStored
        else { return false }
        return from.type == attribute.type || from.type.widens(to: attribute.type)
    }

    private func source(
        of relationship: RelationshipDescription, by maker: EntityMapping?
    ) throws(MigrationError) -> RelationshipSource {
        guard let maker, let expression = maker.relationshipMapping(relationship.name)?.valueExpression else {
            return .empty
        }
        guard let call = expression.destinationInstances, let path = call.sourceInstances.sourcePath else {
            if maker.hasPolicy { return .empty }
            throw unsupported(
                "\(expression.format) is not read from the store", place: "\(maker.name).\(relationship.name)")
        }
        let name = call.kind == .ofEntityMapping ? call.name : nil
        // A mapping without a source makes no objects.
        if let name, mapping[name]?.sourceEntityName == nil { return .empty }
        if let key = path.first, path.count == 1, isWhole(key, of: maker, into: relationship, by: name) {
            return .relationship(key)
        }
        return .path(path, by: name)
    }

    /// Whether the named mapping makes every object that the destinations of a source relationship become.
    private func isWhole(
        _ key: String, of maker: EntityMapping, into relationship: RelationshipDescription, by name: String?
    ) -> Bool {
        guard let entity = maker.sourceEntityName.flatMap(source.entity),
            let old = source.relationship(key, of: entity).flatMap({ source.entity($0.destinationEntityName) }),
            let new = destination.entity(relationship.destinationEntityName)
        else { return false }
        guard let name else { return true }
        let takers = mapping.entityMappings.filter { taker in
            guard let from = taker.sourceEntityName.flatMap(source.entity),
                let to = taker.destinationEntityName.flatMap(destination.entity)
            else { return false }
            return source.isKind(from, of: old) && destination.isKind(to, of: new)
        }
        return takers.map(\.name) == [name]
    }

    private func unsupported(_ what: String, place: String) -> MigrationError {
        MigrationError(
            .unsupported, "\(what), which statements cannot do.", place: place,
            remedy: "Write a migration policy for it.")
    }
}

extension EntityMapping {
    fileprivate var hasPolicy: Bool { entityMigrationPolicyClassName != nil }
    /// Whether the mapping takes objects, or has a policy that may make some.
    fileprivate var takesPart: Bool { sourceEntityName != nil || hasPolicy }
}

extension Expression {
    /// The names of the relationships on a path from `$source`, without operators that only collect the results into
    /// one set; nil for any other expression.
    fileprivate var sourcePath: [String]? {
        switch self {
        case .variable("source"): return []
        case .keyPath(let path, .variable("source")):
            let keys = path.split(separator: ".").map(String.init)
            let joining: Set<String> = [
                "@distinctUnionOfSets", "@distinctUnionOfObjects", "@distinctUnionOfArrays", "@unionOfObjects",
                "@unionOfArrays", "@unionOfSets",
            ]
            let names = keys.filter { !joining.contains($0) }
            return names.contains { $0.hasPrefix("@") } ? nil : names
        default: return nil
        }
    }
}

extension AttributeValue {
    /// Converts the constant to a value of the attribute type; nil if it is not one.
    fileprivate init?(_ constant: ExpressionValue, for type: AttributeType) {
        switch (type, constant) {
        case (.boolean, .boolean(let flag)): self = .boolean(flag)
        case (.boolean, .integer(let number)) where number == 0 || number == 1: self = .boolean(number == 1)
        case (.integer16, .integer(let number)) where Int16(exactly: number) != nil,
            (.integer32, .integer(let number)) where Int32(exactly: number) != nil, (.integer64, .integer(let number)):
            self = .integer(number)
        case (.integer16, .boolean(let flag)), (.integer32, .boolean(let flag)), (.integer64, .boolean(let flag)):
            self = .integer(flag ? 1 : 0)
        case (.double, .real(let number)), (.float, .real(let number)): self = .double(number)
        case (.double, .integer(let number)), (.float, .integer(let number)): self = .double(Double(number))
        case (.decimal, .decimal(let digits)): self = .decimal(digits)
        case (.decimal, .integer(let number)): self = .decimal(String(number))
        case (.string, .string(let text)): self = .string(text)
        case (.date, .date(let seconds)): self = .date(seconds)
        case (.binary, .data(let bytes)): self = .binary(bytes)
        case (.uuid, .uuid(let bytes)): self = .uuid(bytes)
        case (.uri, .uri(let text)), (.uri, .string(let text)): self = .uri(text)
        default: return nil
        }
    }
}

extension MappingModel {
    /// Converts an inferred mapping to a mapping model with the same effect.
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
                return mapping.sourceEntityName.map {
                    EntityMapping(from: $0, to: nil, name: "IEM_Remove_\($0)", type: .remove)
                }
            })
    }
}

extension EntityMapping {
    fileprivate init(_ mapping: ResolvedEntityMapping) {
        self.init(from: mapping.sourceEntityName, to: mapping.destinationEntityName)
        attributeMappings = mapping.attributes.map { PropertyMapping($0, $1.expression) }
        relationshipMappings = mapping.relationships.map { PropertyMapping($0, $1.expression) }
        attributeMappings.sort { $0.name.precedesInByteOrder($1.name) }
        relationshipMappings.sort { $0.name.precedesInByteOrder($1.name) }
        let kind: String
        (type, kind) =
            switch (mapping.sourceEntityName, mapping.destinationEntityName) {
            case (nil, _): (.add, "Add")
            case (_, nil): (.remove, "Remove")
            case (let old, let new): old == new && mapping.keepsNames ? (.copy, "Copy") : (.transform, "Transform")
            }
        // Core Data's name of an inferred mapping.
        name = "IEM_\(kind)_\(mapping.destinationEntityName ?? mapping.sourceEntityName ?? "")"
    }
}

extension ResolvedEntityMapping {
    /// Whether every property comes from the property of the same name.
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
            let isNil = Predicate.comparison(Predicate.Comparison(.source(name), .equal, .constant(.null)))
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
