import MoultBasics
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension AttributeDescription {
    private static let knownAttributes: ModelKeySet = [
        .name, .attributeType, .optional, .transient, .indexed, .derived, .derivationExpression,
        .filteringPredicate, .composite, .defaultValueString, .defaultDateTimeInterval,
        .allowsExternalBinaryDataStorage, .preserveAfterDeletion, .allowsCloudEncryption, .valueTransformerName,
        .customClassName, .usesScalarValueType, .spotlightIndexingEnabled, .storedInTruthFile, .minValueString,
        .maxValueString, .minDateTimeInterval, .maxDateTimeInterval, .regularExpressionString, .elementID,
        .renamingIdentifier, .versionHashModifier, .syncable,
    ]

    /// Stores confirm the compiled form of composite attributes, but no model source with one has been seen.
    static let unseenSpelling = "is a composite attribute in a model source, whose form is not verified"

    /// Reads the `<attribute>` of an entity or a composite.
    init(_ element: ModelElement, noting unknown: inout UnknownMarkup) throws {
        unknown.inspect(element, attributes: Self.knownAttributes, children: ["userInfo"])
        let type = try AttributeType(element)
        self.init(
            name: try element.required(.name),
            type: type,
            isOptional: element.flag(.optional, noting: &unknown),
            isTransient: element.flag(.transient, noting: &unknown),
            derivation: try Derivation(element, noting: &unknown),
            compositeName: element.text(.composite),
            uncertainty: type == .composite || element.text(.composite) != nil ? Self.unseenSpelling : nil,
            defaultValue: AttributeValue(defaultOf: element, type: type, noting: &unknown),
            allowsExternalBinaryDataStorage: element.flag(.allowsExternalBinaryDataStorage, noting: &unknown),
            preservesValueInHistoryOnDeletion: element.flag(.preserveAfterDeletion, noting: &unknown),
            allowsCloudEncryption: element.flag(.allowsCloudEncryption, noting: &unknown),
            valueTransformerName: element.text(.valueTransformerName),
            attributeValueClassName: element.text(.customClassName),
            usesScalarValueType: element.switchIfPresent(.usesScalarValueType, noting: &unknown),
            isIndexed: element.flag(.indexed, noting: &unknown),
            isIndexedBySpotlight: element.flag(.spotlightIndexingEnabled, noting: &unknown),
            isStoredInExternalRecord: element.flag(.storedInTruthFile, noting: &unknown),
            validation: Validation(
                minimum: element.text(.minValueString) ?? element.text(.minDateTimeInterval),
                maximum: element.text(.maxValueString) ?? element.text(.maxDateTimeInterval),
                regularExpression: element.text(.regularExpressionString)),
            renamingIdentifier: element.text(.elementID) ?? element.text(.renamingIdentifier),
            versionHashModifier: element.text(.versionHashModifier),
            userInfo: element.userInfo(noting: &unknown),
            isSyncable: element.switchIfPresent(.syncable, noting: &unknown) ?? true)
    }

    func write(to writer: inout MarkupWriter) throws {
        guard validation.rules.isEmpty else {
            throw MigrationError.modelInvalid(
                "The attribute \(name) has validation rules that only code can set; XML has no form for them.",
                place: name, remedy: "Keep the model as JSON.")
        }
        let isDate = type == .date
        let attributes: [(key: String, value: String?)] = [
            ("name", name), ("optional", MarkupWriter.flag(isOptional)),
            ("transient", MarkupWriter.flag(isTransient)), ("attributeType", type == .undefined ? nil : type.name),
            ("composite", compositeName), ("minValueString", isDate ? nil : validation.minimum),
            ("maxValueString", isDate ? nil : validation.maximum),
            ("minDateTimeInterval", isDate ? validation.minimum : nil),
            ("maxDateTimeInterval", isDate ? validation.maximum : nil),
            (isDate ? "defaultDateTimeInterval" : "defaultValueString", defaultValue?.modelEditorText),
            ("usesScalarValueType", usesScalarValueType.map { $0 ? "YES" : "NO" }),
            ("regularExpressionString", validation.regularExpression),
            ("derived", MarkupWriter.flag(derivation != nil)), ("derivationExpression", derivation?.expression),
            ("filteringPredicate", derivation?.filter), ("indexed", MarkupWriter.flag(isIndexed)),
            ("allowsExternalBinaryDataStorage", MarkupWriter.flag(allowsExternalBinaryDataStorage)),
            ("allowsCloudEncryption", MarkupWriter.flag(allowsCloudEncryption)),
            ("spotlightIndexingEnabled", MarkupWriter.flag(isIndexedBySpotlight)),
            ("storedInTruthFile", MarkupWriter.flag(isStoredInExternalRecord)), ("elementID", renamingIdentifier),
            ("preserveAfterDeletion", MarkupWriter.flag(preservesValueInHistoryOnDeletion)),
            ("valueTransformerName", valueTransformerName), ("customClassName", attributeValueClassName),
            ("versionHashModifier", versionHashModifier), ("syncable", isSyncable ? nil : "NO"),
        ]
        guard !userInfo.isEmpty else { return try writer.element("attribute", attributes) }
        try writer.element("attribute", attributes) { try $0.userInfo(userInfo) }
    }
}

