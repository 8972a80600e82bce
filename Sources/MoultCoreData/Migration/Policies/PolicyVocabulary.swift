import MoultTransform

// The words of migration policies, so that one import is enough.

/// Code that makes the objects of an entity mapping: `NSEntityMigrationPolicy`.
public typealias EntityMigrationPolicy = MoultTransform.EntityMigrationPolicy
/// The state that the policies of one migration share, such as which objects became of which: `NSMigrationManager`.
public typealias MigrationManager = MoultTransform.MigrationManager
/// An object of the old version, which a policy reads.
public typealias SourceObject = MoultTransform.SourceObject
/// An object of the new version, which a policy makes.
public typealias DestinationObject = MoultTransform.DestinationObject
/// The decision of a policy about a source object: kept, dropped, merged or quarantined.
public typealias InstanceOutcome = MoultTransform.InstanceOutcome
/// The counts of what became of the source objects of one entity mapping.
public typealias InstanceCounts = MoultTransform.InstanceCounts
