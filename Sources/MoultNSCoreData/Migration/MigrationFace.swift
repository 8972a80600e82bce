import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects

/// A running migration as the policies of this module see it: its objects behind Core Data's faces.
///
/// It belongs to the thread that runs the migration.
final class MigrationFace {
    let manager: MigrationManager
    let sourceContext: NSManagedObjectContext
    let destinationContext: NSManagedObjectContext
    var mapping = NSEntityMapping()
    /// The bridge that calls the current policy.
    weak var bridge: PolicyBridge?
    private let models: (source: NSManagedObjectModel, destination: NSManagedObjectModel)
    private var shown: [Key: Shown] = [:]

    private struct Key: Hashable {
        let isSource: Bool
        let id: NSManagedObjectID
    }
    private struct Shown { weak var object: NSManagedObject? }

    init(
        _ manager: MigrationManager, from source: NSManagedObjectModel,
        to destination: NSManagedObjectModel
    ) {
        self.manager = manager
        models = (source, destination)
        sourceContext = NSManagedObjectContext(.privateQueue)
        destinationContext = NSManagedObjectContext(.privateQueue)
        sourceContext.persistentStoreCoordinator = NSPersistentStoreCoordinator(
            managedObjectModel: source)
        destinationContext.persistentStoreCoordinator = NSPersistentStoreCoordinator(
            managedObjectModel: destination)
        (sourceContext.migration, destinationContext.migration) = (self, self)
    }

    // MARK: - Objects

    func show(_ source: SourceObject) -> NSManagedObject {
        show(
            Key(isSource: true, id: source.objectID), .source(source), source.entityName, sourceContext)
    }

    func show(_ destination: DestinationObject) -> NSManagedObject {
        let key = Key(isSource: false, id: destination.objectID)
        return show(key, .destination(destination), destination.entityName, destinationContext)
    }

    private func show(
        _ key: Key, _ part: MigratedValues.Part, _ entityName: String, _ context: NSManagedObjectContext
    ) -> NSManagedObject {
        if let known = shown[key]?.object { return known }
        let coordinator = context.persistentStoreCoordinator
        let entity = coordinator?.managedObjectModel.entitiesByName[entityName]
        // Both versions name one class, whose properties are those of the new one.
        let type = key.isSource ? NSManagedObject.self : coordinator?.classes.type(for: entityName)
        let object = (type ?? NSManagedObject.self).init(
            NSManagedObjectHandle(base: nil, entity: entity))
        object.migrated = MigratedValues(part, self)
        shown[key] = Shown(object: object)
        if shown.count > 10_000 { shown = shown.filter { $0.value.object != nil } }
        return object
    }

    func source(_ object: NSManagedObject) throws -> SourceObject {
        if case .source(let source)? = object.migrated?.part { return source }
        throw foreign(object, "the old")
    }

    func destination(_ object: NSManagedObject) throws -> DestinationObject {
        if case .destination(let destination)? = object.migrated?.part { return destination }
        throw foreign(object, "the new")
    }

    private func foreign(_ object: NSManagedObject, _ version: String) -> MigrationError {
        MigrationError(
            .usage, "The object is not one of \(version) version in this migration.",
            place: object.description,
            remedy: "Use the objects that the policy is called with, or those of the manager's contexts.")
    }

    func value(_ part: MigratedValues.Part) -> MoultModel.ManagedObjectModel? {
        if case .source = part { return try? models.source.value() }
        return try? models.destination.value()
    }

    // MARK: - What policies ask for

    func make(_ source: NSManagedObject) throws {
        try bridge?.makeByMapping(self.source(source), mapping.value, manager)
    }

    func link(_ destination: NSManagedObject) throws {
        try bridge?.linkByMapping(self.destination(destination), mapping.value, manager)
    }

    func insert(_ entityName: String) throws -> NSManagedObject {
        show(try manager.insertObject(forEntityName: entityName))
    }

    func fetch(_ fetch: ObjectFetch, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        context === sourceContext
            ? try manager.sourceObjects(fetch).map(show) : try manager.destinationObjects(fetch).map(show)
    }

    func associate(
        _ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: NSEntityMapping
    ) throws {
        try manager.associate(
            source: self.source(source), withDestination: self.destination(destination),
            for: mapping.value)
    }

    func destinations(_ mapping: String, of objects: [NSManagedObject]) throws -> [NSManagedObject] {
        try manager.destinationInstances(
            forEntityMappingName: mapping, sourceInstances: objects.map(source)
        ).map(show)
    }

    func sources(_ mapping: String, of objects: [NSManagedObject]) throws -> [NSManagedObject] {
        try manager.sourceInstances(
            forEntityMappingName: mapping, destinationInstances: objects.map(destination)
        )
        .map(show)
    }
}

/// The values of one object of a running migration.
final class MigratedValues {
    enum Part {
        case source(SourceObject)
        case destination(DestinationObject)
    }

