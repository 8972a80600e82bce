import Foundation
import MoultBasics
import MoultModel
import MoultObjects

/// An error of this module. Besides its own message, it has Core Data's constant and number if there are any.
public protocol CoreDataError: Error, CustomStringConvertible {
    /// Core Data's name and number for this error; nil if there is none.
    var coreData: (constant: String, number: Int)? { get }
}

extension MigrationError: CoreDataError {}

/// All validation failures of a save, reported together. Nothing was saved.
public struct ManagedObjectValidationError: CoreDataError, Sendable {
    /// Every violated rule, for all objects of the save.
    public let failures: [Failure]

    /// One rule that one object violates.
    public struct Failure: Sendable {
        /// The object that violates the rule.
        public let objectID: ManagedObjectID
        /// The name of the property; empty if the failure concerns the whole object.
        public let key: String
        /// A sentence about the problem and the requirement.
        public let message: String
        /// `NSValidationMissingMandatoryPropertyError`, 1570, and so on; `NSManagedObjectValidationError`, 1550, for an
        /// error from one of the app's own classes.
        public let coreData: (constant: String, number: Int)

        /// The value that violates the rule, and its predicate, if known.
        package var value: ObjectValue?
        package var predicate: MoultModel.Predicate?
        /// The error that one of the app's classes threw.
        package var ownError: (any Error)?

        /// The entity of the object that violates the rule.
        public var entityName: String { objectID.entityName }
    }

    /// The failure's own constant and number, or `NSValidationMultipleErrorsError`, 1560, for several.
    public var coreData: (constant: String, number: Int)? {
        failures.count == 1 ? failures[0].coreData : ("NSValidationMultipleErrorsError", 1560)
    }

    /// Each failure with its object, and with Core Data's constant and number.
    public var description: String {
        let list = failures.map { "\($0.objectID): \($0.message) (\($0.coreData.constant) \($0.coreData.number))" }
        return failures.count == 1 ? list[0] : "\(failures.count) rules are broken: \(list.joined(separator: " "))"
    }
}

extension ManagedObjectValidationError.Failure {
    init(_ violation: ValidationErrors.Violation) {
        objectID = violation.id
        key = violation.property
        message = violation.message
        coreData = violation.rule.coreData
        (value, predicate) = (violation.value, violation.predicate)
    }

    /// Creates a failure from an error that one of the app's classes threw about its object.
    init(_ error: any Error, of object: ManagedObjectID, key: String = "") {
        objectID = object
        self.key = key
        message = (error as? MigrationError)?.message ?? "\(error)"
        coreData = ("NSManagedObjectValidationError", 1550)
        ownError = error
    }
}

/// A violation of one of the app's own rules. Overrides of ``ManagedObject/validateValue(_:forKey:)`` and the related
/// methods throw it; they may also throw any other error.
public struct ValidationFailure: Error, Sendable, CustomStringConvertible {
    /// A sentence that tells the user what is wrong with the value.
    public let description: String

    /// Creates a failure with a sentence about what is wrong with the value.
    public init(_ message: String) { description = message }
}

/// A conflict between a save and newer contents of the store, which the merge policy reports instead of resolving.
/// Nothing was saved.
public struct ManagedObjectMergeError: CoreDataError, Sendable {
    /// All conflicts of the save; at least one.
    public let conflicts: [Conflict]
    /// All conflicts, one sentence each.
    public let description: String
    /// 133021 if a uniqueness constraint is among the conflicts, otherwise 133020.
    public let coreData: (constant: String, number: Int)?
    private let remedy: String?

