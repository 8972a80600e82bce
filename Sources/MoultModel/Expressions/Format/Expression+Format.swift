import MoultBasics

extension Expression {
    /// The text that Core Data prints for the expression and uses in a version hash; it parses back.
    public var format: String {
        switch self {
        case .constant(let value): value.format
        case .evaluatedObject: "SELF"
        case .variable(let name): "$" + name
        case .keyPath(let path, of: .evaluatedObject): FormatWord.escaped(path)
        case .keyPath(let path, let base): base.formatAsBase + "." + FormatWord.escaped(path)
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
        if selector == ExpressionFunction.element.selector, arguments.count == 2 {
            return "\(arguments[0].formatAsBase)[\(arguments[1].formatAsIndex)]"
        }
        let name = selector == ExpressionFunction.cast.selector ? "CAST" : selector
        return "\(name)(\(arguments.map(\.format).joined(separator: ", ")))"
    }

    /// Nested arithmetic is in parentheses.
    private var formatAsOperand: String {
        if case .function(let selector, let arguments) = self, arguments.count == 2,
            Arithmetic(rawValue: selector) != nil
        {
            return "(\(format))"
        }
        return format
    }

    /// The format before a key path or an index, both of which bind tighter than a sign.
    private var formatAsBase: String {
        let format = formatAsOperand
        return format.hasPrefix("-") ? "(\(format))" : format
    }

    private var formatAsIndex: String {
        if case .constant(.string(let text)) = self, Index(rawValue: text) != nil { return text }
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
        case .decimal(let digits): "CAST(\(FormatWord.quoted(digits)), \"NSDecimalNumber\")"
        case .string(let text): FormatWord.quoted(text)
        case .date(let seconds): seconds.isFinite ? "CAST(\(seconds), \"NSDate\")" : "CAST(\"\(seconds)\", \"NSDate\")"
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
    public var format: String {
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

/// The spelling of words and strings in the format language.
enum FormatWord {
    /// Words that cannot be the name of a property in an expression without `#`.
    static let keywords: Set<String> = [
        "and", "or", "in", "not", "all", "any", "some", "none", "like", "matches", "contains", "beginswith", "endswith",
        "between", "null", "nil", "self", "true", "yes", "false", "no", "truepredicate", "falsepredicate",
    ]

    /// The words that Foundation reserves; a printed key path escapes them with `#`. The parser also accepts those that
    /// are not keywords as names, because people write `size > 1`.
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

extension Expression {
    /// Reads an expression in Core Data's format language, such as `canonical:(name)`, `pages.@count` or `%K + %d`.
    ///
    /// - Parameter arguments: one for each placeholder, in order.
    /// - Throws: `MigrationError` with code `invalidPredicate` whose place is the position of the Unicode scalar at
    ///   fault, from 0; also for a wrong number or kind of arguments.
    public init(parsing text: String, arguments: [FormatArgument] = []) throws(MigrationError) {
        var parser = try FormatParser(text, arguments)
        self = try parser.whole { (parser) throws(MigrationError) in try parser.expression() }
    }

    /// Returns the text as Core Data prints it and uses it in a version hash; unchanged if it does not parse.
    package static func canonicalFormat(_ text: String) -> String { (try? Expression(parsing: text))?.format ?? text }
}

extension Predicate {
    /// Reads a predicate in Core Data's format language, such as `name BEGINSWITH[cd] %@ AND size > 0`.
    ///
    /// - Parameter arguments: one for each placeholder, in order.
    /// - Throws: see ``Expression/init(parsing:arguments:)``.
    public init(parsing text: String, arguments: [FormatArgument] = []) throws(MigrationError) {
        var parser = try FormatParser(text, arguments)
        self = try parser.whole { (parser) throws(MigrationError) in try parser.predicate() }
    }

    /// Returns the text as Core Data prints it and uses it in a version hash; unchanged if it does not parse.
    package static func canonicalFormat(_ text: String) -> String { (try? Predicate(parsing: text))?.format ?? text }
}

/// The argument for a placeholder of a format: a value for `%@`, `%d`, `%f` and so on, or a property's path for `%K`.
public enum FormatArgument: Sendable, Hashable {
    /// A `.string` is also accepted for `%K`.
    case value(ExpressionValue)
    case keyPath(String)
    /// An expression for `%@`.
    case expression(Expression)

    private static let integers: Set<String> = ["d", "D", "i", "u", "U", "x", "X", "o", "O", "c", "C"]
    private static let reals: Set<String> = ["f", "F", "e", "E", "g", "G", "a", "A"]
    private static let sizes: Set<String> = ["", "h", "hh", "l", "ll", "q", "L", "z", "t", "j"]

    /// Returns the number of placeholders in a format.
    package static func count(in format: String) throws(MigrationError) -> Int {
        try FormatLexer.tokens(of: format).count { if case .placeholder = $0.token { true } else { false } }
    }

    /// - Parameter conversion: the characters after the `%`, such as `@`, `K`, `ld`, `f`.
    static func isKnown(_ conversion: String) -> Bool {
        let kind = String(conversion.suffix(1))
        guard integers.contains(kind) || reals.contains(kind) else { return ["@", "K", "s"].contains(conversion) }
        return sizes.contains(String(conversion.dropLast()))
    }

    /// Returns the token that replaces a placeholder with this argument.
    func token(for conversion: String, at place: Int) throws(MigrationError) -> FormatLexer.Token {
        switch (self, String(conversion.suffix(1))) {
        case (.keyPath(let path), "K"), (.value(.string(let path)), "K"):
            guard path.split(separator: ".", omittingEmptySubsequences: false).allSatisfy(FormatLexer.isName) else {
                throw .format("%K stands for \"\(path)\", which is not a key path", at: place)
            }
            return .path(path)
        case (.value(let value), "@"): return .constant(value)
        case (.expression(let expression), "@"): return .expression(expression)
        case (.value(.string(let text)), "s"): return .constant(.string(text))
        case (.value(.integer(let number)), let kind) where Self.integers.contains(kind):
            return .constant(.integer(number))
        case (.value(.boolean(let flag)), let kind) where Self.integers.contains(kind):
            return .constant(.integer(flag ? 1 : 0))
        // A number above Int64.max, which %lu may stand for.
        case (.value(.real(let number)), let kind) where Self.integers.contains(kind) && number >= 0x1p63:
            return .constant(.real(number))
        case (.value(.real(let number)), let kind) where Self.reals.contains(kind): return .constant(.real(number))
        case (.value(.integer(let number)), let kind) where Self.reals.contains(kind):
            return .constant(.real(Double(number)))
        default: throw .format("%\(conversion) cannot stand for \(description)", at: place)
        }
    }

    private var description: String {
        switch self {
        case .value(let value): value.format
        case .keyPath(let path): "the key path \(path)"
        case .expression(let expression): "the expression \(expression.format)"
        }
    }
}
