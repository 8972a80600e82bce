/// A named subset of a model's entities.
package struct Configuration: Sendable, Hashable {
    package var name: String
    package var entityNames: [String]
    package var usedWithCloudKit: Bool

    package init(name: String, entityNames: [String], usedWithCloudKit: Bool = false) {
        self.name = name
        self.entityNames = entityNames
        self.usedWithCloudKit = usedWithCloudKit
    }
}

/// A composite type: attributes that are stored together as one value of an entity.
package struct CompositeDescription: Sendable, Hashable {
    package var name: String
    package var elements: [AttributeDescription]

    package init(name: String, elements: [AttributeDescription]) {
        self.name = name
        self.elements = elements
    }
}

/// A fetched property: a stored query that hangs on an entity and has no column.
package struct FetchedPropertyDescription: Sendable, Hashable {
    package var name: String
    package var isOptional: Bool
    package var destinationEntityName: String?
    package var predicate: String?
    /// What else the file says of its fetch request, by attribute name.
    package var options: [String: String]
    package var isTransient: Bool
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var userInfo: [String: String]
    package var isSyncable: Bool

    package init(
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
package struct FetchRequestTemplate: Sendable, Hashable {
    package var name: String
    package var entityName: String
    package var predicate: String?
    /// What else the file says of it, by attribute name (`fetchLimit`, `resultType`, …). Sort descriptors, which only
    /// code can give, stand under `sortDescriptors` as `ascending rating compare:`, joined by `; `.
    package var options: [String: String]

    package init(name: String, entityName: String, predicate: String? = nil, options: [String: String] = [:]) {
        self.name = name
        self.entityName = entityName
        self.predicate = predicate
        self.options = options
    }
}
