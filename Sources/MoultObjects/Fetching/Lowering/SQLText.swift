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
    init(selectList: String) {
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
    /// A condition that holds where all of these do; nil where there are none.
    static func all(_ conditions: [SQLText]) -> SQLText? {
        conditions.count > 1 ? conditions.map { "(\($0))" }.joined(separator: " AND ") : conditions.first
    }
}
