import MoultModel
import TestSupport

import struct Foundation.UUID

/// Random trees in the form in which they are read: what prints as something else's form is left out, such as a path
/// that ends with `@count`, a boolean (`1`) or a constant list.
struct ExpressionSampler {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func predicate(_ depth: Int = 4) -> Predicate {
        switch depth > 0 ? number(0...7) : 0 {
        case 0: return .constant(flip())
        case 1: return .and((0..<number(2...4)).map { _ in predicate(depth - 1) })
        case 2: return .or((0..<number(2...4)).map { _ in predicate(depth - 1) })
        case 3: return .not(predicate(depth - 1))
        default:
            let modifier = pick([Predicate.Modifier.direct, .direct, .any, .all])
            let options = Predicate.Options(rawValue: pick([0, 0, 1, 2, 3, 15]))
            let (left, right) = (expression(depth - 1), expression(depth - 1))
            return .comparison(
                .init(left, pick(Predicate.Operator.allCases), right, modifier: modifier, options: options))
        }
    }

    mutating func expression(_ depth: Int = 4) -> Expression {
        switch depth > 0 ? number(0...11) : number(0...3) {
        case 0: return .constant(value())
        case 1: return .evaluatedObject
        case 2: return .variable(pick(["x", "page", "FETCH_SOURCE", "größe"]))
        case 3: return .keyPath(path())
        case 4: return .function(pick(Expression.Arithmetic.allCases).rawValue, expressions(2, depth))
        case 5:
            return .function(
                pick(["count:", "canonical:", "now", "average:", "my:own:"]), expressions(number(0...3), depth))
        case 6: return .message(pick(["twice:", "x"]), to: expression(depth - 1), expressions(number(0...2), depth))
        case 7: return .aggregate(expressions(number(0...3), depth))
        case 8: return .subquery(expression(depth - 1), variable: "x", predicate(depth - 1))
        case 9: return .conditional(predicate(depth - 1), expression(depth - 1), expression(depth - 1))
        case 10:
            let symbols = ["FIRST", "LAST", "SIZE"].map { Expression.constant(.string($0)) }
            return .function(
                "objectFrom:withIndex:", [expression(depth - 1), flip() ? pick(symbols) : expression(depth - 1)])
        default:
            let base = expression(depth - 1)
            if case .keyPath = base { return base }
            return base == .evaluatedObject ? base : .keyPath(path(), of: base)
        }
    }

    /// Every kind of value that has a literal of its own.
    mutating func value() -> ExpressionValue {
        switch number(0...10) {
        case 0: return .null
        case 1: return .integer(pick([0, 1, -1, .max, .min, Int64.random(in: -1000...1000, using: &random)]))
        case 2: return .real(real())
        case 3: return .decimal(pick(["0", "-1.50", "123456789012345678901234567890.5", "1e9"]))
        case 4: return .date(real())
        case 5: return .data(bytes(number(0...5)))
        case 6: return .uuid(bytes(16))
        case 7: return .uri(text())
        case 8:
            let name = pick(["Page", "Größe", "日本"])
            return .object(ObjectID(store: UUID(), entityName: name, key: .random(in: 1...(.max), using: &random)))
        default: return .string(text())
        }
    }

    mutating func text() -> String {
        let pieces = [
            "a", "B", "\"", "'", "\\", "\n", "\r\n", "\t", "\u{301}", "é", "日", "👩‍👩‍👧", "%@", "*", "\u{0}", " ", "$x",
            "\u{2028}",
        ]
        return (0..<number(0...6)).map { _ in pick(pieces) }.joined()
    }

    private mutating func path() -> String {
        let names = [
            "name", "in", "size", "first", "SELF", "größe", "e\u{301}t\u{e9}", "x1", "_a", "@sum", "@max", "null",
        ]
        return (0..<number(1...3)).map { _ in pick(names) }.joined(separator: ".")
    }

    private mutating func real() -> Double {
        let number = Double(bitPattern: random.next())
        return number.isNaN ? pick([0.5, -0.0, 1e300, -1e-300, .infinity, -.infinity]) : number
    }

    private mutating func expressions(_ count: Int, _ depth: Int) -> [Expression] {
        (0..<count).map { _ in expression(depth - 1) }
    }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in .random(in: 0...255, using: &random) }
    }
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func flip() -> Bool { Bool.random(using: &random) }
    mutating func pick<Value>(_ values: [Value]) -> Value { values[number(0...(values.count - 1))] }
}
