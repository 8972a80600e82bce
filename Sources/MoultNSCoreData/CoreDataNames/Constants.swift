// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These are the names of Core Data.

import MoultCoreData

// Core Data's global constants, with its own values.

/// The type of a store in a SQLite file.
public let NSSQLiteStoreType = "SQLite"
/// The type of a store in memory.
public let NSInMemoryStoreType = "InMemory"
/// The type of a store in one binary file. Such stores are not supported.
public let NSBinaryStoreType = "Binary"
/// Whether opening an older store migrates it.
public let NSMigratePersistentStoresAutomaticallyOption = PersistentStoreOption.migratePersistentStoresAutomatically
/// Whether that migration may infer a mapping.
public let NSInferMappingModelAutomaticallyOption = PersistentStoreOption.inferMappingModelAutomatically
/// Whether the store is opened read-only.
public let NSReadOnlyPersistentStoreOption = PersistentStoreOption.readOnly
/// The number of seconds to wait for another process.
public let NSPersistentStoreTimeoutOption = PersistentStoreOption.timeout
/// SQLite pragmas, by name.
public let NSSQLitePragmasOption = PersistentStoreOption.sqlitePragmas
/// Whether opening the store runs `ANALYZE`.
public let NSSQLiteAnalyzeOption = PersistentStoreOption.sqliteAnalyze
/// Whether opening the store rebuilds its file.
public let NSSQLiteManualVacuumOption = PersistentStoreOption.sqliteManualVacuum
/// Whether a new store keeps persistent history.
public let NSPersistentHistoryTrackingKey = PersistentStoreOption.historyTracking
/// Whether a file that is not a store may be destroyed.
public let NSPersistentStoreForceDestroyOption = PersistentStoreOption.forceDestroy
/// The stages of a staged migration.
public let NSPersistentStoreStagedMigrationManagerOptionKey = PersistentStoreOption.stagedMigrationManager
/// Whether to defer slow work of a lightweight migration.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey = PersistentStoreOption.deferredLightweightMigration
/// Whether saves of the store post `Notification.Name.NSPersistentStoreRemoteChange`.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
    "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// The class of file protection for a store's files. It has no effect on Linux.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// The number of connections to a store's file. It has no effect.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// Whether a store is opened without a look at its version hashes. It has no effect: they are always compared.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"

/// The kind of a store, in its metadata.
public let NSStoreTypeKey = StoreMetadataKey.storeType
/// The UUID of a store, in its metadata.
public let NSStoreUUIDKey = StoreMetadataKey.storeUUID
/// The version hashes of a store, in its metadata.
public let NSStoreModelVersionHashesKey = StoreMetadataKey.modelVersionHashes
/// The version identifiers of a store, in its metadata.
public let NSStoreModelVersionIdentifiersKey = StoreMetadataKey.modelVersionIdentifiers
/// The version checksum of a store's model, in its metadata.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"

/// The inserted objects in a notification.
public let NSInsertedObjectsKey = "inserted"
/// The changed objects in a notification.
public let NSUpdatedObjectsKey = "updated"
/// The deleted objects in a notification.
public let NSDeletedObjectsKey = "deleted"
/// The objects that were refreshed, in a notification.
public let NSRefreshedObjectsKey = "refreshed"
/// The objects that a context invalidated, in a notification. No notification of this module has this key.
public let NSInvalidatedObjectsKey = "invalidated"
/// Present in a notification if a context invalidated all its objects.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// The identities of inserted objects in a notification.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// The identities of changed objects in a notification.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// The identities of deleted objects in a notification.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// The identities of refreshed objects, in a notification of a context.
public let NSRefreshedObjectIDsKey = NSManagedObjectContext.NotificationKey.refreshedObjectIDs.rawValue
/// The identities of invalidated objects, in a notification of a context.
public let NSInvalidatedObjectIDsKey = NSManagedObjectContext.NotificationKey.invalidatedObjectIDs.rawValue
/// The URL of the store in a remote change notification.
public let NSPersistentStoreURLKey = "storeURL"
/// The history token in a remote change notification.
public let NSPersistentHistoryTokenKey = "historyToken"
/// The stores that were added, in a notification of a coordinator.
public let NSAddedPersistentStoresKey = "added"
/// The stores that were removed, in a notification of a coordinator.
public let NSRemovedPersistentStoresKey = "removed"
/// The stores whose UUID has changed, in a notification of a coordinator. No notification of this module has this key.
public let NSUUIDChangedPersistentStoresKey = "uuid_changed"

/// The `NSPredicate` that a value violates, in an error of a validation.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The value that violates a rule, in an error of a validation.
public let NSValidationValueErrorKey = "NSValidationErrorValue"

/// The migration manager in an expression of a mapping, `$manager`.
public let NSMigrationManagerKey = "manager"
/// The source object in an expression of a mapping, `$source`.
public let NSMigrationSourceObjectKey = "source"
/// The destination object in an expression of a mapping, `$destination`.
public let NSMigrationDestinationObjectKey = "destination"
/// The entity mapping in an expression of a mapping, `$entityMapping`.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The property mapping in an expression of a mapping, `$propertyMapping`.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The migration policy in an expression of a mapping, `$entityPolicy`.
public let NSMigrationEntityPolicyKey = "entityPolicy"

/// The identity of an object in its store. It is a value type with Core Data's members.
public typealias NSManagedObjectID = ManagedObjectID
/// The type of an attribute, with Core Data's numbers.
public enum NSAttributeType: UInt, Sendable {
    case undefinedAttributeType = 0
    case integer16AttributeType = 100
    case integer32AttributeType = 200
    case integer64AttributeType = 300
    case decimalAttributeType = 400
    case doubleAttributeType = 500
    case floatAttributeType = 600
    case stringAttributeType = 700
    case booleanAttributeType = 800
    case dateAttributeType = 900
    case binaryDataAttributeType = 1000
    case UUIDAttributeType = 1100
    case URIAttributeType = 1200
    case transformableAttributeType = 1800
    case objectIDAttributeType = 2000
    case compositeAttributeType = 2100
}

/// The rule for the destinations of a relationship when its object is deleted.
public enum NSDeleteRule: UInt, Sendable {
    case noActionDeleteRule = 0
    case nullifyDeleteRule = 1
    case cascadeDeleteRule = 2
    case denyDeleteRule = 3
}
