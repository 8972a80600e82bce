extension String {
    /// The name as an identifier: in backticks where Swift has the word for itself, as Xcode writes it.
    var identifier: String { swiftKeywords.contains(self) ? "`\(self)`" : self }

    /// Whether Swift can have the name, in backticks or not.
    var isIdentifier: Bool {
        guard let first = unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
        return unicodeScalars.dropFirst().allSatisfy(\.properties.isXIDContinue)
    }

    /// Whether the text can be a type, such as `[String: Data]`: a model file may have anything in its place.
    var isTypeText: Bool {
        !isEmpty
            && unicodeScalars.allSatisfy { $0.properties.isXIDContinue || "[]<>:,.?& ".unicodeScalars.contains($0) }
    }

    /// The name with other characters for those that an identifier cannot have.
    var asIdentifier: String {
        var text = ""
        for scalar in unicodeScalars { text.unicodeScalars.append(scalar.properties.isXIDContinue ? scalar : "_") }
        return text.isIdentifier ? text : "_" + text
    }

    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
    var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }

    /// A string literal of Swift.
    var swiftLiteral: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "\n": text += "\\n"
            default:
                let isPlain =
                    scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .format
                text += isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return "\"\(text)\""
    }

    /// The text as one comment line.
    var commentLine: String { "// " + split(whereSeparator: \.isNewline).joined(separator: " ") }
}

private let swiftKeywords: Set<String> = [
    "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
    "internal", "let", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static", "struct",
    "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do", "else",
    "fallthrough", "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while", "Any", "as",
    "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "Type", "Protocol",
]

/// The names of types in a source whose own types may hide those of the standard library and Foundation.
struct TypeNames {
    /// The names of the types that the source itself declares.
    let own: Set<String>

    private static let swift: Set<String> = [
        "Int", "Int16", "Int32", "Int64", "Bool", "Double", "Float", "String", "Any", "Set", "Array",
    ]

    /// A type, with its module where a type of the model has the same name.
    func callAsFunction(_ name: String) -> String {
        guard own.contains(name) else { return name }
        return (Self.swift.contains(name) ? "Swift." : "Foundation.") + name
    }
}
