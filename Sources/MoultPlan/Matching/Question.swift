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
    /// What is asked, in one sentence.
    package var sentence: String
    package var candidates: [Candidate]
    /// Every answer there is, ready to be recorded.
    package var answers: [Answer]

    package var place: String { [entity, property].compactMap { $0 }.joined(separator: ".") }

    /// The question with its evidence and the answers to paste, over several lines.
    package var text: String {
        let evidence = candidates.map { candidate in
            "\n  \(candidate.name): \(candidate.evidence.joined(separator: "; "))"
        }
        return "\(from) to \(to): \(sentence)\(evidence.joined())\(answers.map { "\n    \($0.json)" }.joined())"
    }
}
