/// A named subset of a model's entities.
public struct Configuration: Sendable, Hashable {
    public var name: String
    public var entityNames: [String]
    public var usedWithCloudKit: Bool

    public init(name: String, entityNames: [String], usedWithCloudKit: Bool = false) {
        self.name = name
        self.entityNames = entityNames
        self.usedWithCloudKit = usedWithCloudKit
    }
}

/// A composite type: attributes that are stored together as one value of an entity.
public struct CompositeDescription: Sendable, Hashable {
    public var name: String
    public var elements: [AttributeDescription]

    public init(name: String, elements: [AttributeDescription]) {
        self.name = name
        self.elements = elements
    }
}

/// A fetched property: a stored query that hangs on an entity and has no column.
public struct FetchedPropertyDescription: Sendable, Hashable {
    public var name: String
    public var isOptional: Bool
    public var destinationEntityName: String?
    public var predicate: String?
    /// What else the file says of its fetch request, by attribute name.
    public var options: [String: String]
    public var isTransient: Bool
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var userInfo: [String: String]
    public var isSyncable: Bool

    public init(
        name: String, isOptional: Bool = true, destinationEntityName: String? = nil, predicate: String? = nil,
        options: [String: String] = [:], isTransient: Bool = false, renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil, userInfo: [String: String] = [:], isSyncable: Bool = true
    ) {
        self.name = name
        self.isOptional = isOptional
        self.destinationEntityName = destinationEntityName
        self.predicate = predicate
        self.options = options
        self.isTransient = isTransient
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
        self.isSyncable = isSyncable
    }
}

/// A fetch request that a model keeps under a name.
public struct FetchRequestTemplate: Sendable, Hashable {
    public var name: String
    public var entityName: String
    public var predicate: String?
    /// What else the file says of it, by attribute name (`fetchLimit`, `resultType`, …). Sort descriptors, which only
    /// code can give, stand under `sortDescriptors` as `ascending rating compare:`, joined by `; `.
    public var options: [String: String]

    public init(name: String, entityName: String, predicate: String? = nil, options: [String: String] = [:]) {
        self.name = name
        self.entityName = entityName
        self.predicate = predicate
        self.options = options
    }
}
