import MoultBasics

/// An element of an XML model with all its descendants.
package struct MarkupElement: Sendable {
    package let name: String
    /// The known attributes in file order.
    let attributes: [(key: ModelKey, value: String)]
    /// The attributes whose names are not a `ModelKey`.
    let otherAttributes: [(name: String, value: String)]
    /// The line of the start tag.
    package let line: Int
    package let children: [MarkupElement]

    private init(_ element: XMLElement) {
        var known: [(key: ModelKey, value: String)] = []
        var others: [(name: String, value: String)] = []
        for attribute in element.attributes {
            if let key = ModelKey.byName[attribute.name] {
                known.append((key, attribute.value))
            } else {
                others.append(attribute)
            }
        }
        (name, attributes, otherAttributes, line) = (element.name, known, others, element.line)
        children = element.children.map(MarkupElement.init)
    }

    /// The maximum nesting depth of elements in a model file.
    static let depthLimit = 64

    /// Returns the root element of a model file.
    ///
    /// - Throws: `MigrationError` with code `modelInvalid`, line and column, for a file that is not well-formed.
    static func root(of bytes: [UInt8], file: String, depth: Int = depthLimit) throws(MigrationError) -> MarkupElement {
        MarkupElement(try XMLElement.root(ofModelFile: file, bytes, depth: depth))
    }

    subscript(key: ModelKey) -> String? {
        for attribute in attributes where attribute.key == key { return attribute.value }
        return nil
    }

    /// Every attribute by name.
    var allAttributes: [String: String] {
        let known = attributes.map { (name: "\($0.key)", value: $0.value) }
        return Dictionary((known + otherAttributes).map { ($0.name, $0.value) }) { first, _ in first }
    }
}

extension XMLElement {
    /// Returns the root element of a model or a mapping model.
    ///
    /// - Throws: `MigrationError` with code `modelInvalid`, line and column, for a file that is not well-formed.
    static func root(
        ofModelFile file: String, _ bytes: [UInt8], depth: Int = MarkupElement.depthLimit, keepsText: Bool = false
    ) throws(MigrationError) -> XMLElement {
        do {
            return try root(of: bytes, limits: Limits(depth: depth), keepsText: keepsText)
        } catch {
            throw .modelInvalid(
                "The file is not a well-formed XML model: \(error.message).",
                place: "\(file):\(error.line):\(error.column)",
                remedy:
                    "Restore the file, or correct it there; often the cause is an unresolved merge conflict or a truncated file."
            )
        }
    }
}

/// Writes elements with their attributes in the given order, indented by four spaces per level, as Xcode does.
package struct MarkupWriter {
    private var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
    private var depth = 0

    /// The whole document. As in Xcode's files, the last line has no line break.
    var document: String { String(text.dropLast()) }

    /// Writes an element. Attributes whose value is nil are omitted.
    mutating func element(
        _ name: String, _ attributes: [(key: String, value: String?)],
        children: ((inout MarkupWriter) throws -> Void)? = nil
    ) throws {
        let indentation = String(repeating: "    ", count: depth)
        text += indentation + "<" + name
        for case (let key, let value?) in attributes { text += " \(key)=\"\(try Self.escaped(value))\"" }
        guard let children else {
            text += "/>\n"
            return
        }
        text += ">\n"
        let start = text.utf8.count
        depth += 1
        try children(&self)
        depth -= 1
        guard text.utf8.count > start else {
            text.removeLast(2)
            text += "/>\n"
            return
        }
        text += indentation + "</\(name)>\n"
    }

    /// Returns `YES` or nil.
    static func flag(_ isOn: Bool) -> String? { isOn ? "YES" : nil }

    mutating func userInfo(_ entries: [String: String]) throws {
        guard !entries.isEmpty else { return }
        try element("userInfo", []) { writer in
            for (key, value) in entries.inByteOrder(of: { $0.key }) {
                try writer.element("entry", [("key", key), ("value", value)])
            }
        }
    }

    /// - Throws: `modelInvalid` for a character that XML cannot represent.
    package static func escaped(_ value: String) throws -> String {
        var escaped = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\r", "\t": escaped += "&#\(scalar.value);"
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}":
                throw MigrationError.modelInvalid(
                    "The text \(value.debugDescription) contains a character that XML cannot represent.",
                    place: "character U+\(String(scalar.value, radix: 16, uppercase: true))",
                    remedy: "Remove the control character, or keep the model as JSON.")
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension Array {
    /// Returns the elements in the order of Xcode's model files: by name, ignoring case.
    func inEditorOrder(_ name: (Element) -> String) -> [Element] {
        let keyed = map { (key: name($0).lowercased(), name: name($0), element: $0) }
        return keyed.sorted { ($0.key, $0.name) < ($1.key, $1.name) }.map(\.element)
    }
}
