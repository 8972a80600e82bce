/// The columns and constraints of a CREATE TABLE statement, each as written.
///
/// SQLite reports neither a generated column's expression nor a CHECK constraint, only the whole statement
/// (sqlite.org/lang_createtable.html).
package struct TableDefinition: Sendable, Hashable {
    /// A column or a constraint of the table.
    package struct Part: Sendable, Hashable {
        let tokens: [SQLToken]
        /// The text as written in the statement.
        package let text: String
        /// The text after a column's name and type, or the whole text of a table constraint.
        package let constraints: String
        /// The tokens of these constraints, in capitals.
        package let words: [String]
    }

    package let parts: [Part]
    /// The table options after the last parenthesis, such as `STRICT`.
    package let options: String

    /// Parses a statement; nil if it does not create a table with columns.
    package init?(_ sql: String) {
        let tokens = sql.sqlTokens
        guard tokens.first?.word == "CREATE", let start = tokens.firstIndex(where: { $0.text == "(" }) else {
            return nil
        }
        var (depth, parts, part): (Int, [[SQLToken]], [SQLToken]) = (0, [], [])
        var end = start
        for (position, token) in tokens.enumerated().dropFirst(start) {
            if token.text == ")" { depth -= 1 }
            end = position
            if depth == 0, token.text == ")" { break }
            if depth == 1, token.text == "," {
                parts.append(part)
                part = []
            } else if depth > 0 {
                part.append(token)
            }
            if token.text == "(" { depth += 1 }
        }
        parts.append(part)
        self.parts = parts.compactMap { Part($0, in: sql) }
        let rest = tokens[(end + 1)...]
        options = rest.first.map { String(sql[$0.range.lowerBound...]) } ?? ""
    }

    /// Returns a CREATE TABLE statement with new types for some columns; nil if one of them is missing, or has more
    /// than a name and a type.
    package static func retyped(_ sql: String, as types: [String: String]) -> String? {
        var (text, rest, wanted) = ("", sql[...], types)
        for part in TableDefinition(sql)?.parts ?? [] {
            // Column names in SQLite are case-insensitive.
            guard let name = part.column?.uppercased(),
                let column = wanted.keys.first(where: { $0.uppercased() == name }),
                let type = wanted.removeValue(forKey: column)
            else { continue }
            guard part.constraints.isEmpty, let name = part.tokens.first, let last = part.tokens.last else {
                return nil
            }
            text += "\(sql[rest.startIndex..<name.range.upperBound]) \(type)"
            rest = sql[last.range.upperBound...]
        }
        return wanted.isEmpty ? text + rest : nil
    }
}

extension TableDefinition.Part {
    /// The keywords that begin a column constraint, and so end the type.
    private static let columnWords: Set<String> = [
        "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED",
        "AS",
    ]
    private static let tableWords: Set<String> = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]

    fileprivate init?(_ tokens: [SQLToken], in sql: String) {
        guard let first = tokens.first, let last = tokens.last else { return nil }
        self.tokens = tokens
        text = String(sql[first.range.lowerBound..<last.range.upperBound])
        let isOfTable = Self.tableWords.contains(first.word)
        let rest = isOfTable ? tokens[...] : tokens.dropFirst().drop { !Self.columnWords.contains($0.word) }
        constraints = rest.first.map { String(sql[$0.range.lowerBound..<last.range.upperBound]) } ?? ""
        words = rest.map(\.word)
    }

    /// The name of the column; nil for a table constraint.
    package var column: String? { tokens.first.flatMap { Self.tableWords.contains($0.word) ? nil : $0.name } }

    /// Whether the column is generated from others (sqlite.org/gencol.html).
    package var isGenerated: Bool {
        guard column != nil else { return false }
        var depth = 0
        return tokens.dropFirst().contains { token in
            if token.text == "(" { depth += 1 }
            if token.text == ")" { depth -= 1 }
            return depth == 0 && token.word == "AS"
        }
    }

    /// The tokens, with all names unquoted.
    package var meaning: [String] {
        // A column's name may be in single quotes, like a literal.
        tokens.enumerated().map { $0 > 0 && $1.isLiteral ? $1.text : $1.name }
    }

    /// The tokens, with all names unquoted, and with names and keywords in capitals.
    package var meaningInCapitals: [String] {
        tokens.enumerated().map { $0 > 0 && $1.isLiteral ? $1.text : $1.name.uppercased() }
    }

    /// The names in the first pair of parentheses of a constraint.
    package var names: [String] {
        tokens.drop { $0.text != "(" }.dropFirst().prefix { $0.text != ")" }.filter { $0.text != "," }.map(\.name)
    }
}
