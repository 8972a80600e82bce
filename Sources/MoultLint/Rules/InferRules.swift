import MoultModel
import MoultPlan

/// What the planner does not infer. Nothing here decides that again: each finding is a question or a refusal of the plan.
enum InferRules {
    static func renames(_ step: LintStep) -> [LintMatch] {
        questions(step) { $0.kind == .rename }.map { question in
            let old = question.candidates.first?.name ?? ""
            let names = question.candidates.map(\.name).joined(separator: " or ")
            return match(
                question, step,
                remedy: "If it was \(names), set the renaming identifier: elementID=\"\(old.escapedForXML)\". If it is "
                    + "new, run moult answer MODEL \(choice(question, .new)).",
                edit: .init(("elementID", old), isConditional: true))
        }
    }

    static func ambiguousIdentifiers(_ step: LintStep) -> [LintMatch] {
        questions(step) { $0.kind == .ambiguousIdentifier }.map { question in
            let choices = question.answers.map { "--set " + "\(question.place)=\($0.choice)".shellQuoted }
            return match(
                question, step,
                remedy: "Set elementID to the name of the version before, or run moult answer MODEL "
                    + choices.joined(separator: ", or ") + ".")
        }
    }

    static func types(_ step: LintStep) -> [LintMatch] {
        let asked = questions(step) { $0.kind == .conversion && step.isAttribute($0.entity, $0.property) }
        return asked.map { question in
            let old = question.candidates.first?.name ?? ""
            return match(
                question, step, message: lost(question),
                remedy:
                    "To keep the values, leave \(old) as it was, add a new attribute of the new type, and fill it in a "
                    + "custom stage or a mapping model. If the values may go, run moult answer MODEL "
                    + "\(choice(question, .drop)).")
        } + refusals(step, .typeNotConvertible)
    }

    static func destinations(_ step: LintStep) -> [LintMatch] {
        let asked = questions(step) { $0.kind == .conversion && !step.isAttribute($0.entity, $0.property) }
        return asked.map { question in
            let old = question.candidates.first?.name ?? ""
            return match(
                question, step, message: lost(question),
                remedy:
                    "To keep the links, leave \(old) as it was, add a new relationship, and fill it in a custom stage "
                    + "or a mapping model. If the links may go, run moult answer MODEL \(choice(question, .drop)).")
        } + refusals(step, .destinationNotConvertible)
    }

    static func missingDefaults(_ step: LintStep) -> [LintMatch] {
        // Whether a default value is needed depends on the answer to the question.
        let asked = Set(step.inferred.questions.map(\.place))
        return refusals(step, .requiredWithoutDefault).filter { match in
            !asked.contains([match.entity, match.member].compactMap { $0 }.joined(separator: "."))
        }.map { match in
            var match = match
            let attribute = match.entity.flatMap { step.newer.model.entity($0) }
                .flatMap { entity in match.member.flatMap { step.newer.model.attribute($0, of: entity) } }
            let example = attribute.flatMap { DefaultExample(for: $0) }
            match.remedy =
                example.map { "Give it a default value, such as \($0.text), or make it optional: optional=\"YES\"." }
                ?? (attribute.map(DefaultExample.exists) == true
                    ? "Give it a default value that its validation rules allow, or make it optional: optional=\"YES\"."
                    : "Make it optional: optional=\"YES\". A \(attribute?.type.name ?? "value") has no default value in "
                        + "a model file.")
            if let example, let entity = match.entity, let member = match.member {
                let choice = "\(entity).\(member)=value:\(example.value)".shellQuoted
                match.remedy +=
                    " To give the objects that exist one value for this once, run moult answer MODEL --set "
                    + "\(choice)."
            }
            match.edit = example.map { .init(($0.name, $0.value)) } ?? .init(("optional", "YES"))
            return match
        }
    }

    static func requiredRelationships(_ step: LintStep) -> [LintMatch] {
        refusals(step, .requiredRelationship).map { match in
            var match = match
            match.edit = .init(("optional", "YES"))
            return match
        }
    }

    static func hierarchies(_ step: LintStep) -> [LintMatch] { refusals(step, .hierarchiesMerged) }

    static func inverses(_ step: LintStep) -> [LintMatch] {
        refusals(step, .inversesDisagree).map { match in
            var match = match
            match.remedy += " If Moult asks whether it was renamed, answer that it is new."
            return match
        }
    }

    // MARK: What the planner says

    private static func questions(_ step: LintStep, _ isIncluded: (Question) -> Bool) -> [Question] {
        step.isRegistered ? [] : step.inferred.questions.map { $0.bound(to: step.older, step.newer) }.filter(isIncluded)
    }

    private static func refusals(_ step: LintStep, _ reason: Refusal.Reason) -> [LintMatch] {
        guard !step.isRegistered else { return [] }
        return step.inferred.refusals.filter { $0.reason == reason }.map { refusal in
            let (entity, member) = LintMatch.parts(of: refusal.place)
            return LintMatch(
                step.newer.name, entity, member, "\(step.words): \(refusal.message)", remedy: refusal.remedy)
        }
    }

    private static func match(
        _ question: Question, _ step: LintStep, message: String? = nil, remedy: String, edit: LintMatch.Edit? = nil
    ) -> LintMatch {
        LintMatch(
            step.newer.name, question.entity, question.property, "\(step.words): \(message ?? question.sentence)",
            remedy: remedy, edit: edit)
    }

    /// The question without its last sentence, which asks to drop the values.
    private static func lost(_ question: Question) -> String {
        let evidence = question.candidates.first?.evidence.first ?? ""
        let fact = question.sentence.split(separator: ".", omittingEmptySubsequences: false).dropLast()
            .joined(separator: ".")
        return "\(fact). This is not inferred, because \(evidence.split(separator: ":").first ?? "")."
    }

    private static func choice(_ question: Question, _ kind: Answer.Verdict) -> String {
        let answer = question.answers.first { $0.is == kind }
        return "--set " + "\(question.place)=\(answer?.choice ?? kind.rawValue)".shellQuoted
    }
}

extension LintStep {
    /// `App to App 2`.
    var words: String { "\(older.name) to \(newer.name)" }

    func isAttribute(_ entity: String, _ property: String?) -> Bool {
        guard let entity = newer.model.entity(entity), let property else { return false }
        return newer.model.attribute(property, of: entity) != nil
    }
}

/// A default value for an attribute, as XML.
struct DefaultExample {
    let name: String
    let value: String

    /// Nil for a type that has no default value in a model file, and where the value might break a validation rule.
    init?(for attribute: AttributeDescription) {
        let rules = attribute.validation
        guard rules.minimum == nil, rules.maximum == nil, rules.regularExpression == nil, rules.rules.isEmpty,
            let value = Self.value(for: attribute.type)
        else { return nil }
        name = attribute.type == .date ? "defaultDateTimeInterval" : "defaultValueString"
        self.value = value
    }

    /// Whether the type has default values in a model file.
    static func exists(for attribute: AttributeDescription) -> Bool { value(for: attribute.type) != nil }

    private static func value(for type: AttributeType) -> String? {
        switch type {
        case .integer16, .integer32, .integer64, .date: "0"
        case .decimal, .double, .float: "0.0"
        case .boolean: "NO"
        case .string: ""
        case .undefined, .binary, .uuid, .uri, .transformable, .objectID, .composite: nil
        }
    }

    var text: String { "\(name)=\"\(value)\"" }
}
