import MoultBasics
import MoultModel

/// A choice that the models leave open and that affects the data.
package struct Question: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// An added thing resembles a removed one.
        case rename
        /// A renaming identifier is ambiguous.
        case ambiguousIdentifier = "ambiguous-identifier"
        /// A property keeps its name but cannot simply keep its values, because its type or destination changed.
        case conversion
        /// A thing is removed in one version and added under the same name in a later one.
        case returned
    }

    /// Something in the older version that it could have been.
    package struct Candidate: Sendable, Hashable {
        package var name: String
        /// The evidence for and against it, one phrase each.
        package var evidence: [String]
    }

    package var kind: Kind
    /// The names of the two versions.
    package var from: String
    package var to: String
    /// The entity and property, by their names in the newer version.
    package var entity: String
    package var property: String?
    /// The question, in one sentence.
    package var sentence: String
    package var candidates: [Candidate]
    /// Every possible answer, ready to be recorded.
    package var answers: [Answer]
    /// Whether a conversion concerns a relationship's links rather than an attribute's values.
    package var isOfLinks = false

    package var place: String { [entity, property].compactMap { $0 }.joined(separator: ".") }

    /// The question with its evidence and the answers to paste, over several lines.
    package var text: String {
        let evidence = candidates.map { candidate in
            "\n  \(candidate.name): \(candidate.evidence.joined(separator: "; "))"
        }
        return "\(from) to \(to): \(sentence)\(evidence.joined())\(answers.map { "\n    \($0.json)" }.joined())"
    }

    /// The question as a statement; for a conversion, the reason takes the place of the request to drop values.
    package var statement: String {
        guard kind == .conversion, let evidence = candidates.first?.evidence.first else { return sentence }
        let fact = sentence.split(separator: ".", omittingEmptySubsequences: false).dropLast().joined(separator: ".")
        return "\(fact). This is not inferred, because \(evidence.prefix { $0 != ":" })."
    }

    /// The change to make in a model file, and the command that answers.
    package var remedy: Remedy {
        let choices = answers.map { Remedy.Setting.set("\(place)=\($0.choice)") }
        /// Writes the first choice as a whole command, and the others as alternatives to its last option.
        func answering(_ choices: some Sequence<Remedy.Setting>) -> Remedy {
            let all = Array(choices)
            guard let first = all.first else { return "\(.answer, .anyModel) " }
            return all.dropFirst().reduce("\(.answer, .anyModel, first)") { "\($0), or \(option: $1)" }
        }
        let old = candidates.first?.name ?? ""
        switch kind {
        case .rename:
            let names = candidates.map(\.name).joined(separator: " or ")
            return """
                If it was \(names), set the renaming identifier: \(markup: "elementID=\"\(old.escapedForXML)\"", old), or run \
                \(answering(choices.dropLast())). If it is new, run \(answering(choices.suffix(1))).
                """
        case .ambiguousIdentifier:
            return "Set elementID to the name in the version before, or run \(answering(choices))."
        case .conversion:
            let (what, part) = isOfLinks ? ("links", "relationship") : ("values", "attribute of the new type")
            return "To keep the \(what), leave \(old) as it was, add a new \(part), and fill it in a custom stage or a "
                + "mapping model. If the \(what) may go, run \(answering(choices))."
        case .returned: return "Run \(answering(choices))."
        }
    }
}

/// Collects the questions about one pair of versions.
///
/// The rule is simple, so that it is predictable. An added entity raises a question if a removed one shares at least
/// half of the properties of each, by name, kind and type. An added attribute raises one if its source entity loses an
/// attribute of the same type; an added relationship, if the entity loses one of the same cardinality to the same
/// destination. Anything without data of its own (abstract, transient, derived) raises none.
struct QuestionList {
    let from: String
    let to: String
    private(set) var questions: [Question] = []
    private var positions: [String: Int] = [:]

    init(from: String, to: String) {
        self.from = from
        self.to = to
    }

    /// Adds a question, or adds its candidates to an earlier question about the same place.
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
        // Keep the answer `new` last.
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

    // MARK: - Entities

    mutating func askAboutEntities(ambiguities: [String: [String]], in correspondence: EntityMatching) {
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
            let candidates = removed.compactMap { RenameCandidates.candidate($0, for: added, in: correspondence) }
            guard !candidates.isEmpty else { continue }
            askWhich(
                .rename, entity: name, property: nil, sentence: "Is the entity \(name) new, or was it renamed?",
                candidates: candidates)
        }
    }

    // MARK: - Properties

    mutating func askAboutProperties(
        of entities: [String], ambiguities: [String: [String: [String]]], in correspondence: EntityMatching
    ) {
        for entity in entities {
            guard let pair = correspondence.pair(entity) else { continue }
            let sources = correspondence.propertySources[entity] ?? [:]
            let ambiguous = ambiguities[entity] ?? [:]
            askAboutIdentifiers(ambiguous, in: pair)
            guard !pair.source.description.isAbstract, sources != pair.destination.sameNames else { continue }
            let matched = Set(sources.values)
            // A property inherited from a new parent is new to the entity, but not to the parent.
            func isAdded(_ name: String) -> Bool {
                sources[name] == nil
                    && correspondence.source(of: name, in: pair.destination.declaringEntity(of: name)) == nil
            }
            let added = RenameCandidates.Added(
                attributes: pair.destination.attributes.values.filter { isAdded($0.name) },
                relationships: pair.destination.relationships.values.filter { isAdded($0.name) })
            // Without a removed property, an added one has no candidates.
            guard !added.isEmpty, matched.count < pair.source.sameNames.count else { continue }
            let resemblance = RenameCandidates(correspondence, pair: pair, matched: matched)
            for (name, candidates) in resemblance.candidates(for: added) where ambiguous[name] == nil {
                let declaring = pair.destination.declaringEntity(of: name)
                guard correspondence.answers.property(name, declaredBy: declaring) == nil else { continue }
                askWhich(
                    .rename, entity: declaring, property: name,
                    sentence: "Is \(declaring).\(name) new, or was it renamed?", candidates: candidates)
            }
        }
    }

    private mutating func askAboutIdentifiers(_ ambiguous: [String: [String]], in pair: EntityMatching.Pair) {
        for (name, candidates) in ambiguous.inByteOrder(of: { $0.key }) {
            let declaring = pair.destination.declaringEntity(of: name)
            askWhich(
                .ambiguousIdentifier, entity: declaring, property: name,
                sentence: "The renaming identifier of \(declaring).\(name) is ambiguous.",
                candidates: candidates.map { .init(name: $0, evidence: ["has or had that name"]) })
        }
    }
}

extension String {
    /// The text escaped for a quoted XML attribute.
    package var escapedForXML: String {
        reduce(into: "") { text, character in
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "\n": text += "&#10;"
            case "\r": text += "&#13;"
            case "\r\n": text += "&#13;&#10;"
            case "\t": text += "&#9;"
            default: text.append(character)
            }
        }
    }
}
