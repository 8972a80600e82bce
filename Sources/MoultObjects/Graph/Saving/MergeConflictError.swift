import MoultModel

/// A save met objects that the store holds otherwise, and the policy is to say so: nothing was written.
package struct MergeConflictError: Error, Sendable {
    package let conflicts: [Conflict]

    /// One object that cannot be saved, both versions side by side.
    package struct Conflict: Sendable, Hashable {
        /// The objects of this context: one, or all that share the values of a constraint.
        package let objects: [ObjectID]
        /// The properties of the uniqueness constraint; empty for a conflict of versions.
        package let constraint: [String]
        /// The `Z_OPT` that the changes were made over; nil for a constraint.
        package let expectedVersion: Int64?
        /// The object that the store holds by now; nil if the row is gone, or all objects of a constraint are in the
        /// save. With no version next to it, a destination that the store does not have.
        package let storedID: ObjectID?
        package let storedVersion: Int64?
        /// The values of the first object here, and in ``stored`` those of the store, of each property that differs.
        package let ours: [String: ObjectValue]
        package let stored: [String: ObjectValue]
        /// The entity of the object that would stay, where it lacks properties of one that would go in its favour.
        package var stayingEntity: String?
    }

    /// Core Data's constant and number: 133021 where a constraint is among the conflicts, otherwise 133020.
    package var coreData: (constant: String, number: Int) {
        conflicts.contains { !$0.constraint.isEmpty }
            ? ("NSManagedObjectConstraintMergeError", 133021) : ("NSManagedObjectMergeError", 133020)
    }
}

extension MergeConflictError: CustomStringConvertible {
    package var description: String {
        let sentences = conflicts.map(\.description).joined(separator: " ")
        let code = "\(sentences) (\(coreData.constant) \(coreData.number))"
        if conflicts.contains(where: { $0.stayingEntity != nil }) { return code }
        return "\(code) Refresh the objects and save again, or choose a merge policy."
    }
}

extension MergeConflictError.Conflict: CustomStringConvertible {
    package var description: String {
        let object = objects.map(\.description).joined(separator: ", ")
        if !constraint.isEmpty {
            let other = storedID.map { " as \($0) in the store" } ?? ""
            let names = constraint.joined(separator: ", ")
            let sentence = "\(object) would have the same \(names)\(other)."
            guard let stayingEntity else { return sentence }
            return "\(sentence) An object of \(stayingEntity) cannot hold the values of both: give one of them another "
                + "\(names), or delete one of them in this save."
        }
        if let storedID, storedVersion == nil {
            return "\(ours.keys.joined()) of \(object) leads to \(storedID), which is gone from the store."
        }
        guard let storedVersion else { return "\(object) was changed here, and its row is gone from the store." }
        // The values are in the conflict, for whoever wants them; a description may end in a log.
        let names = ours.keys.filter { ours[$0] != stored[$0] }.sorted { $0.precedesInByteOrder($1) }
            .joined(separator: ", ")
        return "\(object) was changed here over version \(expectedVersion ?? 0), and the store holds version "
            + "\(storedVersion) (\(names))."
    }
}
