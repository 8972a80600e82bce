/// The functions of the format language, by the selectors that Foundation keeps them under.
package enum ExpressionFunction: Sendable, Hashable {
    case aggregate(Aggregate)
    case arithmetic(Expression.Arithmetic)
    case mathematics(Mathematics)
    case bits(Bits)
    case text(Text)
    /// `now()`
    case now
    /// `random()`: a real from 0 up to 1, without 1.
    case random
    /// `random:(n)`: an integer from 0 up to n, without n.
    case randomBelow
    /// `noindex:(x)`: x.
    case noIndex
    /// `castObject:toType:(x, "NSDate")`: ``ExpressionValue/cast(to:)``.
    case cast
    /// As Swift does it.
    case inSwift(InSwift)
    /// `objectFrom:withIndex:(x, 0)`, `x[0]`, `x[FIRST]`, `x[LAST]`, `x[SIZE]`: nil if there is no such element.
    case element

    package enum Text: String, Sendable, CaseIterable {
        case uppercase = "uppercase:"
        case lowercase = "lowercase:"
        /// Without case and diacritics: ``Swift/String/canonical``.
        case canonical = "canonical:"
        /// Unicode scalars of a text, bytes of data.
        case length = "length:"
    }

    /// Nil for a selector that no function has.
    package init?(_ selector: String) {
        guard let function = Self.bySelector[selector] else { return nil }
        self = function
    }

    package static let bySelector: [String: ExpressionFunction] = {
        var functions: [String: ExpressionFunction] = [
            "now": .now, "random": .random, "random:": .randomBelow, "noindex:": .noIndex, "castObject:toType:": .cast,
            "objectFrom:withIndex:": .element,
        ]
        for function in Aggregate.allCases { functions[function.rawValue] = .aggregate(function) }
        for function in Expression.Arithmetic.allCases { functions[function.rawValue] = .arithmetic(function) }
        for function in Mathematics.allCases { functions[function.rawValue] = .mathematics(function) }
        for function in Bits.allCases { functions[function.rawValue] = .bits(function) }
        for function in Text.allCases { functions[function.rawValue] = .text(function) }
        for function in InSwift.allCases { functions[function.rawValue] = .inSwift(function) }
        return functions
    }()

    package var selector: String {
        switch self {
        case .aggregate(let function): function.rawValue
        case .arithmetic(let function): function.rawValue
        case .mathematics(let function): function.rawValue
        case .bits(let function): function.rawValue
        case .text(let function): function.rawValue
        case .inSwift(let function): function.rawValue
        case .now: "now"
        case .random: "random"
        case .randomBelow: "random:"
        case .noIndex: "noindex:"
        case .cast: "castObject:toType:"
        case .element: "objectFrom:withIndex:"
        }
    }

    /// Returns the value of the function for its arguments; nil of nil, but for aggregates, which take it as no
    /// elements.
    ///
    /// - Parameter now: seconds since 2001-01-01 00:00:00 UTC.
    /// - Throws: `MigrationError` with code `invalidPredicate` for arguments of a wrong number or kind.
    package func value(
        _ arguments: [ExpressionValue], now: @autoclosure () -> Double
    ) throws(MigrationError) -> ExpressionValue {
        try checkCount(of: arguments)
        switch self {
        case .aggregate(let function):
            return try function.value(of: arguments.count == 1 ? arguments[0].elements : arguments)
        case .now: return .date(now())
        case .random: return .real(Double.random(in: 0..<1))
        default: break
        }
        if arguments.contains(where: \.isNull) { return .null }
        switch self {
        case .arithmetic(let function): return try function.value(arguments[0], arguments[1])
        case .mathematics(let function): return try function.value(arguments)
        case .bits(let function): return try function.value(arguments)
        case .text(let function): return try value(function, of: arguments[0])
        case .inSwift(let function): return try function.value(arguments)
        case .randomBelow:
            let limit = try Bits.integer(arguments[0], selector)
            return limit > 0 ? .integer(Int64.random(in: 0..<limit)) : .null
        case .cast:
            guard let type = arguments[1].text else { throw wrong(arguments[1]) }
            return try arguments[0].cast(to: type)
        case .element: return try element(arguments[1], of: arguments[0])
        default: return arguments[0]
        }
    }

    private func value(_ function: Text, of value: ExpressionValue) throws(MigrationError) -> ExpressionValue {
        if function == .length, case .data(let bytes) = value { return .integer(Int64(bytes.count)) }
        guard let text = value.text else { throw wrong(value) }
        switch function {
        case .uppercase: return .string(text.uppercased())
        case .lowercase: return .string(text.lowercased())
        case .canonical: return .string(text.canonical)
        case .length: return .integer(Int64(text.unicodeScalars.count))
        }
    }

    private func element(
        _ index: ExpressionValue, of value: ExpressionValue
    ) throws(MigrationError) -> ExpressionValue {
        guard case .collection(let elements) = value else { throw wrong(value) }
        switch index {
        case .string(Expression.Index.first.rawValue): return elements.first ?? .null
        case .string(Expression.Index.last.rawValue): return elements.last ?? .null
        case .string(Expression.Index.size.rawValue): return .integer(Int64(elements.count))
        default:
            let position = try Bits.integer(index, selector)
            return elements.indices.contains(Int(position)) ? elements[Int(position)] : .null
        }
    }

    private func checkCount(of arguments: [ExpressionValue]) throws(MigrationError) {
        if case .aggregate = self {
            guard arguments.isEmpty else { return }
        } else if selector.count(where: { $0 == ":" }) == arguments.count {
            return
        }
        let count = selector.count { $0 == ":" }
        throw .predicate(
            "\(selector) takes \(count) arguments instead of \(arguments.count).",
            remedy: "Give it that number of arguments.")
    }

    private func wrong(_ value: ExpressionValue) -> MigrationError {
        .predicate("\(selector) cannot take \(value.kind.name).", remedy: "Give it a value of another kind.")
    }
}

extension Expression {
    /// A word that may stand in the brackets of `x[…]` instead of a number; kept as a text.
    package enum Index: String, Sendable, CaseIterable {
        case first = "FIRST"
        case last = "LAST"
        case size = "SIZE"
    }
}
