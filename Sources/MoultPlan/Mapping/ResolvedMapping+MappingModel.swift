import MoultModel

extension ResolvedMapping {
    /// A mapping model with everything it leaves open decided, between the two models it was made for.
    ///
    /// - Throws: `cannotInfer` with every reason why the mapping does not fit the models; `unsupported` for what only
    ///   code can do (a migration policy) or what statements cannot do yet: several sources of one entity, predicates.
    package init(
        _ mapping: MappingModel, from source: ManagedObjectModel, to destination: ManagedObjectModel
    ) throws(MigrationError) {
        let faults = mapping.findings(from: source, to: destination).filter { $0.severity == .error }
        if let first = faults.first {
            throw MigrationError(
                .cannotInfer, "The mapping model cannot run: \(faults.map(\.message).joined(separator: " "))",
                place: first.place, remedy: first.remedy)
        }
        var resolver = MappingResolver(mapping: mapping, source: source, destination: destination)
        try resolver.run()
        self.init(entityMappings: resolver.entityMappings)
    }
}

/// Decides for each entity and stored property of the destination where it comes from.
private struct MappingResolver {
    let mapping: MappingModel
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    private(set) var entityMappings: [ResolvedEntityMapping] = []

    init(mapping: MappingModel, source: ManagedObjectModel, destination: ManagedObjectModel) {
        self.mapping = mapping
        self.source = source
        self.destination = destination
    }

    mutating func run() throws(MigrationError) {
        for entity in destination.entities { entityMappings.append(try resolve(entity)) }
        let taken = Set(entityMappings.compactMap(\.sourceEntityName))
        for entity in source.entities where !taken.contains(entity.name) {
            entityMappings.append(
                ResolvedEntityMapping(sourceEntityName: entity.name, destinationEntityName: nil))
        }
    }

    private func resolve(_ entity: EntityDescription) throws(MigrationError) -> ResolvedEntityMapping {
        let makers = mapping.entityMappings.filter {
            $0.destinationEntityName == entity.name && $0.sourceEntityName != nil
        }
        guard makers.count < 2 else {
            throw unsupported(
                "Several mappings make objects of \(entity.name): \(makers.map(\.name).joined(separator: ", "))",
                place: entity.name)
        }
        let maker = makers.first
        if let policy = maker?.entityMigrationPolicyClassName {
            throw MigrationError(
                .unsupported, "The mapping needs the migration policy \(policy), which this program does not have.",
                place: maker?.name ?? "", remedy: "Run the migration in the program that registers it.")
        }
        if let predicate = maker?.sourcePredicate {
            throw unsupported("The mapping takes only objects with \(predicate.format)", place: maker?.name ?? "")
        }
        var resolved = ResolvedEntityMapping(
            sourceEntityName: maker?.sourceEntityName, destinationEntityName: entity.name)
        for attribute in destination.attributes(of: entity) where attribute.isStored && attribute.derivation == nil {
            resolved.attributes[attribute.name] = try self.source(of: attribute, by: maker)
        }
        for relationship in destination.relationships(of: entity) where !relationship.isTransient {
            resolved.relationships[relationship.name] = try self.source(of: relationship, by: maker)
        }
        return resolved
    }

    // MARK: Properties

    private func source(
        of attribute: AttributeDescription, by maker: EntityMapping?
    ) throws(MigrationError) -> AttributeSource {
        guard let maker, let expression = maker.attributeMapping(attribute.name)?.valueExpression else {
            return .constant(attribute.defaultValue)
        }
        switch expression {
        case .keyPath(let name, .variable("source")) where isStored(name, in: maker):
            return .attribute(name, ifNil: nil)
        case .constant(.null): return .constant(nil)
        case .constant(let constant):
            guard let value = AttributeValue(constant, for: attribute.type) else {
                throw .modelInvalid(
                    "\(expression.format) is no value of type \(attribute.type.name).",
                    place: "\(maker.name).\(attribute.name)", remedy: "Correct the value expression.")
            }
            return .constant(value)
        default: return .expression(expression)
        }
    }

    private func isStored(_ name: String, in maker: EntityMapping) -> Bool {
        guard let entity = maker.sourceEntityName.flatMap(source.entity) else { return false }
        return source.attribute(name, of: entity)?.isStored == true
    }

    private func source(
        of relationship: RelationshipDescription, by maker: EntityMapping?
    ) throws(MigrationError) -> RelationshipSource {
        guard let maker, let expression = maker.relationshipMapping(relationship.name)?.valueExpression else {
            return .empty
        }
        let place = "\(maker.name).\(relationship.name)"
        guard let call = expression.destinationInstances, let path = call.sourceInstances.sourcePath else {
            throw unsupported("\(expression.format) is not read from the store", place: place)
        }
        // A mapping without a source makes nothing.
        let origin = call.kind == .ofEntityMapping ? mapping[call.name]?.sourceEntityName : nil
        if call.kind == .ofEntityMapping, origin == nil { return .empty }
        if let name = path.first, path.count == 1, isWhole(name, of: maker, origin: origin) {
            return .relationship(name)
        }
        return .path(path, to: origin)
    }

    /// Whether every destination of a source relationship that becomes anything does so from the entity `origin`.
    private func isWhole(_ name: String, of maker: EntityMapping, origin: String?) -> Bool {
        guard let entity = maker.sourceEntityName.flatMap(source.entity),
            let target = source.relationship(name, of: entity).flatMap({ source.entity($0.destinationEntityName) })
        else { return false }
        let takers = Set(
            mapping.entityMappings.compactMap(\.sourceEntityName).filter { name in
                source.entity(name).map { source.isKind($0, of: target) } ?? false
            })
        return origin == nil || takers == [origin]
    }

    private func unsupported(_ what: String, place: String) -> MigrationError {
        MigrationError(
            .unsupported, "\(what), which statements cannot do.", place: place,
            remedy: "Write a migration policy for it.")
    }
}

extension Expression {
    /// The names of the relationships from `$source`, without the operators that only join what they find into one
    /// set; nil for any other expression.
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
    /// The constant as an attribute of that type holds it; nil where it is none.
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
