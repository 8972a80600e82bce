import MoultModel

/// One reason why a mapping cannot be inferred.
package struct Refusal: Sendable, Hashable {
    package enum Reason: String, Sendable, Hashable {
        case requiredWithoutDefault = "required-without-default"
        case requiredRelationship = "required-relationship"
        case hierarchiesMerged = "hierarchies-merged"
        case typeNotConvertible = "type-not-convertible"
        case destinationNotConvertible = "destination-not-convertible"
        case inversesDisagree = "inverses-disagree"
    }

    package var reason: Reason
    /// `Entity.property` or `Entity`, by the names of the version after.
    package var place: String
    package var message: String
    /// The remedy, in words that hold for a model in files and in code alike.
    package var remedy: String
    /// The way to do it in a model file and on the command line; empty if there is nothing to add.
    package var detail: Remedy = ""

    /// The remedy for a model in files, with ``detail``.
    package var wholeRemedy: Remedy { detail.isEmpty ? Remedy(remedy) : "\(remedy) \(detail)" }

    package var finding: Finding {
        Finding(code: reason.rawValue, severity: .error, place: place, message: message, remedy: wholeRemedy)
    }
}

extension MigrationError {
    /// All reasons at once, each with its place and remedy.
    package static func cannotInfer(_ refusals: [Refusal], from: String, to: String) -> MigrationError {
        let reasons = refusals.map { "\n  [\($0.finding.rule ?? "")] \($0.message) \($0.wholeRemedy)" }.joined()
        return MigrationError(
            .cannotInfer, "A mapping from \(from) to \(to) cannot be inferred:\(reasons)\n",
            place: refusals.first?.place ?? "",
            remedy: "Make these changes inferable, or register a mapping or a custom stage from \(from) to \(to).")
    }

    private static func example(_ questions: [Question]) -> [Remedy.Setting] {
        guard let question = questions.first, let answer = question.answers.first else { return [] }
        // Where several versions ask about one place.
        let versions: [Remedy.Setting] =
            questions.count { $0.place == question.place } > 1 ? [.from(question.from), .to(question.to)] : []
        return versions + [.set("\(question.place)=\(answer.choice)")]
    }

    /// All questions at once, each with its evidence and its answers.
    package static func unanswered(_ questions: [Question]) -> MigrationError {
        let count = Quantity.count(questions.count, "question is", plural: "questions are")
        let texts = questions.map { "\n\($0.text)" }.joined()
        return MigrationError(
            .question, "\(count) not answered, and Moult does not guess.\(texts)\n",
            place: questions.first?.place ?? "",
            remedy: """
                Set renaming identifiers in the model, or answer each question, such as: \
                \(.answer, with: [.anyModel] + example(questions))
                """)
    }
}
