import Foundation
import MoultBasics
import MoultModel
import Synchronization

/// Migrates one store to another file by a mapping model.
open class NSMigrationManager: NSObject, @unchecked Sendable {
    /// The version of the store.
    public let sourceModel: NSManagedObjectModel
    /// The version that it is migrated to.
    public let destinationModel: NSManagedObjectModel
    /// Notes of the policies for one another.
    open var userInfo: [AnyHashable: Any]?
    /// The migration that policies are called for; used on its thread only.
    var running: PolicyBridge?
    private let state = Mutex((progress: Float(0), isCancelled: false))

    /// A manager between two versions.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
    }

    /// From 0 to 1.
    open var migrationProgress: Float { state.withLock { $0.progress } }

    /// Ends a migration that is running; the destination is removed.
    open func cancelMigrationWithError(_ error: any Error) { state.withLock { $0.isCancelled = true } }

    /// Makes a store of the destination's version at another URL, where there is none; the source stays as it is.
    ///
    /// - Throws: 134110 and its like; there is no store at the destination then. Where there is a file already, it stays:
    ///   Core Data would add the objects to that store.
    open func migrateStore(
        from source: URL, type sourceType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel, to destination: URL, type: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        try cocoaErrors {
            try PersistentStoreCoordinator.checkIsFree(destination)
            try PersistentStoreCoordinator.replacePersistentStore(
                at: destination, withPersistentStoreFrom: source, type: try sourceType.moult("migrateStore"))
            do {
                try migrate(destination, mapping, destinationOptions)
            } catch {
                try? PersistentStoreCoordinator.destroyPersistentStore(at: destination)
                throw error
            }
        }
    }

    /// Makes a store of the destination's version at another URL; the source stays as it is.
    open func migrateStore(
        from source: URL, sourceType: String, options: [AnyHashable: Any]? = nil, with mapping: NSMappingModel?,
        toDestinationURL destination: URL, destinationType: String, destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        let inferred =
            try mapping ?? .inferredMappingModel(forSourceModel: sourceModel, destinationModel: destinationModel)
        try migrateStore(
            from: source, type: .init(rawValue: sourceType), options: options, mapping: inferred, to: destination,
            type: .init(rawValue: destinationType), options: destinationOptions)
    }

    private func migrate(_ url: URL, _ mapping: NSMappingModel, _ options: [AnyHashable: Any]?) throws {
        let (source, destination) = (try sourceModel.value(), try destinationModel.value())
        let versions = ModelVersions([("the source model", source), ("the destination model", destination)])
        let description = PersistentStoreDescription(url: url)
        description.keepsMigrationBackup = false
        for (key, value) in NSPersistentStoreCoordinator.moult(options) ?? [:] {
            description.setOption(value, forKey: key)
        }
        description.migrationRegistry.register(
            mapping: mapping.value, from: "the source model", to: "the destination model")
        for name in Set(mapping.entityMappings.compactMap(\.entityMigrationPolicyClassName)) {
            guard let type = NSClassFromString(name) as? NSEntityMigrationPolicy.Type else {
                throw MigrationError(
                    .usage, "There is no class \(name) that is an NSEntityMigrationPolicy.", place: name,
                    remedy: "Set entityMigrationPolicyClassName to NSStringFromClass of the policy.")
            }
            let made = PolicyType(type: type)
            description.migrationRegistry.register(
                policy: { [self] in BridgedPolicy(made.type.init(), self) }, named: name)
        }
        defer { running = nil }
        description.migrationProgress = { [weak self] progress in
            self?.state.withLock { $0.progress = Float(progress.fractionCompleted) }
        }
        description.isMigrationCancelled = { [weak self] in self?.state.withLock { $0.isCancelled } ?? true }
        let coordinator = PersistentStoreCoordinator(managedObjectModel: destination, versions: versions)
        let failure = Mutex<(any Error)?>(nil)
        coordinator.addPersistentStore(with: description) { _, error in failure.withLock { $0 = error } }
        if let error = failure.withLock({ $0 }) { throw error }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        state.withLock { $0.progress = 1 }
    }
}

private struct PolicyType: @unchecked Sendable { let type: NSEntityMigrationPolicy.Type }

/// Makes the objects of an entity mapping in code.
///
/// One object serves every entity mapping of a run that names its class in ``NSEntityMapping/entityMigrationPolicyClassName``
/// (`NSStringFromClass(Policy.self)`). The calls come in Core Data's order, on the thread that runs the migration. What is
/// not overridden does what the mapping's expressions say, and so does a call to `super`. An error ends the migration.
///
/// The objects have the values of the running migration: use `value(forKey:)` and `setValue(_:forKey:)`, or accessors
/// over them. A source object cannot be changed. An expression cannot call a method of the policy.
open class NSEntityMigrationPolicy: NSObject {
    /// A policy that does what the mapping's expressions say, until a subclass overrides something.
    public required override init() { super.init() }

    /// Called before the first object of the mapping.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes what becomes of one source object. Without a call to `super`, make an object with
    /// ``NSEntityDescription/insertNewObject(forEntityName:into:)`` in the manager's ``NSMigrationManager/destinationContext``
    /// and associate it. A source object of which nothing is made is dropped, and counted.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try manager.run("super.createDestinationInstances") { try $0.make(sInstance) }
    }

    /// Called when every object of the mapping is made.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Leads an object that the mapping has made to others.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try manager.run("super.createRelationships") { try $0.link(dInstance) }
    }

    /// Called when the relationships of the mapping's objects are made.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called when the objects of every mapping are made and linked.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called last.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
}

extension NSMigrationManager {
    /// The context that new objects are inserted into while policies run.
    public var destinationContext: NSManagedObjectContext {
        bridge("destinationContext").destinationContext
    }
    /// The context that the objects of the old version are fetched from while policies run.
    public var sourceContext: NSManagedObjectContext { bridge("sourceContext").sourceContext }
    /// The mapping whose policy is called.
    public var currentEntityMapping: NSEntityMapping { bridge("currentEntityMapping").mapping }

    /// The entity of the old version that a mapping takes objects of.
    public func sourceEntity(for mapping: NSEntityMapping) -> NSEntityDescription? {
        mapping.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
    }

    /// The entity of the new version that a mapping makes objects of.
    public func destinationEntity(for mapping: NSEntityMapping) -> NSEntityDescription? {
        mapping.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
    }

    /// Notes that an object has become of a source object.
    public func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for mapping: NSEntityMapping
    ) {
        orRaise("associate(sourceInstance:withDestinationInstance:for:)") {
            try bridge("associate").associate(sourceInstance, destinationInstance, mapping)
        }
    }

    /// Returns the objects that the mapping of that name has made of source objects.
    public func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        orRaise("destinationInstances(forEntityMappingName: \"\(mappingName)\")") {
            try bridge("destinationInstances").destinations(mappingName, of: sourceInstances ?? [])
        }
    }

    /// The source objects that the mapping of that name has made objects of.
    public func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        orRaise("sourceInstances(forEntityMappingName: \"\(mappingName)\")") {
            try bridge("sourceInstances").sources(mappingName, of: destinationInstances ?? [])
        }
    }

    private func bridge(_ call: String) -> PolicyBridge {
        if let bridge = running { return bridge }
        raise("NSMigrationManager.\(call)", "No policy is running: use it in a call of an NSEntityMigrationPolicy.")
    }

    func run<Result>(_ call: String, _ body: (PolicyBridge) throws -> Result) throws -> Result {
        try body(bridge(call))
    }
}
