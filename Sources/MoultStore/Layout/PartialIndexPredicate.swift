import MoultSQLite

/// The predicate of a partial fetch index, as far as stores show one: comparisons of a property with a constant, joined
/// by AND and OR (MORE 9).
struct PartialIndexPredicate {
    private let root: Node

    private indirect enum Node {
        case comparison(property: String, operation: String, value: String)
        case compound(word: String, [Node])
    }

    /// Nil for a text that holds anything else.
    init?(_ text: String) {
        var parser = Parser(tokens: Parser.tokens(of: text))
        guard let root = parser.compound("OR"), parser.isAtEnd else { return nil }
        self.root = root
    }

    /// The condition of `CREATE INDEX … WHERE`; nil where `column` knows no column for a property.
    func sql(column: (_ property: String) -> String?) -> String? { Self.sql(root, column) }

    private static func sql(_ node: Node, _ column: (String) -> String?) -> String? {
        switch node {
        case .comparison(let property, let operation, let value):
            guard let name = column(property) else { return nil }
            if value == "NULL" {
                switch operation {
                case "=": return "\(name) IS NULL"
                case "<>": return "\(name) IS NOT NULL"
                default: return nil
                }
            }
            return "\(name) \(operation) \(value)"
        case .compound(let word, let parts):
            let texts = parts.compactMap { sql($0, column) }
            return texts.count == parts.count ? "(\(texts.joined(separator: " \(word) ")))" : nil
        }
    }

    private struct Parser {
        var tokens: [Substring]
        var position = 0
        var depth = 0

        init(tokens: [Substring]) { self.tokens = tokens }

        var isAtEnd: Bool { position == tokens.count }

        private mutating func next() -> Substring? {
            guard position < tokens.count else { return nil }
            defer { position += 1 }
            return tokens[position]
        }

        private mutating func takes(_ words: Set<String>) -> Bool {
            guard position < tokens.count, words.contains(tokens[position].uppercased()) else { return false }
            position += 1
            return true
        }

        mutating func compound(_ word: String) -> Node? {
            var parts: [Node] = []
            repeat {
                guard let part = word == "OR" ? compound("AND") : operand() else { return nil }
                parts.append(part)
            } while takes(word == "OR" ? ["OR", "||"] : ["AND", "&&"])
            return parts.count == 1 ? parts.first : .compound(word: word, parts)
        }

        private mutating func operand() -> Node? {
            guard depth < 32 else { return nil }
            guard takes(["("]) else { return comparison() }
            depth += 1
            defer { depth -= 1 }
            guard let inner = compound("OR"), takes([")"]) else { return nil }
            return inner
        }

        private mutating func comparison() -> Node? {
            guard let property = next(), property.first?.isLetter == true || property.first == "_",
                let sign = next(), let operation = Self.operations[String(sign)],
                let value = next().flatMap(Self.literal)
            else { return nil }
            let name = property.lowercased().hasPrefix("self.") ? property.dropFirst(5) : property
            return .comparison(property: String(name), operation: operation, value: value)
        }

        private static let operations = [
            "==": "=", "=": "=", "!=": "<>", "<>": "<>", ">": ">", "<": "<", ">=": ">=", "=>": ">=", "<=": "<=",
            "=<": "<=",
        ]

        private static func literal(_ token: Substring) -> String? {
            switch token.uppercased() {
            case "NIL", "NULL": return "NULL"
            case "YES", "TRUE": return "1"
            case "NO", "FALSE": return "0"
            default: break
            }
            if let quote = token.first, quote == "\"" || quote == "'", token.count > 1, token.last == quote {
                return String(token.dropFirst().dropLast()).quotedLiteral
            }
            return Int64(token) != nil || Double(token)?.isFinite == true ? String(token) : nil
        }

        static func tokens(of text: String) -> [Substring] {
            var tokens: [Substring] = []
            var rest = text[...]
            while let first = rest.first {
                if first.isWhitespace {
                    rest = rest.dropFirst()
                    continue
                }
                let length: Int
                if first == "(" || first == ")" {
                    length = 1
                } else if first == "\"" || first == "'" {
                    length = 1 + rest.dropFirst().prefix { $0 != first }.count + 1
                } else if "=!<>&|".contains(first) {
                    length = rest.prefix { "=!<>&|".contains($0) }.count
                } else {
                    length = rest.prefix { !$0.isWhitespace && !"()=!<>&|".contains($0) }.count
                }
                tokens.append(rest.prefix(length))
                rest = rest.dropFirst(length)
            }
            return tokens
        }
    }
}
