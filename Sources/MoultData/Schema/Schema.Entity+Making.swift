import MoultModel

// Entities without a class: for a model to be made of them, not for objects to be fetched.

extension Schema.Entity {
    /// An entity of these properties.
    public convenience init(_ name: String, properties: any SchemaProperty...) {
        self.init(name, [], properties)
    }

    /// An entity from which others inherit its properties.
    public convenience init(_ name: String, subentities: Schema.Entity..., properties: any SchemaProperty...) {
        self.init(name, subentities, properties)
    }

    /// An entity without properties.
    public convenience init(_ name: String) { self.init(name, [], []) }

    private convenience init(_ name: String, _ subentities: [Schema.Entity], _ properties: [any SchemaProperty]) {
        let unique = properties.filter(\.isUnique).map { [$0.name] }
        self.init(
            name: name, superentityName: nil, uniquenessConstraints: unique, indexes: [],
            own: properties.compactMap { property in
                switch property {
                case let attribute as Schema.Attribute: .attribute(attribute)
                case let relationship as Schema.Relationship: .relationship(relationship)
                default: nil
                }
            })
        self.subentities = Set(subentities)
        for entity in subentities {
            entity.superentity = self
            entity.superentityName = name
        }
    }
}

extension Schema.Attribute {
    /// An attribute of values of a type, optional where the type is.
    ///
    /// A type that no store keeps is a fault of the schema; a default value that cannot be encoded is left out.
    public init(
        name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
        defaultValue: Any? = nil, hashModifier: String? = nil
    ) {
        let form = ValueForm.of(valueType)
        let described = form.attribute(name, isOptional: valueType is any OptionalValue.Type)
        func columns<Value: Codable>(_ value: Value) -> [String: AttributeValue]? {
            try? _CodableProperty<Value>(form: form).columnValues(of: value, name)
        }
        let columns = (defaultValue as? any Codable).flatMap { columns($0) } ?? [:]
        self.init(
            name: name, originalName: originalName ?? name, valueType: valueType, defaultValue: defaultValue,
            options: options, hashModifier: hashModifier, stored: described.withDefaults(columns))
    }
}

extension Schema.Relationship {
    /// A relationship to be named and to be led to an entity: set ``name``, ``destination`` and ``inverseName``.
    ///
    /// - Parameter maximumModelCount: 1 for one object; 0 or nil for any number.
    public init(
        _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
        maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
        hashModifier: String? = nil
    ) {
        self.init(
            name: "", originalName: originalName ?? "", valueType: [any PersistentModel].self, keypath: nil,
            options: options, hashModifier: hashModifier, isOptional: true,
            isToOneRelationship: maximumModelCount == 1, destination: "", deleteRule: deleteRule,
            minimumModelCount: minimumModelCount, maximumModelCount: maximumModelCount, inverseName: nil,
            inverseKeyPath: inverse)
    }
}

extension Schema {
    /// A schema of entities, and of those that inherit from them. They have no classes: its models cannot be fetched.
    public convenience init(_ entities: Schema.Entity..., version: Schema.Version = Version(1, 0, 0)) {
        var found: [Entity] = []
        var waiting = entities
        while let entity = waiting.popLast() {
            if found.contains(where: { $0 === entity }) { continue }
            found.append(entity)
            waiting += entity.subentities
        }
        self.init(entities: found, version: version)
    }
}
