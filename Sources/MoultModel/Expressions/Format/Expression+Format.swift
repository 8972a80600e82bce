extension Expression {
    /// The text that Core Data prints for the expression, which is also what a version hash takes in; it parses back.
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

    /// Arithmetic inside arithmetic stands in parentheses.
    private var formatAsOperand: String {
        if case .function(let selector, let arguments) = self, arguments.count == 2,
            Arithmetic(rawValue: selector) != nil
        {
            return "(\(format))"
        }
        return format
    }

    /// Before a key path or an index, which bind tighter than a sign does.
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
