import MoultSQLite

/// A piece of SQL with the values of its parameters, in the order in which they stand.
///
/// Pieces are put together by interpolation: `"\(left) = \(value: .integer(1))"`. A name goes in as `\(name: "ZNAME")`,
/// a number of Moult's own as itself; nothing else can be put into the text. A table goes in as `\(table: "ZTABLE")`,
/// so that a piece knows whose rows it asks for.
package struct SQLText: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
    package private(set) var text: String
    package private(set) var values: [SQLiteValue] = []
    /// The tables whose rows are asked for.
    package private(set) var reads: Set<String> = []

    package init(stringLiteral text: String) { self.text = text }

    /// Columns as another type has written them.
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

    /// The whole text with its values, as it is put into a `String`.
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
    /// A condition that holds where all of these do; nil if there are none.
    package static func all(_ conditions: [SQLText]) -> SQLText? {
        conditions.count > 1 ? conditions.map { "(\($0))" }.joined(separator: " AND ") : conditions.first
    }
}

// SQLite takes no expression that is nested deeper than 1000, no function of more than 127 arguments and no more than
// 500 parts of a UNION; a model may ask for more.
extension [SQLText] {
    private static let short = 100

    /// The conditions joined by AND or OR: a long list halved and halved again in parentheses, for a plain one is nested
    /// as deep as it is long.
    func conditions(joinedBy word: SQLText) -> SQLText {
        guard count > Self.short else { return joined(separator: " \(word) ") }
        let halves = [self[..<(count / 2)], self[(count / 2)...]].map { Array($0).conditions(joinedBy: word) }
        return "(\(halves[0])) \(word) (\(halves[1]))"
    }

    /// The first of the values that is not NULL.
    var coalesced: SQLText {
        guard count > 1 else { return first ?? "NULL" }
        guard count > Self.short else { return "COALESCE(\(joined(separator: ", ")))" }
        return parts.map(\.coalesced).coalesced
    }

    /// The rows of all the queries, one after the other.
    var united: SQLText {
        guard count > Self.short else { return joined(separator: " UNION ALL ") }
        return parts.map { "SELECT * FROM (\($0.united))" }.united
    }

    private var parts: [[SQLText]] {
        stride(from: 0, to: count, by: Self.short).map { Array(self[$0..<Swift.min($0 + Self.short, count)]) }
    }
}

extension SQLText {
    /// The text with its values in it, for a statement that has no parameters.
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
            return text.utf8.contains(0) ? "CAST(x'\(Array(text.utf8).hexadecimal)' AS TEXT)" : text.quotedLiteral
        case .blob(let bytes): return "x'\(bytes.hexadecimal)'"
        }
    }
}
