import Foundation
import MoultCoreData

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
    return NSError(
        domain: NSCocoaErrorDomain, code: number(of: found), userInfo: userInfo)
}

/// Core Data's number; what leaves a mapping open is one that Core Data could not infer.
private func number(of error: any CoreDataError) -> Int {
    if let number = error.coreData?.number { return number }
    return (error as? MigrationError)?.code == .question ? NSInferredMappingModelError : NSCoreDataError
}
