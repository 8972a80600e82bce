import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects

/// A running migration in the form that an ``NSEntityMigrationPolicy`` sees, with managed objects.
///
/// It is used only on the thread that runs the migration.
final class PolicyBridge {
    let manager: MigrationManager
    let sourceContext: NSManagedObjectContext
    let destinationContext: NSManagedObjectContext
    var mapping = NSEntityMapping()
    /// The policy being called.
    weak var policy: BridgedPolicy?
    private var shown: [Key: Shown] = [:]
    private var shapes: [Bool: [String: EntityShape]] = [:]

    private struct Key: Hashable {
        let isSource: Bool
        let id: NSManagedObjectID
    }
    private struct Shown { weak var object: NSManagedObject? }

    init(_ manager: MigrationManager, from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        self.manager = manager
        (sourceContext, destinationContext) = (Self.context(of: source), Self.context(of: destination))
        (sourceContext.migration, destinationContext.migration) = (self, self)
    }

    /// Returns a context without stores.
    static func context(of model: NSManagedObjectModel) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        return context
    }

    // MARK: - Objects

    func show(_ migrated: any MigratedObject) -> NSManagedObject {
        let isSource = migrated is SourceObject
        let key = Key(isSource: isSource, id: migrated.objectID)
        if let known = shown[key]?.object { return known }
        let coordinator = (isSource ? sourceContext : destinationContext).persistentStoreCoordinator
        let entity = coordinator?.managedObjectModel.entitiesByName[migrated.entityName]
        let detached = DetachedObject(entity)
        detached.migrated = MigratedValues(migrated, shape(of: migrated, in: coordinator, isSource), self)
        // Both versions name the same class, whose properties are those of the new version.
        let own = isSource ? nil : coordinator?.base.classes.type(for: migrated.entityName) as? NSManagedObject.Type
        let object = (own ?? NSManagedObject.self).make(
            NSManagedObjectHandle(detached: detached), entity ?? NSEntityDescription(), nil)
        shown[key] = Shown(object: object)
        if shown.count > 10_000 { shown = shown.filter { $0.value.object != nil } }
        return object
    }

    private func shape(
        of migrated: any MigratedObject, in coordinator: NSPersistentStoreCoordinator?, _ isSource: Bool
    ) -> EntityShape? {
        if let known = shapes[isSource]?[migrated.entityName] { return known }
        guard let model = coordinator?.base.managedObjectModel, let entity = model.entity(migrated.entityName) else {
            return nil
        }
        let shape = EntityShape(entity, in: model)
        shapes[isSource, default: [:]][migrated.entityName] = shape
        return shape
    }

    static func source(_ object: NSManagedObject) throws -> SourceObject { try migrated(object, "the old") }

    static func destination(_ object: NSManagedObject) throws -> DestinationObject {
        try migrated(object, "the new")
    }

    private static func migrated<Kind>(_ object: NSManagedObject, _ version: String) throws -> Kind {
        if let migrated = object.detached?.migrated?.object as? Kind { return migrated }
        throw MigrationError(
            .usage, "The object is not one of \(version) version in this migration.",
            place: object.description,
            remedy: "Use the objects that the policy is called with, or those of the manager's contexts.")
    }

    // MARK: - Operations for policies

    func make(_ source: NSManagedObject) throws {
        try policy?.makeByMapping(Self.source(source), mapping.value, manager)
    }

    func link(_ destination: NSManagedObject) throws {
        try policy?.linkByMapping(Self.destination(destination), mapping.value, manager)
    }

    func insert(_ entityName: String) throws -> NSManagedObject {
        show(try manager.insertObject(forEntityName: entityName))
    }

    func fetch(_ fetch: ObjectFetch, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        context === sourceContext
            ? try manager.sourceObjects(fetch).map(show) : try manager.destinationObjects(fetch).map(show)
    }

    func associate(_ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: NSEntityMapping) throws {
        try manager.associate(
            source: Self.source(source), withDestination: Self.destination(destination), for: mapping.value)
    }

    func destinations(_ mapping: String, of objects: [NSManagedObject]) throws -> [NSManagedObject] {
        try manager.destinationInstances(forEntityMappingName: mapping, sourceInstances: objects.map(Self.source)).map(
            show)
    }

    func sources(_ mapping: String, of objects: [NSManagedObject]) throws -> [NSManagedObject] {
        try manager.sourceInstances(forEntityMappingName: mapping, destinationInstances: objects.map(Self.destination))
            .map(show)
    }
}

/// An object of a running migration, of either version.
protocol MigratedObject: AnyObject {
    var objectID: NSManagedObjectID { get }
    var entityName: String { get }
    subscript(name: String) -> AttributeValue? { get }
    func related(_ name: String) -> [any MigratedObject]
}

