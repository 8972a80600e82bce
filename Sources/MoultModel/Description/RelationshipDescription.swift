/// A relationship as a model declares it.
public struct RelationshipDescription: Sendable, Hashable {
    /// The relationship's name, unique among the entity's own and inherited properties.
    public var name: String
    /// The entity that it leads to; objects of its sub-entities may be destinations too.
    public var destinationEntityName: String
    /// The relationship of the destination that leads back; nil for one without inverse.
    public var inverseName: String?
    /// Whether an object without a destination is valid.
    public var isOptional: Bool
    /// Whether no store keeps the links; a transient relationship has no column and no join table.
    public var isTransient: Bool
    /// 1 for a to-one relationship, 0 for a to-many without limit.
    public var maxCount: Int
    /// The least number of destinations, 0 for no limit; an optional relationship may be empty all the same.
    public var minCount: Int
    /// Whether the destinations of a to-many relationship have an order, which the store keeps.
    public var isOrdered: Bool
    /// The action on the destinations when an object is deleted.
    public var deleteRule: DeleteRule
    /// The indexed switch of models before 2017.
    public var isIndexed: Bool
    /// Whether Spotlight is to index the relationship. It changes nothing in the store.
    public var isIndexedBySpotlight: Bool
    /// Whether Core Data is to keep the links in external records too. It changes nothing in the store.
    public var isStoredInExternalRecord: Bool
    /// The relationship's name in an earlier version, as `elementID` in a model file.
    public var renamingIdentifier: String?
    /// A text that goes into the version hash, to tell versions apart that have equal models; nil for none.
    public var versionHashModifier: String?
    /// Notes on the relationship, by key, mostly the app's own; no part of the version hash.
    public var userInfo: [String: String]
    /// Whether the relationship takes part in Sync Services, as `syncable` in a model file. It changes nothing in the
    /// store.
    public var isSyncable: Bool

    /// A relationship: to-one, optional, and set to null on deletion, unless told otherwise.
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

    /// Whether an object without a destination is valid: always where the relationship is optional, and in a required
    /// to-many relationship without a minimum count.
    package var mayBeEmpty: Bool { isOptional || (isToMany && minCount == 0) }
}

/// The action on the other end when an object is deleted, with Core Data's numbers (`NSDeleteRule`).
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
