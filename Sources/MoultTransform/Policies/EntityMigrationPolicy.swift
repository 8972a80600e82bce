import MoultModel

/// Makes the objects of an entity mapping in Swift, source and destination together: `NSEntityMigrationPolicy`.
///
/// A mapping model names a policy; a ``MigrationRegistry`` holds what makes one under that name. One object is made for
/// each run and serves every entity mapping that names it, so state of a run lives in its properties, never in static
/// ones. The calls come in Core Data's order: for each entity mapping ``begin(_:with:)``,
/// ``createDestinationInstances(forSource:in:manager:)`` for each source object by its key,
/// ``endInstanceCreation(forMapping:manager:)``; when all instances are there, for each entity mapping
/// ``createRelationships(forDestination:in:manager:)`` and ``endRelationshipCreation(forMapping:manager:)``; then
/// ``performCustomValidation(forMapping:manager:)``, and last ``end(_:manager:)``.
///
/// What is not overridden does what the mapping's expressions say, and so does a call to `super`. An error that any of
/// them throws ends the migration, and the store is as it was.
///
/// The calls come on the thread that runs the migration; asynchronous work is waited for with
/// ``MigrationManager/wait(for:)``.
open class EntityMigrationPolicy {
    /// A policy that does what the mapping's expressions say, until a subclass overrides something.
    public init() {}

    /// The closures that expressions of the mapping call as `FUNCTION($entityPolicy, "name:", …)`, by their names.
    open var functions: [String: ValueTransform] { [:] }

    open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

    /// Makes what becomes of one source object, and associates it with that; or sets the source's
    /// ``SourceObject/outcome`` where nothing is to become of it. A source object for which neither was done fails the
    /// migration: none is lost silently.
    open func createDestinationInstances(
        forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.createDestinationInstance(forSource: source)
    }

    open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Leads an object that the mapping has made to others; called when all instances are there.
    open func createRelationships(
        forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.createRelationships(forDestination: destination)
    }

    open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}
