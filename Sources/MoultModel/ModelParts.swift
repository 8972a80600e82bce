/// A named subset of a model's entities.
public struct Configuration: Sendable, Hashable {
    /// The name that a store's description chooses the configuration by.
    public var name: String
    /// The entities that belong to it, by their names.
    public var entityNames: [String]
    /// Whether stores of the configuration are to be mirrored to CloudKit. It changes nothing in the store.
    public var usedWithCloudKit: Bool

    /// A configuration of some of a model's entities.
    public init(name: String, entityNames: [String], usedWithCloudKit: Bool = false) {
        self.name = name
        self.entityNames = entityNames
        self.usedWithCloudKit = usedWithCloudKit
    }
}

/// A composite type: attributes that are stored together as one value of an entity.
public struct CompositeDescription: Sendable, Hashable {
    /// The name by which attributes of a model file name the type.
    public var name: String
    /// The elements of a value; an element may be composite itself.
    public var elements: [AttributeDescription]

    /// A composite type of these elements.
    public init(name: String, elements: [AttributeDescription]) {
        self.name = name
        self.elements = elements
    }
}

/// A fetched property: a stored query that hangs on an entity and has no column.
public struct FetchedPropertyDescription: Sendable, Hashable {
    /// The property's name, unique among the entity's own and inherited properties.
    public var name: String
    /// Whether the model marks the property as optional; a query without results is valid in any case.
    public var isOptional: Bool
    /// The entity whose objects the query finds; nil where the model names none.
    public var destinationEntityName: String?
    /// The condition that found objects satisfy, in Core Data's format language, with `$FETCH_SOURCE` for the object
    /// itself; nil for none.
    public var predicate: String?
    /// The other attributes of its fetch request in the file, by name.
    public var options: [String: String]
    /// Whether the model marks the property as transient; no store keeps it in any case.
    public var isTransient: Bool
    /// The property's name in an earlier version, as `elementID` in a model file.
    public var renamingIdentifier: String?
    /// A text that a model file keeps to tell versions apart. Fetched properties are no part of the version hash.
    public var versionHashModifier: String?
    /// Notes on the property, by key, mostly the app's own.
    public var userInfo: [String: String]
    /// Whether the property takes part in Sync Services, as `syncable` in a model file. It changes nothing in the
    /// store.
    public var isSyncable: Bool

    /// A fetched property, optional unless told otherwise.
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
    /// The name that code asks for the request by.
    public var name: String
    /// The entity whose objects it finds.
    public var entityName: String
    /// The condition that found objects satisfy, in Core Data's format language; nil for none.
    public var predicate: String?
    /// The other attributes of the request in the file, by name (`fetchLimit`, `resultType`, …). Sort descriptors,
    /// which only code can give, stand under `sortDescriptors` as `ascending rating compare:`, joined by `; `.
    public var options: [String: String]

    /// A fetch request for objects of an entity, under a name.
    public init(name: String, entityName: String, predicate: String? = nil, options: [String: String] = [:]) {
        self.name = name
        self.entityName = entityName
        self.predicate = predicate
        self.options = options
    }
}
