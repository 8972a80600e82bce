import MoultModel
import MoultObjects

/// A save met objects that the store holds otherwise by now, and the merge policy is to say so: nothing was saved.
public struct ManagedObjectMergeError: CoreDataError, Sendable {
    public let conflicts: [Conflict]
    public let description: String
    /// 133021 where a uniqueness constraint is among the conflicts, else 133020.
    public let coreData: (constant: String, number: Int)?

    /// One object that cannot be saved (`NSMergeConflict`, `NSConstraintConflict`).
    public struct Conflict: Sendable, CustomStringConvertible {
        /// The object of this context, or all that would share the values of a constraint.
        public let objectIDs: [ManagedObjectID]
        /// The properties of the uniqueness constraint; empty for a conflict of versions.
        public let constraint: [String]
        /// The version that the changes were made over, and the one that the store holds; nil where there is none.
        public let oldVersionNumber: Int?
        public let newVersionNumber: Int?
        /// Both sides in one sentence.
        public let description: String
    }
}

extension ManagedObjectMergeError {
    init(_ error: MergeConflictError) {
        conflicts = error.conflicts.map {
            Conflict(
                objectIDs: $0.objects, constraint: $0.constraint, oldVersionNumber: $0.expectedVersion.map(Int.init),
                newVersionNumber: $0.storedVersion.map(Int.init), description: $0.description)
        }
        description = error.description
        coreData = error.coreData
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
    }
}
