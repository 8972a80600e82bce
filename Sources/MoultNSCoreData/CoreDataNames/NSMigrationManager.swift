import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import Synchronization

/// A manager that migrates one store to another file with a mapping model.
open class NSMigrationManager: NSObject, @unchecked Sendable {
    /// The model of the source store.
    public let sourceModel: NSManagedObjectModel
    /// The model to which the store is migrated.
    public let destinationModel: NSManagedObjectModel
    /// Data that the policies share with each other.
    open var userInfo: [AnyHashable: Any]?
    /// The mapping of the last migration; one without entities before the first.
    open private(set) var mappingModel = NSMappingModel()
    /// The running migration, whose policies are called; used only on its thread.
    var running: PolicyBridge?
    private let state = Mutex((progress: Float(0), cancellation: Cancellation?.none))
    /// The error of a policy that has ended the migration; used only on its thread.
    var policyError: (any Error)?

    private struct Cancellation: @unchecked Sendable { let error: any Error }

    /// Creates a manager for a migration between two versions.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
    }

    /// Whether Core Data may migrate a store by SQL. It has no effect: there is one kind of migration.
    open var usesStoreSpecificMigrationManager = true

    /// Makes the manager ready for another migration. It has nothing to do: each migration begins without associations.
    open func reset() {}

    /// The progress, from 0 to 1.
    open var migrationProgress: Float { state.withLock { $0.progress } }

    /// Cancels a running migration, which then removes the destination and throws the error.
    open func cancelMigrationWithError(_ error: any Error) {
        let reason = Cancellation(error: error)
        state.withLock { $0.cancellation = reason }
    }

    /// The error with which the migration was cancelled; nil if it was not.
    var cancellation: (any Error)? { state.withLock { $0.cancellation }?.error }

    /// Creates a store with the destination model at a new URL, and leaves the source unchanged.
    ///
    /// - Throws: 134110 and the related errors; 134170 with the error of a policy under `NSUnderlyingErrorKey`; the error
    ///   of ``cancelMigrationWithError(_:)``. No destination store remains in that case. An existing file at the
    ///   destination is an error and stays as it is, whereas Core Data would add the objects to that store.
    open func migrateStore(
        from source: URL, type sourceType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel, to destination: URL, type: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        policyError = nil
        try withPolicyError {
            try PersistentStoreCoordinator.checkIsFree(destination)
            try PersistentStoreCoordinator.replacePersistentStore(
                at: destination, withPersistentStoreFrom: source, type: try sourceType.moult())
            defer { state.withLock { $0.cancellation = nil } }
            do {
                try migrate(destination, mapping, destinationOptions)
            } catch {
                try? PersistentStoreCoordinator.destroyPersistentStore(at: destination)
                throw cancellation ?? error
            }
        }
    }

    /// Runs `body` and rethrows its errors as Core Data's, with the error of a policy, if it has thrown one, as the
    /// underlying error.
    private func withPolicyError(_ body: () throws -> Void) throws {
        do {
            try cocoaErrors(body)
        } catch let error as NSError where error.code == NSEntityMigrationPolicyError {
            guard let policyError else { throw error }
            var userInfo = error.userInfo
            userInfo[NSUnderlyingErrorKey] = policyError
            throw NSError(domain: error.domain, code: error.code, userInfo: userInfo)
        }
    }

    /// Creates a store with the destination model at a new URL, and leaves the source unchanged.
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
        mappingModel = mapping
        if let fault = mapping.entityMappings.lazy.compactMap(\.sourceFault).first { throw fault }
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
        description.isMigrationCancelled = { [weak self] in self.map { $0.cancellation != nil } ?? true }
        let coordinator = PersistentStoreCoordinator(managedObjectModel: destination, versions: versions)
        let failure = Mutex<(any Error)?>(nil)
        coordinator.addPersistentStore(with: description) { _, error in failure.withLock { $0 = error } }
        if let error = failure.withLock({ $0 }) { throw error }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        state.withLock { $0.progress = 1 }
    }

    // MARK: - Calls of policies

    /// Records that a destination object was created from a source object.
    open func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for mapping: NSEntityMapping
    ) {
        orRaise("associate(sourceInstance:withDestinationInstance:for:)") {
            try bridge("associate").associate(sourceInstance, destinationInstance, mapping)
        }
    }

    /// Returns the objects that the named mapping has created from source objects.
    open func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        guard let running else { return [] }
        return orRaise("destinationInstances(forEntityMappingName: \"\(mappingName)\")") {
            try running.destinations(mappingName, of: sourceInstances ?? [])
        }
    }

    /// Returns the source objects from which the named mapping has created objects.
    open func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        guard let running else { return [] }
        return orRaise("sourceInstances(forEntityMappingName: \"\(mappingName)\")") {
            try running.sources(mappingName, of: destinationInstances ?? [])
        }
    }
}

