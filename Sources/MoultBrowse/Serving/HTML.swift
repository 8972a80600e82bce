import MoultReport

/// A piece of a page. What is put in by interpolation is text, unless it is a piece itself.
package struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
    package private(set) var markup: String

    package init(stringLiteral markup: String) { self.markup = markup }
    package init(stringInterpolation: StringInterpolation) { markup = stringInterpolation.markup }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        package init(literalCapacity: Int, interpolationCount: Int) { markup.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: String) { markup += literal }
        package mutating func appendInterpolation(_ text: String) { markup += text.escaped }
        package mutating func appendInterpolation(_ number: some BinaryInteger) { markup += String(number) }
        package mutating func appendInterpolation(_ piece: HTML?) { markup += piece?.markup ?? "" }
        package mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { markup += piece.markup } }
    }
}

extension String {
    /// The text for an element or an attribute in double quotes; control characters are spelled out.
    fileprivate var escaped: String {
        var text = ""
        text.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            case "\n", "\t": text.unicodeScalars.append(scalar)
            default: text += String(scalar).printable
            }
        }
        return text
    }
}
