// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These are the names of Core Data.

import Foundation

// The numbers and keys of Core Data's errors, as CoreDataErrors.h has them.

/// Any error of Core Data that has no number of its own.
public let NSCoreDataError = 134060
/// A value breaks a rule of the app's own.
public let NSManagedObjectValidationError = 1550
/// Several rules are broken; ``NSDetailedErrorsKey`` lists them.
public let NSValidationMultipleErrorsError = 1560
/// A required property has no value.
public let NSValidationMissingMandatoryPropertyError = 1570
/// A relationship has fewer destinations than its minimum.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// A relationship has more destinations than its maximum.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// A relationship with the delete rule Deny has destinations.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// A number is above its maximum.
public let NSValidationNumberTooLargeError = 1610
/// A number is below its minimum.
public let NSValidationNumberTooSmallError = 1620
/// A date is after its latest.
public let NSValidationDateTooLateError = 1630
/// A date is before its earliest.
public let NSValidationDateTooSoonError = 1640
/// A date is none.
public let NSValidationInvalidDateError = 1650
/// A text is longer than its maximum.
public let NSValidationStringTooLongError = 1660
/// A text is shorter than its minimum.
public let NSValidationStringTooShortError = 1670
/// A text does not match its pattern.
public let NSValidationStringPatternMatchingError = 1680
/// A URI cannot be kept.
public let NSValidationInvalidURIError = 1690
/// A merge policy did not resolve conflicts.
public let NSManagedObjectMergeError = 133020
/// A uniqueness constraint is violated.
public let NSManagedObjectConstraintMergeError = 133021
/// An object's row is gone.
public let NSManagedObjectReferentialIntegrityError = 133000
/// The store cannot be opened.
public let NSPersistentStoreOpenError = 134080
/// Another process has the store.
public let NSPersistentStoreTimeoutError = 134090
/// A store could not be saved. No error of this module has the number.
public let NSPersistentStoreSaveError = 134030
/// Some of several stores could not be saved. No error of this module has the number.
public let NSPersistentStoreIncompleteSaveError = 134040
/// The store is of another version.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// The migration failed.
public let NSMigrationError = 134110
/// The migration was cancelled.
public let NSMigrationCancelledError = 134120
/// The model of the store is not known.
public let NSMigrationMissingSourceModelError = 134130
/// No mapping leads to the version.
public let NSMigrationMissingMappingModelError = 134140
/// A mapping cannot be inferred.
public let NSInferredMappingModelError = 134190

/// The errors of an error that stands for several.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The object of a validation error: its ``NSManagedObjectID``.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The property of a validation error.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The domain of SQLite's own errors; those of this module are in Cocoa's domain.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
/// The stores of an error; no error of this module has it.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The objects of an error; no error of this module has it.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The conflicts of a save: ``NSMergeConflict``s and ``NSConstraintConflict``s.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"

