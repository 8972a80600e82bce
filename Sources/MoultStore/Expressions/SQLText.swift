import MoultSQLite

/// A piece of SQL with the values of its parameters, in the order in which they stand.
///
/// Pieces are put together by interpolation: `"\(left) = \(value: .integer(1))"`. A name goes in as `\(name: "ZNAME")`,
/// a number of Moult's own as itself; nothing else can be put into the text.
package struct SQLText: Sendable, Hashable, ExpressibleByStringInterpolation {
    package private(set) var text: String
    package private(set) var values: [SQLiteValue]

    package init(stringLiteral text: String) {
        self.text = text
        values = []
    }

    /// Columns as another type has written them.
    package init(selectList: String) {
        text = selectList
        values = []
    }

    package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.piece }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var piece: SQLText = ""

        package init(literalCapacity: Int, interpolationCount: Int) { piece.text.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: String) { piece.text += literal }
        package mutating func appendInterpolation(_ other: SQLText) { piece += other }
        package mutating func appendInterpolation(_ number: Int) { piece.text += String(number) }
        package mutating func appendInterpolation(name: String) { piece.text += name.quotedName }

        package mutating func appendInterpolation(value: SQLiteValue) {
            piece.text += "?"
            piece.values.append(value)
        }
    }

    package static func += (left: inout SQLText, right: SQLText) {
        left.text += right.text
        left.values += right.values
    }
}

extension Sequence<SQLText> {
    package func joined(separator: SQLText) -> SQLText {
        var result: SQLText = ""
        for (position, piece) in enumerated() {
            if position > 0 { result += separator }
            result += piece
        }
        return result
    }
}

extension SQLText {
    /// A condition that holds where all of these do; nil if there are none.
    package static func all(_ conditions: [SQLText]) -> SQLText? {
        conditions.count > 1 ? conditions.map { "(\($0))" }.joined(separator: " AND ") : conditions.first
    }
}

extension SQLText {
    /// The text with its values in it, for a statement that has no parameters.
    package var inlined: String {
        var result = ""
        var values = values[...]
        var mark: Character?
        for character in text {
            switch (character, mark) {
            case ("?", nil): result += values.popFirst()?.literal ?? "NULL"
            case ("\"", nil), ("'", nil):
                mark = character
                result.append(character)
            default:
                if character == mark { mark = nil }
                result.append(character)
            }
        }
        return result
    }
}

extension SQLiteValue {
    /// The value as SQL writes it.
    package var literal: String {
        switch self {
        case .null: return "NULL"
        case .integer(let number): return number == .min ? "(-9223372036854775807 - 1)" : "\(number)"
        case .real(let number):
            // SQLite has no literal for these: infinity overflows from one, and NaN is stored as NULL.
            if number.isNaN { return "NULL" }
            if number.isInfinite { return number < 0 ? "-9e999" : "9e999" }
            return "\(number)"
        case .text(let text):
            // A literal ends at the first NUL.
            return text.utf8.contains(0)
                ? "CAST(x'\(Array(text.utf8).hexadecimal)' AS TEXT)" : text.quotedLiteral
        case .blob(let bytes): return "x'\(bytes.hexadecimal)'"
        }
    }
}
