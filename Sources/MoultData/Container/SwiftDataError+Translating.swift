import MoultModel
import MoultObjects

extension SwiftDataError {
    /// Runs what a context does, and throws what it throws under SwiftData's names.
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
        self.init(
            .saveConflict,
            MigrationError(
                .dataConflict, error.description, place: objects.joined(separator: ", "),
                remedy: "Nothing was saved. Call rollback() to return to the store's values, and change those."))
    }

    /// Nil for an error that SwiftData has no name for.
    init?(_ error: MigrationError) {
        switch error.code {
        case .wrongType, .rulesBroken: self.init(.modelValidationFailure, error)
        case .invalidPredicate, .fetchUnsupported: self.init(.unsupportedPredicate, error)
        default: return nil
        }
    }

    /// Creates the error that keeps a container from being made, from the error that says why.
    init(opening error: MigrationError) {
        switch error.code {
        case .storeUnknown: self.init(.unknownSchema, error)
        case .incompatibleVersion: self.init(.backwardMigration, error)
        default: self.init(.loadIssueModelContainer, error)
        }
    }
}
