import Foundation
import MoultModel

extension PredicateExpressions.Equal: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let terms = (try translation.term(lhs), try translation.term(rhs))
        if case (.constant, .constant) = terms { return try translation.constant(self) }
        return .condition(try translation.equality(terms.0, terms.1, of: LHS.Output.self, self))
    }
}

extension PredicateExpressions.NotEqual: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let terms = (try translation.term(lhs), try translation.term(rhs))
        if case (.constant, .constant) = terms { return try translation.constant(self) }
        return .condition(try translation.equality(terms.0, terms.1, of: LHS.Output.self, self).negated)
    }
}

extension PredicateExpressions.Comparison: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let terms = (try translation.term(lhs), try translation.term(rhs))
        if case (.constant, .constant) = terms { return try translation.constant(self) }
        if let condition = caseOrder(terms.0, terms.1, translation) { return .condition(condition) }
        let left = try translation.expression(terms.0, of: lhs)
        let right = try translation.expression(terms.1, of: rhs)
        return .condition(try translation.order(left, op.stored, right, of: LHS.Output.self, self))
    }
}

extension PredicateExpressions.Comparison {
    /// Returns the comparison of an enum with a constant, as a list of the cases for which the enum's own operator
    /// holds; nil for any other type, and if the cases are unknown.
    private func caseOrder(
        _ left: PredicateTerm, _ right: PredicateTerm, _ translation: PredicateTranslation
    ) -> StoredPredicate? {
        guard !(LHS.Output.self is any PersistentValue.Type), let cases = allCases(LHS.Output.self) else { return nil }
        let (left, right) = (translation.value(of: left, self), translation.value(of: right, self))
        let (column, fitting): (StoredExpression, [LHS.Output])
        switch (left, right) {
        case (.value(let expression), .constant(let value as LHS.Output)):
            (column, fitting) = (expression, cases.filter { op.holds($0, value) })
        case (.constant(let value as LHS.Output), .value(let expression)):
            (column, fitting) = (expression, cases.filter { op.holds(value, $0) })
        default: return nil
        }
        let values = fitting.compactMap(ExpressionValue.init(predicateConstant:))
        guard values.count == fitting.count else { return nil }
        return .compare(column, .in, .constant(.collection(values)))
    }
}

/// Returns all values of an enum without associated values, or of a type that lists them; nil for any other type.
func allCases<Value>(_ type: Value.Type) -> [Value]? {
    if let type = type as? any CaseIterable.Type { return type.cases as? [Value] }
    return EnumCases.values(of: type)?.map(\.value)
}

extension CaseIterable {
    fileprivate static var cases: [Any] { Array(allCases) }
}

extension PredicateTranslation {
    /// Returns an enum of several columns as a single value, and any other term unchanged.
    fileprivate func value(of term: PredicateTerm, _ part: some PredicateExpression) -> PredicateTerm {
        guard case .composite(_, .cases) = term, let value = try? expression(term, of: part) else { return term }
        return .value(value)
    }
}

extension PredicateExpressions.ComparisonOperator {
    fileprivate func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .lessThan: left < right
        case .lessThanOrEqual: left <= right
        case .greaterThan: left > right
        case .greaterThanOrEqual: left >= right
        @unknown default: false
        }
    }

    fileprivate var stored: StoredPredicate.Operator {
        switch self {
        case .lessThan: .lessThan
        case .lessThanOrEqual: .lessThanOrEqual
        case .greaterThan: .greaterThan
        case .greaterThanOrEqual: .greaterThanOrEqual
        @unknown default: .equal
        }
    }
}

extension PredicateTranslation {
    /// Translates `==` for two values of a type, at least one of which is not known yet.
    func equality(
        _ left: PredicateTerm, _ right: PredicateTerm, of type: Any.Type, _ part: some PredicateExpression
    ) throws -> StoredPredicate {
        switch (left, right) {
        case (.constant(let value), let other), (let other, .constant(let value)):
            if isNilValue(value) { return presence(other)?.negated ?? .constant(false) }
            if case .condition(let condition, let present) = other, let value = plain(value) as? Bool {
                return .all(present, value ? condition : condition.negated) ?? .constant(true)
            }
            if case .composite(let attribute, .cases) = other,
                case .string(let name)? = ExpressionValue(predicateConstant: value)
            {
                return .compare(attribute.property(name), .equal, .constant(.string(name)))
            }
        case (.collection, _), (_, .collection):
            throw refuse(part, "two to-many relationships are compared as if they were values")
        default: break
        }
        let (left, right) = (try expression(left, of: part), try expression(right, of: part))
        return StoredText.isText(type) ? StoredText.equal(left, right) : .compare(left, .equal, right)
    }