private struct PolicyType: @unchecked Sendable { let type: NSEntityMigrationPolicy.Type }

/// A policy that creates the objects of an entity mapping in code.
///
/// One policy object serves every entity mapping of a run that names its class in
/// ``NSEntityMapping/entityMigrationPolicyClassName`` (`NSStringFromClass(Policy.self)`). The methods are called in
/// Core Data's order, on the thread that runs the migration. By default they evaluate the mapping's expressions, as
/// does a call to `super`. An error ends the migration.
///
/// The objects hold the values of the running migration: use `value(forKey:)` and `setValue(_:forKey:)`, or accessors
/// based on them. A source object cannot be changed. An expression cannot call a method of the policy.
open class NSEntityMigrationPolicy: NSObject {
    /// Creates a policy that evaluates the mapping's expressions, except for the methods that a subclass overrides.
    public required override init() { super.init() }

    /// Called before the first object of the mapping.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Creates the destination objects for one source object. If you do not call `super`, create an object with
    /// ``NSEntityDescription/insertNewObject(forEntityName:into:)`` in the manager's
    /// ``NSMigrationManager/destinationContext`` and associate it. A source object without a destination object is
    /// dropped, and counted.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try manager.run("super.createDestinationInstances") { try $0.make(sInstance) }
    }

    /// Called after all objects of the mapping are created.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Sets the relationships of an object that the mapping has created.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try manager.run("super.createRelationships") { try $0.link(dInstance) }
    }

    /// Called after the relationships of the mapping's objects are set.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called after the objects of every mapping are created and their relationships are set.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called after everything else.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
}

extension NSMigrationManager {
    /// The context that receives the new objects while policies run; otherwise one without stores.
    public var destinationContext: NSManagedObjectContext {
        running?.destinationContext ?? PolicyBridge.context(of: destinationModel)
    }
    /// The context that provides the objects of the old version while policies run; otherwise one without stores.
    public var sourceContext: NSManagedObjectContext {
        running?.sourceContext ?? PolicyBridge.context(of: sourceModel)
    }
    /// The mapping whose policy is running.
    public var currentEntityMapping: NSEntityMapping { bridge("currentEntityMapping").mapping }

    /// Returns the source entity of a mapping.
    public func sourceEntity(for mapping: NSEntityMapping) -> NSEntityDescription? {
        mapping.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
    }

    /// Returns the destination entity of a mapping.
    public func destinationEntity(for mapping: NSEntityMapping) -> NSEntityDescription? {
        mapping.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
    }

    fileprivate func bridge(_ call: String) -> PolicyBridge {
        if let bridge = running { return bridge }
        raise("NSMigrationManager.\(call)", "No policy is running: use it in a call of an NSEntityMigrationPolicy.")
    }

    func run<Result>(_ call: String, _ body: (PolicyBridge) throws -> Result) throws -> Result {
        try body(bridge(call))
    }
}
