import MoultBasics
import MoultModel
import MoultPlan

extension ResolvedPlan {
    /// Infers the mapping of every edge, and reports what cannot be inferred.
    mutating func inferEdges() {
        var (history, returning) = (RenamingHistory(), Returning())
        for edge in edges {
            do {
                try infer(edge, &history, &returning)
            } catch {
                let fault = error as? MigrationError ?? MigrationError(.noPath, "\(error)", remedy: "")
                report(fault.code.description, fault.place, "\(name(of: edge)): \(fault.message)", fault.remedy)
            }
        }
    }

    /// The parts that earlier stages removed, and the first version after the last stage that runs by itself: stages are
    /// combined only from there on.
    private struct Returning {
        var parts = ReturningParts()
        var beginning = 0
    }

    private mutating func infer(
        _ edge: PlanEdge, _ history: inout RenamingHistory, _ returning: inout Returning
    ) throws {
        let (older, newer) = (versions[edge.older], versions[edge.older + 1])
        var (given, returned) = (answers(about: edge), [Answer]())
        if given.contains(where: { $0.is == .keep || $0.is == .drop }) {
            let renames = try Answers(given.filter { $0.is == .rename || $0.is == .new })
            let matching = try EntityMatching(from: older, to: newer, answers: renames, history: history)
            returned = given.filter { returning.parts.isMeant(by: $0, matching) }
            given.removeAll(where: returned.contains)
        }
        let inference = try TransformInference(
            from: older, to: newer, edge.transforms, answers: given, history: history, asksAboutRenames: !edge.isCustom,
            judgesLater: edge.code.will != nil, drops: { [plan = self] in plan.isLeftToCode($0, edge) })
        reportClassNames(edge, inference)
        reportUndecodable(edge)
        for question in inference.questions where question.property != nil || question.kind != .rename {
            if edge.isCustom, question.kind == .conversion {
                reportUnread(question.oldPlace, question.sentence.firstSentence, edge)
            } else {
                report(question, edge)
            }
        }
        if let mapping = inference.mapping { reportUnread(mapping, edge) }
        for refusal in inference.refusals {
            report(
                refusal.reason.rawValue, refusal.place, "\(name(of: edge)): \(refusal.message)",
                [refusal.remedy, refusal.transformRemedy].compactMap(\.self).joined(separator: " "))
        }
        if !edge.isLightweight || !given.isEmpty || acceptedLosses != .none {
            mappings[edge.older] = inference.mapping
            returning.beginning = edge.older + 1
        }
        let questions = try returning.parts.questions(
            along: inference.mapping, inference.correspondence, versions: versions)
        settle(questions, edge, by: returned, from: returning.beginning)
        history = history.advanced(along: inference.correspondence)
    }

    /// Answers the questions about what returns, reports those without an answer, and the values that cannot be kept.
    ///
    /// - Parameter beginning: the position of the first version from which stages are combined. What an earlier version
    ///   had is dropped.
    private mutating func settle(
        _ questions: [Question], _ edge: PlanEdge, by answers: [Answer], from beginning: Int
    ) {
        for question in questions {
            guard let former = versions.firstIndex(where: { $0.name == question.from }), former >= beginning else {
                continue
            }
            guard let given = answers.first(where: { $0.place == question.place }) else {
                report(question, edge)
                continue
            }
            guard let answer = question.answers.first(where: { $0.is == given.is }) else { continue }
            returnedAnswers[edge.older, default: []].append(answer)
        }
        let known = returnedAnswers[edge.older] ?? []
        for answer in answers where answer.is == .keep && !known.contains(where: { $0.place == answer.place }) {
            report(
                "question-returned", answer.place,
                "\(name(of: edge)): \(answer.place) was removed by an earlier stage, and its old values cannot be kept.",
                "Answer .dropped(\"\(answer.place)\", in: \(types[edge.older + 1]).self), or keep the values by the code of "
                    + "custom stages.")
        }
    }

    /// Returns the answers about the newer version of an edge.
    func answers(about edge: PlanEdge) -> [Answer] {
        answers.filter { ObjectIdentifier($0.version) == ObjectIdentifier(types[edge.older + 1]) }
            .map { $0.answer(from: name(of: edge.older), to: name(of: edge.older + 1)) }
    }

