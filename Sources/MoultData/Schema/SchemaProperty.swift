public import MoultCoreData
import MoultModel

extension Schema {
    /// A property that holds a value.
    public struct Attribute: SchemaProperty, @unchecked Sendable {
        /// The property's name, which is also the attribute's name in the store's model.
        public let name: String
        /// The property's name in the previous version, `originalName` of `@Attribute`; by default the current name.
        public let originalName: String
        /// The Swift type of the property, including its optionality.
        public let valueType: any Any.Type
        /// The initial value of new objects; nil if the source has none.
        public let defaultValue: Any?
        /// The options of `@Attribute` on the property, in source order.
        public let options: [Option]
        /// A string that changes the version hash, so that versions with equal models differ; nil for none.
        public let hashModifier: String?
        /// The attribute that follows from the property's type, with its default.
        package let stored: AttributeDescription

        /// Whether the attribute may be NULL.
        public var isOptional: Bool { stored.isOptional }
        /// The attribute type in the store.
        package var type: AttributeType { stored.type }
        /// The reason why SwiftData's form of this attribute is unknown; nil if it is known.
        public var unknown: String? { stored.uncertainty }
        /// Always true.
        public var isAttribute: Bool { true }
        /// Whether `.unique` is among the options.
        public var isUnique: Bool { options.contains(.unique) }
        /// Whether `.ephemeral` is among the options, so that the value is not stored.
        public var isTransient: Bool { options.contains(.ephemeral) }
        /// Whether a transformer converts the values to data.
        public var isTransformable: Bool { type == .transformable }
    }
}

extension Schema.Attribute: Hashable {
    /// Returns whether both describe the same attribute; default values are compared in their stored form.
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

        /// A value that must be unique among the objects of the entity.
        public static var unique: Option { Option(kind: .unique) }
        /// Large data that may be stored in a file next to the store.
        public static var externalStorage: Option { Option(kind: .externalStorage) }
        /// A value that the history keeps when the object is deleted.
        public static var preserveValueOnDeletion: Option { Option(kind: .preserveValueOnDeletion) }
        /// An attribute for Spotlight. The model records the option; nothing is indexed on Linux.
        public static var spotlight: Option { Option(kind: .spotlight) }
        /// A value to encrypt in CloudKit. The model records the option; the store itself is not encrypted.
        public static var allowsCloudEncryption: Option { Option(kind: .allowsCloudEncryption) }
        /// A value whose changes are tracked but that is not stored.
        public static var ephemeral: Option { Option(kind: .ephemeral) }
        /// A value stored in its encoded form (iOS 27).
        public static var codable: Option { Option(kind: .codable) }
        /// A value that a transformer of this class converts to data.
        public static func transformable(by transformer: ValueTransformer.Type) -> Option {
            Option(kind: .transformable("\(transformer)"))
        }
        /// A value that the transformer registered under this name converts to data.
        public static func transformable(by name: String) -> Option { Option(kind: .transformable(name)) }
    }

    /// The transformer's name.
    var transformerName: String? {
        for option in options { if case .transformable(let name) = option.kind { return name } }
        return nil
    }
}

/// The common interface of attributes and relationships.
public protocol SchemaProperty: Sendable, Hashable {
    var name: String { get }
    /// The property's name in the previous version; by default the same name.
    var originalName: String { get }
    /// The Swift type of the property, including its optionality.
    var valueType: any Any.Type { get }
    var isAttribute: Bool { get }
    var isRelationship: Bool { get }
    /// Whether the property is not stored.
    var isTransient: Bool { get }
    var isOptional: Bool { get }
    var isUnique: Bool { get }
}

extension SchemaProperty {
    /// False by default.
    public var isAttribute: Bool { false }
    /// False by default.
    public var isRelationship: Bool { false }
    /// False by default: the property is stored.
    public var isTransient: Bool { false }
}

extension Schema {
    /// A property that refers to other objects.
    public struct Relationship: SchemaProperty, @unchecked Sendable {
        /// The property's name, which is also the relationship's name in the store's model.
        public var name: String { didSet { if originalName == oldValue { originalName = name } } }
        /// The property's name in the previous version, `originalName` of `@Relationship`; by default the current name.
        public internal(set) var originalName: String
        /// The Swift type of the property: a model, a collection of models, or an optional of either.
        public var valueType: any Any.Type
        /// The key path of the property from its class.
        public let keypath: AnyKeyPath?
        /// The options of `@Relationship` on the property, in source order.
        public let options: [Option]
        /// A string that changes the version hash, so that versions with equal models differ; nil for none.
        public let hashModifier: String?
        /// Whether the property's type is optional, so that a save accepts a missing destination.
        public var isOptional: Bool
        /// Whether the property holds a single model rather than a collection.
        public internal(set) var isToOneRelationship: Bool
        /// The name of the entity at the other end.
        public var destination: String
        /// The rule for the destinations when the object is deleted.
        public var deleteRule: DeleteRule
        /// The minimum number of destinations that a save accepts; nil if unspecified.
        public let minimumModelCount: Int?
        /// The maximum number of destinations that a save accepts; nil if unspecified.
        public let maximumModelCount: Int?
        /// The inverse relationship in the destination entity, declared on either side or found if only one pairing is
        /// possible.
        public var inverseName: String?
        /// The key path that the source declares as the inverse; nil on the other side.
        public let inverseKeyPath: AnyKeyPath?

        /// Always true.
        public var isRelationship: Bool { true }
    }
}

extension Schema.Relationship: Hashable {
    /// Returns whether both describe the same relationship; key paths and Swift types are not compared.
    public static func == (left: Schema.Relationship, right: Schema.Relationship) -> Bool {
        left.name == right.name && left.originalName == right.originalName && left.options == right.options
            && left.hashModifier == right.hashModifier && left.isOptional == right.isOptional
            && left.isToOneRelationship == right.isToOneRelationship && left.destination == right.destination
            && left.deleteRule == right.deleteRule && left.minimumModelCount == right.minimumModelCount
            && left.maximumModelCount == right.maximumModelCount && left.inverseName == right.inverseName
    }

    /// Hashes the name and the destination.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(destination)
    }
}

extension Schema.Relationship {
    /// A rule for an object's destinations when the object is deleted.
    public enum DeleteRule: String, Sendable, Hashable, Codable, CaseIterable {
        case noAction, nullify, cascade, deny

        var coreData: MoultModel.DeleteRule {
            switch self {
            case .noAction: .noAction
            case .nullify: .nullify
            case .cascade: .cascade
            case .deny: .deny
            }
        }
    }

    /// An option of `@Relationship`.
    public struct Option: Sendable, Hashable, Codable {
        /// No two objects may have the same destination.
        public static var unique: Option { Option() }
    }

    /// Whether `.unique` is among the options.
    public var isUnique: Bool { options.contains(.unique) }
}
