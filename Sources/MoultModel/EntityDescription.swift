/// An entity as a model declares it: its own properties only, inherited ones are asked of the model.
package struct EntityDescription: Sendable, Hashable {
    package var name: String
    package var managedObjectClassName: String?
    package var isAbstract: Bool
    package var superentityName: String?
    /// Own attributes, ordered by name in byte order.
    package var attributes: [AttributeDescription]
    /// Own relationships, ordered by name in byte order.
    package var relationships: [RelationshipDescription]
    /// Own fetched properties, ordered by name in byte order.
    package var fetchedProperties: [FetchedPropertyDescription]
    package var fetchIndexes: [FetchIndexDescription]
    /// The compound indexes of models before 2017: each a list of property names.
    package var compoundIndexes: [[String]]
    /// Each constraint is a list of property names.
    package var uniquenessConstraints: [[String]]
    /// The entity's name in an earlier version, as `elementID` in a model file.
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var userInfo: [String: String]
    package var isSyncable: Bool
    package var coreSpotlightDisplayNameExpression: String?
    /// How Xcode makes the class, as `codeGenerationType` in a model file (`class`, `category`); nil for not at all.
    package var codeGenerationType: String?

    package init(
        name: String,
        managedObjectClassName: String? = nil,
        isAbstract: Bool = false,
        superentityName: String? = nil,
        attributes: [AttributeDescription] = [],
        relationships: [RelationshipDescription] = [],
        fetchedProperties: [FetchedPropertyDescription] = [],
        fetchIndexes: [FetchIndexDescription] = [],
        compoundIndexes: [[String]] = [],
        uniquenessConstraints: [[String]] = [],
        renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil,
        userInfo: [String: String] = [:],
        isSyncable: Bool = true,
        coreSpotlightDisplayNameExpression: String? = nil,
        codeGenerationType: String? = nil
    ) {
        self.name = name
        self.managedObjectClassName = managedObjectClassName
        self.isAbstract = isAbstract
        self.superentityName = superentityName
        self.attributes = attributes.sorted { $0.name.precedesInByteOrder($1.name) }
        self.relationships = relationships.sorted { $0.name.precedesInByteOrder($1.name) }
        self.fetchedProperties = fetchedProperties.sorted { $0.name.precedesInByteOrder($1.name) }
        self.fetchIndexes = fetchIndexes
        self.compoundIndexes = compoundIndexes
        self.uniquenessConstraints = uniquenessConstraints
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
        self.isSyncable = isSyncable
        self.coreSpotlightDisplayNameExpression = coreSpotlightDisplayNameExpression
        self.codeGenerationType = codeGenerationType
    }

    package func attribute(_ name: String) -> AttributeDescription? { attributes.first { $0.name == name } }
    package func relationship(_ name: String) -> RelationshipDescription? { relationships.first { $0.name == name } }

    /// The names of all own properties: attributes, relationships, fetched properties.
    package var propertyNames: [String] {
        attributes.map(\.name) + relationships.map(\.name) + fetchedProperties.map(\.name)
    }
}
