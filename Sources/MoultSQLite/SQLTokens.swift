/// SQL with its literals left out: what an app's own views, triggers, indexes and defaults hold is data of its user's.
extension String {
    /// The statement with `?` in place of each string, blob and number, and without comments.
    ///
    /// SQLite takes a name in double quotes that no object has for a string, and so it does with a bare word behind
    /// DEFAULT: both count as literals.
    ///
    /// - Parameter names: the names of tables, columns and other objects, in capitals.
    package func withoutSQLLiterals(knowing names: Set<String> = []) -> String {
        var reader = SQLTokenReader(self, names)
        return reader.text()
    }
}

/// Reads SQL token by token, as far as literals need it (sqlite.org/lang_expr.html, section 3).
private struct SQLTokenReader {
    private let characters: [Character]
    private let names: Set<String>
    private var position = 0
    private var result = ""
    /// The last word outside quotes, in capitals; empty where another token has followed it.
    private var word = ""

    init(_ sql: String, _ names: Set<String>) {
        characters = Array(sql)
        self.names = names
    }

    private var present: Character? { characters.indices.contains(position) ? characters[position] : nil }
    private var next: Character? { characters.indices.contains(position + 1) ? characters[position + 1] : nil }

    mutating func text() -> String {
        while let character = present {
            switch character {
            case "'": literal { $0.quoted("'") }
            case "\"":
                let name = quoted("\"")
                put(names.contains(name.uppercased()) ? "\"\(name)\"" : "?")
            case "`": put("`\(quoted("`"))`")
            case "[": put(upTo("]"))
            case "-" where next == "-": skip { $0.isNewline }
            case "/" where next == "*": skipComment()
            case "x" where next == "'", "X" where next == "'":
                position += 1
                literal { $0.quoted("'") }
            case "0"..."9": number()
            case "." where next.map { ("0"..."9").contains($0) } == true: number()
            case _ where character.isNameStart: name()
            default:
                result.append(character)
                if !character.isWhitespace { word = "" }
                position += 1
            }
        }
        return result
    }

    private mutating func put(_ token: String) {
        result += token
        word = ""
    }

    private mutating func literal(_ read: (inout SQLTokenReader) -> String) {
        _ = read(&self)
        put("?")
    }

    /// The text up to the mark that ends it, which stands twice for itself. One that does not end takes the rest.
    private mutating func quoted(_ mark: Character) -> String {
        var text = ""
        position += 1
        while let character = present {
            position += 1
            guard character == mark else {
                text.append(character)
                continue
            }
            guard present == mark else { return text }
            text.append(mark)
            position += 1
        }
        return text
    }

    private mutating func upTo(_ end: Character) -> String {
        let start = position
        while let character = present {
            position += 1
            if character == end { break }
        }
        return String(characters[start..<position])
    }

    private mutating func skip(_ ends: (Character) -> Bool) {
        while let character = present, !ends(character) { position += 1 }
    }

    private mutating func skipComment() {
        position += 2
        while let character = present, character != "*" || next != "/" { position += 1 }
        position = min(position + 2, characters.count)
        result.append(" ")
    }

    private mutating func number() {
        var last: Character = " "
        while let character = present {
            // A sign belongs to a number behind its power of ten only.
            let isSign = (character == "+" || character == "-") && (last == "e" || last == "E")
            guard character.isNamePart || character == "." || isSign else { break }
            last = character
            position += 1
        }
        put("?")
    }

    private mutating func name() {
        let start = position
        skip { !$0.isNamePart }
        let text = String(characters[start..<position])
        let capitals = text.uppercased()
        let isDefault = word == "DEFAULT" && !Self.valuesOfDefault.contains(capitals)
        result += isDefault ? "?" : text
        word = capitals
    }

    private static let valuesOfDefault: Set<String> = [
        "NULL", "TRUE", "FALSE", "CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP", "VALUES",
    ]
}

extension Character {
    fileprivate var isNameStart: Bool { isLetter || self == "_" || unicodeScalars.contains { $0.value > 0x7F } }
    fileprivate var isNamePart: Bool { isNameStart || ("0"..."9").contains(self) || self == "$" }
}

extension String {
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
