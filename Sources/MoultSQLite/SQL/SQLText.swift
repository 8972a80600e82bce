/// A token of a SQL statement, as SQLite's own tokenizer splits it: a word, a quoted name, a literal or an operator.
/// Whitespace and comments are not tokens.
package struct SQLToken: Sendable, Hashable {
    package let text: String
    /// The range of the token in the statement.
    package let range: Range<String.Index>

    /// The text in capitals, including any quotes: a quoted name is not a keyword.
    package var word: String { text.uppercased() }

    /// The name without its quotes.
    package var name: String {
        let ends: [Unicode.Scalar: Unicode.Scalar] = ["\"": "\"", "`": "`", "[": "]", "'": "'"]
        let scalars = text.unicodeScalars
        guard let first = scalars.first, let end = ends[first] else { return text }
        let inner = String(scalars.dropFirst().dropLast(scalars.count > 1 && scalars.last == end ? 1 : 0))
        return first == "[" ? inner : inner.replacing("\(end)\(end)", with: "\(end)")
    }

    /// Whether the token is a keyword or an unquoted name.
    var isWord: Bool { text.unicodeScalars.first?.isOfWord == true && !isLiteral }

    /// Whether the token is a string in single quotes, a blob or a number.
    package var isLiteral: Bool {
        let scalars = text.unicodeScalars
        guard let first = scalars.first else { return false }
        let next = scalars.dropFirst().first
        return first == "'" || first.isDigit || first == "." && next?.isDigit == true
            || (first == "x" || first == "X") && next == "'"
    }
}

extension String {
    /// Returns whether a token of the SQL is one of the given names, which must be in capitals.
    package func names(_ names: Set<String>) -> Bool { sqlTokens.contains { names.contains($0.name.uppercased()) } }

    /// The tokens of the SQL statement. An unterminated quote extends to the end.
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
    /// Removes the first token, whitespace or comment, and returns whether it was a token.
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

    /// Removes a quoted token. A doubled quote inside it stands for one quote.
    private mutating func removeQuoted(_ mark: Unicode.Scalar) {
        repeat { self = dropFirst().drop { $0 != mark }.dropFirst() } while first == mark
    }

    /// Removes a number. A sign belongs to the number only after the exponent's E.
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

    /// Whether the character may be part of a name. Every non-ASCII character may, even a space of another script.
    fileprivate var isOfWord: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
        default: value > 0x7F
        }
    }
}

/// SQL without its literals: the views, triggers, indexes and defaults of an app may contain its user's data.
extension String {
    /// Returns the statement without comments and with `?` in place of each string, blob and number.
    ///
    /// SQLite treats a name in double quotes as a string if no such object exists, and also a bare word after DEFAULT.
    /// Both count as literals.
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

    /// A SQLite message with `?` in place of each part in single or double quotes.
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
    /// The text between two tokens without comments. Any comments, with the whitespace around them, become one
    /// whitespace character.
    fileprivate var withoutComments: String {
        let hasComment = unicodeScalars.contains { $0 == "-" || $0 == "/" }
        return hasComment ? (unicodeScalars.contains("\n") ? "\n" : " ") : String(self)
    }
}

extension String {
    /// The text as a SQL name: in double quotes, with inner quotes doubled. Every name is quoted here.
    package var quotedName: String { quoted(with: "\"") }

    /// The text as a SQL string literal, for the few places that accept no parameter, such as the text of a schema.
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

// SQLite accepts no expression nested deeper than 1,000 levels, no function with more than 127 arguments, and no more
// than 500 terms in a UNION. A model may need more.
extension [String] {
    private static let short = 100

    /// Joins the conditions with AND or OR. A long list is split in halves, recursively, because the nesting depth of a
    /// flat list equals its length.
    package func conditions(joinedBy word: String) -> String {
        guard count > Self.short else { return joined(separator: " \(word) ") }
        let middle = count / 2
        let halves = [self[..<middle], self[middle...]].map { Array($0).conditions(joinedBy: word) }
        return "(\(halves[0])) \(word) (\(halves[1]))"
    }
}
