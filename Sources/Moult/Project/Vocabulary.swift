import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSession

// The types of other modules that a program needs with only one import.

/// The only error type of Moult: a code, the problem, its place, and the remedy.
public typealias MigrationError = MoultBasics.MigrationError
/// A risk or a fact worth attention: a stable code, a place, a sentence and a remedy.
public typealias Finding = MoultBasics.Finding
/// Objects, values or links that a migration does not carry over, with their count.
public typealias MigrationLoss = MoultModel.MigrationLoss
/// The losses that an app accepts.
public typealias AcceptedLosses = MoultModel.AcceptedLosses
/// One version of a model with its names.
public typealias ModelVersion = MoultModel.ModelVersion
/// The versions of one model, oldest first.
public typealias ModelVersions = MoultModel.ModelVersions
/// The mapping from the objects of one version to those of another.
public typealias MappingModel = MoultModel.MappingModel
/// The mapping from the objects of one entity to those of another.
public typealias EntityMapping = MoultModel.EntityMapping
/// The mapping of one property of the new version, with the source of its value.
public typealias PropertyMapping = MoultModel.PropertyMapping
/// A closure of the app that computes a value of the new version from values of a row.
public typealias ValueTransform = MoultModel.ValueTransform
/// The value of an attribute.
public typealias AttributeValue = MoultModel.AttributeValue
/// The code of an app that its migrations call, by name, and the app's rules.
public typealias MigrationRegistry = MoultObjects.MigrationRegistry
/// A rule that must hold for an app's data.
public typealias ValidationRule = MoultObjects.ValidationRule
/// The code of an app that makes the objects of an entity mapping.
public typealias EntityMigrationPolicy = MoultObjects.EntityMigrationPolicy
/// The object that a migration policy works with.
public typealias MigrationManager = MoultObjects.MigrationManager
/// An object of the older version, for a migration policy.
public typealias SourceObject = MoultObjects.SourceObject
/// An object of the newer version, for a migration policy.
public typealias DestinationObject = MoultObjects.DestinationObject
/// The outcome for a source object.
public typealias InstanceOutcome = MoultObjects.InstanceOutcome
/// The outcomes for the source objects of one entity mapping, counted.
public typealias InstanceCounts = MoultObjects.InstanceCounts
/// The progress of a run.
public typealias RunProgress = MoultEngine.MigrationProgress
/// A backup: a complete store in its own folder, with its original file names.
public typealias StoreBackup = MoultEngine.StoreBackup
/// One run in a store's history.
public typealias StoreRun = MoultEngine.StoreRun
/// The result of a rollback.
public typealias RollbackReport = MoultEngine.RollbackReport
/// The outcome of recovering a run whose process died.
public typealias RecoveryOutcome = MoultEngine.RecoveryOutcome
/// An object that a run removed from a store.
public typealias QuarantinedObject = MoultEngine.QuarantineEntry
/// A policy for the backups that are kept.
public typealias RetentionPolicy = MoultEngine.RetentionPolicy

// The use cases that a container shares, in the module MoultSession.

/// The options of a run.
public typealias RunOptions = MoultSession.RunOptions
/// The plan of a migration of one store.
public typealias StorePlan = MoultSession.StorePlan
/// The result of a migration.
public typealias MigrationReport = MoultSession.MigrationReport
/// The result of finishing a run that had not ended.
public typealias ResumeReport = MoultSession.ResumeReport
/// The result of finishing deferred work.
public typealias FinishReport = MoultSession.FinishReport
/// The result of applying the fixes of rules.
public typealias FixReport = MoultSession.FixReport
/// The preparation of an app's stores at launch.
public typealias StoreLaunch = MoultSession.StoreLaunch
/// The progress of a launch, for a view.
public typealias LaunchProgress = MoultSession.LaunchProgress
package typealias StoreRequest = MoultSession.StoreRequest
package typealias StoreSession = MoultSession.StoreSession
package typealias StoreKeeper = MoultSession.StoreKeeper
package typealias InterruptedRun = MoultSession.InterruptedRun
package typealias LaunchedStore = MoultSession.LaunchedStore
package typealias DeferredWork = MoultSession.DeferredWork
package typealias BackupListing = MoultSession.BackupListing
package typealias BackupVerification = MoultSession.BackupVerification
package typealias RunListing = MoultSession.RunListing
package typealias RecoveryReport = MoultSession.RecoveryReport
package typealias TextStyle = MoultSession.TextStyle
package typealias TextTable = MoultSession.TextTable
package typealias TextWrap = MoultSession.TextWrap
package typealias ProgressLine = MoultSession.ProgressLine
package typealias MigrationDebug = MoultSession.MigrationDebug
