extension Schema {
    /// One model: its own properties, and those of its parents.
    public final class Entity: @unchecked Sendable {
        /// The entity's name, that of the class without the types around it; unique in the schema.
        public let name: String
        /// The name of the entity of the parent class; nil for a class without one.
        public internal(set) var superentityName: String?
        /// The names of the properties that no two objects share together, `.unique` ones first.
        public var uniquenessConstraints: [[String]]
        /// The names of the properties of each index.
        public var indices: [[String]] { indexes.map(\.properties) }
        package let indexes: [Indexed]

        // What can be set is set before a schema is made of the entity, and never after.

        /// The properties that the class declares itself, in the order of the source.
        package internal(set) var own: [Property]
        /// The entity of the parent class, as long as the schema is there.
        public internal(set) weak var superentity: Entity?
        /// The entities of the classes that inherit from this one directly.
        public internal(set) var subentities: Set<Entity> = []

        init(
            name: String, superentityName: String?, uniquenessConstraints: [[String]], indexes: [Indexed],
            own: [Property]
        ) {
            self.name = name
            self.superentityName = superentityName
            self.uniquenessConstraints = uniquenessConstraints
            self.indexes = indexes
            self.own = own
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

    /// Properties that are looked up together.
    package struct Indexed: Sendable, Hashable {
        package let properties: [String]
        package let isRTree: Bool
    }
}

extension Schema.Entity: Hashable, CustomDebugStringConvertible {
    /// Whether both describe the same entity: name, parent, own properties, uniqueness constraints and indexes.
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
