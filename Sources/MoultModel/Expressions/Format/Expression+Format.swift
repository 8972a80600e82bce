extension Expression {
    /// The text that Core Data prints for the expression, which is also what a version hash takes in; it parses back.
    package var format: String {
        switch self {
        case .constant(let value): value.format
        case .evaluatedObject: "SELF"
        case .variable(let name): "$" + name
        case .keyPath(let path, of: .evaluatedObject): FormatWord.escaped(path)
        case .keyPath(let path, let base): base.formatAsOperand + "." + FormatWord.escaped(path)
        case .function(let selector, let arguments): Self.format(selector, arguments)
        case .message(let selector, let target, let arguments):
            "FUNCTION(\(([target, .constant(.string(selector))] + arguments).map(\.format).joined(separator: ", ")))"
        case .aggregate(let elements): "{" + elements.map(\.format).joined(separator: ", ") + "}"
        case .subquery(let collection, let variable, let predicate):
            "SUBQUERY(\(collection.format), $\(variable), \(predicate.format))"
        case .conditional(let predicate, let first, let second):
            "TERNARY(\(predicate.format), \(first.format), \(second.format))"
        }
    }

    private static func format(_ selector: String, _ arguments: [Expression]) -> String {
        if let arithmetic = Arithmetic(rawValue: selector), arguments.count == 2 {
            return "\(arguments[0].formatAsOperand) \(arithmetic.symbol) \(arguments[1].formatAsOperand)"
        }
        let name = selector == "castObject:toType:" ? "CAST" : selector
        return "\(name)(\(arguments.map(\.format).joined(separator: ", ")))"
    }

    /// Arithmetic inside of arithmetic stands in parentheses.
    private var formatAsOperand: String {
        if case .function(let selector, let arguments) = self, arguments.count == 2,
            Arithmetic(rawValue: selector) != nil
        {
            return "(\(format))"
        }
        return format
    }
}

extension ExpressionValue {
    var format: String {
        switch self {
        case .null: "nil"
        case .boolean(let flag): flag ? "1" : "0"
        case .integer(let number): String(number)
        case .real(let number): number.isFinite ? String(describing: number) : "CAST(\"\(number)\", \"NSNumber\")"
        case .decimal(let digits): "CAST(\"\(digits)\", \"NSDecimalNumber\")"
        case .string(let text): FormatWord.quoted(text)
        case .date(let seconds): "CAST(\(seconds), \"NSDate\")"
        case .data(let bytes): "CAST(\"\(bytes.base64)\", \"NSData\")"
        case .uuid(let bytes): "CAST(\"\(bytes.uuidText)\", \"NSUUID\")"
        case .uri(let text): "CAST(\(FormatWord.quoted(text)), \"NSURL\")"
        case .object(let id): "CAST(\"\(id)\", \"NSManagedObjectID\")"
        case .collection(let values): "{" + values.map(\.format).joined(separator: ", ") + "}"
        }
    }
}

extension Predicate {
    /// The text that Core Data prints for the predicate (`predicateFormat`); it parses back.
    package var format: String {
        switch self {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): comparison.format
        case .and(let parts): Self.join(parts, " AND ", empty: "TRUEPREDICATE")
        case .or(let parts): Self.join(parts, " OR ", empty: "FALSEPREDICATE")
        case .not(let part): "NOT " + part.formatAsPart
        }
    }

    private static func join(_ parts: [Predicate], _ word: String, empty: String) -> String {
        parts.isEmpty ? empty : parts.map(\.formatAsPart).joined(separator: word)
    }

    private var formatAsPart: String {
        switch self {
        case .and(let parts), .or(let parts): parts.isEmpty ? format : "(\(format))"
        case .constant, .comparison, .not: format
        }
    }
}

extension Predicate.Comparison {
    fileprivate var format: String {
        let prefix =
            switch modifier {
            case .direct: ""
            case .all: "ALL "
            case .any: "ANY "
            }
        return "\(prefix)\(left.format) \(`operator`.symbol)\(options.format) \(right.format)"
    }
}

extension Predicate.Options {
    fileprivate var format: String {
        let letters: [(Predicate.Options, String)] = [
            (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"), (.localeSensitive, "l"),
        ]
        return isEmpty ? "" : "[" + letters.filter { contains($0.0) }.map(\.1).joined() + "]"
    }
}

/// How words and strings are spelled in the format language.
enum FormatWord {
    /// Words that cannot name a property in an expression without `#`.
    static let keywords: Set<String> = [
        "and", "or", "in", "not", "all", "any", "some", "none", "like", "matches", "contains", "beginswith", "endswith",
        "between", "null", "nil", "self", "true", "yes", "false", "no", "truepredicate", "falsepredicate",
    ]

    /// The words that Foundation reserves, which a printed key path spells with `#`; the parser takes those that are
    /// no keywords as names too, because people write `size > 1`.
    private static let reserved = keywords.union([
        "first", "last", "size", "anykey", "subquery", "fetch", "cast", "caseinsensitive", "ci",
    ])

    static func escaped(_ path: String) -> String {
        path.split(separator: ".", omittingEmptySubsequences: false)
            .map { reserved.contains($0.lowercased()) ? "#" + $0 : String($0) }.joined(separator: ".")
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
