/// A relationship as a model declares it.
package struct RelationshipDescription: Sendable, Hashable {
    package var name: String
    package var destinationEntityName: String
    /// The relationship of the destination that leads back; nil for one without inverse.
    package var inverseName: String?
    package var isOptional: Bool
    package var isTransient: Bool
    /// 1 for a to-one relationship, 0 for a to-many without limit.
    package var maxCount: Int
    package var minCount: Int
    package var isOrdered: Bool
    package var deleteRule: DeleteRule
    /// The indexed switch of models before 2017.
    package var isIndexed: Bool
    package var isIndexedBySpotlight: Bool
    package var isStoredInExternalRecord: Bool
    /// The relationship's name in an earlier version, as `elementID` in a model file.
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var userInfo: [String: String]
    package var isSyncable: Bool

    package init(
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

    package var isToMany: Bool { maxCount != 1 }
}

/// What happens to the other end when an object is deleted, with Core Data's numbers (`NSDeleteRule`).
package enum DeleteRule: Int, Sendable, Hashable, CaseIterable {
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
