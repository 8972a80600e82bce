/// A JSON document as a value. Objects keep the order of their keys.
///
/// All JSON that Moult writes or reads back (a lock file, answers, a saved plan) passes through this type.
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Sendable, Hashable {
        package var key: String
        package var value: JSONValue

        package init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }
}

// MARK: - Reading a value

extension JSONValue {
    /// The member of that name; nil if this is not an object or has no such member.
    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    package var string: String? { if case .string(let text) = self { text } else { nil } }

    package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }

    package var bool: Bool? { if case .bool(let truth) = self { truth } else { nil } }

    /// A number, whole or not.
    package var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    package var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    package var members: [Member]? { if case .object(let members) = self { members } else { nil } }

    // MARK: - Making a value

    /// Creates a string, or null for nil.
    package init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }

    package init(_ number: Int) { self = .integer(Int64(number)) }

    package init(_ texts: [String]) { self = .array(texts.map(JSONValue.string)) }

    /// Creates an object with its keys in byte order.
    package init(sorted values: [String: JSONValue]) {
        self = .object(values.map(Member.init).inByteOrder { $0.key })
    }

    /// The same document with the keys of every object in byte order.
    package var sortedByKey: JSONValue {
        switch self {
        case .array(let elements):
            .array(elements.map(\.sortedByKey))
        case .object(let members):
            .object(members.map { Member($0.key, $0.value.sortedByKey) }.inByteOrder { $0.key })
        default: self
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements.map(Member.init)) }
    package init(nilLiteral: ()) { self = .null }
}

extension JSONValue {
    /// The document on one line, without spaces.
    package var compact: String {
        var writer = JSONWriter(indented: false)
        writer.write(self, depth: 0)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The document over several lines, with two spaces per level, for files that people read and compare; without a
    /// newline at the end.
    package var indented: String {
        var writer = JSONWriter(indented: true)
        writer.write(self, depth: 0)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

private struct JSONWriter {
    let indented: Bool
    var bytes: [UInt8] = []

    init(indented: Bool) { self.indented = indented }

    mutating func write(_ value: JSONValue, depth: Int) {
        switch value {
        case .null: bytes += "null".utf8
        case .bool(let truth): bytes += (truth ? "true" : "false").utf8
        case .integer(let number): bytes += String(number).utf8
        case .double(let number): write(number)
        case .string(let text): write(text)
        case .array(let elements):
            list(elements, "[", "]", depth) { writer, element in writer.write(element, depth: depth + 1) }
        case .object(let members):
            list(members, "{", "}", depth) { writer, member in
                writer.write(member.key)
                writer.bytes += (writer.indented ? ": " : ":").utf8
                writer.write(member.value, depth: depth + 1)
            }
        }
    }

    private mutating func list<Element>(
        _ elements: [Element], _ open: String, _ close: String, _ depth: Int,
        _ each: (inout JSONWriter, Element) -> Void
    ) {
        bytes += open.utf8
        for (position, element) in elements.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            breakLine(depth + 1)
            each(&self, element)
        }
        if !elements.isEmpty { breakLine(depth) }
        bytes += close.utf8
    }

    private mutating func breakLine(_ depth: Int) {
        guard indented else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes += [UInt8](repeating: UInt8(ascii: " "), count: 2 * depth)
    }

    /// Writes Swift's description, the shortest text that reads back to the same bits. JSON has no NaN and no
    /// infinities; they become strings.
    private mutating func write(_ number: Double) {
        if number.isFinite {
            bytes += number.description.utf8
        } else {
            write(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
        }
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        // Characters that control a terminal are escaped; otherwise the text is copied byte by byte.
        guard !text.isControl else {
            for scalar in text.unicodeScalars { write(scalar) }
            bytes.append(UInt8(ascii: "\""))
            return
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "\\\"".utf8
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func write(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": bytes += "\\\"".utf8
        case "\\": bytes += "\\\\".utf8
        case "\n": bytes += "\\n".utf8
        case "\r": bytes += "\\r".utf8
        case "\t": bytes += "\\t".utf8
        case _ where scalar.isControl: bytes += scalar.jsonEscape.utf8
        default: bytes += String(scalar).utf8
        }
    }
}
