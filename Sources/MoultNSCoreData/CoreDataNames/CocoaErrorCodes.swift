import Foundation
import MoultCoreData

// Core Data's errors in the two forms that Foundation gives to its own.

extension CocoaError.Code {
    /// 134060
    public static let coreData = CocoaError.Code(rawValue: NSCoreDataError)
    /// 134170
    public static let entityMigrationPolicy = CocoaError.Code(rawValue: NSEntityMigrationPolicyError)
    /// 134200
    public static let externalRecordImport = CocoaError.Code(rawValue: NSExternalRecordImportError)
    /// 134190
    public static let inferredMappingModel = CocoaError.Code(rawValue: NSInferredMappingModelError)
    /// 133021
    public static let managedObjectConstraintMerge = CocoaError.Code(rawValue: NSManagedObjectConstraintMergeError)
    /// 1551
    public static let managedObjectConstraintValidation = CocoaError.Code(
        rawValue: NSManagedObjectConstraintValidationError)
    /// 132000
    public static let managedObjectContextLocking = CocoaError.Code(rawValue: NSManagedObjectContextLockingError)
    /// 133010
    public static let managedObjectExternalRelationship = CocoaError.Code(
        rawValue: NSManagedObjectExternalRelationshipError)
    /// 133020
    public static let managedObjectMerge = CocoaError.Code(rawValue: NSManagedObjectMergeError)
    /// 133000
    public static let managedObjectReferentialIntegrity = CocoaError.Code(
        rawValue: NSManagedObjectReferentialIntegrityError)
    /// 1550
    public static let managedObjectValidation = CocoaError.Code(rawValue: NSManagedObjectValidationError)
    /// 134110
    public static let migration = CocoaError.Code(rawValue: NSMigrationError)
    /// 134120
    public static let migrationCancelled = CocoaError.Code(rawValue: NSMigrationCancelledError)
    /// 134160
    public static let migrationManagerDestinationStore = CocoaError.Code(
        rawValue: NSMigrationManagerDestinationStoreError)
    /// 134150
    public static let migrationManagerSourceStore = CocoaError.Code(rawValue: NSMigrationManagerSourceStoreError)
    /// 134140
    public static let migrationMissingMappingModel = CocoaError.Code(rawValue: NSMigrationMissingMappingModelError)
    /// 134130
    public static let migrationMissingSourceModel = CocoaError.Code(rawValue: NSMigrationMissingSourceModelError)
    /// 132010
    public static let persistentStoreCoordinatorLocking = CocoaError.Code(
        rawValue: NSPersistentStoreCoordinatorLockingError)
    /// 134020
    public static let persistentStoreIncompatibleSchema = CocoaError.Code(
        rawValue: NSPersistentStoreIncompatibleSchemaError)
    /// 134100
    public static let persistentStoreIncompatibleVersionHash = CocoaError.Code(
        rawValue: NSPersistentStoreIncompatibleVersionHashError)
    /// 134040
    public static let persistentStoreIncompleteSave = CocoaError.Code(rawValue: NSPersistentStoreIncompleteSaveError)
    /// 134000
    public static let persistentStoreInvalidType = CocoaError.Code(rawValue: NSPersistentStoreInvalidTypeError)
    /// 134080
    public static let persistentStoreOpen = CocoaError.Code(rawValue: NSPersistentStoreOpenError)
    /// 134070
    public static let persistentStoreOperation = CocoaError.Code(rawValue: NSPersistentStoreOperationError)
    /// 134030
    public static let persistentStoreSave = CocoaError.Code(rawValue: NSPersistentStoreSaveError)
    /// 134050
    public static let persistentStoreSaveConflicts = CocoaError.Code(rawValue: NSPersistentStoreSaveConflictsError)
    /// 134090
    public static let persistentStoreTimeout = CocoaError.Code(rawValue: NSPersistentStoreTimeoutError)
    /// 134010
    public static let persistentStoreTypeMismatch = CocoaError.Code(rawValue: NSPersistentStoreTypeMismatchError)
    /// 134091
    public static let persistentStoreUnsupportedRequestType = CocoaError.Code(
        rawValue: NSPersistentStoreUnsupportedRequestTypeError)
    /// 134180
    public static let sqlite = CocoaError.Code(rawValue: NSSQLiteError)
    /// 1630
    public static let validationDateTooLate = CocoaError.Code(rawValue: NSValidationDateTooLateError)
    /// 1640
    public static let validationDateTooSoon = CocoaError.Code(rawValue: NSValidationDateTooSoonError)
    /// 1650
    public static let validationInvalidDate = CocoaError.Code(rawValue: NSValidationInvalidDateError)
    /// 1570
    public static let validationMissingMandatoryProperty = CocoaError.Code(
        rawValue: NSValidationMissingMandatoryPropertyError)
    /// 1560
    public static let validationMultipleErrors = CocoaError.Code(rawValue: NSValidationMultipleErrorsError)
    /// 1610
    public static let validationNumberTooLarge = CocoaError.Code(rawValue: NSValidationNumberTooLargeError)
    /// 1620
    public static let validationNumberTooSmall = CocoaError.Code(rawValue: NSValidationNumberTooSmallError)
    /// 1600
    public static let validationRelationshipDeniedDelete = CocoaError.Code(
        rawValue: NSValidationRelationshipDeniedDeleteError)
    /// 1590
    public static let validationRelationshipExceedsMaximumCount = CocoaError.Code(
        rawValue: NSValidationRelationshipExceedsMaximumCountError)
    /// 1580
    public static let validationRelationshipLacksMinimumCount = CocoaError.Code(
        rawValue: NSValidationRelationshipLacksMinimumCountError)
    /// 1680
    public static let validationStringPatternMatching = CocoaError.Code(
        rawValue: NSValidationStringPatternMatchingError)
    /// 1660
    public static let validationStringTooLong = CocoaError.Code(rawValue: NSValidationStringTooLongError)
    /// 1670
    public static let validationStringTooShort = CocoaError.Code(rawValue: NSValidationStringTooShortError)
}

