import MoultModel

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