    private mutating func report(_ question: Question, _ edge: PlanEdge) {
        let evidence = question.candidates.map { "\($0.name): \($0.evidence.joined(separator: "; "))" }
        let words = question.answers.compactMap { $0.words(in: "\(types[edge.older + 1])") }
        let remedy =
            switch question.kind {
            case .rename: "Write @Attribute(originalName: …) if it is the same property, or answer in the plan: "
            case .returned: "Answer in the plan: "
            case .conversion, .ambiguousIdentifier:
                "Set it in a .transform of \(question.entity), or answer in the plan: "
            }
        report(
            question.finding.code, question.place,
            "\(name(of: edge)): \(question.sentence) (\(evidence.joined(separator: ", ")))\(misnamed(question, edge))",
            remedy + words.joined(separator: " or ") + ".")
    }

    /// Returns a sentence about an `originalName` that the older version does not have; empty if there is none.
    private func misnamed(_ question: Question, _ edge: PlanEdge) -> String {
        guard question.kind == .rename, let property = question.property,
            let entity = versions[edge.older + 1].model.entity(question.entity),
            let given = entity.attribute(property)?.renamingIdentifier
                ?? entity.relationship(property)?.renamingIdentifier,
            given != property
        else { return "" }
        return " Its originalName, \(given), is no property of \(question.entity) in \(name(of: edge.older))."
    }

    /// Reports models whose class names changed. SwiftData identifies a model by its class name and drops its objects
    /// if the name changes.
    private mutating func reportClassNames(_ edge: PlanEdge, _ inference: TransformInference) {
        let sources = inference.correspondence.entitySources
        let added = versions[edge.older + 1].model.entities.map(\.name).filter { sources[$0] == nil }
        let removed = versions[edge.older].model.entities.map(\.name).filter { !sources.values.contains($0) }
        for new in added where !isAnswered(new, edge) {
            let asked = inference.questions.first { $0.property == nil && $0.entity == new && $0.kind == .rename }
            let namesake = removed.first { $0.withoutVersion == new.withoutVersion }
            guard let old = namesake ?? asked?.candidates.first?.name else { continue }
            let version = types[edge.older + 1]
            report(
                "class-renamed", new,
                "\(name(of: edge)): the class \(old) is gone and \(new) is new. A model is known by the name of its "
                    + "class, so all objects of \(old) would be deleted.",
                "Name the class \(old) in both versions, each inside its schema; or add .transform(from: \(old).self, "
                    + "to: \(new).self) { old, new in … }; or answer in the plan: .new(\"\(new)\", in: \(version).self) or "
                    + ".renamed(\"\(new)\", from: \"\(old)\", in: \(version).self).")
        }
    }

    private func isAnswered(_ entity: String, _ edge: PlanEdge) -> Bool {
        answers.contains {
            $0.place == entity && ObjectIdentifier($0.version) == ObjectIdentifier(types[edge.older + 1])
        }
    }
}

extension String {
    /// The name without a version: `HabitModel` for `HabitModelV2`, `HabitModel2`, `HabitModel_v2` and `V2HabitModel`.
    fileprivate var withoutVersion: String {
        let end = replacing(/_?[vV]?[0-9]+(_[0-9]+)*$/, with: "")
        return String(end.replacing(/^[vV][0-9]+_?/, with: ""))
    }
}

extension Refusal {
    /// The advice to set the value in a transform; nil for hierarchies and inverses, which a transform cannot change.
    fileprivate var transformRemedy: String? {
        switch reason {
        case .hierarchiesMerged, .inversesDisagree: nil
        case .requiredWithoutDefault, .requiredRelationship, .typeNotConvertible, .destinationNotConvertible:
            "Or give it a value in a .transform of \(place.prefix { $0 != "." })."
        }
    }
}

extension Answer {
    /// Returns the answer as Swift code for a plan.
    fileprivate func words(in version: String) -> String? {
        switch self.is {
        case .new: ".new(\"\(place)\", in: \(version).self)"
        case .rename: old.map { ".renamed(\"\(place)\", from: \"\($0)\", in: \(version).self)" }
        case .keep: ".kept(\"\(place)\", in: \(version).self)"
        case .drop: ".dropped(\"\(place)\", in: \(version).self)"
        // A plan cannot give this answer.
        case .value: nil
        }
    }
}

