import MoultBasics
import MoultModel

extension Schema {
    /// A model: its own properties and those that it inherits.
    public final class Entity: @unchecked Sendable {
        /// The entity's name, which is the class name without its enclosing types; unique in the schema.
        public let name: String
        /// The name of the superclass's entity; nil if the superclass is not a model.
        public internal(set) var superentityName: String?
        /// The names of the properties in each uniqueness constraint, those of `.unique` first.
        public var uniquenessConstraints: [[String]]
        /// The names of the properties of each index.
        public var indices: [[String]] { indexes.map(\.properties) }
        package let indexes: [Indexed]

        // The settable properties are set before a schema is made from the entity, and never afterwards.

        /// The properties that the class itself declares, in source order.
        package internal(set) var own: [Property]
        /// The entity of the superclass, as long as the schema exists.
        public internal(set) weak var superentity: Entity?
        /// The entities of the direct subclasses.
        public internal(set) var subentities: Set<Entity> = []

        init(
            name: String, superentityName: String?, uniquenessConstraints: [[String]], indexes: [Indexed],
            own: [Property]
        ) {
            (self.name, self.superentityName) = (name, superentityName)
            (self.uniquenessConstraints, self.indexes, self.own) = (uniquenessConstraints, indexes, own)
        }
    }
}

extension Schema.Entity {
    package enum Property: Sendable, Hashable {
        case attribute(Schema.Attribute)
        case relationship(Schema.Relationship)

        package var name: String { described.name }

        var described: any SchemaProperty {
            switch self {
            case .attribute(let attribute): attribute
            case .relationship(let relationship): relationship
            }
        }
    }

    /// The properties of an index, and its kind.
    package struct Indexed: Sendable, Hashable {
        package let properties: [String]
        package let isRTree: Bool
    }
}

extension Schema.Entity: Hashable, CustomDebugStringConvertible {
    /// Returns whether both describe the same entity: name, parent, own properties, uniqueness constraints and indexes.
    public static func == (left: Schema.Entity, right: Schema.Entity) -> Bool {
        left === right
            || left.name == right.name && left.superentityName == right.superentityName && left.own == right.own
                && left.uniquenessConstraints == right.uniquenessConstraints && left.indexes == right.indexes
    }

    /// Hashes the entity's name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The entity's name and the names of all its properties.
    public var debugDescription: String { "Schema.Entity(\(name): \(properties.map(\.name).joined(separator: ", ")))" }
}

extension Schema.Entity {
    /// The properties that the class itself declares, in source order.
    public var storedProperties: [any SchemaProperty] { own.map(\.described) }

    /// The inherited properties, those of the topmost class first.
    public var inheritedProperties: [any SchemaProperty] { superentity.map(\.properties) ?? [] }

    /// All properties: the inherited ones first, then those that the class itself declares.
    public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }

    /// The entity's own attributes, without inherited ones.
    public var attributes: Set<Schema.Attribute> {
        get { Set(attributesByName.values) }
        set { replace(\.isAttribute, with: newValue.map { .attribute($0) }) }
    }
    /// The entity's own relationships, without inherited ones.
    public var relationships: Set<Schema.Relationship> {
        get { Set(relationshipsByName.values) }
        set { replace(\.isRelationship, with: newValue.map { .relationship($0) }) }
    }

    private func replace(_ isOld: (any SchemaProperty) -> Bool, with new: [Property]) {
        own = own.filter { !isOld($0.described) } + new.inByteOrder { $0.name }
    }

    /// The class's own attributes, by name.
    public var attributesByName: [String: Schema.Attribute] {
        own.reduce(into: [:]) { if case .attribute(let attribute) = $1 { $0[attribute.name] = attribute } }
    }

    /// The class's own relationships, by name.
    public var relationshipsByName: [String: Schema.Relationship] {
        own.reduce(into: [:]) { if case .relationship(let found) = $1 { $0[found.name] = found } }
    }

    /// The properties that the class itself declares, by name.
    public var storedPropertiesByName: [String: any SchemaProperty] { Self.byName(storedProperties) }
    /// The inherited properties, by name.
    public var inheritedPropertiesByName: [String: any SchemaProperty] { Self.byName(inheritedProperties) }

    private static func byName(_ properties: [any SchemaProperty]) -> [String: any SchemaProperty] {
        Dictionary(properties.map { ($0.name, $0) }) { first, _ in first }
    }
}

// Entities without a class can be part of a model, but their objects cannot be fetched.

extension Schema.Entity {
    /// Creates an entity with these properties.
    public convenience init(_ name: String, properties: any SchemaProperty...) {
        self.init(name, [], properties)
    }

    /// Creates an entity whose properties other entities inherit.
    public convenience init(_ name: String, subentities: Schema.Entity..., properties: any SchemaProperty...) {
        self.init(name, subentities, properties)
    }

    /// Creates an entity without properties.
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
    /// Creates an attribute for values of a type. It is optional if the type is.
    ///
    /// A type that cannot be stored is a fault of the schema; a default value that cannot be encoded is left out.
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
    /// Creates a relationship without a name and a destination: set ``name``, ``destination`` and ``inverseName``.
    ///
    /// - Parameter maximumModelCount: 1 for one object; 0 or nil for any number.
    public init(
        _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
        maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
        hashModifier: String? = nil
    ) {
        self.init(
            name: "", originalName: originalName ?? "", valueType: [any PersistentModel].self, keypath: nil,
            options: options, hashModifier: hashModifier, isOptional: true, isToOneRelationship: maximumModelCount == 1,
            destination: "", deleteRule: deleteRule, minimumModelCount: minimumModelCount,
            maximumModelCount: maximumModelCount, inverseName: nil, inverseKeyPath: inverse)
    }
}

extension Schema {
    /// Creates a schema of entities and their subentities. They have no classes, so their objects cannot be fetched.
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
