import Foundation
import MoultModel

extension PredicateExpressions {
    /// `text.caseInsensitiveCompare(other)`, which Foundation's predicates on Linux do not have.
    public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The text on the left of the comparison.
        public let root: Root
        /// The text that ``root`` is compared with.
        public let other: Other

        /// A comparison of two texts that does not tell upper from lower case.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// The order of the two texts without regard to case.
        ///
        /// - Throws: what either expression throws.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try ExpressionFunction.InSwift.caseInsensitiveOrder.order(
                try root.evaluate(bindings), try other.evaluate(bindings))
        }
    }

    // The name that the macro gives it.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Builds `root.caseInsensitiveCompare(other)`, as the code that `#Predicate` writes does.
    public static func build_caseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>(
        _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> { StringCaseInsensitiveCompare(root: root, other: other) }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression, Codable, Sendable
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension ExpressionFunction.InSwift {
    /// Returns the order that a function gives two texts.
    func order(_ left: some StringProtocol, _ right: some StringProtocol) throws -> ComparisonResult {
        guard case .integer(let order) = try value([.string(String(left)), .string(String(right))]) else {
            return .orderedSame
        }
        return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame
    }
}
