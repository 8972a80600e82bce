import MoultBasics
import MoultModel
import MoultObjects

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
    init(_ error: any Error, of object: ManagedObject, key: String = "") {
        objectID = object.objectID
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
