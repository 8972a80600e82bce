import MoultModel

extension Schema {
    /// A property that is other objects.
    public struct Relationship: Sendable, Hashable {
        public let name: String
        /// The name in an earlier version; the same name where none is given.
        public let originalName: String
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
    }
}

extension Schema.Relationship {
    /// What happens to the other objects when one is deleted.
    public enum DeleteRule: Sendable, Hashable, CaseIterable {
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
    public struct Option: Sendable, Hashable {
        /// No two objects have the same object at the other end.
        public static var unique: Option { Option() }
    }

    public var isUnique: Bool { options.contains(.unique) }
}
