import Foundation
import MoultModel

extension PredicateExpressions {
    /// `text.localizedStandardContains(other)`, which Foundation's predicates on Linux do not have: case and marks do
    /// not count.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The text that is searched.
        public let root: Root
        /// The text that is searched for.
        public let other: Other

        /// A search for one text in another without regard to case and marks.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Whether the one text contains the other; false for an empty one.
        ///
        /// - Throws: what either expression throws.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            let (text, part) = (String(try root.evaluate(bindings)), String(try other.evaluate(bindings)))
            let options: MoultModel.Predicate.Options = [.caseInsensitive, .diacriticInsensitive]
            return try !part.isEmpty
                && MoultModel.Predicate.Operator.contains.holds(.string(text), .string(part), options)
        }
    }

    // The name that the macro gives it.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Builds `root.localizedStandardContains(other)`, as the code that `#Predicate` writes does.
    public static func build_localizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> { StringLocalizedStandardContains(root: root, other: other) }
}

extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression, Codable, Sendable
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
