import MoultBasics
import MoultModel

extension Expression {
    /// Reads the value expression of a property mapping.
    /// - Throws: `unsupported` with the class and the selector of an unknown expression; `modelInvalid` if it contains
    ///   itself or is nested too deeply.
    init(mapped value: KeyedArchive.Value, place: String) throws(MigrationError) {
        guard ArchivedExpression(value).isSmall else {
            throw .modelInvalid(
                "The value expression is nested too deeply.", place: place, remedy: "Write a shorter expression.")
        }
        guard let expression = Expression(archived: value) else {
            throw MigrationError(
                .unsupported,
                "The value expression is of a kind that Moult does not know: \(ArchivedExpression(value)).",
                place: place, remedy: "Compute the value in a migration policy instead.")
        }
        self = expression
    }
}

/// An expression in an archive, whose class Moult may or may not know.
struct ArchivedExpression: CustomStringConvertible {
    /// Far above the largest of the known mapping models, which has fewer than ten parts.
    private static let sizeLimit = 4096
    private static let knownClasses: Set<String> = [
        "NSConstantValueExpression", "NSSelfExpression", "NSVariableExpression", "NSKeyPathExpression",
        "NSKeyPathSpecifierExpression", "NSFunctionExpression", "NSAggregateExpression", "NSSubqueryExpression",
    ]

    private let value: KeyedArchive.Value

    init(_ value: KeyedArchive.Value) { self.value = value }

    /// Whether the expression has few parts when all references are followed. Shared parts count each time, because
    /// reading copies them: a hundred objects that each contain the next one twice have 2¹⁰⁰ parts.
    var isSmall: Bool {
        var sizes: [Int: Int] = [:]
        var budget = Self.sizeLimit
        return (size(of: value, &sizes, &budget) ?? .max) <= Self.sizeLimit
    }

    /// Returns the number of parts; nil if it is infinite, or if the archive has too many objects to count.
    private func size(of value: KeyedArchive.Value, _ sizes: inout [Int: Int], _ budget: inout Int) -> Int? {
        if let identity = value.identity {
            // 0 marks an object that is still being counted, and that therefore contains itself.
            if let known = sizes[identity] { return known == 0 ? nil : known }
            sizes[identity] = 0
        }
        budget -= 1
        guard budget > 0 else { return nil }
        var total = 1
        for part in Self.parts(of: value) {
            guard let size = size(of: part, &sizes, &budget) else { return nil }
            total = min(total + size, Self.sizeLimit + 1)
        }
        if let identity = value.identity { sizes[identity] = total }
        return total
    }

    private static func parts(of value: KeyedArchive.Value) -> [KeyedArchive.Value] {
        (value.elements ?? []) + value.keys.filter { $0 != "NS.objects" }.compactMap { value[$0] }
    }

    /// The class of the first unknown part, and the selector if that part or the whole expression is a call.
    var description: String {
        let unknown = firstUnknown(in: value, depth: 0) ?? value
        let selector = (unknown["NSSelectorName"] ?? value["NSSelectorName"])?.string
        return (unknown.className ?? "no expression") + (selector.map { " (\($0))" } ?? "")
    }

    private func firstUnknown(in value: KeyedArchive.Value, depth: Int) -> KeyedArchive.Value? {
        guard depth < 16, let name = value.className, name.hasSuffix("Expression") || depth == 0 else { return nil }
        guard Self.knownClasses.contains(name) else { return value }
        let operands = ["NSOperand", "NSCollection"].compactMap { value[$0] }
        let arguments = value["NSArguments"]?.elements ?? []
        let parts = operands + operands.flatMap { $0.elements ?? [] } + arguments
        return parts.lazy.compactMap { firstUnknown(in: $0, depth: depth + 1) }.first
    }
}

/// Foundation's classes for expressions and predicates, as stored in archives.
extension Expression {
    private static let depthLimit = 100

    /// Reads an archived `NSExpression`; nil if Moult does not know its class, or if it is nested too deeply.
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

    /// Reads a function. Its target is the class of Foundation's own functions, or any other expression.
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

    /// Reads a list; nil if one of the expressions is unknown.
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

    /// Reads an archived `NSPredicate`; nil if Moult does not know its class or that of a part.
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
        // String operators store their options under a different key than value operators.
        let options = (archived["NSFlags"] ?? archived["NSOptions"])?.integer ?? 0
        self = .comparison(
            Comparison(
                left, `operator`, right, modifier: modifier,
                options: Options(rawValue: Int(truncatingIfNeeded: options) & 15)))
    }
}
