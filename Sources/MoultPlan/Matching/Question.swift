import MoultModel

/// Something that the models leave open and that affects the data.
package struct Question: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// An added thing resembles a removed one.
        case rename
        /// A renaming identifier is ambiguous.
        case ambiguousIdentifier = "ambiguous-identifier"
        /// A property keeps its name and cannot simply keep its values: its type or destination changed.
        case conversion
        /// A thing is removed in one version and added under the same name in a later one.
        case returned
    }

    /// A thing of the version before that it could be.
    package struct Candidate: Sendable, Hashable {
        package var name: String
        /// The evidence for and against it, one phrase each.
        package var evidence: [String]
    }

    package var kind: Kind
    /// The names of the two versions.
    package var from: String
    package var to: String
    /// The entity and property, by their names in the version after.
    package var entity: String
    package var property: String?
    /// The question, in one sentence.
    package var sentence: String
    package var candidates: [Candidate]
    /// Every answer there is, ready to be recorded.
    package var answers: [Answer]
    /// Whether a conversion is of a relationship's links, and not of an attribute's values.
    var isOfLinks = false

    package var place: String { [entity, property].compactMap { $0 }.joined(separator: ".") }

    /// The question with its evidence and the answers to paste, over several lines.
    package var text: String {
        let evidence = candidates.map { candidate in
            "\n  \(candidate.name): \(candidate.evidence.joined(separator: "; "))"
        }
        return "\(from) to \(to): \(sentence)\(evidence.joined())\(answers.map { "\n    \($0.json)" }.joined())"
    }

    /// The finding behind the question, as a statement where the sentence asks to drop what is lost.
    package var statement: String {
        guard kind == .conversion, let evidence = candidates.first?.evidence.first else { return sentence }
        let fact = sentence.split(separator: ".", omittingEmptySubsequences: false).dropLast().joined(separator: ".")
        return "\(fact). This is not inferred, because \(evidence.prefix { $0 != ":" })."
    }

    /// The change to make in a model file, and the way to answer.
    package var remedy: Remedy {
        let choices = answers.map { Remedy.Setting.set("\(place)=\($0.choice)") }
        /// The first as a whole command, the others as what to put in its place.
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
