import MoultBasics
import MoultModel
import MoultPlan

/// The findings about recorded answers, which Core Data does not read.
extension InferRules {
    /// Returns matches for the renames that only an answer declares.
    static func answeredRenames(_ step: LintStep) -> [LintMatch] {
        guard !step.isRegistered, let plain = step.unanswered else { return [] }
        return plain.answers.compactMap { answer -> LintMatch? in
            guard answer.is == .rename, let old = answer.old else { return nil }
            let source = plain.correspondence.entitySources[answer.entity]
            if let property = answer.property {
                // Without the entity, its own answer is reported.
                guard source != nil, plain.correspondence.propertySources[answer.entity]?[property] != old else {
                    return nil
                }
            } else if source == old {
                return nil
            }
            return ofAnswer(
                answer, step,
                "\(answer.place) is renamed from \(old) by an answer, for Moult alone; Core Data itself "
                    + "loses the \(answer.property == nil ? "objects" : "values").",
                remedy: "Set the renaming identifier: \(markup: "elementID=\"\(old.escapedForXML)\"", old).",
                edit: .init(("elementID", old)))
        }
    }

    /// Returns matches for new required attributes whose value only an answer gives.
    static func answeredValues(_ step: LintStep) -> [LintMatch] {
        guard !step.isRegistered, let plain = step.unanswered else { return [] }
        let refused = Set(plain.inferred.refusals.map(\.finding).filter { $0.rule == "INFER005" }.map(\.place))
        // An attribute that becomes required may have a finding of its own.
        let changed = Set(step.diff.changes.filter { $0.finding?.rule == "DATA006" }.map(\.place))
        return plain.answers.compactMap { answer -> LintMatch? in
            guard answer.is == .value, let value = answer.value, refused.contains(answer.place),
                !changed.contains(answer.place)
            else { return nil }
            let attribute = step.newer.model.entity(answer.entity).flatMap { entity in
                answer.property.flatMap { step.newer.model.attribute($0, of: entity) }
            }
            let example = attribute.flatMap { DefaultExample(for: $0) }
            return ofAnswer(
                answer, step,
                "\(answer.place) is required and has no default value. An answer gives the existing "
                    + "objects \(value), for Moult alone; Core Data itself fails with error 134110.",
                remedy: example.map { "Set a default value, such as \($0.text), or optional=\"YES\"." }
                    ?? "Set a default value with defaultValueString if the type has one, or optional=\"YES\".",
                edit: example.map { .init(($0.name, $0.value)) } ?? .init(("optional", "YES")))
        }
    }

    /// Returns matches for values and links that only an answer drops, because a type or a destination changes.
    static func answeredDrops(_ step: LintStep, _ rule: String) -> [LintMatch] {
        guard !step.isRegistered, let plain = step.unanswered else { return [] }
        let asked = plain.inferred.questions.filter { $0.finding.rule == rule }
        return plain.answers.compactMap { answer in
            guard answer.is == .drop, let question = asked.first(where: { $0.place == answer.place }) else {
                return nil
            }
            return ofAnswer(
                answer, step,
                "\(question.statement) An answer drops its \(question.isOfLinks ? "links" : "values"), for Moult alone; "
                    + "Core Data reads no answers.",
                remedy: "Give it another name, without a renaming identifier, so that it starts empty in Core Data too."
            )
        }
    }

    /// Returns matches for what only an answer drops, although Core Data keeps it when it migrates a store straight to
    /// the newer version.
    static func answeredReturns(_ step: LintStep) -> [LintMatch] {
        step.returning.filter { $0.is == .drop }.map { answer in
            let what = answer.property == nil ? "objects" : "values"
            var match = LintMatch(
                step.newer.name, answer.entity, answer.property,
                "\(answer.from) to \(answer.to): \(answer.place) is removed and returns. An answer drops its old \(what), "
                    + "for Moult alone; Core Data migrates a store of \(answer.from) straight to \(answer.to), and keeps "
                    + "them.",
                remedy: "Give it a name that \(answer.from) does not have.")
            match.severity = .warning
            return match
        }
    }

    /// Returns matches for the answers that fit no question.
    static func unfitting(_ subject: LintSubject) -> [LintMatch] {
        subject.answerFaults.map { fault in
            var match = LintMatch(
                subject.versions.contains { $0.name == fault.answer.to } ? fault.answer.to : "", fault.answer.entity,
                fault.answer.property, fault.message, remedy: fault.advice)
            if !fault.isRefused { match.severity = .warning }
            return match
        }
    }

    private static func ofAnswer(
        _ answer: Answer, _ step: LintStep, _ message: String, remedy: Remedy, edit: LintMatch.Edit? = nil
    ) -> LintMatch {
        var match = LintMatch(
            step.newer.name, answer.entity, answer.property, "\(step.words): \(message)", remedy: remedy, edit: edit)
        match.severity = .warning
        return match
    }
}
