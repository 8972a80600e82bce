import MoultModel

/// Writes elements with their attributes in the order given, four spaces a level, as Xcode does.
struct MarkupWriter {
    private var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
    private var depth = 0

    /// The whole document. Like Xcode's, it does not end its last line.
    var document: String { String(text.dropLast()) }

    /// An attribute whose value is nil is left out.
    mutating func element(
        _ name: String, _ attributes: [(key: String, value: String?)],
        children: ((inout MarkupWriter) throws -> Void)? = nil
    ) throws {
        let indentation = String(repeating: "    ", count: depth)
        text += indentation + "<" + name
        for case (let key, let value?) in attributes {
            text += " \(key)=\"\(try Self.escaped(value))\""
        }
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

    /// `YES` or nothing.
    static func flag(_ isOn: Bool) -> String? { isOn ? "YES" : nil }

    mutating func userInfo(_ entries: [String: String]) throws {
        guard !entries.isEmpty else { return }
        try element("userInfo", []) { writer in
            for (key, value) in entries.sorted(by: { $0.key.precedesInByteOrder($1.key) }) {
                try writer.element("entry", [("key", key), ("value", value)])
            }
        }
    }

    /// - Throws: `modelInvalid` for a character that XML cannot represent.
    static func escaped(_ value: String) throws -> String {
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
    /// In the order in which Xcode writes parts of a model: by name without regard to case.
    func inEditorOrder(_ name: (Element) -> String) -> [Element] {
        let keyed = map { (key: name($0).lowercased(), name: name($0), element: $0) }
        return keyed.sorted { ($0.key, $0.name) < ($1.key, $1.name) }.map(\.element)
    }
}
