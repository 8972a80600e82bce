import MoultModel

/// The result of inference between two versions: a mapping, or the questions and refusals that prevent it.
package struct InferredMapping: Sendable, Equatable {
    /// The mapping as far as it is known. Open or refused properties start empty in it.
    private let draft: ResolvedMapping
    package let questions: [Question]
    package let refusals: [Refusal]
    /// On a way back: the required attributes that objects, if there are any, have no value for.
    package let missing: [Refusal]

    /// The mapping; nil while a question is open or a change cannot be inferred.
    package var mapping: ResolvedMapping? { questions.isEmpty && refusals.isEmpty ? draft : nil }

    /// - Throws: `usage` if an answer fits no question that the versions have.
    package init(_ correspondence: Correspondence) throws(MigrationError) {
        try self.init(Inference(correspondence))
    }

    /// The way back from a version to an older one, along the way forward: its renaming identifiers and answers say what
    /// became of what. Whether the values of the newer version fit the older one is for the rows to say.
    ///
    /// - Parameters:
    ///   - newer: need not be among `versions`; then the names of the two alone tell what corresponds.
    ///   - answers: those of the way forward, and about the way back (from the newer version to the older one) values
    ///     for required attributes.
    /// - Throws: `usage` if an answer fits no question.
    package init(
        back newer: ModelVersion, to older: ModelVersion, in versions: ModelVersions, answers: Answers = .none
    ) throws(MigrationError) {
        let (first, last) = (versions.position(matching: older.hashes), versions.position(matching: newer.hashes))
        let forward: Correspondence
        if let first, let last, first < last {
            forward = try Correspondence(versions, from: first, to: last, answers: answers)
        } else {
            forward = try Correspondence(from: older, to: newer, answers: answers)
        }
        let back = try Correspondence(
            wayBackAlong: forward, answers: EdgeAnswers(answers.about(newer, older).filter(\.isForWayBack)))
        try self.init(Inference(back, isWayBack: true))
    }

    private init(_ inference: Inference) throws(MigrationError) {
        var inference = inference
        draft = try inference.run()
        questions = inference.correspondence.questions + inference.questions
        refusals = inference.refusals
        missing = inference.missing
    }

    /// - Throws: `question` or `cannotInfer`, with all questions or all reasons.
    package func requireMapping(from: String, to: String) throws(MigrationError) -> ResolvedMapping {
        guard questions.isEmpty else { throw .unanswered(questions) }
        guard refusals.isEmpty else { throw .cannotInfer(refusals, from: from, to: to) }
        return draft
    }
}

extension ResolvedMapping {
    /// The mapping between two neighbouring versions, without anybody writing it.
    ///
    /// - Throws: `question` if the models leave open what a thing is, `cannotInfer` with a reason for each change that
    ///   inference does not cover, `usage` if an answer fits no question.
    package init(
        inferring older: ModelVersion, to newer: ModelVersion, answers: Answers = .none,
        history: RenamingHistory = RenamingHistory()
    ) throws(MigrationError) {
        let correspondence = try Correspondence(from: older, to: newer, answers: answers, history: history)
        self = try InferredMapping(correspondence).requireMapping(from: older.name, to: newer.name)
    }
}