    /// Returns a value with its optionals removed; nil stays an optional.
    private func plain(_ value: Any) -> Any {
        guard let optional = value as? any NilTest, let wrapped = optional.wrapped else { return value }
        return plain(wrapped)
    }

    /// Translates `<` and the other order operators for two values of a type.
    func order(
        _ left: StoredExpression, _ operator: StoredPredicate.Operator, _ right: StoredExpression, of type: Any.Type,
        _ part: some PredicateExpression
    ) throws -> StoredPredicate {
        if StoredText.isText(type) { return StoredText.compare(left, `operator`, right) }
        if StoredNumber.isFolded(type) {
            return .compare(StoredNumber.ordered(left), `operator`, StoredNumber.ordered(right))
        }
        guard type is any PersistentValue.Type else {
            throw refuse(part, "\(type) has its own order, which the store does not know")
        }
        return .compare(left, `operator`, right)
    }
}

extension PredicateExpressions.Arithmetic: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let selector: StoredExpression.Arithmetic =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: throw translation.refuse(self, "the operator is not known")
            }
        return try translation.arithmetic(selector.rawValue, lhs, rhs, self)
    }
}

extension PredicateExpressions.IntDivision: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try translation.arithmetic(StoredExpression.Arithmetic.divide.rawValue, lhs, rhs, self)
    }
}

extension PredicateExpressions.IntRemainder: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try translation.arithmetic("modulus:by:", lhs, rhs, self)
    }
}

extension PredicateExpressions.FloatDivision: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        // For the divisor 0, SQLite's operator returns NULL and Swift's returns an infinity.
        try translation.arithmetic(ExpressionFunction.InSwift.quotient.rawValue, lhs, rhs, self)
    }
}

extension PredicateExpressions.UnaryMinus: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let inner = try translation.term(wrapped)
        if case .constant = inner { return try translation.constant(self) }
        let number = try translation.expression(inner, of: wrapped)
        return .value(
            .function(StoredExpression.Arithmetic.subtract.rawValue, [.constant(.integer(0)), number]))
    }
}

extension PredicateTranslation {
    fileprivate mutating func arithmetic<Left: PredicateExpression, Right: PredicateExpression>(
        _ selector: String, _ left: Left, _ right: Right, _ part: some PredicateExpression
    ) throws -> PredicateTerm {
        let terms = (try term(left), try term(right))
        if case (.constant, .constant) = terms { return try constant(part) }
        if StoredNumber.isFolded(Left.Output.self) {
            throw refuse(
                part, "numbers of \(Left.Output.self) are kept as signed ones, which cannot be calculated with")
        }
        let result = StoredExpression.function(
            selector, [try expression(terms.0, of: left), try expression(terms.1, of: right)])
        // A sum of two floats, computed with doubles and then rounded, equals the sum of the floats.
        return .value(
            Left.Output.self == Float.self
                ? .function(ExpressionFunction.InSwift.singlePrecision.rawValue, [result]) : result)
    }
}

/// The form of numbers in columns, which have no unsigned types: a number above the signed range is stored with the
/// same bits.
enum StoredNumber {
    /// Returns the number that a column of the type holds.
    static func expression(_ column: StoredExpression, of type: Any.Type) -> StoredExpression {
        switch withoutOptionals(type) {
        case is UInt16.Type: .function("bitwiseAnd:with:", [column, .constant(.integer(0xFFFF))])
        case is UInt32.Type: .function("bitwiseAnd:with:", [column, .constant(.integer(0xFFFF_FFFF))])
        default: column
        }
    }

    /// Returns whether numbers of the type above the signed range are stored as negative ones.
    static func isFolded(_ type: Any.Type) -> Bool {
        let type = withoutOptionals(type)
        return type == UInt.self || type == UInt64.self
    }

    /// Returns a number that sorts like the unsigned one that is stored with the same bits.
    static func ordered(_ number: StoredExpression) -> StoredExpression {
        // The format language has no literal for the lowest number.
        let lowest = StoredExpression.function(
            StoredExpression.Arithmetic.subtract.rawValue, [.constant(.integer(-.max)), .constant(.integer(1))])
        return .function("bitwiseXor:with:", [number, lowest])
    }
}
