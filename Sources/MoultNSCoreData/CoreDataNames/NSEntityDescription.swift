import Foundation
import MoultCoreData
import MoultModel

/// An entity of a model.
open class NSEntityDescription: NSObject, NSCopying {
    weak var model: NSManagedObjectModel?
    /// The entity's name, unique in the model.
    open var name: String? { willSet { willChange() } }
    /// The class of the entity's objects: `NSStringFromClass(Person.self)`, or the class name without its module.
    open var managedObjectClassName: String! = "NSManagedObject" { willSet { willChange() } }
    /// Whether the entity is abstract and has no objects of its own.
    open var isAbstract = false { willSet { willChange() } }
    /// The parent entity, set through its ``subentities``.
    open private(set) weak var superentity: NSEntityDescription?
    /// The name of the entity in an earlier version; ``name`` unless it is set.
    open var renamingIdentifier: String? {
        get { ownRenamingIdentifier ?? name }
        set {
            willChange()
            ownRenamingIdentifier = newValue
        }
    }
    /// The renaming identifier if it is set.
    var ownRenamingIdentifier: String?
    /// A string that is part of the version hash.
    open var versionHashModifier: String? { willSet { willChange() } }
    /// The app's own annotations, with strings as keys and values.
    open var userInfo: [AnyHashable: Any]? { willSet { willChange() } }
    /// The indexes of the entity.
    open var indexes: [NSFetchIndexDescription] = [] {
        willSet { willChange() }
        didSet { for index in indexes { index.entity = self } }
    }
    /// The uniqueness constraints, each a list of properties or their names.
    open var uniquenessConstraints: [[Any]] = [] { willSet { willChange() } }
    /// The properties that are not inherited.
    private(set) var own: [NSPropertyDescription] = []
    private var below: [NSEntityDescription] = []

    /// Creates an entity without a name.
    public override init() {}

    /// Returns an independent entity, with copies of its own properties and of its sub-entities, that belongs to no
    /// model.
    open func copy(with zone: NSZone? = nil) -> Any {
        var copies = EntityCopies()
        let copy = copies.add(self)
        copies.link()
        return copy
    }

    /// The direct sub-entities.
    open var subentities: [NSEntityDescription] {
        get { below }
        set {
            willChange()
            for entity in below { entity.superentity = nil }
            below = newValue
            for entity in below { entity.superentity = self }
        }
    }

    /// The direct sub-entities by name.
    open var subentitiesByName: [String: NSEntityDescription] { byName(below) { $0.name } }

    /// The properties, including inherited ones. Setting them sets the entity's own properties.
    open var properties: [NSPropertyDescription] {
        get { (superentity?.properties ?? []) + own }
        set {
            willChange()
            let inherited = superentity?.properties ?? []
            own = newValue.filter { property in !inherited.contains { $0 === property } }
            for property in own { property.owner = self }
        }
    }

    /// The properties by name, including inherited ones.
    open var propertiesByName: [String: NSPropertyDescription] { byName(properties) { $0.name } }
    /// The attributes by name, including inherited ones.
    open var attributesByName: [String: NSAttributeDescription] {
        byName(properties.compactMap { $0 as? NSAttributeDescription }) { $0.name }
    }
    /// The relationships by name, including inherited ones.
    open var relationshipsByName: [String: NSRelationshipDescription] {
        byName(properties.compactMap { $0 as? NSRelationshipDescription }) { $0.name }
    }
    /// Returns the relationships with the given destination entity.
    open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        relationshipsByName.values.filter { $0.destinationEntity === entity }
    }
    /// Returns whether the entity is the given entity or one of its sub-entities.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        self === entity || name == entity.name || superentity?.isKindOf(entity: entity) == true
    }
    /// The version hash, 32 bytes. Outside a valid model, it is computed from the entity and its superentities.
    open var versionHash: Data {
        let name = name ?? ""
        if let hash = (try? model?.value())?.entityVersionHashesByName[name] { return hash }
        return orRaise("NSEntityDescription.versionHash") {
            let lineage = try sequence(first: self, next: \.superentity).map {
                try $0.value(requiringDestinations: false)
            }
            return ManagedObjectModel(incomplete: lineage).entityVersionHashesByName[name] ?? Data()
        }
    }
    /// Whether both entities have the same contents.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityDescription else { return false }
        if self === other { return true }
        guard name == other.name, let own = contents, let others = other.contents else { return false }
        return own.isIdentical(to: others)
    }
    /// The hash of the name.
    open override var hash: Int { (name ?? "").hashValue }
    private var contents: ManagedObjectModel? {
        (try? value(requiringDestinations: false)).map { ManagedObjectModel(incomplete: [$0]) }
    }
    /// The model that contains the entity.
    open var managedObjectModel: NSManagedObjectModel {
        guard let model else { raise("NSEntityDescription.managedObjectModel", "\(name ?? "") belongs to no model.") }
        return model
    }

    // MARK: - Objects of an entity

    /// Returns the named entity in the context's model.
    open class func entity(forEntityName name: String, in context: NSManagedObjectContext) -> NSEntityDescription? {
        context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name]
    }

    /// Creates an object of the named entity. Ends the program if the model has no such entity.
    open class func insertNewObject(
        forEntityName name: String, into context: NSManagedObjectContext
    ) -> NSManagedObject {
        context.insertNew(name)
    }

    // MARK: - Values

    convenience init(_ value: EntityDescription) {
        self.init()
        name = value.name
        managedObjectClassName = value.managedObjectClassName ?? "NSManagedObject"
        isAbstract = value.isAbstract
        ownRenamingIdentifier = value.renamingIdentifier
        versionHashModifier = value.versionHashModifier
        userInfo = value.userInfo
        uniquenessConstraints = value.uniquenessConstraints
        properties =
            value.attributes.map(NSAttributeDescription.of) + value.relationships.map(NSRelationshipDescription.init)
            + value.fetchedProperties.map(NSFetchedPropertyDescription.init)
    }

    /// - Parameter requiringDestinations: whether a relationship without a destination is an error.
    func value(requiringDestinations: Bool = true) throws -> EntityDescription {
        var entity = EntityDescription(
            name: name ?? "",
            managedObjectClassName: managedObjectClassName == "NSManagedObject" ? nil : managedObjectClassName,
            isAbstract: isAbstract, superentityName: superentity?.name,
            fetchIndexes: try indexes.map { try $0.value() },
            uniquenessConstraints: uniquenessConstraints.map { constraint in
                constraint.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
            }, renamingIdentifier: ownRenamingIdentifier, versionHashModifier: versionHashModifier,
            userInfo: texts(userInfo))
        entity.attributes = try own.compactMap { try ($0 as? NSAttributeDescription)?.value() }
        entity.relationships = try own.compactMap {
            try ($0 as? NSRelationshipDescription)?.value(requiringDestination: requiringDestinations)
        }
        entity.fetchedProperties = try own.compactMap { try ($0 as? NSFetchedPropertyDescription)?.value() }
        return entity
    }

    /// Ends the program if the model is immutable because a coordinator uses it.
    func willChange() {
        model?.willChange("entity \(name ?? "")")
    }

    private func byName<Part>(_ parts: [Part], _ name: (Part) -> String?) -> [String: Part] {
        Dictionary(parts.compactMap { part in name(part).map { ($0, part) } }) { first, _ in first }
    }
}

