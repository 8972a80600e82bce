import Foundation
import MoultCoreData

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
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {}

    /// Leads an object that the mapping has made to others.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try manager.run("super.createRelationships") { try $0.link(dInstance) }
    }

    /// Called when the relationships of the mapping's objects are made.
    open func endRelationshipCreation(
        forMapping mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {}

    /// Called when the objects of every mapping are made and linked.
    open func performCustomValidation(
        forMapping mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {}

    /// Called last.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
}

extension NSMigrationManager {
    /// The context that new objects are inserted into while policies run.
    public var destinationContext: NSManagedObjectContext {
        face("destinationContext").destinationContext
    }
    /// The context that the objects of the old version are fetched from while policies run.
    public var sourceContext: NSManagedObjectContext { face("sourceContext").sourceContext }
    /// The mapping whose policy is called.
    public var currentEntityMapping: NSEntityMapping { face("currentEntityMapping").mapping }

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
            try face("associate").associate(sourceInstance, destinationInstance, mapping)
        }
    }

    /// Returns the objects that the mapping of that name has made of source objects.
    public func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        orRaise("destinationInstances(forEntityMappingName: \"\(mappingName)\")") {
            try face("destinationInstances").destinations(mappingName, of: sourceInstances ?? [])
        }
    }

    /// The source objects that the mapping of that name has made objects of.
    public func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        orRaise("sourceInstances(forEntityMappingName: \"\(mappingName)\")") {
            try face("sourceInstances").sources(mappingName, of: destinationInstances ?? [])
        }
    }

    private func face(_ call: String) -> MigrationFace {
        if let face = running { return face }
        raise(
            "NSMigrationManager.\(call)",
            "No policy is running: use it in a call of an NSEntityMigrationPolicy.")
    }

    func run<Result>(_ call: String, _ body: (MigrationFace) throws -> Result) throws -> Result {
        try body(face(call))
    }
}
