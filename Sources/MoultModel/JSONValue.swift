/// A JSON document as a value. The keys of an object keep the order in which they were given.
///
/// Everything that leaves Moult as JSON, or comes back (a lock file, answers, a saved plan), goes through here.
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
    /// The member of that name, if this is an object that has it.
    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    package var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    package var integer: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    package var bool: Bool? {
        guard case .bool(let truth) = self else { return nil }
        return truth
    }

    /// A number, whole or not.
    package var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    package var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    package var members: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members
    }
}

// MARK: - Making a value

extension JSONValue {
    /// A string, or null.
    package init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }

    package init(_ number: Int) { self = .integer(Int64(number)) }

    package init(_ texts: [String]) { self = .array(texts.map(JSONValue.string)) }

    /// An object whose keys are in byte order.
    package init(sorted values: [String: JSONValue]) {
        self = .object(values.map(Member.init).sorted { $0.key.precedesInByteOrder($1.key) })
    }

    /// The same document with the keys of every object in byte order.
    package var sortedByKey: JSONValue {
        switch self {
        case .array(let elements):
            .array(elements.map(\.sortedByKey))
        case .object(let members):
            .object(
                members.map { Member($0.key, $0.value.sortedByKey) }.sorted { $0.key.precedesInByteOrder($1.key) })
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
