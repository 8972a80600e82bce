import MoultTransform

// The words of migration policies, so that one import is enough.

public typealias EntityMigrationPolicy = MoultTransform.EntityMigrationPolicy
public typealias MigrationManager = MoultTransform.MigrationManager
public typealias SourceObject = MoultTransform.SourceObject
public typealias DestinationObject = MoultTransform.DestinationObject
public typealias InstanceOutcome = MoultTransform.InstanceOutcome
public typealias InstanceCounts = MoultTransform.InstanceCounts
