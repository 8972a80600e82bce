import MoultModel

/// The result of inference between two versions: a mapping, or the questions and refusals that prevent it.
package struct InferredMapping: Sendable, Equatable {
    /// The mapping as far as it is known. Open or refused properties start empty in it.
    private let draft: ResolvedMapping
    package let questions: [Question]
    package let refusals: [Refusal]

    /// The mapping; nil while a question is open or a change cannot be inferred.
    package var mapping: ResolvedMapping? { questions.isEmpty && refusals.isEmpty ? draft : nil }

    /// - Throws: `usage` if an answer fits no question that the versions have.
    package init(_ correspondence: Correspondence) throws(MigrationError) {
        var inference = Inference(correspondence)
        draft = try inference.run()
        questions = correspondence.questions + inference.questions
        refusals = inference.refusals
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
