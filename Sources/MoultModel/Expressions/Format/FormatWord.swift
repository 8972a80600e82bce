/// The spelling of words and strings in the format language.
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
