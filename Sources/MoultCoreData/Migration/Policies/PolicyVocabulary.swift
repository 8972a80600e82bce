import MoultTransform

// The words of migration policies, so that one import is enough.

/// Code that makes the objects of an entity mapping: `NSEntityMigrationPolicy`.
public typealias EntityMigrationPolicy = MoultTransform.EntityMigrationPolicy
/// What the policies of one migration share, such as which objects became of which: `NSMigrationManager`.
public typealias MigrationManager = MoultTransform.MigrationManager
/// An object of the old version, which a policy reads.
public typealias SourceObject = MoultTransform.SourceObject
/// An object of the new version, which a policy makes.
public typealias DestinationObject = MoultTransform.DestinationObject
/// What a policy decides of a source object: kept, dropped, merged or quarantined.
public typealias InstanceOutcome = MoultTransform.InstanceOutcome
/// What became of the source objects of one entity mapping, counted.
public typealias InstanceCounts = MoultTransform.InstanceCounts
