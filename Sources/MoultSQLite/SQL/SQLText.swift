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

/// SQL with its literals left out: what an app's own views, triggers, indexes and defaults hold is data of its user's.
extension String {
    /// The statement with `?` in place of each string, blob and number, and without comments.
    ///
    /// SQLite takes a name in double quotes that no object has for a string, and so it does with a bare word behind
    /// DEFAULT: both count as literals.
    ///
    /// - Parameter names: the names of tables, columns and other objects, in capitals.
    package func withoutSQLLiterals(knowing names: Set<String> = []) -> String {
        var (text, end, last) = ("", startIndex, "")
        for token in sqlTokens {
            text += self[end..<token.range.lowerBound].withoutComments
            let isString = token.text.unicodeScalars.first == "\"" && !names.contains(token.name.uppercased())
            let isDefault = last == "DEFAULT" && token.isWord && !Self.valuesOfDefault.contains(token.word)
            text += token.isLiteral || isString || isDefault ? "?" : token.text
            (end, last) = (token.range.upperBound, token.word)
        }
        return text + self[end...].withoutComments
    }

    private static let valuesOfDefault: Set<String> = [
        "NULL", "TRUE", "FALSE", "CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP", "VALUES",
    ]

    /// A message of SQLite's with `?` in place of what stands in single or double quotes.
    var withoutQuotedParts: String {
        var text = ""
        var mark: Character?
        for character in self {
            if let open = mark {
                if character == open { mark = nil }
            } else if character == "'" || character == "\"" {
                mark = character
                text.append("?")
            } else {
                text.append(character)
            }
        }
        return text
    }
}

extension Substring {
    /// The text between two tokens without its comments: white space, of which one character is left where there are
    /// comments.
    fileprivate var withoutComments: String {
        let hasComment = unicodeScalars.contains { $0 == "-" || $0 == "/" }
        return hasComment ? (unicodeScalars.contains("\n") ? "\n" : " ") : String(self)
    }
}

extension String {
    /// The text as a name in SQL: in double quotes, those inside it doubled. The only place that quotes a name.
    package var quotedName: String { quoted(with: "\"") }

    /// The text as a string literal in SQL, for the few places that take no parameter, such as a schema's text.
    package var quotedLiteral: String { quoted(with: "'") }

    private func quoted(with mark: Character) -> String {
        var text = String(mark)
        for character in unicodeScalars {
            text.unicodeScalars.append(character)
            if Character(character) == mark { text.unicodeScalars.append(character) }
        }
        text.append(mark)
        return text
    }
}

// SQLite takes no expression that is nested deeper than 1,000, no function with more than 127 arguments and no more than
// 500 parts of a UNION; a model may ask for more.
extension [String] {
    private static let short = 100

    /// The conditions joined by AND or OR: a long list halved and halved again in parentheses, for a plain one is nested as
    /// deep as it is long.
    package func conditions(joinedBy word: String) -> String {
        guard count > Self.short else { return joined(separator: " \(word) ") }
        let middle = count / 2
        let halves = [self[..<middle], self[middle...]].map { Array($0).conditions(joinedBy: word) }
        return "(\(halves[0])) \(word) (\(halves[1]))"
    }
}
