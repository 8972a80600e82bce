import MoultModel

/// What went wrong, under SwiftData's own name for it, with what was found, where, and what to do next.
///
/// Errors are equal where their names are, so that `catch SwiftDataError.modelValidationFailure` works.
public struct SwiftDataError: Error, Sendable {
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
    /// The error of Moult that it is: its code, its sentence, its place and its remedy.
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

    public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize)
    public static let sortingPendingChangesWithIdentifiers = SwiftDataError(.sortingPendingChangesWithIdentifiers)
    public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath)
    public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate)
    public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor)

    // MARK: - Configurations and containers

    public static let configurationFileNameContainsInvalidCharacters =
        SwiftDataError(.configurationFileNameContainsInvalidCharacters)
    public static let configurationFileNameTooLong = SwiftDataError(.configurationFileNameTooLong)
    public static let configurationSchemaNotFoundInContainerSchema =
        SwiftDataError(.configurationSchemaNotFoundInContainerSchema)
    public static let duplicateConfiguration = SwiftDataError(.duplicateConfiguration)
    public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer)

    // MARK: - Models and saves

    public static let modelValidationFailure = SwiftDataError(.modelValidationFailure)
    public static let missingModelContext = SwiftDataError(.missingModelContext)
    /// Somebody else saved the same object since it was read, or holds the same unique values. SwiftData has no name
    /// for it and throws Core Data's error, 133020 or 133021.
    public static let saveConflict = SwiftDataError(.saveConflict)

    // MARK: - Migrations and schemas

    public static let backwardMigration = SwiftDataError(.backwardMigration)
    /// A model that no schema of the container has, or a store of a schema that is not known.
    public static let unknownSchema = SwiftDataError(.unknownSchema)

    // MARK: - History

    public static let historyTokenExpired = SwiftDataError(.historyTokenExpired)
    public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest)
}

extension SwiftDataError: Hashable {
    public static func == (left: SwiftDataError, right: SwiftDataError) -> Bool { left.name == right.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Lets `catch SwiftDataError.unknownSchema` match.
    public static func ~= (left: SwiftDataError, right: any Error) -> Bool { left == right as? SwiftDataError }
}

extension SwiftDataError: CustomStringConvertible {
    public var description: String { "SwiftDataError.\(name.rawValue): \(underlyingError)" }

    /// One sentence that says what was found.
    public var message: String { underlyingError.message }
    /// One sentence that says what to do next.
    public var remedy: String { underlyingError.remedy }
}
