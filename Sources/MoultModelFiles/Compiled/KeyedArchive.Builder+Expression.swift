import MoultBasics
import MoultModel

/// Writes expressions and predicates as Foundation's classes. Equality, order, IN, CONTAINS, key paths, constants and
/// functions match real model caches. The other string operators follow Foundation's coding, unconfirmed by any real
/// cache.
extension KeyedArchive.Builder {
    /// - Throws: `MigrationError` with code `unsupported` for an expression without a known archived form.
    package mutating func add(_ expression: Expression) throws(MigrationError) -> PropertyList {
        switch expression {
        case .constant(let constant):
            return try add(constant: add(constant))
        case .evaluatedObject:
            return object(classes: ["NSSelfExpression", "NSExpression", "NSObject"], ["NSExpressionType": .integer(1)])
        case .variable(let name):
            return object(
                classes: ["NSVariableExpression", "NSExpression", "NSObject"],
                ["NSExpressionType": .integer(2), "NSVariable": string(name)])
        case .keyPath(let path, let base): return try add(keyPath: path, of: base)
        case .function(let selector, let arguments):
            let library = object(
                classes: ["NSConstantValueExpression", "NSExpression", "NSObject"],
                ["NSExpressionType": .integer(0), "NSConstantValueClassName": string("_NSPredicateUtilities")])
            return try add(call: selector, of: library, arguments)
        case .message(let selector, let target, let arguments):
            // A call parsed from text has the parser's mutable list; other calls have an immutable one.
            let isParsed = selector != EntityMapping.fetchSelector
            return try add(call: selector, of: try add(target), arguments, isParsed: isParsed)
        case .aggregate(let elements):
            let list = array(try add(list: elements))
            return object(
                classes: ["NSAggregateExpression", "NSExpression", "NSObject"],
                ["NSExpressionType": .integer(14), "NSCollection": list])
        case .subquery, .conditional:
            throw MigrationError(
                .unsupported, "The form of \(expression.format) in a compiled model is not known.",
                place: expression.format,
                remedy: "Write the store without a model cache, or avoid SUBQUERY and TERNARY.")
        }
    }

    private mutating func add(constant value: PropertyList) -> PropertyList {
        object(
            classes: ["NSConstantValueExpression", "NSExpression", "NSObject"],
            ["NSExpressionType": .integer(0), "NSConstantValue": value])
    }

    private mutating func add(
        call selector: String, of target: PropertyList, _ arguments: [Expression], isParsed: Bool = false
    ) throws(MigrationError) -> PropertyList {
        let list = array(try add(list: arguments), isMutable: isParsed)
        return object(
            classes: ["NSFunctionExpression", "NSExpression", "NSObject"],
            [
                "NSExpressionType": .integer(4), "NSOperand": target, "NSSelectorName": string(selector),
                "NSArguments": list,
            ])
    }

    /// Writes a key path. A path of one name is a separate expression type.
    private mutating func add(keyPath path: String, of base: Expression) throws(MigrationError) -> PropertyList {
        let operand = try add(base)
        let specifier = object(
            classes: ["NSKeyPathSpecifierExpression", "NSExpression", "NSObject"],
            ["NSExpressionType": .integer(10), "NSKeyPath": string(path)])
        let isSimple = base == .evaluatedObject && !path.contains(".")
        return object(
            classes: ["NSKeyPathExpression", "NSFunctionExpression", "NSExpression", "NSObject"],
            [
                "NSExpressionType": .integer(isSimple ? 3 : 4), "NSOperand": operand,
                "NSSelectorName": string(isSimple ? "valueForKey:" : "valueForKeyPath:"),
                "NSArguments": array([specifier], isMutable: true),
            ])
    }

    private mutating func add(list: [Expression]) throws(MigrationError) -> [PropertyList] {
        var references: [PropertyList] = []
        for expression in list { references.append(try add(expression)) }
        return references
    }

    private mutating func add(_ constant: ExpressionValue) throws(MigrationError) -> PropertyList {
        switch constant {
        case .null: return Self.null
        case .boolean(let flag): return leaf(.boolean(flag))
        case .integer(let number): return leaf(.integer(number))
        case .real(let number): return leaf(.real(number))
        case .decimal(let digits): return try add(decimal: digits, place: "")
        case .string(let text): return string(text)
        case .date(let seconds): return add(date: seconds)
        case .data(let bytes): return leaf(.data(bytes))
        case .uuid, .uri, .object, .collection:
            throw MigrationError(
                .unsupported, "A constant of this kind has no known archived form.", remedy: "Write it as a text.")
        }
    }

