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
