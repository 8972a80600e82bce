/// A relationship as a model declares it.
public struct RelationshipDescription: Sendable, Hashable {
    public var name: String
    public var destinationEntityName: String
    /// The relationship of the destination that leads back; nil for one without inverse.
    public var inverseName: String?
    public var isOptional: Bool
    public var isTransient: Bool
    /// 1 for a to-one relationship, 0 for a to-many without limit.
    public var maxCount: Int
    public var minCount: Int
    public var isOrdered: Bool
    public var deleteRule: DeleteRule
    /// The indexed switch of models before 2017.
    public var isIndexed: Bool
    public var isIndexedBySpotlight: Bool
    public var isStoredInExternalRecord: Bool
    /// The relationship's name in an earlier version, as `elementID` in a model file.
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var userInfo: [String: String]
    public var isSyncable: Bool

    public init(
        name: String,
        destinationEntityName: String,
        inverseName: String? = nil,
        isOptional: Bool = true,
        isTransient: Bool = false,
        maxCount: Int = 1,
        minCount: Int = 0,
        isOrdered: Bool = false,
        deleteRule: DeleteRule = .nullify,
        isIndexed: Bool = false,
        isIndexedBySpotlight: Bool = false,
        isStoredInExternalRecord: Bool = false,
        renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil,
        userInfo: [String: String] = [:],
        isSyncable: Bool = true
    ) {
        self.name = name
        self.destinationEntityName = destinationEntityName
        self.inverseName = inverseName
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.maxCount = maxCount
        self.minCount = minCount
        self.isOrdered = isOrdered
        self.deleteRule = deleteRule
        self.isIndexed = isIndexed
        self.isIndexedBySpotlight = isIndexedBySpotlight
        self.isStoredInExternalRecord = isStoredInExternalRecord
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
        self.isSyncable = isSyncable
    }

    public var isToMany: Bool { maxCount != 1 }

    /// Whether an object without a destination is valid: always where the relationship is optional, and in a required
    /// to-many relationship without a minimum count.
    package var mayBeEmpty: Bool { isOptional || (isToMany && minCount == 0) }
}

/// What happens to the other end when an object is deleted, with Core Data's numbers (`NSDeleteRule`).
public enum DeleteRule: Int, Sendable, Hashable, CaseIterable {
    case noAction = 0
    case nullify = 1
    case cascade = 2
    case deny = 3

    /// The word of a model file's `deletionRule`.
    package var name: String {
        switch self {
        case .noAction: "No Action"
        case .nullify: "Nullify"
        case .cascade: "Cascade"
        case .deny: "Deny"
        }
    }

    package init?(name: String) {
        guard let rule = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = rule
    }
}
