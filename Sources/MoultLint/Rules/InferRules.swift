import MoultModel
import MoultPlan

/// The rules about changes that the planner does not infer. Nothing here decides that again: each finding is a question
/// or a refusal of the plan.
enum InferRules {
    static func renames(_ step: LintStep) -> [LintMatch] {
        questions(step, "INFER001") { question in
            .init(("elementID", question.candidates.first?.name ?? ""), isConditional: true)
        }
    }

    static func ambiguousIdentifiers(_ step: LintStep) -> [LintMatch] { questions(step, "INFER002") }

    static func types(_ step: LintStep) -> [LintMatch] { questions(step, "INFER003") + refusals(step, "INFER003") }

    static func destinations(_ step: LintStep) -> [LintMatch] {
        questions(step, "INFER004") + refusals(step, "INFER004")
    }

    static func missingDefaults(_ step: LintStep) -> [LintMatch] {
        // Whether a default value is needed depends on the answer to the question.
        let asked = Set(step.inferred.questions.map(\.place))
        return refusals(step, "INFER005").filter { !asked.contains($0.place) }.map { match in
            var match = match
            let attribute = match.entity.flatMap { step.newer.model.entity($0) }
                .flatMap { entity in match.member.flatMap { step.newer.model.attribute($0, of: entity) } }
            let example = attribute.flatMap { DefaultExample(for: $0) }
            match.edit = example.map { .init(($0.name, $0.value)) } ?? .init(("optional", "YES"))
            return match
        }
    }

    static func requiredRelationships(_ step: LintStep) -> [LintMatch] {
        refusals(step, "INFER006").map { match in
            var match = match
            match.edit = .init(("optional", "YES"))
            return match
        }
    }

    static func hierarchies(_ step: LintStep) -> [LintMatch] { refusals(step, "INFER007") }

    static func inverses(_ step: LintStep) -> [LintMatch] { refusals(step, "INFER008") }

    // MARK: What the planner says

    /// The questions that a rule stands for.
    private static func questions(
        _ step: LintStep, _ rule: String, edit: (Question) -> LintMatch.Edit? = { _ in nil }
    ) -> [LintMatch] {
        guard !step.isRegistered else { return [] }
        return step.inferred.questions.map { $0.bound(to: step.older, step.newer) }.compactMap { question in
            let finding = question.finding
            guard finding.rule == rule else { return nil }
            return LintMatch(
                step.newer.name, question.entity, question.property, "\(step.words): \(question.statement)",
                remedy: finding.advice, edit: edit(question))
        }
    }

    /// The refusals that a rule stands for.
    private static func refusals(_ step: LintStep, _ rule: String) -> [LintMatch] {
        guard !step.isRegistered else { return [] }
        return step.inferred.refusals.map(\.finding).filter { $0.rule == rule }.map { finding in
            let (entity, member) = LintMatch.parts(of: finding.place)
            return LintMatch(
                step.newer.name, entity, member, "\(step.words): \(finding.message)", remedy: finding.advice)
        }
    }
}

extension LintStep {
    /// `App to App 2`.
    var words: String { "\(older.name) to \(newer.name)" }
}
