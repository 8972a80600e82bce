import MoultModel
import MoultPropertyList

/// Foundation's classes for expressions and predicates, as archives hold them.
extension Expression {
    private static let depthLimit = 100

    /// The archived `NSExpression`; nil if it is of a class that Moult does not know, or nested without end.
    init?(archived value: KeyedArchive.Value, depth: Int = 0) {
        guard depth < Self.depthLimit else { return nil }
        switch value.className {
        case "NSConstantValueExpression": self.init(archivedConstant: value["NSConstantValue"])
        case "NSSelfExpression": self = .evaluatedObject
        case "NSVariableExpression":
            guard let name = value["NSVariable"]?.string else { return nil }
            self = .variable(name)
        case "NSKeyPathExpression": self.init(archivedKeyPath: value, depth: depth)
        case "NSFunctionExpression": self.init(archivedFunction: value, depth: depth)
        case "NSAggregateExpression":
            self = .aggregate(Self.list(value["NSCollection"], depth) ?? [])
        case "NSSubqueryExpression":
            guard let collection = value["NSCollection"].flatMap({ Expression(archived: $0, depth: depth + 1) }),
                let variable = value["NSVariableExpression"]?["NSVariable"]?.string ?? value["NSVariable"]?.string,
                let predicate = value["NSPredicate"].flatMap({ Predicate(archived: $0, depth: depth + 1) })
            else { return nil }
            self = .subquery(collection, variable: variable, predicate)
        default: return nil
        }
    }

    private init?(archivedConstant value: KeyedArchive.Value?) {
        guard let value else {
            self = .constant(.null)
            return
        }
        if let elements = value.elements {
            self = .aggregate(elements.compactMap { Expression(archivedConstant: $0) })
            return
        }
        guard let constant = ExpressionValue(archived: value) else { return nil }
        self = .constant(constant)
    }

    private init?(archivedKeyPath value: KeyedArchive.Value, depth: Int) {
        guard let operand = value["NSOperand"].flatMap({ Expression(archived: $0, depth: depth + 1) }),
            let path = value["NSArguments"]?.elements?.first?["NSKeyPath"]?.string
        else { return nil }
        self = .keyPath(path, of: operand)
    }

    /// The target is the class of Foundation's own functions, or any other expression.
    private init?(archivedFunction value: KeyedArchive.Value, depth: Int) {
        guard let selector = value["NSSelectorName"]?.string,
            let arguments = Self.list(value["NSArguments"], depth), let operand = value["NSOperand"]
        else { return nil }
        if operand["NSConstantValueClassName"]?.string == "_NSPredicateUtilities" {
            self = .function(selector, arguments)
        } else {
            guard let target = Expression(archived: operand, depth: depth + 1) else { return nil }
            self = .message(selector, to: target, arguments)
        }
    }

    /// Nil if one of the expressions is not known.
    private static func list(_ value: KeyedArchive.Value?, _ depth: Int) -> [Expression]? {
        guard let elements = value?.elements else { return [] }
        let expressions = elements.compactMap { Expression(archived: $0, depth: depth + 1) }
        return expressions.count == elements.count ? expressions : nil
    }
}

extension ExpressionValue {
    init?(archived value: KeyedArchive.Value) {
        switch value.content {
        case .null: self = .null
        case .boolean(let flag): self = .boolean(flag)
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .string(let text): self = .string(text)
        case .data(let bytes): self = .data(bytes)
        default:
            if let text = value.string {
                self = .string(text)
            } else if let seconds = value.date {
                self = .date(seconds)
            } else if let bytes = value.data {
                self = .data(bytes)
            } else if let digits = DecimalNumber(archived: value)?.text {
                self = .decimal(digits)
            } else if value.className == "NSNull" {
                self = .null
            } else {
                return nil
            }
        }
    }
}

extension Predicate {
    private static let depthLimit = 100

    /// The archived `NSPredicate`; nil if it or a part of it is of a class that Moult does not know.
    init?(archived value: KeyedArchive.Value, depth: Int = 0) {
        guard depth < Self.depthLimit else { return nil }
        switch value.className {
        case "NSTruePredicate": self = .constant(true)
        case "NSFalsePredicate": self = .constant(false)
        case "NSCompoundPredicate": self.init(archivedCompound: value, depth: depth)
        case "NSComparisonPredicate": self.init(archivedComparison: value, depth: depth)
        default: return nil
        }
    }

    private init?(archivedCompound value: KeyedArchive.Value, depth: Int) {
        let elements = value["NSSubpredicates"]?.elements ?? []
        let parts = elements.compactMap { Predicate(archived: $0, depth: depth + 1) }
        guard parts.count == elements.count else { return nil }
        switch value["NSCompoundPredicateType"]?.integer {
        case 0:
            guard let part = parts.first, parts.count == 1 else { return nil }
            self = .not(part)
        case 1: self = .and(parts)
        case 2: self = .or(parts)
        default: return nil
        }
    }

    private init?(archivedComparison value: KeyedArchive.Value, depth: Int) {
        guard let left = value["NSLeftExpression"].flatMap({ Expression(archived: $0, depth: depth + 1) }),
            let right = value["NSRightExpression"].flatMap({ Expression(archived: $0, depth: depth + 1) }),
            let archived = value["NSPredicateOperator"],
            let `operator` = archived["NSOperatorType"]?.integer.flatMap(Int.init(exactly:)).flatMap(Operator.init),
            let modifier = Modifier(rawValue: Int(archived["NSModifier"]?.integer ?? 0))
        else { return nil }
        // Operators of strings keep their options under another key than those of values.
        let options = (archived["NSFlags"] ?? archived["NSOptions"])?.integer ?? 0
        self = .comparison(
            Comparison(
                left, `operator`, right, modifier: modifier,
                options: Options(rawValue: Int(truncatingIfNeeded: options) & 15)))
    }
}
