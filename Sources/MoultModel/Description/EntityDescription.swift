import MoultBasics

/// An entity as a model declares it, with its own properties only; ask the model for inherited ones.
public struct EntityDescription: Sendable, Hashable {
    /// The entity's name, unique in the model.
    public var name: String
    /// The class of the entity's objects in code; nil if the model names none.
    public var managedObjectClassName: String?
    /// Whether the entity has no objects of its own, but only through its sub-entities.
    public var isAbstract: Bool
    /// The entity that this one inherits from and shares a table with; nil for a root entity.
    public var superentityName: String?
    /// The entity's own attributes, ordered by name in byte order.
    public var attributes: [AttributeDescription]
    /// The entity's own relationships, ordered by name in byte order.
    public var relationships: [RelationshipDescription]
    /// The entity's own fetched properties, ordered by name in byte order.
    public var fetchedProperties: [FetchedPropertyDescription]
    /// The entity's own fetch indexes, in model order.
    public var fetchIndexes: [FetchIndexDescription]
    /// The compound indexes of models before 2017: each a list of property names.
    public var compoundIndexes: [[String]]
    /// The uniqueness constraints: each a list of property names.
    public var uniquenessConstraints: [[String]]
    /// The entity's name in an earlier version, as `elementID` in a model file.
    public var renamingIdentifier: String?
    /// A text that is part of the version hash, to tell apart versions with equal models; nil for none.
    public var versionHashModifier: String?
    /// Notes on the entity, by key, mostly the app's own; not part of the version hash.
    public var userInfo: [String: String]
    /// Whether the entity takes part in Sync Services, as `syncable` in a model file. It does not affect the store.
    public var isSyncable: Bool
    /// The expression for an object's name in Spotlight; nil for none. It does not affect the store.
    public var coreSpotlightDisplayNameExpression: String?
    /// The kind of code that Xcode generates for the class, as `codeGenerationType` in a model file (`class`,
    /// `category`); nil for none.
    public var codeGenerationType: String?

    /// Creates an entity, and sorts its attributes, relationships and fetched properties by name in byte order.
    public init(
        name: String, managedObjectClassName: String? = nil, isAbstract: Bool = false, superentityName: String? = nil,
        attributes: [AttributeDescription] = [], relationships: [RelationshipDescription] = [],
        fetchedProperties: [FetchedPropertyDescription] = [], fetchIndexes: [FetchIndexDescription] = [],
        compoundIndexes: [[String]] = [], uniquenessConstraints: [[String]] = [], renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil, userInfo: [String: String] = [:], isSyncable: Bool = true,
        coreSpotlightDisplayNameExpression: String? = nil, codeGenerationType: String? = nil
    ) {
        (self.name, self.managedObjectClassName) = (name, managedObjectClassName)
        (self.isAbstract, self.superentityName) = (isAbstract, superentityName)
        self.attributes = attributes.inNameOrder
        self.relationships = relationships.inNameOrder
        self.fetchedProperties = fetchedProperties.inNameOrder
        (self.fetchIndexes, self.compoundIndexes) = (fetchIndexes, compoundIndexes)
        (self.uniquenessConstraints, self.renamingIdentifier) = (uniquenessConstraints, renamingIdentifier)
        (self.versionHashModifier, self.userInfo) = (versionHashModifier, userInfo)
        (self.isSyncable, self.coreSpotlightDisplayNameExpression) = (isSyncable, coreSpotlightDisplayNameExpression)
        self.codeGenerationType = codeGenerationType
    }

    /// Returns the entity's own attribute of that name; nil if it declares none.
    public func attribute(_ name: String) -> AttributeDescription? { attributes.named(name) }
    /// Returns the entity's own relationship of that name; nil if it declares none.
    public func relationship(_ name: String) -> RelationshipDescription? { relationships.named(name) }

    /// Whether the entity itself declares a property of that name.
    func declares(_ name: String) -> Bool {
        attribute(name) != nil || relationship(name) != nil || fetchedProperties.contains { $0.name == name }
    }

    /// The names of all own properties: attributes, relationships and fetched properties.
    public var propertyNames: [String] {
        attributes.map(\.name) + relationships.map(\.name) + fetchedProperties.map(\.name)
    }
}

extension EntityDescription {
    /// The entity's own properties, ordered by name in byte order; for inherited ones, see
    /// ``ManagedObjectModel/propertiesByName(of:)``. Set it to build an entity in code.
    public var properties: [any PropertyDescription] {
        get {
            let all: [any PropertyDescription] = attributes + relationships + fetchedProperties
            return all.inByteOrder { $0.name }
        }
        set {
            attributes = newValue.compactMap { $0 as? AttributeDescription }.inNameOrder
            relationships = newValue.compactMap { $0 as? RelationshipDescription }.inNameOrder
            fetchedProperties = newValue.compactMap { $0 as? FetchedPropertyDescription }.inNameOrder
        }
    }

    /// Creates an entity from one list of properties, as `NSEntityDescription.properties` takes them.
    public init(
        name: String, managedObjectClassName: String? = nil, isAbstract: Bool = false,
        superentityName: String? = nil, properties: [any PropertyDescription]
    ) {
        self.init(
            name: name, managedObjectClassName: managedObjectClassName, isAbstract: isAbstract,
            superentityName: superentityName)
        self.properties = properties
    }

    /// The same entity with its properties in name order, and with default values fitted to their attributes' types.
    var inNameOrder: EntityDescription {
        var entity = self
        for position in attributes.indices {
            guard let value = attributes[position].defaultValue else { continue }
            let fitted = value.fitted(to: attributes[position].type)
            // Leave an unchanged array alone, because the versions of a model share it.
            if fitted != value { entity.attributes[position].defaultValue = fitted }
        }
        entity.attributes = entity.attributes.inNameOrder
        entity.relationships = relationships.inNameOrder
        entity.fetchedProperties = fetchedProperties.inNameOrder
        return entity
    }
}

extension Array where Element: PropertyDescription {
    var inNameOrder: Self {
        let isInOrder = zip(self, dropFirst()).allSatisfy { !$1.name.precedesInByteOrder($0.name) }
        return isInOrder ? self : inByteOrder { $0.name }
    }

    /// Returns the property of that name: by binary search in name order, as in every model; one by one while an entity
    /// is still being built.
    func named(_ name: String) -> Element? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].name.precedesInByteOrder(name) { low = middle + 1 } else { high = middle }
        }
        if low < count, self[low].name == name { return self[low] }
        return first { $0.name == name }
    }
}

/// The members common to attributes, relationships and fetched properties, as in `NSPropertyDescription`.
public protocol PropertyDescription: Sendable {
    var name: String { get set }
    var isOptional: Bool { get set }
    /// Whether the property is never stored.
    var isTransient: Bool { get set }
    /// The property's name in an earlier version.
    var renamingIdentifier: String? { get set }
    var versionHashModifier: String? { get set }
    var userInfo: [String: String] { get set }
}

extension AttributeDescription: PropertyDescription {}
extension RelationshipDescription: PropertyDescription {}
extension FetchedPropertyDescription: PropertyDescription {}
