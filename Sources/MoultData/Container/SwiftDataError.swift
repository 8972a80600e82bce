import Foundation
import MoultBasics
import MoultModel
import MoultObjects

/// An error with SwiftData's name, and with a description, a place and a remedy.
///
/// Two errors are equal if their names are, so that `catch SwiftDataError.modelValidationFailure` works.
public struct SwiftDataError: Error, Sendable, Hashable, CustomStringConvertible {
    enum Name: String, Sendable {
        case includePendingChangesWithBatchSize, sortingPendingChangesWithIdentifiers, unsupportedKeyPath
        case unsupportedPredicate, unsupportedSortDescriptor
        case configurationFileNameContainsInvalidCharacters, configurationFileNameTooLong
        case configurationSchemaNotFoundInContainerSchema, duplicateConfiguration, loadIssueModelContainer
        case modelValidationFailure, missingModelContext, backwardMigration, unknownSchema
        case historyTokenExpired, invalidTransactionFetchRequest
        case saveConflict
    }

    let name: Name
    /// The underlying error of Moult: its code, message, place and remedy.
    public let underlyingError: MigrationError

    init(_ name: Name, _ underlyingError: MigrationError) {
        self.name = name
        self.underlyingError = underlyingError
    }

    init(_ name: Name, _ message: String, place: String = "", remedy: String, cause: String? = nil) {
        self.init(name, MigrationError(.usage, message, place: place, remedy: remedy, cause: cause))
    }

    private init(_ name: Name) { self.init(name, "SwiftDataError.\(name.rawValue)", remedy: "") }

    // MARK: - Fetches

    /// A fetch in batches that includes unsaved changes. SwiftData refuses it; Moult supports it and never throws this.
    public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize)
    /// A fetch of identifiers that sorts unsaved changes. SwiftData throws this; Moult never does.
    public static let sortingPendingChangesWithIdentifiers = SwiftDataError(.sortingPendingChangesWithIdentifiers)
    /// A key path that cannot be used. Moult throws ``unsupportedPredicate`` or ``unsupportedSortDescriptor`` instead.
    public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath)
    /// A predicate that cannot be translated to SQL; ``underlyingError`` names the part that cannot.
    public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate)
    /// A sort that no store supports, such as one by a computed property.
    public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor)

    // MARK: - Configurations and containers

    /// A configuration whose name is not valid as a file name: it has a slash or a null character, or is `.` or `..`.
    public static let configurationFileNameContainsInvalidCharacters =
        SwiftDataError(.configurationFileNameContainsInvalidCharacters)
    /// A configuration whose store has a file name longer than 250 bytes.
    public static let configurationFileNameTooLong = SwiftDataError(.configurationFileNameTooLong)
    /// A configuration with a model that the container's schema does not have, or a model that no configuration holds.
    public static let configurationSchemaNotFoundInContainerSchema =
        SwiftDataError(.configurationSchemaNotFoundInContainerSchema)
    /// Two configurations of one container with the same store file, or with a model that one keeps in a custom data
    /// store.
    public static let duplicateConfiguration = SwiftDataError(.duplicateConfiguration)
    /// A store that could not be opened or migrated, or a faulty schema or plan; ``underlyingError`` says which and
    /// why.
    public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer)

    // MARK: - Models and saves

    /// A value that the model does not allow: one to be saved, or one in a row that no model can show.
    public static let modelValidationFailure = SwiftDataError(.modelValidationFailure)
    /// A model used without a context. SwiftData throws this; Moult never does.
    public static let missingModelContext = SwiftDataError(.missingModelContext)
    /// Another context or process saved the same object since it was read, or saved the same unique values. SwiftData
    /// has no name for this error and throws Core Data's, 133020 or 133021.
    public static let saveConflict = SwiftDataError(.saveConflict)

    // MARK: - Migrations and schemas

    /// A store of a version later than the newest in the container's schema and plan.
    public static let backwardMigration = SwiftDataError(.backwardMigration)
    /// A model that is not in the container's schemas, or a store of an unknown schema.
    public static let unknownSchema = SwiftDataError(.unknownSchema)

    // MARK: - History

    /// A token whose later history has been deleted in part, so that changes are missing.
    public static let historyTokenExpired = SwiftDataError(.historyTokenExpired)
    /// A request for transactions of a type other than ``DefaultHistoryTransaction``.
    public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest)
}

extension SwiftDataError {
    /// Returns whether both errors have the same name; ``underlyingError`` is not compared.
    public static func == (left: SwiftDataError, right: SwiftDataError) -> Bool { left.name == right.name }

    /// Hashes the error's name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Lets `catch SwiftDataError.unknownSchema` match.
    public static func ~= (left: SwiftDataError, right: any Error) -> Bool { left == right as? SwiftDataError }

    /// The error's name, message and remedy.
    public var description: String { "SwiftDataError.\(name.rawValue): \(underlyingError)" }

    /// A sentence that says what went wrong.
    public var message: String { underlyingError.message }
    /// A sentence that says how to fix it.
    public var remedy: String { underlyingError.remedy }

    /// Runs an operation of a context and rethrows its errors under SwiftData's names.
    static func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let errors as ValidationErrors {
            throw SwiftDataError(errors)
        } catch let error as MergeConflictError {
            throw SwiftDataError(error)
        } catch let error as MigrationError {
            throw SwiftDataError(error) ?? error
        }
    }

    init(_ errors: ValidationErrors) {
        let places = errors.violations.map { "\($0.entityName).\($0.property)" }
        self.init(
            .modelValidationFailure,
            MigrationError(
                .wrongType, errors.description, place: places.count == 1 ? places[0] : "",
                remedy: "Set values that the model allows, and save again: nothing was saved."))
    }

    init(_ error: MergeConflictError) {
        let objects = error.conflicts.flatMap(\.objects).map(\.description)
        // A context of SwiftData has no merge policy.
        let next =
            error.conflicts.contains { !$0.constraint.isEmpty }
            ? "Give one of the objects another value or delete it; rollback() returns to the store's values."
            : "Call rollback() to return to the store's values, and change those."
        self.init(
            .saveConflict,
            MigrationError(
                .dataConflict, error.message, place: objects.joined(separator: ", "),
                remedy: "Nothing was saved. \(error.remedy == nil ? "Do what the message says." : next)"))
    }

    /// Returns nil for an error that SwiftData has no name for.
    init?(_ error: MigrationError) {
        switch error.code {
        case .wrongType, .rulesBroken: self.init(.modelValidationFailure, error)
        case .invalidPredicate, .fetchUnsupported: self.init(.unsupportedPredicate, error)
        default: return nil
        }
    }

    /// Creates the error that making a container throws, from its cause.
    init(opening error: MigrationError) {
        switch error.code {
        case .storeUnknown: self.init(.unknownSchema, error)
        case .incompatibleVersion: self.init(.backwardMigration, error)
        case .question: self.init(.loadIssueModelContainer, error.withoutAnswers)
        default: self.init(.loadIssueModelContainer, error)
        }
    }
}

extension MigrationError {
    /// The error without answers as JSON, which a container of SwiftData does not read.
    fileprivate var withoutAnswers: MigrationError {
        var error = self
        error.message = message.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("    {") }.joined(separator: "\n")
        return error
    }
}

extension SwiftDataError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
    /// The underlying cause, as reported by SQLite or the operating system.
    public var failureReason: String? { underlyingError.cause }
    /// The remedy.
    public var recoverySuggestion: String? { remedy.isEmpty ? nil : remedy }
}