/// The data structure of an index.
public enum NSFetchIndexElementType: UInt, Sendable {
    case binary = 0
    case rTree = 1
}

/// One column of an index.
open class NSFetchIndexElementDescription: NSObject, NSCopying {
    /// The indexed property.
    public let property: NSPropertyDescription?
    /// The data structure of the column.
    open var collationType: NSFetchIndexElementType
    /// Whether the order is ascending.
    open var isAscending = true
    /// The index that has the column.
    open internal(set) weak var indexDescription: NSFetchIndexDescription?

    /// Creates a column for a property.
    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        self.collationType = collationType
    }

    /// Creates a copy for a property.
    init(_ original: NSFetchIndexElementDescription, property: NSPropertyDescription?) {
        self.property = property
        (collationType, isAscending) = (original.collationType, original.isAscending)
    }

    /// Returns an independent column of the same property that belongs to no index.
    open func copy(with zone: NSZone? = nil) -> Any { NSFetchIndexElementDescription(self, property: property) }

    /// The name of the property.
    open var propertyName: String? { property?.name ?? (property as? NSExpressionDescription)?.name }

    var value: FetchIndexDescription.Element {
        let expression = (property as? NSExpressionDescription)?.expression?.expression.format
        return .init(
            subject: expression.map { .expression($0) } ?? .property(property?.name ?? ""),
            kind: collationType == .rTree ? .rTree : .binary, isAscending: isAscending)
    }
}

/// An index of an entity.
open class NSFetchIndexDescription: NSObject, NSCopying {
    /// The name of the index.
    open var name: String
    /// The columns of the index, in order.
    open var elements: [NSFetchIndexElementDescription] { didSet { own() } }
    /// The entity that has the index.
    open internal(set) weak var entity: NSEntityDescription?
    /// The predicate that selects the rows of the index; nil for all rows.
    open var partialIndexPredicate: NSPredicate?

    /// Creates an index with the given columns.
    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        own()
    }

    /// Returns an independent index, with copies of its columns, that belongs to no entity.
    open func copy(with zone: NSZone? = nil) -> Any { copied { $0 } }

    /// - Parameter property: returns the property for a copied column.
    func copied(_ property: (NSPropertyDescription) -> NSPropertyDescription) -> NSFetchIndexDescription {
        let copies = elements.map { NSFetchIndexElementDescription($0, property: $0.property.map(property)) }
        let copy = NSFetchIndexDescription(name: name, elements: copies)
        copy.partialIndexPredicate = partialIndexPredicate
        return copy
    }

    private func own() { for element in elements { element.indexDescription = self } }

    convenience init(_ value: FetchIndexDescription, in entity: NSEntityDescription) {
        let elements = value.elements.compactMap { element -> NSFetchIndexElementDescription? in
            let property: NSPropertyDescription?
            switch element.subject {
            case .property(let name): property = entity.propertiesByName[name]
            case .expression(let format):
                let computed = NSExpressionDescription()
                computed.name = format
                computed.expression = NSExpression(format: format)
                property = computed
            }
            guard let property else { return nil }
            let made = NSFetchIndexElementDescription(
                property: property, collationType: element.kind == .rTree ? .rTree : .binary)
            made.isAscending = element.isAscending
            return made
        }
        self.init(name: value.name, elements: elements)
        partialIndexPredicate = value.partialIndexPredicate.flatMap { try? MoultModel.Predicate(parsing: $0) }
            .map { NSPredicate(moult: $0) }
    }

    func value() throws -> FetchIndexDescription {
        FetchIndexDescription(
            name: name, elements: elements.map(\.value),
            partialIndexPredicate: try partialIndexPredicate?.moult(for: name).predicate.format)
    }
}
