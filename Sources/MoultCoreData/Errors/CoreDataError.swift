import MoultBasics
import MoultModel
import MoultObjects

/// An error of this module. Next to its own sentence, it has Core Data's constant and number, where there are any.
public protocol CoreDataError: Error, CustomStringConvertible {
    /// Core Data's own name and number for this error, where it has one.
    var coreData: (constant: String, number: Int)? { get }
}

extension MigrationError: CoreDataError {}

/// Everything that keeps the objects of a save from being valid, all of it at once: nothing was saved.
public struct ManagedObjectValidationError: CoreDataError, Sendable {
    /// Every rule that is broken, of all objects of the save.
    public let failures: [Failure]

    /// One rule that one object breaks.
    public struct Failure: Sendable {
        /// The object that breaks the rule.
        public let objectID: ManagedObjectID
        /// Empty where the object as a whole is meant.
        public let key: String
        /// One sentence that says what was found and what is asked for.
        public let message: String
        /// `NSValidationMissingMandatoryPropertyError`, 1570, and so on; `NSManagedObjectValidationError`, 1550, for
        /// what an application's own class says.
        public let coreData: (constant: String, number: Int)

        /// The entity of the object that breaks the rule.
        public var entityName: String { objectID.entityName }
    }

    /// The failure's own constant and number, or `NSValidationMultipleErrorsError`, 1560, for several.
    public var coreData: (constant: String, number: Int)? {
        failures.count == 1 ? failures[0].coreData : ("NSValidationMultipleErrorsError", 1560)
    }

    /// Each failure with its object, and Core Data's constant and number for it.
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
    }

    /// Creates a failure from an error that a class of the application threw about its object.
    init(_ error: any Error, of object: ManagedObjectID, key: String = "") {
        objectID = object
        self.key = key
        message = (error as? MigrationError)?.message ?? "\(error)"
        coreData = ("NSManagedObjectValidationError", 1550)
    }
}

/// A rule of the application's own that a value breaks; thrown by ``ManagedObject/validateValue(_:forKey:)`` and the
/// others that a class overrides. Any other error will do as well.
public struct ValidationFailure: Error, Sendable, CustomStringConvertible {
    /// A sentence for people that says what is wrong with the value.
    public let description: String

    /// A failure with a sentence that says what is wrong with the value.
    public init(_ message: String) { description = message }
}

/// A save met objects that the store holds otherwise by now, and the merge policy is to say so: nothing was saved.
public struct ManagedObjectMergeError: CoreDataError, Sendable {
    /// Everything that kept the objects from being saved; at least one conflict.
    public let conflicts: [Conflict]
    /// All conflicts, a sentence for each.
    public let description: String
    /// 133021 where a uniqueness constraint is among the conflicts, otherwise 133020.
    public let coreData: (constant: String, number: Int)?

    /// One object that cannot be saved (`NSMergeConflict`, `NSConstraintConflict`).
    public struct Conflict: Sendable, CustomStringConvertible {
        /// The object of this context, or all that would share the values of a constraint.
        public let objectIDs: [ManagedObjectID]
        /// The properties of the uniqueness constraint; empty for a conflict of versions.
        public let constraint: [String]
        /// The version that the changes were made over, and the one that the store holds; nil if there is none.
        public let oldVersionNumber: Int?
        /// The version that the store holds now; nil where the row is gone, or where only new objects conflict.
        public let newVersionNumber: Int?
        /// The object that the store holds with the values of the constraint; nil if there is none.
        public let storedObjectID: ManagedObjectID?
        /// The difference, in one sentence without values.
        public let description: String
        /// The values of the first object here, and in ``stored`` those of the store, of each property that is known to
        /// differ.
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
        description = error.description
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
    }
}

/// Runs `body`, and throws what it throws as the public error that it is.
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