extension CocoaError.Code {
    /// 1550
    public static let managedObjectValidation = CocoaError.Code(rawValue: NSManagedObjectValidationError)
    /// 1560
    public static let validationMultipleErrors = CocoaError.Code(rawValue: NSValidationMultipleErrorsError)
    /// 1570
    public static let validationMissingMandatoryProperty = CocoaError.Code(
        rawValue: NSValidationMissingMandatoryPropertyError)
    /// 1670
    public static let validationStringTooShort = CocoaError.Code(rawValue: NSValidationStringTooShortError)
    /// 1660
    public static let validationStringTooLong = CocoaError.Code(rawValue: NSValidationStringTooLongError)
    /// 1610
    public static let validationNumberTooLarge = CocoaError.Code(rawValue: NSValidationNumberTooLargeError)
    /// 1620
    public static let validationNumberTooSmall = CocoaError.Code(rawValue: NSValidationNumberTooSmallError)
    /// 133020
    public static let managedObjectMerge = CocoaError.Code(rawValue: NSManagedObjectMergeError)
    /// 133021
    public static let managedObjectConstraintMerge = CocoaError.Code(rawValue: NSManagedObjectConstraintMergeError)
    /// 133000
    public static let managedObjectReferentialIntegrity = CocoaError.Code(
        rawValue: NSManagedObjectReferentialIntegrityError)
    /// 134060
    public static let coreData = CocoaError.Code(rawValue: NSCoreDataError)
    /// 134080
    public static let persistentStoreOpen = CocoaError.Code(rawValue: NSPersistentStoreOpenError)
    /// 134090
    public static let persistentStoreTimeout = CocoaError.Code(rawValue: NSPersistentStoreTimeoutError)
    /// 134100
    public static let persistentStoreIncompatibleVersionHash = CocoaError.Code(
        rawValue: NSPersistentStoreIncompatibleVersionHashError)
    /// 134110
    public static let migration = CocoaError.Code(rawValue: NSMigrationError)
    /// 134120
    public static let migrationCancelled = CocoaError.Code(rawValue: NSMigrationCancelledError)
    /// 134130
    public static let migrationMissingSourceModel = CocoaError.Code(rawValue: NSMigrationMissingSourceModelError)
    /// 134140
    public static let migrationMissingMappingModel = CocoaError.Code(rawValue: NSMigrationMissingMappingModelError)
    /// 134190
    public static let inferredMappingModel = CocoaError.Code(rawValue: NSInferredMappingModelError)
}

/// Ends the program where Core Data raises an exception, with the same reason.
func raise(_ call: String, _ reason: String) -> Never {
    fatalError(
        "*** Terminating app due to uncaught exception 'NSInvalidArgumentException', reason: '\(call): \(reason)'")
}

/// Returns the result of `body`; an error that it throws ends the program, as the exception of Core Data would.
func orRaise<Result>(_ call: @autoclosure () -> String, _ body: () throws -> Result) -> Result {
    do {
        return try body()
    } catch {
        raise(call(), "\(error)")
    }
}

/// Runs `body`, and throws what it throws as Core Data's `NSError`.
///
/// - Parameter context: that of the objects in conflict.
func cocoaErrors<Result>(in context: NSManagedObjectContext? = nil, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch {
        throw cocoaError(error, in: context)
    }
}

/// An error as Core Data gives it: an `NSError` of the Cocoa domain with Core Data's number, and Moult's own error as
/// the underlying one.
func cocoaError(_ error: any Error, in context: NSManagedObjectContext? = nil) -> any Error {
    guard let found = error as? any CoreDataError else { return error }
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: "\(found)", NSUnderlyingErrorKey: error]
    switch found {
    case let failed as ManagedObjectValidationError:
        let parts = failed.failures.map { failure -> NSError in
            NSError(
                domain: NSCocoaErrorDomain, code: failure.coreData.number,
                userInfo: [
                    NSLocalizedDescriptionKey: failure.message, NSValidationKeyErrorKey: failure.key,
                    NSValidationObjectErrorKey: failure.objectID,
                ])
        }
        if parts.count == 1 { return parts[0] }
        userInfo[NSDetailedErrorsKey] = parts
    case let merge as ManagedObjectMergeError:
        userInfo[NSPersistentStoreSaveConflictsErrorKey] = merge.conflicts(in: context)
    case let migration as MigrationError:
        userInfo[NSLocalizedRecoverySuggestionErrorKey] = migration.remedy
        if !migration.place.isEmpty { userInfo[NSFilePathErrorKey] = migration.place }
    default: break
    }
    return NSError(domain: NSCocoaErrorDomain, code: number(of: found), userInfo: userInfo)
}

/// Core Data's number; what leaves a mapping open is one that Core Data could not infer.
private func number(of error: any CoreDataError) -> Int {
    if let number = error.coreData?.number { return number }
    return (error as? MigrationError)?.code == .question ? NSInferredMappingModelError : NSCoreDataError
}