extension SourceObject: MigratedObject {
    func related(_ name: String) -> [any MigratedObject] { objects(name) }
}

extension DestinationObject: MigratedObject {
    func related(_ name: String) -> [any MigratedObject] { objects(name) }
}

/// The values of one object of a running migration.
final class MigratedValues {
    let object: any MigratedObject
    private let shape: EntityShape?
    private weak var bridge: PolicyBridge?

    init(_ object: any MigratedObject, _ shape: EntityShape?, _ bridge: PolicyBridge) {
        (self.object, self.shape, self.bridge) = (object, shape, bridge)
    }

    /// The context of the running migration that provides the object.
    var context: NSManagedObjectContext? {
        object is SourceObject ? bridge?.sourceContext : bridge?.destinationContext
    }

    func value(forKey key: String) -> Any? {
        guard case .relationship(let relationship, _)? = shape?[key] else {
            return object[key].flatMap(foundationValue)
        }
        let objects = object.related(key).compactMap { bridge?.show($0) }
        if !relationship.isToMany { return objects.first }
        return relationship.isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
    }

    func setValue(_ value: Any?, forKey key: String) throws {
        let place = "\(object.entityName).\(key)"
        guard let destination = object as? DestinationObject else {
            throw MigrationError(
                .usage, "An object of the old version cannot be changed.", place: place,
                remedy: "Set the value of the object that becomes of it.")
        }
        switch shape?[key] {
        case .relationship(let relationship, _)? where relationship.isToMany:
            destination.setObjects(try Self.members(value).map(PolicyBridge.destination), for: key)
        case .relationship?:
            destination.setObject(try (value as? NSManagedObject).map(PolicyBridge.destination), for: key)
        case .attribute(_, let attribute)?:
            destination[key] = try value.flatMap { try attributeValue($0, attribute.type, place) }
        case nil:
            destination[key] = try value.flatMap { try attributeValue($0, .undefined, place) }
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

/// A policy that forwards the calls of a migration to an ``NSEntityMigrationPolicy``.
final class BridgedPolicy: EntityMigrationPolicy {
    private let policy: NSEntityMigrationPolicy
    private let owner: NSMigrationManager

    init(_ policy: NSEntityMigrationPolicy, _ owner: NSMigrationManager) {
        self.policy = policy
        self.owner = owner
    }

    private func call(
        _ mapping: EntityMapping, _ manager: MigrationManager,
        _ body: (NSEntityMapping, PolicyBridge) throws -> Void
    ) throws {
        let bridge =
            owner.running.flatMap { $0.manager === manager ? $0 : nil }
            ?? PolicyBridge(manager, from: owner.sourceModel, to: owner.destinationModel)
        owner.running = bridge
        bridge.policy = self
        if bridge.mapping.name != mapping.name { bridge.mapping = NSEntityMapping(mapping) }
        do {
            try body(bridge.mapping, bridge)
        } catch {
            if !(error is MigrationError || error is PolicyFault) { owner.policyError = error }
            throw error
        }
        if let reason = owner.cancellation { throw reason }
    }

    func makeByMapping(_ source: SourceObject, _ mapping: EntityMapping, _ manager: MigrationManager) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }

    func linkByMapping(_ object: DestinationObject, _ mapping: EntityMapping, _ manager: MigrationManager) throws {
        try super.createRelationships(forDestination: object, in: mapping, manager: manager)
    }

    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
        try call(mapping, manager) { mapping, _ in try policy.begin(mapping, with: owner) }
    }

    override func createDestinationInstances(
        forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try call(mapping, manager) { mapping, bridge in
            let object = bridge.show(source)
            try policy.createDestinationInstances(forSource: object, in: mapping, manager: owner)
            let made = try bridge.destinations(mapping.name, of: [object])
            if made.isEmpty, case nil = source.outcome {
                source.outcome = .dropped(reason: "\(type(of: policy)) made nothing of it")
            }
        }
    }

    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        try call(mapping, manager) { mapping, _ in try policy.endInstanceCreation(forMapping: mapping, manager: owner) }
    }

    override func createRelationships(
        forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try call(mapping, manager) { mapping, bridge in
            try policy.createRelationships(forDestination: bridge.show(destination), in: mapping, manager: owner)
        }
    }

    override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        try call(mapping, manager) { mapping, _ in
            try policy.endRelationshipCreation(forMapping: mapping, manager: owner)
        }
    }

    override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        try call(mapping, manager) { mapping, _ in
            try policy.performCustomValidation(forMapping: mapping, manager: owner)
        }
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
        try call(mapping, manager) { mapping, _ in try policy.end(mapping, manager: owner) }
    }
}
