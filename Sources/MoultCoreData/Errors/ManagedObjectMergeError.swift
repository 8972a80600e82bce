import MoultModel
import MoultObjects

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
