import MoultModel

extension String {
    /// The name as an identifier, in backticks if it is a keyword, as Xcode writes it.
    var identifier: String { swiftKeywords.contains(self) ? "`\(self)`" : self }

    /// Whether the name is valid in Swift, with or without backticks.
    var isIdentifier: Bool {
        guard let first = unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
        return unicodeScalars.dropFirst().allSatisfy(\.properties.isXIDContinue)
    }

    /// Whether the text can be a type, such as `[String: Data]`. A model file may contain any text here.
    var isTypeText: Bool {
        !isEmpty
            && unicodeScalars.allSatisfy { $0.properties.isXIDContinue || "[]<>:,.?& ".unicodeScalars.contains($0) }
    }

    /// The name, with an underscore for each character that is invalid in an identifier.
    var asIdentifier: String {
        var text = ""
        for scalar in unicodeScalars { text.unicodeScalars.append(scalar.properties.isXIDContinue ? scalar : "_") }
        return text.isIdentifier ? text : "_" + text
    }

    /// The text as a Swift string literal.
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

    /// Returns a type's name, qualified with its module if the source declares a type of the same name.
    func callAsFunction(_ name: String) -> String {
        guard own.contains(name) else { return name }
        return (Self.swift.contains(name) ? "Swift." : "Foundation.") + name
    }
}

extension AttributeDescription {
    /// The transformer of SwiftData's arrays, and of a transformable attribute that names none.
    static let secureTransformer = "NSSecureUnarchiveFromData"

    /// The type of the elements of an array in a transformable attribute; nil for any other value.
    private var arrayElement: String? {
        let transformers: Set<String?> = [nil, Self.secureTransformer, Self.secureTransformer + "Transformer"]
        guard transformers.contains(valueTransformerName), let name = attributeValueClassName, name.hasPrefix("["),
            name.hasSuffix("]")
        else { return nil }
        let element = String(name.dropFirst().dropLast())
        let known: Set<String> = [
            "String", "Int", "Int16", "Int32", "Int64", "Bool", "Double", "Float", "Date", "Data", "UUID", "URL",
        ]
        return known.contains(element) ? element : nil
    }

    /// Whether the property's values are of another class, so that the transformer must be named.
    var needsTransformer: Bool { type == .transformable && arrayElement == nil }

    /// Returns the Swift type of the property, without the question mark of an optional. Composite attributes have
    /// types of their own.
    func swiftType(_ types: TypeNames) -> String {
        switch type {
        case .integer16: types("Int16")
        case .integer32: types("Int32")
        case .integer64: types("Int")
        case .double: types("Double")
        case .float: types("Float")
        case .boolean: types("Bool")
        case .decimal: types("Decimal")
        case .string, .date, .binary, .uuid, .uri: types(type.plainType ?? "Data")
        default: arrayElement.map { "[\(types($0))]" } ?? "NSObject"
        }
    }

    /// Returns the default value as a Swift expression; nil if there is none, or Swift has no such expression.
    func initialValue(_ types: TypeNames) -> String? {
        switch defaultValue {
        case .integer(let number): return String(number)
        case .boolean(let flag): return String(flag)
        case .double(let number): return number.isFinite ? "\(number)" : nil
        case .decimal(let digits): return Self.decimal(digits, types)
        case .string(let text): return text.swiftLiteral
        case .date(let seconds):
            return seconds.isFinite ? "\(types("Date"))(timeIntervalSinceReferenceDate: \(seconds))" : nil
        case .binary(let bytes): return type == .binary ? "\(types("Data"))(\(bytes))" : nil
        case .uuid(let bytes):
            guard bytes.count == 16 else { return nil }
            return "\(types("UUID"))(uuid: (\(bytes.map(String.init).joined(separator: ", "))))"
        case .uri(let text): return isOptional ? "\(types("URL"))(string: \(text.swiftLiteral))" : nil
        case .transformable, nil: return nil
        }
    }

    /// Returns an expression with a significand and an exponent, which always forms a valid Decimal.
    private static func decimal(_ digits: String, _ types: TypeNames) -> String? {
        let isNegative = digits.hasPrefix("-")
        let parts = digits.drop { $0 == "-" || $0 == "+" }.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first, parts.count <= 2 else { return nil }
        let fraction = parts.count > 1 ? String(parts[1]) : ""
        guard let significand = Int64(whole + fraction), significand >= 0 else { return nil }
        return "\(types("Decimal"))(sign: .\(isNegative ? "minus" : "plus"), exponent: -\(fraction.count), "
            + "significand: \(significand))"
    }
}
