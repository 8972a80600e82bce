import MoultModel
import MoultSQLite

/// The predicate of a partial fetch index, as far as stores show one: comparisons of a property with a constant, joined
/// by AND and OR.
struct PartialIndexPredicate {
    private let root: Predicate

    /// Nil for a text that is no predicate.
    init?(_ text: String) {
        guard let root = try? Predicate(parsing: text) else { return nil }
        self.root = root
    }

    /// The condition of `CREATE INDEX … WHERE`; nil if the predicate says more, or `column` knows no column.
    func sql(column: (_ property: String) -> String?) -> String? { Self.sql(root, column) }

    private static func sql(_ predicate: Predicate, _ column: (String) -> String?) -> String? {
        switch predicate {
        case .comparison(let comparison): self.sql(comparison, column)
        case .and(let parts): compound(parts, "AND", column)
        case .or(let parts): compound(parts, "OR", column)
        case .constant, .not: nil
        }
    }

    private static func compound(_ parts: [Predicate], _ word: String, _ column: (String) -> String?) -> String? {
        let texts = parts.compactMap { sql($0, column) }
        return texts.count == parts.count ? "(\(texts.joined(separator: " \(word) ")))" : nil
    }

    private static func sql(_ comparison: Predicate.Comparison, _ column: (String) -> String?) -> String? {
        guard case .keyPath(let property, of: .evaluatedObject) = comparison.left,
            case .constant(let constant) = comparison.right, comparison.modifier == .direct,
            comparison.options.isEmpty, let name = column(property)
        else { return nil }
        if constant == .null {
            switch comparison.operator {
            case .equal: return "\(name) IS NULL"
            case .notEqual: return "\(name) IS NOT NULL"
            default: return nil
            }
        }
        guard let sign = sign(of: comparison.operator), let value = literal(constant) else { return nil }
        return "\(name) \(sign) \(value)"
    }

    private static func sign(of operator: Predicate.Operator) -> String? {
        switch `operator` {
        case .equal: "="
        case .notEqual: "<>"
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: `operator`.symbol
        default: nil
        }
    }

    private static func literal(_ constant: ExpressionValue) -> String? {
        switch constant {
        case .boolean(let flag): flag ? "1" : "0"
        case .integer(let number): "\(number)"
        case .real(let number) where number.isFinite: "\(number)"
        case .decimal(let digits): digits
        case .string(let text): text.quotedLiteral
        case .null, .real, .date, .data, .uuid, .uri, .object, .collection: nil
        }
    }
}
