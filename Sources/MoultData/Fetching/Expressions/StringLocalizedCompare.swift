import Foundation
import MoultModel

extension PredicateExpressions {
    /// `text.localizedCompare(other)`, which Foundation's predicates on Linux do not have. The order is that of no
    /// language in particular, so that it is the same on every machine.
    public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        public let root: Root
        public let other: Other

        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try ExpressionFunction.InSwift.localizedOrder.order(
                try root.evaluate(bindings), try other.evaluate(bindings))
        }
    }

    // The name that the macro gives it.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static func build_localizedCompare<Root: PredicateExpression, Other: PredicateExpression>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedCompare<Root, Other> { StringLocalizedCompare(root: root, other: other) }
}

extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression, Codable, Sendable
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
