import MoultBasics
import MoultModel

/// Infers the mapping of corresponding models, with a question or a refusal for each property without a clear source.
struct Inference {
    let correspondence: EntityMatching
    /// Whether the mapping leads to an older version. Then the rows decide which values fit.
    let isWayBack: Bool
    /// By destination entity, without the unchanged ones.
    private var mappings: [String: ResolvedEntityMapping] = [:]
    private(set) var questions: [Question] = []
    private(set) var refusals: [Refusal] = []
    /// On a way back: the required attributes without a value.
    private(set) var missing: [Refusal] = []
    private var usedAnswers: Set<Answer> = []
    /// The reports made so far. A property that several entities inherit is reported once.
    private var spokenOf: Set<String> = []

    init(_ correspondence: EntityMatching, isWayBack: Bool = false) {
        self.correspondence = correspondence
        self.isWayBack = isWayBack
    }

    mutating func run() throws(MigrationError) -> ResolvedMapping {
        for name in correspondence.destination.names where !correspondence.kept.contains(name) {
            guard let destination = correspondence.destination[name] else { continue }
            mappings[name] = mapping(to: destination)
        }
        try checkAnswers()
        if !isWayBack { refuseUnfilledRelationships() }
        refuseDisagreeingInverses()
        let removed = correspondence.source.names.filter { correspondence.entityDestinations[$0] == nil }
        var mapping = ResolvedMapping(
            entityMappings: correspondence.destination.names.compactMap(known)
                + removed.map { ResolvedEntityMapping(sourceEntityName: $0, destinationEntityName: nil) })
        mapping.isWayBack = isWayBack
        refuseMergedHierarchies(mapping)
        return mapping
    }

    /// Returns the mapping to an entity of the destination.
    func known(_ entity: String) -> ResolvedEntityMapping? {
        mappings[entity] ?? (correspondence.kept.contains(entity) ? correspondence.destination[entity]?.same : nil)
    }

    /// Adds a refusal, once for each place.
    mutating func refuse(
        _ reason: Refusal.Reason, _ place: String, _ message: String, remedy: String, detail: Remedy = ""
    ) {
        guard spokenOf.insert(reason.rawValue + " " + place).inserted else { return }
        let refusal = Refusal(reason: reason, place: place, message: message, remedy: remedy, detail: detail)
        if isWayBack, reason == .requiredWithoutDefault { missing.append(refusal) } else { refusals.append(refusal) }
    }

    mutating func use(_ answer: Answer) { usedAnswers.insert(answer) }

    /// Refuses `keep` and `drop` answers where neither the type nor the destination changes.
    private func checkAnswers() throws(MigrationError) {
        for answer in correspondence.answers.all
        where (answer.is == .keep || answer.is == .drop) && !usedAnswers.contains(answer) {
            throw answer.refused("neither its type nor its destination changes")
        }
        for answer in correspondence.answers.all where answer.is == .value && !usedAnswers.contains(answer) {
            throw answer.refused("it needs no value: it is no new required attribute without a default value")
        }
    }

    /// Adds a question, once for each place.
    mutating func ask(_ question: Question) {
        guard spokenOf.insert("question " + question.place).inserted else { return }
        questions.append(question)
    }

    private mutating func mapping(to destination: ResolvedEntity) -> ResolvedEntityMapping {
        let pair = correspondence.pair(destination.name)
        var mapping = ResolvedEntityMapping(
            sourceEntityName: pair?.source.name, destinationEntityName: destination.name)
        if correspondence.isSame(destination.name) { mapping.attributes = destination.same.attributes }
        // In order, because refusals and questions are listed as they occur.
        let open = destination.attributes.keys.filter { mapping.attributes[$0] == nil }
        for name in open.inByteOrder() {
            guard let attribute = destination.attributes[name], attribute.isStored, attribute.derivation == nil
            else { continue }
            mapping.attributes[attribute.name] =
                if let pair {
                    source(of: attribute, in: pair)
                } else {
                    .constant(attribute.defaultValue)
                }
        }
        for name in destination.relationships.keys.inByteOrder() {
            guard let relationship = destination.relationships[name], !relationship.isTransient else { continue }
            mapping.relationships[relationship.name] =
                if let pair {
                    source(of: relationship, in: pair)
                } else {
                    .empty
                }
        }
        return mapping
    }
}

/// The result of inference between two versions: a mapping, or the questions and refusals that prevent it.
package struct InferredMapping: Sendable, Equatable {
    /// The known part of the mapping. Open or refused properties start empty in it.
    private let draft: ResolvedMapping
    package let questions: [Question]
    package let refusals: [Refusal]
    /// On a way back, the required attributes that existing objects would have no value for.
    package let missing: [Refusal]

    /// The mapping; nil while a question is open or a change cannot be inferred.
    package var mapping: ResolvedMapping? { questions.isEmpty && refusals.isEmpty ? draft : nil }

    /// - Throws: `usage` if an answer does not fit any question about the versions.
    package init(_ correspondence: EntityMatching) throws(MigrationError) { try self.init(Inference(correspondence)) }

    /// Infers the way back to an older version from the renaming identifiers and answers of the way forward. The rows
    /// decide whether the values of the newer version fit the older one.
    ///
    /// - Parameters:
    ///   - newer: the newer version; if it is not among `versions`, only names determine the correspondence.
    ///   - answers: the answers of the way forward, and values for required attributes on the way back, from the newer
    ///     version to the older one.
    /// - Throws: `usage` if an answer does not fit any question.
    package init(
        back newer: ModelVersion, to older: ModelVersion, in versions: ModelVersions, answers: Answers = .none
    ) throws(MigrationError) {
        let (first, last) = (versions.position(matching: older.hashes), versions.position(matching: newer.hashes))
        let forward: EntityMatching
        if let first, let last, first < last {
            forward = try EntityMatching(versions, from: first, to: last, answers: answers)
        } else {
            forward = try EntityMatching(from: older, to: newer, answers: answers)
        }
        let back = try EntityMatching(
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

    /// - Throws: `question` with all questions, or `cannotInfer` with all reasons.
    package func requireMapping(from: String, to: String) throws(MigrationError) -> ResolvedMapping {
        guard questions.isEmpty else { throw .unanswered(questions) }
        guard refusals.isEmpty else { throw .cannotInfer(refusals, from: from, to: to) }
        return draft
    }
}

extension ResolvedMapping {
    /// Infers the mapping between two neighbouring versions.
    ///
    /// - Throws: `question` if the models leave a correspondence open, `cannotInfer` with a reason for each change that
    ///   inference does not cover, `usage` if an answer does not fit any question.
    package init(
        inferring older: ModelVersion, to newer: ModelVersion, answers: Answers = .none,
        history: RenamingHistory = RenamingHistory()
    ) throws(MigrationError) {
        let correspondence = try EntityMatching(from: older, to: newer, answers: answers, history: history)
        self = try InferredMapping(correspondence).requireMapping(from: older.name, to: newer.name)
    }
}