    // MARK: Predicates

    /// - Throws: `MigrationError` with code `unsupported` for a predicate without a known archived form.
    mutating func add(_ predicate: Predicate) throws(MigrationError) -> PropertyList {
        switch predicate {
        case .constant(let value):
            return object(classes: [value ? "NSTruePredicate" : "NSFalsePredicate", "NSPredicate", "NSObject"], [:])
        case .not(let part): return try add(compound: 0, [part])
        case .and(let parts): return try add(compound: 1, parts)
        case .or(let parts): return try add(compound: 2, parts)
        case .comparison(let comparison):
            let left = try add(comparison.left)
            let right = try add(comparison.right)
            let `operator` = add(operatorOf: comparison)
            return object(
                classes: ["NSComparisonPredicate", "NSPredicate", "NSObject"],
                ["NSLeftExpression": left, "NSRightExpression": right, "NSPredicateOperator": `operator`])
        }
    }

    private mutating func add(compound type: Int64, _ parts: [Predicate]) throws(MigrationError) -> PropertyList {
        var references: [PropertyList] = []
        for part in parts { references.append(try add(part)) }
        let list = array(references)
        return object(
            classes: ["NSCompoundPredicate", "NSPredicate", "NSObject"],
            ["NSCompoundPredicateType": .integer(type), "NSSubpredicates": list])
    }

    private mutating func add(operatorOf comparison: Predicate.Comparison) -> PropertyList {
        let options = PropertyList.integer(Int64(comparison.options.rawValue))
        let number = Int64(comparison.operator.rawValue)
        var fields: [String: PropertyList] = [
            "NSModifier": .integer(Int64(comparison.modifier.rawValue)), "NSOperatorType": .integer(number),
        ]
        var classes = ["NSPredicateOperator", "NSObject"]
        switch comparison.operator {
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            classes.insert("NSComparisonPredicateOperator", at: 0)
            fields.merge(["NSOptions": options, "NSVariant": .integer(number)]) { $1 }
        case .equal, .notEqual:
            classes.insert("NSEqualityPredicateOperator", at: 0)
            fields.merge(["NSOptions": options, "NSNegate": .boolean(comparison.operator == .notEqual)]) { $1 }
        case .in, .contains:
            classes.insert("NSInPredicateOperator", at: 0)
            fields["NSFlags"] = options
        case .between: classes.insert("NSBetweenPredicateOperator", at: 0)
        case .matches:
            classes = ["NSMatchingPredicateOperator", "NSStringPredicateOperator"] + classes
            fields["NSFlags"] = options
        case .like:
            classes = ["NSLikePredicateOperator", "NSMatchingPredicateOperator", "NSStringPredicateOperator"] + classes
            fields["NSFlags"] = options
        case .beginsWith, .endsWith:
            classes = ["NSSubstringPredicateOperator", "NSStringPredicateOperator"] + classes
            fields["NSFlags"] = options
            fields["NSSubstringPosition"] = .integer(comparison.operator == .beginsWith ? 0 : 1)
        }
        return object(classes: classes, fields)
    }

    // MARK: Foundation's values

    mutating func add(date seconds: Double) -> PropertyList {
        object(classes: ["NSDate", "NSObject"], ["NS.time": .real(seconds)])
    }

    mutating func add(decimal digits: String, place: String) throws(MigrationError) -> PropertyList {
        guard let number = DecimalNumber(digits) else {
            throw .modelInvalid(
                "\(digits) is not a decimal number of up to 38 digits.", place: place, remedy: "Correct the number.")
        }
        return object(
            classes: ["NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue", "NSObject"],
            [
                "NS.mantissa": .data(number.mantissaBytes), "NS.mantissa.bo": .integer(1),
                "NS.negative": .boolean(number.isNegative), "NS.exponent": .integer(Int64(number.exponent)),
                "NS.length": .integer(Int64(number.mantissaLength)), "NS.compact": .boolean(false),
            ])
    }
}

extension DecimalNumber {
    /// Eight words of sixteen bits, the least significant first, each in little-endian order.
    fileprivate var mantissaBytes: [UInt8] { (0..<16).map { UInt8(truncatingIfNeeded: mantissa >> (8 * $0)) } }

    /// The number of sixteen-bit words of the mantissa in use.
    fileprivate var mantissaLength: Int { (128 - mantissa.leadingZeroBitCount + 15) / 16 }
}
