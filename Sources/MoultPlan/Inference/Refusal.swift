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
    package var remedy: String

    package var finding: Finding {
        Finding(code: reason.rawValue, severity: .error, place: place, message: message, remedy: remedy)
    }
}

extension MigrationError {
    /// All reasons at once, each with its place and remedy.
    package static func cannotInfer(_ refusals: [Refusal], from: String, to: String) -> MigrationError {
        let reasons = refusals.map { "\n  \($0.message) \($0.remedy)" }.joined()
        return MigrationError(
            .cannotInfer, "A mapping from \(from) to \(to) cannot be inferred:\(reasons)\n",
            place: refusals.first?.place ?? "",
            remedy: "Make these changes inferable, or register a mapping or a custom stage from \(from) to \(to).")
    }

    private static func example(_ questions: [Question]) -> String {
        guard let question = questions.first, let answer = question.answers.first else { return "" }
        return ", such as --set \(question.place)=\(answer.choice)"
    }

    /// All questions at once, each with its evidence and its answers.
    package static func unanswered(_ questions: [Question]) -> MigrationError {
        let count = questions.count == 1 ? "One question is" : "\(questions.count) questions are"
        let texts = questions.map { "\n\($0.text)" }.joined()
        return MigrationError(
            .question, "\(count) not answered, and Moult does not guess.\(texts)\n",
            place: questions.first?.place ?? "",
            remedy:
                "Answer each with moult answer MODEL\(example(questions)); or set renaming identifiers in the model.")
    }
}
