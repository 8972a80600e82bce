/// A word, a name in quotes, a literal or a mark of a SQL statement, as SQLite's own tokenizer divides it; white space
/// and comments are left out.
package struct SQLToken: Sendable, Hashable {
    package let text: String
    /// The range of the token in the statement.
    package let range: Range<String.Index>

    /// In capitals, with its quotes: a name in quotes is no keyword.
    package var word: String { text.uppercased() }

    /// The name that the token stands for, without quotes.
    package var name: String {
        let ends: [Unicode.Scalar: Unicode.Scalar] = ["\"": "\"", "`": "`", "[": "]", "'": "'"]
        let scalars = text.unicodeScalars
        guard let first = scalars.first, let end = ends[first] else { return text }
        let inner = String(scalars.dropFirst().dropLast(scalars.count > 1 && scalars.last == end ? 1 : 0))
        return first == "[" ? inner : inner.replacing("\(end)\(end)", with: "\(end)")
    }

    /// Whether it is a keyword or a name without quotes.
    var isWord: Bool { text.unicodeScalars.first?.isOfWord == true && !isLiteral }

    /// Whether it is a string in single quotes, a blob or a number.
    package var isLiteral: Bool {
        let scalars = text.unicodeScalars
        guard let first = scalars.first else { return false }
        let next = scalars.dropFirst().first
        return first == "'" || first.isDigit || first == "." && next?.isDigit == true
            || (first == "x" || first == "X") && next == "'"
    }
}

extension String {
    /// Whether a token of the SQL names one of these, which are in capitals.
    package func names(_ names: Set<String>) -> Bool { sqlTokens.contains { names.contains($0.name.uppercased()) } }

    /// The tokens of a SQL statement. A quote that does not end takes the rest.
    package var sqlTokens: [SQLToken] {
        var rest = unicodeScalars[...]
        var tokens: [SQLToken] = []
        while !rest.isEmpty {
            let start = rest.startIndex
            let isToken = rest.removeToken()
            guard isToken else { continue }
            let text = String(unicodeScalars[start..<rest.startIndex])
            tokens.append(SQLToken(text: text, range: start..<rest.startIndex))
        }
        return tokens
    }
}

extension Substring.UnicodeScalarView {
    /// Removes the token, the white space or the comment at the beginning; returns whether it was a token.
    fileprivate mutating func removeToken() -> Bool {
        guard let first else { return false }
        let next = dropFirst().first
        switch first {
        case _ where first.isSQLSpace: self = drop { $0.isSQLSpace }
        case "-" where next == "-": self = drop { $0 != "\n" }
        case "/" where next == "*": removeComment()
        case "'", "\"", "`":
            removeQuoted(first)
            return true
        case "x" where next == "'", "X" where next == "'":
            self = dropFirst()
            removeQuoted("'")
            return true
        case "[":
            self = drop { $0 != "]" }.dropFirst()
            return true
        case _ where first.isDigit, "." where next?.isDigit == true:
            removeNumber()
            return true
        case _ where first.isOfWord:
            self = drop(while: \.isOfWord)
            return true
        default:
            self = dropFirst()
            return true
        }
        return false
    }

    private mutating func removeComment() {
        self = dropFirst(2)
        while !isEmpty, first != "*" || dropFirst().first != "/" { self = dropFirst() }
        self = dropFirst(2)
    }

    /// The mark that ends it stands twice for itself.
    private mutating func removeQuoted(_ mark: Unicode.Scalar) {
        repeat { self = dropFirst().drop { $0 != mark }.dropFirst() } while first == mark
    }

    /// A sign belongs to a number behind its power of ten only.
    private mutating func removeNumber() {
        let isHexadecimal = first == "0" && dropFirst().first.map { $0 == "x" || $0 == "X" } == true
        var last: Unicode.Scalar = " "
        while let next = first {
            let isSign = (next == "+" || next == "-") && (last == "e" || last == "E") && !isHexadecimal
            guard next.isOfWord || next == "." || isSign else { break }
            last = next
            self = dropFirst()
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }

    fileprivate var isSQLSpace: Bool { [" ", "\t", "\n", "\u{0C}", "\r"].contains(self) }

    /// Every character beyond ASCII may be part of a name, spaces of other scripts among them.
    fileprivate var isOfWord: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
        default: value > 0x7F
        }
    }
}
