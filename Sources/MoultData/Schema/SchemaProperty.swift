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

/// The interface that attributes and relationships have in common.
public protocol SchemaProperty: Sendable, Hashable {
    var name: String { get }
    /// The name in an earlier version; the same name where none is given.
    var originalName: String { get }
    /// The Swift type of the property, optional where it is.
    var valueType: any Any.Type { get }
    var isAttribute: Bool { get }
    var isRelationship: Bool { get }
    /// Whether no store keeps it.
    var isTransient: Bool { get }
    var isOptional: Bool { get }
    var isUnique: Bool { get }
}

extension SchemaProperty {
    /// False, unless an attribute says otherwise.
    public var isAttribute: Bool { false }
    /// False, unless a relationship says otherwise.
    public var isRelationship: Bool { false }
    /// False: a store keeps the property unless it says otherwise.
    public var isTransient: Bool { false }
}

extension Schema {
    /// A property that is other objects.
    public struct Relationship: SchemaProperty, @unchecked Sendable {
        /// The property's name, which is also the relationship's name in the store's model.
        public var name: String { didSet { if originalName == oldValue { originalName = name } } }
        /// The name in an earlier version, `originalName` of `@Relationship`; the present name where none is given.
        public internal(set) var originalName: String
        /// The Swift type of the property: a model, a collection of models, or an optional of either.
        public var valueType: any Any.Type
        /// The key path of the property from its class.
        public let keypath: AnyKeyPath?
        /// The options of `@Relationship` on the property, in the order of the source.
        public let options: [Option]
        /// A text that changes the version hash, so that versions with equal models differ; nil for none.
        public let hashModifier: String?
        /// Whether the property's type is optional, so that a save accepts it without a destination.
        public var isOptional: Bool
        /// Whether the property is one model; false for a collection.
        public internal(set) var isToOneRelationship: Bool
        /// The name of the entity at the other end.
        public var destination: String
        /// The rule for the destinations when the object is deleted.
        public var deleteRule: DeleteRule
        /// The least number of destinations that a save accepts; nil where none is given.
        public let minimumModelCount: Int?
        /// The greatest number of destinations that a save accepts; nil where none is given.
        public let maximumModelCount: Int?
        /// The relationship of the other entity that leads back, named on either side, or found where only one pair is
        /// possible.
        public var inverseName: String?
        /// The key path that the source names as the inverse; nil on the side that names none.
        public let inverseKeyPath: AnyKeyPath?

        /// True: it is a relationship.
        public var isRelationship: Bool { true }
    }
}

extension Schema.Relationship: Hashable {
    /// Whether both describe the same relationship; key paths and Swift types are not compared.
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
    /// A rule for the other objects when one is deleted.
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
        /// No two objects have the same object at the other end.
        public static var unique: Option { Option() }
    }

    /// Whether `.unique` is among the options.
    public var isUnique: Bool { options.contains(.unique) }
}
