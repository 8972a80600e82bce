public import MoultCoreData
import MoultModel

extension Schema {
    /// A property that has a value.
    public struct Attribute: SchemaProperty, @unchecked Sendable {
        /// The property's name, which is also the attribute's name in the store's model.
        public let name: String
        /// The name in an earlier version, `originalName` of `@Attribute`; the present name where none is given.
        public let originalName: String
        /// The Swift type of the property, optional where it is.
        public let valueType: any Any.Type
        /// The value that new objects begin with; nil if the source gives none.
        public let defaultValue: Any?
        /// The options of `@Attribute` on the property, in the order of the source.
        public let options: [Option]
        /// A text that changes the version hash, so that versions with equal models differ; nil for none.
        public let hashModifier: String?
        /// The attribute as the type of the property says it, with its default.
        package let stored: AttributeDescription

        /// Whether the attribute may be empty.
        public var isOptional: Bool { stored.isOptional }
        /// The type in the store.
        package var type: AttributeType { stored.type }
        /// The reason why SwiftData's form of this attribute is not known; nil if it is.
        public var unknown: String? { stored.uncertainty }
        /// True: it is an attribute.
        public var isAttribute: Bool { true }
        /// Whether `.unique` is among the options.
        public var isUnique: Bool { options.contains(.unique) }
        /// Whether `.ephemeral` is among the options, so that no store keeps the value.
        public var isTransient: Bool { options.contains(.ephemeral) }
        /// Whether a transformer turns the values into data.
        public var isTransformable: Bool { type == .transformable }
    }
}

extension Schema.Attribute: Hashable {
    /// Whether both describe the same attribute; default values are compared in the form that a store keeps them in.
    public static func == (left: Schema.Attribute, right: Schema.Attribute) -> Bool {
        left.name == right.name && left.originalName == right.originalName && left.valueType == right.valueType
            && left.options == right.options && left.hashModifier == right.hashModifier
            && left.stored == right.stored
    }

    /// Hashes the name and the type in the store.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(type)
    }
}

extension Schema.Attribute {
    /// An option of `@Attribute`.
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
        /// The attribute is marked for Spotlight. The model keeps the mark; nothing is indexed on Linux.
        public static var spotlight: Option { Option(kind: .spotlight) }
        /// The value is to be encrypted in CloudKit. The model keeps the mark; the store itself is not encrypted.
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
