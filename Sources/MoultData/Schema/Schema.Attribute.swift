import MoultModel

extension Schema {
    /// A property that has a value.
    public struct Attribute: SchemaProperty, @unchecked Sendable {
        public let name: String
        public let originalName: String
        public let valueType: any Any.Type
        /// What new objects begin with; nil if the source gives none.
        public let defaultValue: Any?
        public let options: [Option]
        public let hashModifier: String?
        /// The attribute as the type of the property says it, with its default.
        package let stored: AttributeDescription

        public var isOptional: Bool { stored.isOptional }
        /// The type in the store.
        package var type: AttributeType { stored.type }
        /// Why SwiftData's form of this attribute is not known; nil if it is.
        public var unknown: String? { stored.uncertainty }
        public var isAttribute: Bool { true }
        public var isUnique: Bool { options.contains(.unique) }
        public var isTransient: Bool { options.contains(.ephemeral) }
        public var isTransformable: Bool { type == .transformable }
    }
}

extension Schema.Attribute: Hashable {
    public static func == (left: Schema.Attribute, right: Schema.Attribute) -> Bool {
        left.name == right.name && left.originalName == right.originalName && left.valueType == right.valueType
            && left.options == right.options && left.hashModifier == right.hashModifier
            && left.stored == right.stored
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(type)
    }
}

extension Schema.Attribute {
    /// What `@Attribute` says of a property.
    public struct Option: Sendable, Hashable, Codable {
        enum Kind: Sendable, Hashable, Codable {
            case unique, externalStorage, preserveValueOnDeletion, spotlight, allowsCloudEncryption, ephemeral, codable
            case transformable(String)
        }
        let kind: Kind

        /// No two objects of the entity have the same value.
        public static var unique: Option { Option(kind: .unique) }
        /// Large data lies in a file next to the store.
        public static var externalStorage: Option { Option(kind: .externalStorage) }
        /// The history of a deleted object keeps the value.
        public static var preserveValueOnDeletion: Option { Option(kind: .preserveValueOnDeletion) }
        public static var spotlight: Option { Option(kind: .spotlight) }
        public static var allowsCloudEncryption: Option { Option(kind: .allowsCloudEncryption) }
        /// Changes are tracked, the value is not kept.
        public static var ephemeral: Option { Option(kind: .ephemeral) }
        /// The value is kept in its encoded form (iOS 27).
        public static var codable: Option { Option(kind: .codable) }
        /// A transformer turns values into data.
        public static func transformable(by transformer: ValueTransformer.Type) -> Option {
            Option(kind: .transformable("\(transformer)"))
        }
        /// The transformer that is registered under a name turns values into data.
        public static func transformable(by name: String) -> Option { Option(kind: .transformable(name)) }
    }

    /// The transformer's name.
    var transformerName: String? {
        for option in options { if case .transformable(let name) = option.kind { return name } }
        return nil
    }
}