extension CocoaError {
    /// 134060
    public static var coreData: CocoaError.Code { .coreData }
    /// 134170
    public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }
    /// 134200
    public static var externalRecordImport: CocoaError.Code { .externalRecordImport }
    /// 134190
    public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }
    /// 133021
    public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }
    /// 1551
    public static var managedObjectConstraintValidation: CocoaError.Code { .managedObjectConstraintValidation }
    /// 132000
    public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }
    /// 133010
    public static var managedObjectExternalRelationship: CocoaError.Code { .managedObjectExternalRelationship }
    /// 133020
    public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
    /// 133000
    public static var managedObjectReferentialIntegrity: CocoaError.Code { .managedObjectReferentialIntegrity }
    /// 1550
    public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
    /// 134110
    public static var migration: CocoaError.Code { .migration }
    /// 134120
    public static var migrationCancelled: CocoaError.Code { .migrationCancelled }
    /// 134160
    public static var migrationManagerDestinationStore: CocoaError.Code { .migrationManagerDestinationStore }
    /// 134150
    public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }
    /// 134140
    public static var migrationMissingMappingModel: CocoaError.Code { .migrationMissingMappingModel }
    /// 134130
    public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }
    /// 132010
    public static var persistentStoreCoordinatorLocking: CocoaError.Code { .persistentStoreCoordinatorLocking }
    /// 134020
    public static var persistentStoreIncompatibleSchema: CocoaError.Code { .persistentStoreIncompatibleSchema }
    /// 134100
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        .persistentStoreIncompatibleVersionHash
    }
    /// 134040
    public static var persistentStoreIncompleteSave: CocoaError.Code { .persistentStoreIncompleteSave }
    /// 134000
    public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }
    /// 134080
    public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }
    /// 134070
    public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }
    /// 134030
    public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }
    /// 134050
    public static var persistentStoreSaveConflicts: CocoaError.Code { .persistentStoreSaveConflicts }
    /// 134090
    public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }
    /// 134010
    public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }
    /// 134091
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code { .persistentStoreUnsupportedRequestType }
    /// 134180
    public static var sqlite: CocoaError.Code { .sqlite }
    /// 1630
    public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
    /// 1640
    public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
    /// 1650
    public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
    /// 1570
    public static var validationMissingMandatoryProperty: CocoaError.Code { .validationMissingMandatoryProperty }
    /// 1560
    public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
    /// 1610
    public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
    /// 1620
    public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
    /// 1600
    public static var validationRelationshipDeniedDelete: CocoaError.Code { .validationRelationshipDeniedDelete }
    /// 1590
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        .validationRelationshipExceedsMaximumCount
    }
    /// 1580
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        .validationRelationshipLacksMinimumCount
    }
    /// 1680
    public static var validationStringPatternMatching: CocoaError.Code { .validationStringPatternMatching }
    /// 1660
    public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
    /// 1670
    public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
}

// Parts of an error, as Core Data adds them to Foundation's type.

extension CocoaError {
    /// The object of a validation error: its ``NSManagedObjectID``.
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
    /// The property of a validation error.
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
    /// The predicate that a value violates.
    public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }
    /// The value of a validation error.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
    /// The stores affected by an error. No error of this module names them.
    public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }
    /// The objects affected by an error. No error of this module names them.
    public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
    /// The conflicts of a save with newer rows; nil if unique values are in conflict, which are
    /// ``NSConstraintConflict``s in ``NSPersistentStoreSaveConflictsErrorKey``.
    public var persistentStoreSaveConflicts: [NSMergeConflict]? {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    }
}
