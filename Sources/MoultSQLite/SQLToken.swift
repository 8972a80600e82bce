/// A word, a name in quotes, a string or a mark of a SQL statement; white space and comments are left out.
package struct SQLToken: Sendable, Hashable {
    package let text: String
    /// Where it stands in the statement.
    package let range: Range<String.Index>

    /// In capitals, with its quotes: a name in quotes is no keyword.
    package var word: String { text.uppercased() }

    /// What it names, without quotes.
    package var name: String {
        guard let first = text.first, let end = ["\"": "\"", "`": "`", "[": "]", "'": "'"][first] else { return text }
        let inner = text.dropFirst().dropLast(text.count > 1 && text.hasSuffix(end) ? 1 : 0)
        return first == "[" ? String(inner) : String(inner).replacing(end + end, with: end)
    }
}

extension String {
    /// The tokens of a SQL statement. A quote that does not end takes the rest.
    package var sqlTokens: [SQLToken] {
        var rest = unicodeScalars[...]
        var tokens: [SQLToken] = []
        while !rest.isEmpty {
            let start = rest.startIndex
            let isToken = rest.removeToken()
            guard isToken else { continue }
            tokens.append(SQLToken(text: String(self[start..<rest.startIndex]), range: start..<rest.startIndex))
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
        case _ where first.properties.isWhitespace: self = drop { $0.properties.isWhitespace }
        case "-" where next == "-": self = drop { $0 != "\n" }
        case "/" where next == "*": removeComment()
        case "'", "\"", "`":
            removeQuoted(first)
            return true
        case "[":
            self = drop { $0 != "]" }.dropFirst()
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
}

extension Unicode.Scalar {
    fileprivate var isOfWord: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
        default: value > 0x7F && !properties.isWhitespace
        }
    }
}
