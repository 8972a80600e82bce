// Core Data's own names, of which MoultCoreData has the types: only they come with this import, and what Core Data's import
// brings along.
@_exported import Foundation

#if !canImport(Darwin)
    // Foundation has UndoManager on a Mac.
    @_exported import class MoultCoreData.UndoManager
    @_exported import let MoultCoreData.NSAffectedObjectsErrorKey
    @_exported import let MoultCoreData.NSAffectedStoresErrorKey
    @_exported import class MoultCoreData.NSAsynchronousFetchRequest
    @_exported import class MoultCoreData.NSAsynchronousFetchResult
    @_exported import class MoultCoreData.NSAtomicStore
    @_exported import class MoultCoreData.NSAttributeDescription
    @_exported import enum MoultCoreData.NSAttributeType
    @_exported import class MoultCoreData.NSBatchDeleteRequest
    @_exported import enum MoultCoreData.NSBatchDeleteRequestResultType
    @_exported import class MoultCoreData.NSBatchDeleteResult
    @_exported import class MoultCoreData.NSBatchInsertRequest
    @_exported import typealias MoultCoreData.NSBatchInsertRequestResultType
    @_exported import class MoultCoreData.NSBatchInsertResult
    @_exported import class MoultCoreData.NSBatchUpdateRequest
    @_exported import enum MoultCoreData.NSBatchUpdateRequestResultType
    @_exported import class MoultCoreData.NSBatchUpdateResult
    @_exported import class MoultCoreData.NSCompositeAttributeDescription
    @_exported import class MoultCoreData.NSConstraintConflict
    @_exported import class MoultCoreData.NSCoreDataCoreSpotlightDelegate
    @_exported import let MoultCoreData.NSCoreDataError
    @_exported import class MoultCoreData.NSCustomMigrationStage
    @_exported import enum MoultCoreData.NSDeleteRule
    @_exported import let MoultCoreData.NSDeletedObjectIDsKey
    @_exported import let MoultCoreData.NSDeletedObjectsKey
    @_exported import class MoultCoreData.NSDerivedAttributeDescription
    @_exported import let MoultCoreData.NSDetailedErrorsKey
    @_exported import class MoultCoreData.NSEntityDescription
    @_exported import class MoultCoreData.NSEntityMapping
    @_exported import enum MoultCoreData.NSEntityMappingType
    @_exported import class MoultCoreData.NSEntityMigrationPolicy
    @_exported import let MoultCoreData.NSErrorMergePolicy
    @_exported import class MoultCoreData.NSExpressionDescription
    @_exported import class MoultCoreData.NSFetchIndexDescription
    @_exported import class MoultCoreData.NSFetchIndexElementDescription
    @_exported import enum MoultCoreData.NSFetchIndexElementType
    @_exported import class MoultCoreData.NSFetchRequest
    @_exported import protocol MoultCoreData.NSFetchRequestResult
    @_exported import struct MoultCoreData.NSFetchRequestResultType
    @_exported import class MoultCoreData.NSFetchedPropertyDescription
    @_exported import enum MoultCoreData.NSFetchedResultsChangeType
    @_exported import class MoultCoreData.NSFetchedResultsController
    @_exported import protocol MoultCoreData.NSFetchedResultsControllerDelegate
    @_exported import protocol MoultCoreData.NSFetchedResultsSectionInfo
    @_exported import let MoultCoreData.NSInMemoryStoreType
    @_exported import class MoultCoreData.NSIncrementalStore
    @_exported import let MoultCoreData.NSInferMappingModelAutomaticallyOption
    @_exported import let MoultCoreData.NSInferredMappingModelError
    @_exported import let MoultCoreData.NSInsertedObjectIDsKey
    @_exported import let MoultCoreData.NSInsertedObjectsKey
    @_exported import let MoultCoreData.NSInvalidatedAllObjectsKey
    @_exported import let MoultCoreData.NSInvalidatedObjectsKey
    @_exported import typealias MoultCoreData.NSLightweightMigrationStage
    @_exported import struct MoultCoreData.NSManaged
    @_exported import class MoultCoreData.NSManagedObject
    @_exported import let MoultCoreData.NSManagedObjectConstraintMergeError
    @_exported import class MoultCoreData.NSManagedObjectContext
    @_exported import enum MoultCoreData.NSManagedObjectContextConcurrencyType
    @_exported import struct MoultCoreData.NSManagedObjectHandle
    @_exported import typealias MoultCoreData.NSManagedObjectID
    @_exported import let MoultCoreData.NSManagedObjectMergeError
    @_exported import class MoultCoreData.NSManagedObjectModel
    @_exported import class MoultCoreData.NSManagedObjectModelReference
    @_exported import let MoultCoreData.NSManagedObjectReferentialIntegrityError
    @_exported import let MoultCoreData.NSManagedObjectValidationError
    @_exported import struct MoultCoreData.NSManagedOrderedSet
    @_exported import struct MoultCoreData.NSManagedSet
    @_exported import class MoultCoreData.NSMappingModel
    @_exported import let MoultCoreData.NSMergeByPropertyObjectTrumpMergePolicy
    @_exported import let MoultCoreData.NSMergeByPropertyStoreTrumpMergePolicy
    @_exported import class MoultCoreData.NSMergeConflict
    @_exported import typealias MoultCoreData.NSMergePolicy
    @_exported import typealias MoultCoreData.NSMergePolicyType
    @_exported import let MoultCoreData.NSMigratePersistentStoresAutomaticallyOption
    @_exported import let MoultCoreData.NSMigrationCancelledError
    @_exported import let MoultCoreData.NSMigrationError
    @_exported import class MoultCoreData.NSMigrationManager
    @_exported import let MoultCoreData.NSMigrationMissingMappingModelError
    @_exported import let MoultCoreData.NSMigrationMissingSourceModelError
    @_exported import typealias MoultCoreData.NSMigrationStage
    @_exported import let MoultCoreData.NSOverwriteMergePolicy
    @_exported import class MoultCoreData.NSPersistentCloudKitContainer
    @_exported import class MoultCoreData.NSPersistentContainer
    @_exported import class MoultCoreData.NSPersistentHistoryChange
    @_exported import class MoultCoreData.NSPersistentHistoryChangeRequest
    @_exported import enum MoultCoreData.NSPersistentHistoryChangeType
    @_exported import class MoultCoreData.NSPersistentHistoryResult
    @_exported import enum MoultCoreData.NSPersistentHistoryResultType
    @_exported import class MoultCoreData.NSPersistentHistoryToken
    @_exported import let MoultCoreData.NSPersistentHistoryTokenKey
    @_exported import let MoultCoreData.NSPersistentHistoryTrackingKey
    @_exported import class MoultCoreData.NSPersistentHistoryTransaction
    @_exported import class MoultCoreData.NSPersistentStore
    @_exported import class MoultCoreData.NSPersistentStoreCoordinator
    @_exported import let MoultCoreData.NSPersistentStoreDeferredLightweightMigrationOptionKey
    @_exported import class MoultCoreData.NSPersistentStoreDescription
    @_exported import let MoultCoreData.NSPersistentStoreForceDestroyOption
    @_exported import let MoultCoreData.NSPersistentStoreIncompatibleVersionHashError
    @_exported import let MoultCoreData.NSPersistentStoreIncompleteSaveError
    @_exported import let MoultCoreData.NSPersistentStoreOpenError
    @_exported import let MoultCoreData.NSPersistentStoreRemoteChangeNotificationPostOptionKey
    @_exported import class MoultCoreData.NSPersistentStoreRequest
    @_exported import class MoultCoreData.NSPersistentStoreResult
    @_exported import let MoultCoreData.NSPersistentStoreSaveConflictsErrorKey
    @_exported import let MoultCoreData.NSPersistentStoreSaveError
    @_exported import let MoultCoreData.NSPersistentStoreStagedMigrationManagerOptionKey
    @_exported import let MoultCoreData.NSPersistentStoreTimeoutError
    @_exported import let MoultCoreData.NSPersistentStoreTimeoutOption
    @_exported import let MoultCoreData.NSPersistentStoreURLKey
    @_exported import class MoultCoreData.NSPropertyDescription
    @_exported import class MoultCoreData.NSPropertyMapping
    @_exported import let MoultCoreData.NSReadOnlyPersistentStoreOption
    @_exported import let MoultCoreData.NSRefreshedObjectsKey
    @_exported import class MoultCoreData.NSRelationshipDescription
    @_exported import let MoultCoreData.NSRollbackMergePolicy
    @_exported import let MoultCoreData.NSSQLiteAnalyzeOption
    @_exported import let MoultCoreData.NSSQLiteErrorDomain
    @_exported import let MoultCoreData.NSSQLiteManualVacuumOption
    @_exported import let MoultCoreData.NSSQLitePragmasOption
    @_exported import let MoultCoreData.NSSQLiteStoreType
    @_exported import class MoultCoreData.NSSecureUnarchiveFromDataTransformer
    @_exported import struct MoultCoreData.NSSnapshotEventType
    @_exported import class MoultCoreData.NSStagedMigrationManager
    @_exported import let MoultCoreData.NSStoreModelVersionHashesKey
    @_exported import let MoultCoreData.NSStoreModelVersionIdentifiersKey
    @_exported import let MoultCoreData.NSStoreTypeKey
    @_exported import let MoultCoreData.NSStoreUUIDKey
    @_exported import let MoultCoreData.NSUpdatedObjectIDsKey
    @_exported import let MoultCoreData.NSUpdatedObjectsKey
    @_exported import let MoultCoreData.NSValidationDateTooLateError
    @_exported import let MoultCoreData.NSValidationDateTooSoonError
    @_exported import let MoultCoreData.NSValidationInvalidDateError
    @_exported import let MoultCoreData.NSValidationInvalidURIError
    @_exported import let MoultCoreData.NSValidationKeyErrorKey
    @_exported import let MoultCoreData.NSValidationMissingMandatoryPropertyError
    @_exported import let MoultCoreData.NSValidationMultipleErrorsError
    @_exported import let MoultCoreData.NSValidationNumberTooLargeError
    @_exported import let MoultCoreData.NSValidationNumberTooSmallError
    @_exported import let MoultCoreData.NSValidationObjectErrorKey
    @_exported import let MoultCoreData.NSValidationRelationshipDeniedDeleteError
    @_exported import let MoultCoreData.NSValidationRelationshipExceedsMaximumCountError
    @_exported import let MoultCoreData.NSValidationRelationshipLacksMinimumCountError
    @_exported import let MoultCoreData.NSValidationStringPatternMatchingError
    @_exported import let MoultCoreData.NSValidationStringTooLongError
    @_exported import let MoultCoreData.NSValidationStringTooShortError
    @_exported import struct MoultCoreData.NSValueTransformerName
    @_exported import class MoultCoreData.ValueTransformer

    /// A property that is kept by the store: what `@NSManaged` is on Apple's platforms.
    public typealias Managed<Value> = NSManaged<Value>

    // Foundation has empty classes of these names on Linux.

    /// An expression that is built from parts, for dictionary results and comparisons.
    public typealias NSExpression = MoultCoreData.NSExpression
    /// A comparison that is built from parts.
    public typealias NSComparisonPredicate = MoultCoreData.NSComparisonPredicate
#endif
