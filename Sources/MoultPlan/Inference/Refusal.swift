import MoultBasics
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
    /// `Entity.property` or `Entity`, by its names in the newer version.
    package var place: String
    package var message: String
    /// The remedy, in words that fit models in files and in code.
    package var remedy: String
    /// The change to make in a model file, or the command to use; empty if there is nothing to add.
    package var detail: Remedy = ""

    /// The remedy for a model in files, with ``detail``.
    package var wholeRemedy: Remedy { detail.isEmpty ? Remedy(remedy) : "\(remedy) \(detail)" }

    package var finding: Finding {
        Finding(code: reason.rawValue, severity: .error, place: place, message: message, remedy: wholeRemedy)
    }
}

extension MigrationError {
    /// Returns an error with all reasons at once, each with its place and remedy.
    package static func cannotInfer(_ refusals: [Refusal], from: String, to: String) -> MigrationError {
        let reasons = refusals.map { "\n  [\($0.finding.rule ?? "")] \($0.message) \($0.wholeRemedy)" }.joined()
        return MigrationError(
            .cannotInfer, "A mapping from \(from) to \(to) cannot be inferred:\(reasons)\n",
            place: refusals.first?.place ?? "",
            remedy: "Make these changes inferable, or register a mapping or a custom stage from \(from) to \(to).")
    }

    private static func example(_ questions: [Question]) -> [Remedy.Setting] {
        guard let question = questions.first, let answer = question.answers.first else { return [] }
        // Needed if several versions ask about one place.
        let versions: [Remedy.Setting] =
            questions.count { $0.place == question.place } > 1 ? [.from(question.from), .to(question.to)] : []
        return versions + [.set("\(question.place)=\(answer.choice)")]
    }

    /// Returns an error with all questions at once, each with its evidence and answers.
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

/// A default value for an attribute, as an attribute of XML.
package struct DefaultExample: Sendable {
    package let name: String
    package let value: String

    /// Returns nil for a type without default values in a model file, or if the value might violate a validation rule.
    package init?(for attribute: AttributeDescription) {
        let rules = attribute.validation
        guard rules.minimum == nil, rules.maximum == nil, rules.regularExpression == nil, rules.rules.isEmpty,
            let value = Self.value(for: attribute.type)
        else { return nil }
        name = attribute.type == .date ? "defaultDateTimeInterval" : "defaultValueString"
        self.value = value
    }

    /// `defaultValueString="0"`.
    package var text: String { "\(name)=\"\(value)\"" }

    /// Returns instructions to correct a required attribute without a default value in a model file, or by an answer.
    static func detail(of attribute: AttributeDescription, at place: String) -> Remedy {
        guard let example = DefaultExample(for: attribute) else {
            return value(for: attribute.type) == nil
                ? "In a model file, type \(attribute.type.name) has no default value, so set optional=\"YES\"."
                : "In a model file, that is defaultValueString with a value that the validation rules allow, or "
                    + "optional=\"YES\"."
        }
        return """
            In a model file, that is \(example.text) or optional="YES". Without a change of the model, \
            \(.answer, .anyModel, .set("\(place)=value:\(example.value)")) gives the existing objects one value.
            """
    }

    private static func value(for type: AttributeType) -> String? {
        switch type {
        case .integer16, .integer32, .integer64, .date: "0"
        case .decimal, .double, .float: "0.0"
        case .boolean: "NO"
        case .string: ""
        case .undefined, .binary, .uuid, .uri, .transformable, .objectID, .composite: nil
        }
    }
}
