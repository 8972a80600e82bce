import MoultModel

extension Schema {
    /// A property that is other objects.
    public struct Relationship: SchemaProperty, @unchecked Sendable {
        public let name: String
        public let originalName: String
        public let valueType: any Any.Type
        public let keypath: AnyKeyPath?
        public let options: [Option]
        public let hashModifier: String?
        public let isOptional: Bool
        public let isToOneRelationship: Bool
        /// The name of the entity at the other end.
        public let destination: String
        public let deleteRule: DeleteRule
        public let minimumModelCount: Int?
        public let maximumModelCount: Int?
        /// The relationship of the other entity that leads back, named on either side, or found where only one pair is
        /// possible.
        public internal(set) var inverseName: String?
        /// The key path that the source names as the inverse; nil on the side that names none.
        public let inverseKeyPath: AnyKeyPath?

        public var isRelationship: Bool { true }
    }
}

extension Schema.Relationship: Hashable {
    public static func == (left: Schema.Relationship, right: Schema.Relationship) -> Bool {
        left.name == right.name && left.originalName == right.originalName && left.options == right.options
            && left.hashModifier == right.hashModifier && left.isOptional == right.isOptional
            && left.isToOneRelationship == right.isToOneRelationship && left.destination == right.destination
            && left.deleteRule == right.deleteRule && left.minimumModelCount == right.minimumModelCount
            && left.maximumModelCount == right.maximumModelCount && left.inverseName == right.inverseName
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(destination)
    }
}

extension Schema.Relationship {
    /// What happens to the other objects when one is deleted.
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

    /// What `@Relationship` says of a property.
    public struct Option: Sendable, Hashable, Codable {
        /// No two objects have the same object at the other end.
        public static var unique: Option { Option() }
    }

    public var isUnique: Bool { options.contains(.unique) }
}
