import MoultModel

/// Gathers the questions of one pair of versions.
///
/// The rule is simple, so that a person can foresee it. An added entity is asked about when a removed one shares at
/// least half of the properties of each, by name, kind and type. An added attribute is asked about when the entity it
/// comes from loses one of the same type; an added relationship when the entity loses one of the same cardinality
/// to the same destination. What holds no data of its own (abstract, transient, derived) is never asked about.
struct QuestionList {
    let from: String
    let to: String
    private(set) var questions: [Question] = []
    private var positions: [String: Int] = [:]

    init(from: String, to: String) {
        self.from = from
        self.to = to
    }

    /// Adds a question, or its candidates to the question already asked about the same place.
    private mutating func ask(_ question: Question) {
        guard let position = positions[question.place] else {
            positions[question.place] = questions.count
            questions.append(question)
            return
        }
        for candidate in question.candidates
        where !questions[position].candidates.contains(where: { $0.name == candidate.name }) {
            questions[position].candidates.append(candidate)
        }
        for answer in question.answers where !questions[position].answers.contains(answer) {
            questions[position].answers.append(answer)
        }
        // The answer that it is new stays last.
        questions[position].answers =
            questions[position].answers.filter { $0.is != .new }
            + questions[position].answers.filter { $0.is == .new }
    }

    private mutating func askWhich(
        _ kind: Question.Kind, entity: String, property: String?, sentence: String, candidates: [Question.Candidate]
    ) {
        var answers = candidates.map {
            Answer(from: from, to: to, entity: entity, property: property, is: .rename, old: $0.name)
        }
        answers.append(Answer(from: from, to: to, entity: entity, property: property, is: .new))
        ask(
            Question(
                kind: kind, from: from, to: to, entity: entity, property: property, sentence: sentence,
                candidates: candidates, answers: answers))
    }
}

// MARK: - Entities

extension QuestionList {
    mutating func askAboutEntities(ambiguities: [String: [String]], in correspondence: Correspondence) {
        let removed = correspondence.source.names.filter { correspondence.entityDestinations[$0] == nil }
            .compactMap { correspondence.source[$0] }.filter { !$0.description.isAbstract }
        for name in correspondence.destination.names where correspondence.entitySources[name] == nil {
            if let candidates = ambiguities[name] {
                askWhich(
                    .ambiguousIdentifier, entity: name, property: nil,
                    sentence: "The renaming identifier of the entity \(name) is ambiguous.",
                    candidates: candidates.map { .init(name: $0, evidence: ["has or had that name"]) })
                continue
            }
            guard let added = correspondence.destination[name], !added.description.isAbstract,
                correspondence.answers.entity(name) == nil
            else { continue }
            let candidates = removed.compactMap { Resemblance.candidate($0, for: added) }
            guard !candidates.isEmpty else { continue }
            askWhich(
                .rename, entity: name, property: nil,
                sentence: "Is the entity \(name) new, or was it renamed?",
                candidates: candidates)
        }
    }
}

// MARK: - Properties

extension QuestionList {
    mutating func askAboutProperties(
        of entities: [String], ambiguities: [String: [String: [String]]], in correspondence: Correspondence
    ) {
        for entity in entities {
            guard let pair = correspondence.pair(entity) else { continue }
            let sources = correspondence.propertySources[entity] ?? [:]
            let ambiguous = ambiguities[entity] ?? [:]
            askAboutIdentifiers(ambiguous, in: pair)
            guard !pair.source.description.isAbstract, sources != pair.destination.sameNames else { continue }
            let matched = Set(sources.values)
            // What an entity inherits from a parent that it did not have is new to it, and not new in the parent.
            func isAdded(_ name: String) -> Bool {
                sources[name] == nil
                    && correspondence.source(of: name, in: pair.destination.declaringEntity(of: name)) == nil
            }
            let added = Resemblance.Added(
                attributes: pair.destination.attributes.values.filter { isAdded($0.name) },
                relationships: pair.destination.relationships.values.filter { isAdded($0.name) })
            // What was removed is all that an added one could be.
            guard !added.isEmpty, matched.count < pair.source.sameNames.count else { continue }
            let resemblance = Resemblance(correspondence, pair: pair, matched: matched)
            for (name, candidates) in resemblance.candidates(for: added) where ambiguous[name] == nil {
                let declaring = pair.destination.declaringEntity(of: name)
                guard correspondence.answers.property(name, declaredBy: declaring) == nil else { continue }
                askWhich(
                    .rename, entity: declaring, property: name,
                    sentence: "Is \(declaring).\(name) new, or was it renamed?",
                    candidates: candidates)
            }
        }
    }

    private mutating func askAboutIdentifiers(_ ambiguous: [String: [String]], in pair: Correspondence.Pair) {
        for (name, candidates) in ambiguous.sorted(by: { $0.key.precedesInByteOrder($1.key) }) {
            let declaring = pair.destination.declaringEntity(of: name)
            askWhich(
                .ambiguousIdentifier, entity: declaring, property: name,
                sentence: "The renaming identifier of \(declaring).\(name) is ambiguous.",
                candidates: candidates.map { .init(name: $0, evidence: ["has or had that name"]) })
        }
    }
}
