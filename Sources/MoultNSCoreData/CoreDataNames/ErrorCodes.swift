// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These are the names of Core Data.

import Foundation
import MoultCoreData

// The numbers and keys of Core Data's errors, as in CoreDataErrors.h.

/// A Core Data error without a number of its own.
public let NSCoreDataError = 134060
/// A value violates one of the app's own rules.
public let NSManagedObjectValidationError = 1550
/// Several rules are violated; ``NSDetailedErrorsKey`` lists them.
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
/// A date is later than its maximum.
public let NSValidationDateTooLateError = 1630
/// A date is earlier than its minimum.
public let NSValidationDateTooSoonError = 1640
/// A date is invalid.
public let NSValidationInvalidDateError = 1650
/// A string is longer than its maximum.
public let NSValidationStringTooLongError = 1660
/// A string is shorter than its minimum.
public let NSValidationStringTooShortError = 1670
/// A string does not match its pattern.
public let NSValidationStringPatternMatchingError = 1680
/// A URI cannot be stored.
public let NSValidationInvalidURIError = 1690
/// A merge policy did not resolve conflicts.
public let NSManagedObjectMergeError = 133020
/// A uniqueness constraint is violated.
public let NSManagedObjectConstraintMergeError = 133021
/// An object's row no longer exists.
public let NSManagedObjectReferentialIntegrityError = 133000
/// The store cannot be opened.
public let NSPersistentStoreOpenError = 134080
/// Another process has locked the store.
public let NSPersistentStoreTimeoutError = 134090
/// A store could not be saved. No error of this module has this number.
public let NSPersistentStoreSaveError = 134030
/// Only some of several stores were saved. No error of this module has this number.
public let NSPersistentStoreIncompleteSaveError = 134040
/// The store was made with another model version.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// The migration failed.
public let NSMigrationError = 134110
/// The migration was cancelled.
public let NSMigrationCancelledError = 134120
/// The model of the store is unknown.
public let NSMigrationMissingSourceModelError = 134130
/// No mapping leads to the current version.
public let NSMigrationMissingMappingModelError = 134140
/// A mapping cannot be inferred.
public let NSInferredMappingModelError = 134190

/// Two objects of one save have the same values of a uniqueness constraint.
public let NSManagedObjectConstraintValidationError = 1551
/// A context could not be locked. Core Data no longer returns it.
public let NSManagedObjectContextLockingError = 132000
/// A coordinator could not be locked. Core Data no longer returns it.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// An object is related to one of another store.
public let NSManagedObjectExternalRelationshipError = 133010
/// There is no such type of store.
public let NSPersistentStoreInvalidTypeError = 134000
/// The file is a store of another type.
public let NSPersistentStoreTypeMismatchError = 134010
/// The database is not that of a store of the model.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// The merge policy did not resolve a conflict; ``NSPersistentStoreSaveConflictsErrorKey`` lists the conflicts.
public let NSPersistentStoreSaveConflictsError = 134050
/// An operation on a store failed.
public let NSPersistentStoreOperationError = 134070
/// The store does not know this kind of request.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// The migrated objects violate a uniqueness constraint.
public let NSMigrationConstraintViolationError = 134111
/// The source store of a migration is at fault.
public let NSMigrationManagerSourceStoreError = 134150
/// The destination store of a migration is at fault.
public let NSMigrationManagerDestinationStoreError = 134160
/// A migration policy has failed.
public let NSEntityMigrationPolicyError = 134170
/// SQLite has returned an error.
public let NSSQLiteError = 134180
/// External records could not be imported.
public let NSExternalRecordImportError = 134200
/// The history before the token has been deleted.
public let NSPersistentHistoryTokenExpiredError = 134301
/// A model reference leads to no model.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// The staged migration was made by another version of Core Data.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// A staged migration does not lead back.
public let NSStagedMigrationBackwardMigrationError = 134506
/// The individual errors of a combined error.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The object of a validation error: its ``NSManagedObjectID``.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The property of a validation error.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The domain of SQLite's own errors. The errors of this module are in the Cocoa domain.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
/// The stores affected by an error. No error of this module has this key.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The objects affected by an error. No error of this module has this key.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The conflicts of a save: `NSMergeConflict`s and `NSConstraintConflict`s.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"

