import Foundation
import MoultModel

extension PredicateExpressions {
    /// `text.localizedCompare(other)`, which Foundation's predicates on Linux do not have. The order is that of no
    /// language in particular, so that it is the same on every machine.
    public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The text on the left of the comparison.
        public let root: Root
        /// The text that ``root`` is compared with.
        public let other: Other

        /// A comparison of two texts in the order of people, the same on every machine.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// The order of the two texts.
        ///
        /// - Throws: what either expression throws.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try ExpressionFunction.InSwift.localizedOrder.order(
                try root.evaluate(bindings), try other.evaluate(bindings))
        }
    }

    // The name that the macro gives it.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Builds `root.localizedCompare(other)`, as the code that `#Predicate` writes does.
    public static func build_localizedCompare<Root: PredicateExpression, Other: PredicateExpression>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedCompare<Root, Other> { StringLocalizedCompare(root: root, other: other) }
}

extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression, Codable, Sendable
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
