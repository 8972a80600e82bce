/// A relationship as a model declares it.
public struct RelationshipDescription: Sendable, Hashable {
    /// The relationship's name, unique among the entity's own and inherited properties.
    public var name: String
    /// The destination entity; objects of its sub-entities may be destinations too.
    public var destinationEntityName: String
    /// The inverse relationship of the destination; nil for none.
    public var inverseName: String?
    /// Whether an object without a destination is valid.
    public var isOptional: Bool
    /// Whether the links are never stored; a transient relationship has no column and no join table.
    public var isTransient: Bool
    /// The maximum number of destinations: 1 for a to-one relationship, 0 for a to-many without limit.
    public var maxCount: Int
    /// The minimum number of destinations, 0 for no limit. An optional relationship may still be empty.
    public var minCount: Int
    /// Whether the destinations of a to-many relationship have an order, which is stored.
    public var isOrdered: Bool
    /// The action on the destinations when an object is deleted.
    public var deleteRule: DeleteRule
    /// The indexed switch of models before 2017.
    public var isIndexed: Bool
    /// Whether Spotlight indexes the relationship. It does not affect the store.
    public var isIndexedBySpotlight: Bool
    /// Whether Core Data also stores the links in external records. It does not affect the store.
    public var isStoredInExternalRecord: Bool
    /// The relationship's name in an earlier version, as `elementID` in a model file.
    public var renamingIdentifier: String?
    /// A text that is part of the version hash, to tell apart versions with equal models; nil for none.
    public var versionHashModifier: String?
    /// Notes on the relationship, by key, mostly the app's own; not part of the version hash.
    public var userInfo: [String: String]
    /// Whether the relationship takes part in Sync Services, as `syncable` in a model file. It does not affect the
    /// store.
    public var isSyncable: Bool

    /// Creates a relationship, by default to-one, optional and nullified on deletion.
    public init(
        name: String, destinationEntityName: String, inverseName: String? = nil, isOptional: Bool = true,
        isTransient: Bool = false, maxCount: Int = 1, minCount: Int = 0, isOrdered: Bool = false,
        deleteRule: DeleteRule = .nullify, isIndexed: Bool = false, isIndexedBySpotlight: Bool = false,
        isStoredInExternalRecord: Bool = false, renamingIdentifier: String? = nil, versionHashModifier: String? = nil,
        userInfo: [String: String] = [:], isSyncable: Bool = true
    ) {
        (self.name, self.destinationEntityName, self.inverseName) = (name, destinationEntityName, inverseName)
        (self.isOptional, self.isTransient, self.maxCount) = (isOptional, isTransient, maxCount)
        (self.minCount, self.isOrdered, self.deleteRule) = (minCount, isOrdered, deleteRule)
        (self.isIndexed, self.isIndexedBySpotlight) = (isIndexed, isIndexedBySpotlight)
        (self.isStoredInExternalRecord, self.renamingIdentifier) = (isStoredInExternalRecord, renamingIdentifier)
        (self.versionHashModifier, self.userInfo, self.isSyncable) = (versionHashModifier, userInfo, isSyncable)
    }

    /// Whether an object may have several destinations.
    public var isToMany: Bool { maxCount != 1 }

    /// Whether an object without a destination is valid: the relationship is optional, or it is a required to-many
    /// without a minimum count.
    package var mayBeEmpty: Bool { isOptional || (isToMany && minCount == 0) }
}

/// The action on the other end when an object is deleted, with Core Data's numbers (`NSDeleteRule`).
public enum DeleteRule: Int, Sendable, Hashable, CaseIterable {
    case noAction = 0
    case nullify = 1
    case cascade = 2
    case deny = 3

    /// The name of the rule in a model file's `deletionRule`.
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