/// Ends the program where Core Data would raise an exception, with the same reason.
func raise(_ call: String, _ reason: String) -> Never {
    fatalError(
        "*** Terminating app due to uncaught exception 'NSInvalidArgumentException', reason: '\(call): \(reason)'")
}

/// Returns the result of `body`. An error ends the program, as Core Data's exception would.
func orRaise<Result>(_ call: @autoclosure () -> String, _ body: () throws -> Result) -> Result {
    do {
        return try body()
    } catch {
        raise(call(), "\(error)")
    }
}

/// Runs `body` and rethrows its errors as Core Data's `NSError`s.
///
/// - Parameter context: the context of the objects in conflict.
func cocoaErrors<Result>(in context: NSManagedObjectContext? = nil, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch {
        throw cocoaError(error, in: context)
    }
}

/// Returns an error in Core Data's form: an `NSError` of the Cocoa domain with Core Data's number and Moult's own error
/// as the underlying error.
func cocoaError(_ error: any Error, in context: NSManagedObjectContext? = nil) -> any Error {
    guard let found = error as? any CoreDataError else { return error }
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: "\(found)", NSUnderlyingErrorKey: error]
    switch found {
    case let failed as ManagedObjectValidationError:
        let parts = failed.failures.map { $0.cocoaError(in: context) }
        if parts.count == 1 { return parts[0] }
        // An error of several errors is listed as these.
        userInfo[NSDetailedErrorsKey] = parts.map { $0 as NSError }.flatMap { part in
            let isList = part.domain == NSCocoaErrorDomain && part.code == NSValidationMultipleErrorsError
            return (isList ? part.userInfo[NSDetailedErrorsKey] as? [NSError] : nil) ?? [part]
        }
    case let merge as ManagedObjectMergeError:
        userInfo[NSPersistentStoreSaveConflictsErrorKey] = merge.conflicts(in: context)
    case let migration as MigrationError:
        userInfo[NSLocalizedRecoverySuggestionErrorKey] = migration.remedy
        if !migration.place.isEmpty { userInfo[NSFilePathErrorKey] = migration.place }
        userInfo["MoultNeededSpace"] = migration.neededSpace
        userInfo["MoultFreeSpace"] = migration.freeSpace
    default: break
    }
    return NSError(domain: NSCocoaErrorDomain, code: number(of: found), userInfo: userInfo)
}

extension ManagedObjectValidationError.Failure {
    /// Returns the error that the app's class threw, or one in Core Data's form.
    fileprivate func cocoaError(in context: NSManagedObjectContext?) -> any Error {
        if let ownError { return MoultNSCoreData.cocoaError(ownError, in: context) }
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: message, NSValidationKeyErrorKey: key, NSValidationObjectErrorKey: objectID,
        ]
        switch value {
        case .attribute(let value?)?: userInfo[NSValidationValueErrorKey] = foundationValue(value)
        case .toMany(let ids)?: userInfo[NSValidationValueErrorKey] = context.map { NSSet(array: ids.map($0.object)) }
        default: break
        }
        userInfo[NSValidationPredicateErrorKey] = predicate.map { NSPredicate(moult: $0) }
        return NSError(domain: NSCocoaErrorDomain, code: coreData.number, userInfo: userInfo)
    }
}

/// Returns Core Data's number for an error. A mapping with open questions counts as one that Core Data could not infer.
private func number(of error: any CoreDataError) -> Int {
    if let number = error.coreData?.number { return number }
    return (error as? MigrationError)?.code == .question ? NSInferredMappingModelError : NSCoreDataError
}
