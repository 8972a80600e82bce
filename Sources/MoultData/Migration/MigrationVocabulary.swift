public import MoultCoreData
import MoultModel
import MoultTransform

// Words that a plan's own tool and the handling of errors need, so that one import is enough.

/// The one error of Moult: what was found, where, and what to do next.
public typealias MigrationError = MoultModel.MigrationError
/// The code of an app that its migrations call, by name; see `MigrationRegistry.init(plan:)`.
public typealias MigrationRegistry = MoultTransform.MigrationRegistry
/// The losses that a plan accepts.
public typealias AcceptedLosses = MoultModel.AcceptedLosses
/// Objects, values or links that a migration does not carry over, with their count.
public typealias MigrationLoss = MoultModel.MigrationLoss
/// The history of the migrations and rollbacks of one store.
public typealias MigrationHistory = MoultCoreData.MigrationHistory
/// One migration, or one rollback to a backup.
public typealias MigrationEvent = MoultCoreData.MigrationEvent
/// The progress of the migration of a store: the part that is done, the time left, the rows, what has just been done.
public typealias MigrationProgress = MoultCoreData.MigrationProgress
