import MoultSQLite

/// A piece of SQL with the values of its parameters, in order.
///
/// Pieces are combined by interpolation: `"\(left) = \(value: .integer(1))"`. Insert a name as `\(name: "ZNAME")` and
/// one of Moult's own numbers as itself; nothing else can be inserted. Insert a table as `\(table: "ZTABLE")`, so that
/// the piece records the tables it reads.
package struct SQLText: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
    package private(set) var text: String
    package private(set) var values: [SQLiteValue] = []
    /// The tables that the piece reads.
    package private(set) var reads: Set<String> = []

    package init(stringLiteral text: String) { self.text = text }

    /// Creates a piece from columns that another type has written.
    package init(selectList: String) { text = selectList }

    package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.piece }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var piece: SQLText = ""

        package init(literalCapacity: Int, interpolationCount: Int) { piece.text.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: String) { piece.text += literal }
        package mutating func appendInterpolation(_ other: SQLText) { piece += other }
        package mutating func appendInterpolation(_ number: some BinaryInteger) { piece.text += String(number) }
        package mutating func appendInterpolation(name: String) { piece.text += name.quotedName }

        package mutating func appendInterpolation(list numbers: [Int]) { piece.text += numbers.sqlList }

        package mutating func appendInterpolation(names: [String]) {
            piece.text += names.map(\.quotedName).joined(separator: ", ")
        }

        package mutating func appendInterpolation(table: String) {
            piece.text += table.quotedName
            piece.reads.insert(table)
        }

        package mutating func appendInterpolation(value: SQLiteValue) {
            piece.text += "?"
            piece.values.append(value)
        }
    }

    package static func += (left: inout SQLText, right: SQLText) {
        left.text += right.text
        left.values += right.values
        if !right.reads.isEmpty { left.reads.formUnion(right.reads) }
    }

    /// The whole text including its values, used when it is interpolated into a `String`.
    package var description: String { inlined }
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
    /// Returns a condition that holds if all of the given ones do; nil if there are none.
    package static func all(_ conditions: [SQLText]) -> SQLText? {
        conditions.count > 1 ? conditions.map { "(\($0))" }.joined(separator: " AND ") : conditions.first
    }
}

// SQLite accepts at most 1000 levels of nesting, 127 arguments of a function and 500 terms of a UNION; a model may need
// more.
extension [SQLText] {
    private static let short = 100

    /// Joins the conditions by AND or OR. A long list is repeatedly halved with parentheses, because SQLite nests a
    /// flat list as deep as it is long.
    package func conditions(joinedBy word: SQLText) -> SQLText {
        guard count > Self.short else { return joined(separator: " \(word) ") }
        let halves = [self[..<(count / 2)], self[(count / 2)...]].map { Array($0).conditions(joinedBy: word) }
        return "(\(halves[0])) \(word) (\(halves[1]))"
    }

    /// The first value that is not NULL.
    var coalesced: SQLText {
        guard count > 1 else { return first ?? "NULL" }
        guard count > Self.short else { return "COALESCE(\(joined(separator: ", ")))" }
        return parts.map(\.coalesced).coalesced
    }

    /// The rows of all queries, one query after the other.
    var united: SQLText {
        guard count > Self.short else { return joined(separator: " UNION ALL ") }
        return parts.map { "SELECT * FROM (\($0.united))" }.united
    }

    private var parts: [[SQLText]] {
        stride(from: 0, to: count, by: Self.short).map { Array(self[$0..<Swift.min($0 + Self.short, count)]) }
    }
}

extension SQLText {
    /// The text with its values inserted, for a statement without parameters.
    package var inlined: String {
        guard !values.isEmpty else { return text }
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
    /// The value as an SQL literal.
    package var literal: String {
        switch self {
        case .null: return "NULL"
        case .integer(let number): return number == .min ? "(-9223372036854775807 - 1)" : "\(number)"
        case .real(let number):
            // SQLite has no literals for these: an overflowing literal yields infinity, and NaN is stored as NULL.
            if number.isNaN { return "NULL" }
            if number.isInfinite { return number < 0 ? "-9e999" : "9e999" }
            return "\(number)"
        case .text(let text):
            // A literal would end at the first NUL.
            return text.utf8.contains(0) ? "CAST(x'\(Array(text.utf8).hexadecimal)' AS TEXT)" : text.quotedLiteral
        case .blob(let bytes): return "x'\(bytes.hexadecimal)'"
        }
    }
}
