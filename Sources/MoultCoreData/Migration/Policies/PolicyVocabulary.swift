import MoultObjects

// The words of migration policies, so that one import is enough.

/// Code that makes the objects of an entity mapping: `NSEntityMigrationPolicy`.
public typealias EntityMigrationPolicy = MoultObjects.EntityMigrationPolicy
/// The state that the policies of one migration share, such as which objects became of which: `NSMigrationManager`.
public typealias MigrationManager = MoultObjects.MigrationManager
/// An object of the old version, which a policy reads.
public typealias SourceObject = MoultObjects.SourceObject
/// An object of the new version, which a policy makes.
public typealias DestinationObject = MoultObjects.DestinationObject
/// The decision of a policy about a source object: kept, dropped, merged or quarantined.
public typealias InstanceOutcome = MoultObjects.InstanceOutcome
/// The counts of what became of the source objects of one entity mapping.
public typealias InstanceCounts = MoultObjects.InstanceCounts