    /// One object that cannot be saved (`NSMergeConflict`, `NSConstraintConflict`).
    public struct Conflict: Sendable, CustomStringConvertible {
        /// The object in this context, or all objects that would share the values of a constraint.
        public let objectIDs: [ManagedObjectID]
        /// The properties of the uniqueness constraint; empty for a version conflict.
        public let constraint: [String]
        /// The version on which the changes are based; nil if there is none.
        public let oldVersionNumber: Int?
        /// The current version in the store; nil if the row no longer exists, or if only new objects conflict.
        public let newVersionNumber: Int?
        /// The object in the store with the values of the constraint; nil if there is none.
        public let storedObjectID: ManagedObjectID?
        /// The difference, in one sentence without values.
        public let description: String
        /// For each property known to differ, the value of the first object in the context; ``stored`` has the values
        /// in the store.
        package var ours: [String: ObjectValue] = [:]
        package var stored: [String: ObjectValue] = [:]
    }
}

extension ManagedObjectMergeError {
    init(_ error: MergeConflictError) {
        conflicts = error.conflicts.map {
            Conflict(
                objectIDs: $0.objects, constraint: $0.constraint, oldVersionNumber: $0.expectedVersion.map(Int.init),
                newVersionNumber: $0.storedVersion.map(Int.init),
                storedObjectID: $0.constraint.isEmpty ? nil : $0.storedID, description: $0.description, ours: $0.ours,
                stored: $0.stored)
        }
        (description, remedy) = (error.description, error.remedy)
        coreData = error.coreData
    }
}

extension ManagedObjectMergeError {
    /// Creates the error for the conflicts of a batch request, such as rows that would have the same values of a
    /// uniqueness constraint.
    init(_ error: SaveConflicts) {
        conflicts = error.conflicts.map { conflict in
            switch conflict {
            case .version(let id, let expected, let stored):
                Conflict(
                    objectIDs: [id], constraint: [], oldVersionNumber: Int(expected),
                    newVersionNumber: stored.map { Int($0.version) }, storedObjectID: nil,
                    description: "\(id) was changed elsewhere.")
            case .missingDestination(let owner, let relationship, let destination):
                Conflict(
                    objectIDs: [owner], constraint: [], oldVersionNumber: nil, newVersionNumber: nil,
                    storedObjectID: nil,
                    description: "\(relationship) of \(owner) leads to \(destination), which is gone from the store.")
            case .constraint(let properties, let objects, let stored):
                Conflict(
                    objectIDs: objects, constraint: properties, oldVersionNumber: nil,
                    newVersionNumber: stored.map { Int($0.version) }, storedObjectID: stored?.id,
                    description: "\(objects.map(\.description).joined(separator: ", ")) would have the same "
                        + "\(properties.joined(separator: ", "))\(stored.map { " as \($0.id)" } ?? "").")
            }
        }
        coreData =
            conflicts.contains { !$0.constraint.isEmpty }
            ? ("NSManagedObjectConstraintMergeError", 133021) : ("NSManagedObjectMergeError", 133020)
        description = conflicts.map(\.description).joined(separator: " ")
        remedy = nil
    }
}

// MARK: - Foundation

extension ManagedObjectValidationError: LocalizedError {
    /// The messages of all failures.
    public var errorDescription: String? { failures.map(\.message).joined(separator: " ") }
    /// The next step.
    public var recoverySuggestion: String? { "Set values that the model allows, and save again: nothing was saved." }
}

extension ValidationFailure: LocalizedError {
    /// The sentence about the value.
    public var errorDescription: String? { description }
}

extension ManagedObjectMergeError: LocalizedError {
    /// All conflicts, one sentence each.
    public var errorDescription: String? { conflicts.map(\.description).joined(separator: " ") }
    /// The next step; nil if the conflicts say it.
    public var recoverySuggestion: String? { remedy }
}

/// Runs `body`, and converts its errors to public ones.
func publicErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as ValidationErrors {
        throw ManagedObjectValidationError(failures: error.violations.map(ManagedObjectValidationError.Failure.init))
    } catch let error as MergeConflictError {
        throw ManagedObjectMergeError(error)
    } catch let error as SaveConflicts {
        throw ManagedObjectMergeError(error)
    }
}
