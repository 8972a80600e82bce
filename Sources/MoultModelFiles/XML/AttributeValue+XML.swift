import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension AttributeValue {
    /// The default value that `<attribute>` declares, typed by the attribute's type.
    ///
    /// Nil, with a finding, for a text that is no value of that type: to Core Data, such a model is one anyway.
    init?(defaultOf element: ModelElement, type: AttributeType, noting unknown: inout UnknownMarkup) {
        let key = type == .date ? ModelKey.defaultDateTimeInterval : .defaultValueString
        guard let text = element.node[key] else {
            if type == .date, element.text(.defaultValueString) != nil {
                unknown.add(
                    "default-not-read", element, "The default of a date is given as text, which was not read.",
                    remedy: "Give it as defaultDateTimeInterval, in seconds since 2001-01-01 00:00:00 UTC.")
            }
            return nil
        }
        guard !text.isEmpty || type == .string else {
            unknown.add(
                "default-not-read", element, "The default value is empty, which is not a value of type \(type.name).",
                remedy: "Give a value, or remove defaultValueString.")
            return nil
        }
        guard let value = AttributeValue(modelFileText: text, type: type) else {
            unknown.add(
                "default-not-read", element,
                "The default value \"\(text)\" is not a value of type \(type.name); the attribute is read without one.",
                remedy: "Correct the default value or the type.")
            return nil
        }
        self = value
    }

    /// The text form of a default value in a model file. `Binary` and `Transformable`, for which Xcode has none, are
    /// base64 here.
    init?(modelFileText text: String, type: AttributeType) {
        let isText = type == .string || type == .uri
        self.init(trimmedText: isText ? text : text.trimmed, type: type)
    }

    private init?(trimmedText text: String, type: AttributeType) {
        switch type {
        case .integer16: self.init(integer: text, in: Int64(Int16.min)...Int64(Int16.max))
        case .integer32: self.init(integer: text, in: Int64(Int32.min)...Int64(Int32.max))
        case .integer64: self.init(integer: text, in: .min ... .max)
        case .boolean: self.init(boolean: text)
        case .double, .float: self.init(text, AttributeValue.double, Double.init)
        case .date: self.init(text, AttributeValue.date, Double.init)
        case .decimal: self.init(text, AttributeValue.decimal) { DecimalNumber($0)?.text }
        case .string: self = .string(text)
        case .uri: self = .uri(text)
        case .uuid: self.init(text, AttributeValue.uuid) { UUID(uuidString: $0)?.bytes }
        case .binary: self.init(text, AttributeValue.binary) { Data(base64Encoded: $0).map { [UInt8]($0) } }
        case .transformable:
            self.init(text, AttributeValue.transformable) { Data(base64Encoded: $0).map { [UInt8]($0) } }
        case .undefined, .objectID, .composite: return nil
        }
    }

    var modelFileText: String {
        switch self {
        case .integer(let number): String(number)
        case .boolean(let isTrue): isTrue ? "YES" : "NO"
        case .double(let number), .date(let number): String(number)
        case .decimal(let text), .string(let text), .uri(let text): text
        case .binary(let bytes), .transformable(let bytes): bytes.base64
        case .uuid(let bytes): UUID(bytes: bytes)?.uuidString ?? bytes.base64
        }
    }

    /// The text as Xcode writes it, where it differs only in form.
    var modelEditorText: String { self == .decimal("0") ? "0.0" : modelFileText }

    private init?<Value>(_ text: String, _ wrap: (Value) -> AttributeValue, _ parse: (String) -> Value?) {
        guard let value = parse(text) else { return nil }
        self = wrap(value)
    }

    /// An attribute that once was a number keeps its old text: `0.0` is found on booleans, and Core Data reads it as NO.
    private init?(boolean text: String) {
        switch text.lowercased() {
        case "yes", "true", "y", "t": self = .boolean(true)
        case "no", "false", "n", "f": self = .boolean(false)
        default:
            guard let number = Double(text).flatMap({ Int64(exactly: $0) }) else { return nil }
            self = .boolean(number != 0)
        }
    }

    /// An attribute that once was a boolean or a double keeps its old text: `NO` and `0.0` are found on integers.
    private init?(integer text: String, in range: ClosedRange<Int64>) {
        let number: Int64? =
            switch text.lowercased() {
            case "yes", "true": 1
            case "no", "false": 0
            default: Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
            }
        guard let number, range.contains(number) else { return nil }
        self = .integer(number)
    }
}

extension String {
    /// Without white space around it.
    fileprivate var trimmed: String {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

extension UUID {
    var bytes: [UInt8] { withUnsafeBytes(of: uuid) { [UInt8]($0) } }

    /// Nil unless there are sixteen bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        var value = UUID().uuid
        withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: bytes) }
        self.init(uuid: value)
    }
}
