import MoultModel
import MoultPlan

/// Infers the mapping of an edge on which code makes some of the values: what the code is there for is no obstacle.
struct TransformInference {
    private let older: ModelVersion
    private let newer: ModelVersion
    private let transforms: [ModelTransform]
    private let history: RenamingHistory
    private var answers: [Answer]
    /// Whether a resemblance counts for nothing: code of a custom stage may have seen to it.
    private let asksAboutRenames: Bool
    /// Whether the values of a property whose type changes are the code's affair, or may go.
    private let drops: (Question) -> Bool
    private(set) var questions: [Question] = []
    private(set) var refusals: [Refusal] = []
    private(set) var correspondence: Correspondence
    /// Nil if something is in its way.
    private(set) var mapping: ResolvedMapping?

    /// - Parameters:
    ///   - asksAboutRenames: whether a removed thing that resembles an added one is a question.
    ///   - drops: whether the values of a property whose type changes are left to the code before the change.
    ///   - judgesLater: whether code runs before the change that may delete the objects that would lack a value.
    /// - Throws: `usage` if an answer fits no question that the versions have.
    init(
        from older: ModelVersion, to newer: ModelVersion, _ transforms: [ModelTransform] = [], answers: [Answer],
        history: RenamingHistory, asksAboutRenames: Bool, judgesLater: Bool = false,
        drops: @escaping (Question) -> Bool = { _ in false }
    ) throws {
        self.drops = drops
        self.older = try Self.relaxed(older, transforms)
        self.newer = try Self.relaxedForCode(newer, transforms, everywhere: judgesLater)
        self.transforms = transforms
        self.history = history
        self.answers = answers
        self.asksAboutRenames = asksAboutRenames
        correspondence = try Correspondence(
            from: self.older, to: self.newer, answers: Answers(answers), history: history)
        try run()
    }

    private mutating func run() throws {
        var known = 0
        repeat {
            known = answers.count
            correspondence = try Correspondence(from: older, to: newer, answers: Answers(answers), history: history)
            let inferred = try InferredMapping(correspondence)
            (questions, refusals, mapping) = (inferred.questions, inferred.refusals, inferred.mapping)
            for answer in questions.compactMap(answerLeftToCode) where !answers.contains(answer) {
                answers.append(answer)
            }
        } while answers.count > known
    }

    /// The answer to a question that the code of the stage makes idle: what is asked about starts again.
    private func answerLeftToCode(_ question: Question) -> Answer? {
        let isTransformed = question.property != nil && transforms.contains { $0.newName == question.entity }
        switch question.kind {
        case .rename where isTransformed || !asksAboutRenames: return question.answers.first { $0.is == .new }
        case .conversion where isTransformed || drops(question): return question.answers.first { $0.is == .drop }
        case .rename, .conversion, .ambiguousIdentifier, .returned: return nil
        }
    }
}

// MARK: - Models without what code sees to

extension TransformInference {
    /// The older version without the constraints that would not fit what is left of it.
    private static func relaxed(_ version: ModelVersion, _ transforms: [ModelTransform]) throws -> ModelVersion {
        var model = version.model
        for transform in transforms {
            guard model.entity(transform.oldName) != nil else { continue }
            try model.updateEntity(transform.oldName) { $0.forgetConstraints() }
        }
        return ModelVersion(names: version.names, model: model)
    }

    /// The newer version, in which nothing that has no default is required: the code gives it.
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
    /// Has nothing that has no default be required.
    fileprivate mutating func leaveToCode() {
        for position in elements.indices { elements[position].leaveToCode() }
        if defaultValue == nil { isOptional = true }
    }
}

extension EntityDescription {
    /// Has nothing that has no default be required.
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
