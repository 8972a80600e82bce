import MoultBasics
import MoultModel
import MoultPlan

/// An answer that fits no question about the versions.
package struct AnswerFault: Sendable {
    package let answer: Answer
    /// The reason, in a sentence, with the remedy.
    package let message: String
    package let advice: Remedy
    /// Whether a plan is refused because of it. Otherwise the answer has no effect.
    package let isRefused: Bool

    fileprivate init(_ answer: Answer, _ error: MigrationError, isRefused: Bool = true) {
        (self.answer, message, advice, self.isRefused) = (answer, error.message, error.advice, isRefused)
    }
}

/// The steps between versions, with the answers sorted into those that fit a question and the others.
package struct JudgedSteps: Sendable {
    package let steps: [VersionStep]
    /// The answers that fit.
    package let fitting: Answers
    package let faults: [AnswerFault]

    /// - Parameter registered: mapping models and stages. An answer about the versions of one is not judged, because the
    ///   step may not ask for it.
    /// - Throws: any error that is not caused by an answer.
    package init(
        _ versions: ModelVersions, answers: Answers, registered: [RegisteredStage] = []
    ) throws(MigrationError) {
        var (fitting, faults) = (answers, [AnswerFault]())
        func isJudged(_ answer: Answer) -> Bool {
            guard let place = versions.positions(of: answer) else { return true }
            return !registered.contains {
                versions.position(named: $0.from) == place.from && versions.position(named: $0.to) == place.to
            }
        }
        func remove(_ answer: Answer, _ fault: AnswerFault) {
            fitting = fitting.removing { $0 == answer }
            if isJudged(answer) { faults.append(fault) }
        }
        for answer in answers.list {
            do throws(MigrationError) {
                try versions.check(answer)
            } catch {
                remove(answer, AnswerFault(answer, error))
            }
        }
        var found: [VersionStep]?
        repeat {
            do throws(MigrationError) {
                found = try versions.steps(answers: fitting)
            } catch {
                guard let answer = fitting.list.first(where: { $0.isRefused(by: error) }) else { throw error }
                remove(answer, AnswerFault(answer, error))
            }
        } while found == nil
        for answer in fitting.list where isJudged(answer) {
            guard let fault = versions.fault(ofReturned: answer, among: fitting, registered) else { continue }
            remove(answer, fault)
        }
        (steps, self.fitting, self.faults) = (found ?? [], fitting, faults)
    }
}

extension ModelVersions {
    /// Returns the fault of an answer about something that an older version had and that returns in a later one, if
    /// nothing is asked about it; nil for any other answer, and if earlier questions are open.
    fileprivate func fault(
        ofReturned answer: Answer, among answers: Answers, _ registered: [RegisteredStage]
    ) -> AnswerFault? {
        guard answer.is == .keep || answer.is == .drop, let (from, to) = positions(of: answer), from + 1 < to else {
            return nil
        }
        let others = answers.removing { $0 == answer }
        guard let path = try? MigrationPath(self, from: from, to: to, answers: others, registered: registered) else {
            return nil
        }
        let asked = path.questions.first { question in
            question.kind == .returned && question.place == answer.place
                && question.answers.compactMap(positions).contains { $0.from == from && $0.to == to }
        }
        if let asked {
            guard !asked.answers.contains(where: { $0.is == answer.is }) else { return nil }
            return AnswerFault(answer, answer.refusedToKeep(in: versions[to], from: versions[from]))
        }
        guard path.edges.allSatisfy({ $0.questions.isEmpty && $0.refusals.isEmpty }) else { return nil }
        let names = versions[to].model.entity(answer.entity).map { [$0.name] + $0.propertyNames } ?? []
        let reason =
            names.contains(answer.property ?? answer.entity)
            ? "nothing is removed after \(answer.from) and returns as \(answer.place) of \(answer.to)"
            : "\(answer.to) has no \(answer.place)"
        return AnswerFault(answer, answer.refused(reason), isRefused: false)
    }
}