    let part: Part
    private unowned let face: MigrationFace

    init(_ part: Part, _ face: MigrationFace) {
        self.part = part
        self.face = face
    }

    var objectID: NSManagedObjectID {
        switch part {
        case .source(let object): object.objectID
        case .destination(let object): object.objectID
        }
    }

    private var entityName: String {
        switch part {
        case .source(let object): object.entityName
        case .destination(let object): object.entityName
        }
    }

    private func relationship(_ key: String) -> RelationshipDescription? {
        let model = face.value(part)
        return model?.entity(entityName).flatMap {
            model?.relationships(of: $0).first { $0.name == key }
        }
    }

    func value(forKey key: String) -> Any? {
        guard let relationship = relationship(key) else {
            let value =
                switch part {
                case .source(let object): object[key]
                case .destination(let object): object[key]
                }
            return value.flatMap(foundationValue)
        }
        let objects =
            switch part {
            case .source(let object): object.objects(key).map(face.show)
            case .destination(let object): object.objects(key).map(face.show)
            }
        if !relationship.isToMany { return objects.first }
        return relationship.isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
    }

    func setValue(_ value: Any?, forKey key: String) throws {
        guard case .destination(let object) = part else {
            throw MigrationError(
                .usage, "An object of the old version cannot be changed.", place: "\(entityName).\(key)",
                remedy: "Set the value of the object that becomes of it.")
        }
        guard let relationship = relationship(key) else {
            let model = face.value(part)
            let type =
                model?.entity(entityName).flatMap { model?.attribute(key, of: $0) }?.type ?? .undefined
            object[key] = try value.flatMap { try attributeValue($0, type, "\(entityName).\(key)") }
            return
        }
        if relationship.isToMany {
            object.setObjects(try Self.members(value).map(face.destination), for: key)
        } else {
            object.setObject(try (value as? NSManagedObject).map(face.destination), for: key)
        }
    }

    private static func members(_ value: Any?) -> [NSManagedObject] {
        switch value {
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        case let list as NSOrderedSet: list.array.compactMap { $0 as? NSManagedObject }
        case let set as Set<NSManagedObject>: Array(set)
        case let list as [NSManagedObject]: list
        default: []
        }
    }
}

/// Passes the calls of a migration on to a policy of this module.
final class PolicyBridge: EntityMigrationPolicy {
    private let policy: NSEntityMigrationPolicy
    private let owner: NSMigrationManager

    init(_ policy: NSEntityMigrationPolicy, _ owner: NSMigrationManager) {
        self.policy = policy
        self.owner = owner
    }

    private func call(
        _ mapping: EntityMapping, _ manager: MigrationManager,
        _ body: (NSEntityMapping, MigrationFace) throws -> Void
    ) throws {
        let face =
            owner.running.flatMap { $0.manager === manager ? $0 : nil }
            ?? MigrationFace(manager, from: owner.sourceModel, to: owner.destinationModel)
        owner.running = face
        face.bridge = self
        if face.mapping.name != mapping.name { face.mapping = NSEntityMapping(mapping) }
        try body(face.mapping, face)
    }

    func makeByMapping(_ source: SourceObject, _ mapping: EntityMapping, _ manager: MigrationManager)
        throws
    {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }

    func linkByMapping(
        _ object: DestinationObject, _ mapping: EntityMapping, _ manager: MigrationManager
    ) throws {
        try super.createRelationships(forDestination: object, in: mapping, manager: manager)
    }

    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
        try call(mapping, manager) { mapping, _ in try policy.begin(mapping, with: owner) }
    }

    override func createDestinationInstances(
        forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try call(mapping, manager) { mapping, face in
            let object = face.show(source)
            try policy.createDestinationInstances(forSource: object, in: mapping, manager: owner)
            let made = try face.destinations(mapping.name, of: [object])
            if made.isEmpty, case nil = source.outcome {
                source.outcome = .dropped(reason: "\(type(of: policy)) made nothing of it")
            }
        }
    }

    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager)
        throws
    {
        try call(mapping, manager) { mapping, _ in
            try policy.endInstanceCreation(forMapping: mapping, manager: owner)
        }
    }

    override func createRelationships(
        forDestination destination: DestinationObject, in mapping: EntityMapping,
        manager: MigrationManager
    ) throws {
        try call(mapping, manager) { mapping, face in
            try policy.createRelationships(
                forDestination: face.show(destination), in: mapping, manager: owner)
        }
    }

    override func endRelationshipCreation(
        forMapping mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try call(mapping, manager) { mapping, _ in
            try policy.endRelationshipCreation(forMapping: mapping, manager: owner)
        }
    }

    override func performCustomValidation(
        forMapping mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try call(mapping, manager) { mapping, _ in
            try policy.performCustomValidation(forMapping: mapping, manager: owner)
        }
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
        try call(mapping, manager) { mapping, _ in try policy.end(mapping, manager: owner) }
    }
}
