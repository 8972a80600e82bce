import MoultBasics

/// The functions of the format language, by their selectors in Foundation.
package enum ExpressionFunction: Sendable, Hashable {
    case aggregate(Aggregate)
    case arithmetic(Expression.Arithmetic)
    case mathematics(Mathematics)
    case bits(Bits)
    case text(Text)
    /// `now()`
    case now
    /// `random()`: a real from 0 up to but not including 1.
    case random
    /// `random:(n)`: an integer from 0 up to but not including n.
    case randomBelow
    /// `noindex:(x)`: x.
    case noIndex
    /// `distinct:(x)`: the elements of x, each once, without nil.
    case distinct
    /// `castObject:toType:(x, "NSDate")`: ``ExpressionValue/cast(to:)``.
    case cast
    /// A function with Swift's semantics.
    case inSwift(InSwift)
    /// `objectFrom:withIndex:(x, 0)`, `x[0]`, `x[FIRST]`, `x[LAST]`, `x[SIZE]`: nil if there is no such element.
    case element

    package enum Text: String, Sendable, CaseIterable {
        case uppercase = "uppercase:"
        case lowercase = "lowercase:"
        /// The text without case and diacritics: ``Swift/String/canonical``.
        case canonical = "canonical:"
        /// The number of Unicode scalars of a text, or of bytes of data.
        case length = "length:"
    }

    /// Returns nil for a selector of no function.
    package init?(_ selector: String) {
        guard let function = Self.bySelector[selector] else { return nil }
        self = function
    }

    package static let bySelector: [String: ExpressionFunction] = {
        var functions: [String: ExpressionFunction] = [
            "now": .now, "random": .random, "random:": .randomBelow, "noindex:": .noIndex, "distinct:": .distinct,
            "castObject:toType:": .cast,
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
        case .distinct: "distinct:"
        case .cast: "castObject:toType:"
        case .element: "objectFrom:withIndex:"
        }
    }

    /// Returns the function's value for its arguments; nil if an argument is nil, except for aggregates, which treat
    /// nil as no elements.
    ///
    /// - Parameter now: the current time, in seconds since 2001-01-01 00:00:00 UTC.
    /// - Throws: `MigrationError` with code `invalidPredicate` for a wrong number or kind of arguments.
    package func value(
        _ arguments: [ExpressionValue], now: @autoclosure () -> Double
    ) throws(MigrationError) -> ExpressionValue {
        try checkCount(of: arguments)
        switch self {
        case .aggregate(let function):
            return try function.value(of: arguments.count == 1 ? arguments[0].elements : arguments)
        case .distinct: return try CollectionOperator.distinctUnionOfObjects.value(of: arguments[0].elements)
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
    /// A word in the brackets of `x[…]` instead of a number; stored as a text.
    package enum Index: String, Sendable, CaseIterable {
        case first = "FIRST"
        case last = "LAST"
        case size = "SIZE"
    }
}

extension ExpressionFunction {
    /// Swift's functions on texts and numbers, for predicates written in Swift. None of them depends on a locale.
    package enum InSwift: String, Sendable, CaseIterable {
        /// The canonically composed form (NFC), which determines equality and order of texts in Swift.
        case composed = "composed:"
        /// The number of characters (grapheme clusters) in a text.
        case characterCount = "characterCount:"
        /// Whether the characters of the second text occur in the first.
        case contains = "text:contains:"
        /// Whether the first text begins with the characters of the second.
        case starts = "text:startsWith:"
        /// The order of two texts, ignoring case: -1, 0 or 1.
        case caseInsensitiveOrder = "text:caseInsensitiveCompare:"
        /// The order of two texts as people sort them: -1, 0 or 1 (``Swift/String/collationKey(isNumeric:)``).
        case localizedOrder = "text:localizedCompare:"
        /// The key that sorts texts as people do.
        case localizedKey = "localizedKey:"
        /// The same with numbers sorted by value, as in a list of file names.
        case standardKey = "localizedStandardKey:"
        /// A number rounded to a Float.
        case singlePrecision = "singlePrecision:"
        /// A quotient of reals; infinite if the divisor is 0.
        case quotient = "real:dividedBy:"

        /// - Throws: `MigrationError` with code `invalidPredicate` for values of the wrong kind.
        package func value(_ arguments: [ExpressionValue]) throws(MigrationError) -> ExpressionValue {
            switch self {
            case .singlePrecision: return .real(Double(Float(try number(arguments[0]))))
            case .quotient: return .finite(try number(arguments[0]) / number(arguments[1]))
            case .composed: return .string(try text(arguments[0]).composed)
            case .characterCount: return .integer(Int64(try text(arguments[0]).count))
            case .localizedKey: return .string(try text(arguments[0]).collationKey(isNumeric: false))
            case .standardKey: return .string(try text(arguments[0]).collationKey(isNumeric: true))
            case .contains, .starts, .caseInsensitiveOrder, .localizedOrder:
                return value(try text(arguments[0]), try text(arguments[1]))
            }
        }

        private func value(_ left: String, _ right: String) -> ExpressionValue {
            switch self {
            case .contains: .boolean(left.containsCharacters(of: right))
            case .starts: .boolean(left.starts(with: right))
            case .caseInsensitiveOrder: .order(left.folded(.caseInsensitive), right.folded(.caseInsensitive))
            default: .order(left.collationKey(isNumeric: false), right.collationKey(isNumeric: false))
            }
        }

        private func text(_ value: ExpressionValue) throws(MigrationError) -> String {
            if let text = value.text { return text }
            throw .predicate("\(rawValue) cannot take \(value.kind.name).", remedy: "Give it a text.")
        }

        private func number(_ value: ExpressionValue) throws(MigrationError) -> Double {
            if let number = value.number { return number.double }
            throw .predicate("\(rawValue) cannot take \(value.kind.name).", remedy: "Give it a number.")
        }
    }
}

extension ExpressionValue {
    fileprivate static func order(_ left: String, _ right: String) -> ExpressionValue {
        .integer(left.utf8.elementsEqual(right.utf8) ? 0 : left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1)
    }
}

extension String {
    /// Whether the characters of `part` occur in sequence in this text, like `contains` of collections: `é` does not
    /// contain `e`, in either normalization form.
    package func containsCharacters(of part: String) -> Bool {
        if part.isEmpty { return true }
        let wanted = Array(part)
        var rest = self[...]
        while let start = rest.firstIndex(of: wanted[0]) {
            if rest[start...].starts(with: wanted) { return true }
            rest = rest[start...].dropFirst()
        }
        return false
    }
}
