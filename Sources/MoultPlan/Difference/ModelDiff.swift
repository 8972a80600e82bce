import MoultModel

/// Everything that differs between two versions of a model.
package struct ModelDiff: Sendable, Equatable {
    /// The names of the versions.
    package let from: String
    package let to: String
    /// Entities in the order of their names, then the model as a whole.
    package internal(set) var changes: [ModelChange]

    /// - Parameter answers: recorded answers about the two versions; what is not answered counts as removed and added.
    /// - Throws: `usage` if an answer fits no question that the versions have.
    package init(
        from older: ModelVersion, to newer: ModelVersion, answers: Answers = .none,
        history: RenamingHistory = RenamingHistory()
    ) throws(MigrationError) {
        self.init(try Correspondence(from: older, to: newer, answers: answers, history: history))
    }

    package init(_ correspondence: Correspondence) {
        var differ = Differ(correspondence)
        differ.run()
        from = correspondence.from
        to = correspondence.to
        changes = differ.changes
    }

    package var isEmpty: Bool { changes.isEmpty }

    /// The changes that change a version hash, so that Core Data migrates for them.
    package var hashed: [ModelChange] { changes.filter(\.isHashed) }
    /// The changes that change no version hash. Core Data does not migrate for them.
    package var unhashed: [ModelChange] { changes.filter { !$0.isHashed } }
    /// The changes that may leave values or rows behind.
    package var losses: [ModelChange] { changes.filter(\.losesData) }
}
