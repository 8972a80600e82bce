/// An entity as a model declares it: its own properties only, inherited ones are asked of the model.
public struct EntityDescription: Sendable, Hashable {
    public var name: String
    public var managedObjectClassName: String?
    public var isAbstract: Bool
    public var superentityName: String?
    /// Own attributes, ordered by name in byte order.
    public var attributes: [AttributeDescription]
    /// Own relationships, ordered by name in byte order.
    public var relationships: [RelationshipDescription]
    /// Own fetched properties, ordered by name in byte order.
    public var fetchedProperties: [FetchedPropertyDescription]
    public var fetchIndexes: [FetchIndexDescription]
    /// The compound indexes of models before 2017: each a list of property names.
    public var compoundIndexes: [[String]]
    /// Each constraint is a list of property names.
    public var uniquenessConstraints: [[String]]
    /// The entity's name in an earlier version, as `elementID` in a model file.
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var userInfo: [String: String]
    public var isSyncable: Bool
    public var coreSpotlightDisplayNameExpression: String?
    /// How Xcode makes the class, as `codeGenerationType` in a model file (`class`, `category`); nil for not at all.
    public var codeGenerationType: String?

    public init(
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
        self.attributes = attributes.inNameOrder
        self.relationships = relationships.inNameOrder
        self.fetchedProperties = fetchedProperties.inNameOrder
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

    /// The entity's own attribute of that name; nil if it declares none.
    public func attribute(_ name: String) -> AttributeDescription? { attributes.named(name) }
    /// The entity's own relationship of that name; nil if it declares none.
    public func relationship(_ name: String) -> RelationshipDescription? { relationships.named(name) }

    /// Whether the entity itself has a property of that name.
    func declares(_ name: String) -> Bool {
        attribute(name) != nil || relationship(name) != nil || fetchedProperties.contains { $0.name == name }
    }

    /// The names of all own properties: attributes, relationships, fetched properties.
    public var propertyNames: [String] {
        attributes.map(\.name) + relationships.map(\.name) + fetchedProperties.map(\.name)
    }
}
