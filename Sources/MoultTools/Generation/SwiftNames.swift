import MoultModel

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

extension AttributeDescription {
    /// The transformer of a transformable attribute that names none, and of SwiftData's arrays.
    static let secureTransformer = "NSSecureUnarchiveFromData"

    /// The array that a transformable attribute holds, in Swift's short form; nil for anything else.
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

    /// Whether the property's values are another class's, so that its transformer has to be named.
    var needsTransformer: Bool { type == .transformable && arrayElement == nil }

    /// The Swift type of the property, without the sign of an optional. A composite attribute has a type of its own.
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

    /// The default value as Swift writes it; nil where there is none, or Swift has no such literal.
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

    /// The digits as a significand and an exponent, which always are a Decimal.
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
