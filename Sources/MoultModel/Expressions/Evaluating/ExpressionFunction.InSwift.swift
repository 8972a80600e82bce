extension ExpressionFunction {
    /// Functions of Swift on texts and numbers, for predicates that are written in it. Nothing of a locale is in them.
    package enum InSwift: String, Sendable, CaseIterable {
        /// The canonically composed form (NFC): Swift's texts are equal where these are, and ordered by them.
        case composed = "composed:"
        /// The number of characters (grapheme clusters) in a text.
        case characterCount = "characterCount:"
        /// Whether the characters of the second text stand somewhere in the first.
        case contains = "text:contains:"
        /// Whether the first text begins with the characters of the second.
        case starts = "text:startsWith:"
        /// -1, 0 or 1: the order of two texts without their case.
        case caseInsensitiveOrder = "text:caseInsensitiveCompare:"
        /// -1, 0 or 1: the order of two texts as people sort them (``Swift/String/collationKey(isNumeric:)``).
        case localizedOrder = "text:localizedCompare:"
        /// The sort key of texts, in the order in which people sort them.
        case localizedKey = "localizedKey:"
        /// The same, with the numbers in them by their value, as file names are listed.
        case standardKey = "localizedStandardKey:"
        /// A number rounded to a Float.
        case singlePrecision = "singlePrecision:"
        /// A quotient of reals, infinite where the divisor is 0.
        case quotient = "real:dividedBy:"

        /// - Throws: `MigrationError` with code `invalidPredicate` for values of another kind.
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
    /// Whether the characters of another text stand in this one, one after the other, as `contains` of collections has
    /// it: `é` does not contain `e`, however it is written.
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