/// The inference of a mapping for an edge with code. A change that the code can make is not an obstacle.
struct TransformInference {
    private let older: ModelVersion
    private let newer: ModelVersion
    private let transforms: [ModelTransform]
    private let history: RenamingHistory
    private var answers: [Answer]
    /// Whether a resemblance between names raises a question. In a custom stage, code may already have handled a
    /// rename.
    private let asksAboutRenames: Bool
    /// Decides whether the values of a property whose type changes are left to the code or may be lost.
    private let drops: (Question) -> Bool
    private(set) var questions: [Question] = []
    private(set) var refusals: [Refusal] = []
    private(set) var correspondence: EntityMatching
    /// The inferred mapping; nil if something prevents it.
    private(set) var mapping: ResolvedMapping?

    /// - Parameters:
    ///   - asksAboutRenames: whether to ask a question when a removed item resembles an added one.
    ///   - drops: whether the values of a property whose type changes are left to the code before the change.
    ///   - judgesLater: whether code before the change may delete objects that would lack a value.
    /// - Throws: `usage` if an answer does not fit any question between the versions.
    init(
        from older: ModelVersion, to newer: ModelVersion, _ transforms: [ModelTransform] = [], answers: [Answer],
        history: RenamingHistory, asksAboutRenames: Bool, judgesLater: Bool = false,
        drops: @escaping (Question) -> Bool = { _ in false }
    ) throws {
        self.drops = drops
        self.older = try Self.relaxed(older, transforms)
        self.newer = try Self.relaxedForCode(newer, transforms, everywhere: judgesLater)
        (self.transforms, self.history) = (transforms, history)
        (self.answers, self.asksAboutRenames) = (answers, asksAboutRenames)
        correspondence = try EntityMatching(
            from: self.older, to: self.newer, answers: Answers(answers), history: history)
        try run()
    }

    private mutating func run() throws {
        var known = 0
        repeat {
            known = answers.count
            correspondence = try EntityMatching(from: older, to: newer, answers: Answers(answers), history: history)
            let inferred = try InferredMapping(correspondence)
            (questions, refusals, mapping) = (inferred.questions, inferred.refusals, inferred.mapping)
            for answer in questions.compactMap(answerLeftToCode) where !answers.contains(answer) {
                answers.append(answer)
            }
        } while answers.count > known
    }

    /// Returns the answer to a question that the stage's code makes irrelevant: the item in question is treated as new.
    private func answerLeftToCode(_ question: Question) -> Answer? {
        let isTransformed = question.property != nil && transforms.contains { $0.newName == question.entity }
        switch question.kind {
        case .rename where isTransformed || !asksAboutRenames: return question.answers.first { $0.is == .new }
        case .conversion where isTransformed || drops(question): return question.answers.first { $0.is == .drop }
        case .rename, .conversion, .ambiguousIdentifier, .returned: return nil
        }
    }

    // MARK: - Models without what the code handles

    /// Returns the older version without the constraints that its remaining properties would not meet.
    private static func relaxed(_ version: ModelVersion, _ transforms: [ModelTransform]) throws -> ModelVersion {
        var model = version.model
        for transform in transforms {
            guard model.entity(transform.oldName) != nil else { continue }
            try model.updateEntity(transform.oldName) { $0.forgetConstraints() }
        }
        return ModelVersion(names: version.names, model: model)
    }

    /// Returns the newer version with every property without a default made optional, because the code sets it.
    private static func relaxedForCode(
        _ version: ModelVersion, _ transforms: [ModelTransform], everywhere: Bool
    ) throws -> ModelVersion {
        var model = version.model
        if everywhere {
            for entity in model.entities { try model.updateEntity(entity.name) { $0.leaveToCode() } }
        }
        for transform in transforms where model.entity(transform.newName) != nil {
            try model.updateEntity(transform.newName) { entity in
                entity.forgetConstraints()
                if transform.oldName != transform.newName { entity.renamingIdentifier = transform.oldName }
                entity.leaveToCode()
            }
        }
        return ModelVersion(names: version.names, model: model)
    }
}

extension AttributeDescription {
    /// Makes every property without a default optional.
    fileprivate mutating func leaveToCode() {
        for position in elements.indices { elements[position].leaveToCode() }
        if defaultValue == nil { isOptional = true }
    }
}

extension EntityDescription {
    /// Makes every property without a default optional.
    fileprivate mutating func leaveToCode() {
        for position in attributes.indices { attributes[position].leaveToCode() }
        for position in relationships.indices {
            relationships[position].isOptional = true
            relationships[position].minCount = 0
        }
    }

    fileprivate mutating func forgetConstraints() {
        (uniquenessConstraints, fetchIndexes, compoundIndexes) = ([], [], [])
    }
}