extension AttributeType {
    /// Reads the type. A transient attribute may have none.
    fileprivate init(_ element: ModelElement) throws {
        guard let word = element.text(.attributeType) else {
            self = .undefined
            return
        }
        guard let type = AttributeType(name: word) else {
            throw element.invalid(
                "The attribute type \"\(word)\" is not one of Core Data's.",
                remedy: "Write one of: \(AttributeType.allCases.map(\.name).joined(separator: ", ")).")
        }
        self = type
    }
}

extension AttributeDescription.Derivation {
    fileprivate init?(_ element: ModelElement, noting unknown: inout UnknownMarkup) throws {
        guard element.flag(.derived, noting: &unknown) else { return nil }
        guard let expression = element.text(.derivationExpression) else {
            throw element.invalid(
                "The attribute is derived but has no derivationExpression.",
                remedy: "Add the expression, or make it a plain attribute.")
        }
        self.init(expression: expression, filter: element.text(.filteringPredicate))
    }
}

extension AttributeValue {
    /// Reads the default value of `<attribute>`, as a value of the attribute's type.
    ///
    /// Returns nil, with a finding, for a text that is not a value of that type; Core Data accepts such a model.
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

    /// Reads the text of a default value in a model file. `Binary` and `Transformable`, which have no text form in
    /// Xcode, are base64 here.
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

    /// The text in Xcode's spelling.
    package var modelEditorText: String { self == .decimal("0") ? "0.0" : modelFileText }

    private init?<Value>(_ text: String, _ wrap: (Value) -> AttributeValue, _ parse: (String) -> Value?) {
        guard let value = parse(text) else { return nil }
        self = wrap(value)
    }

    /// Reads a boolean. An attribute that was once a number keeps its old text: booleans may have `0.0`, which Core
    /// Data reads as NO.
    private init?(boolean text: String) {
        switch text.lowercased() {
        case "yes", "true", "y", "t": self = .boolean(true)
        case "no", "false", "n", "f": self = .boolean(false)
        default:
            guard let number = Double(text).flatMap({ Int64(exactly: $0) }) else { return nil }
            self = .boolean(number != 0)
        }
    }

    /// Reads an integer. An attribute that was once a boolean or a double keeps its old text, such as `NO` or `0.0`.
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
    /// The text without surrounding white space.
    fileprivate var trimmed: String {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

extension UUID {
    var bytes: [UInt8] { withUnsafeBytes(of: uuid) { [UInt8]($0) } }

    /// Returns nil unless there are sixteen bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        var value = UUID().uuid
        withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: bytes) }
        self.init(uuid: value)
    }
}
