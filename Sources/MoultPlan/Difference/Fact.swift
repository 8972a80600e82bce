import MoultModel

/// One fact about an entity, attribute or relationship, and what a change of it means.
struct Fact<Subject: Sendable>: Sendable {
    var kind: ModelChange.Kind
    /// Whether the version hash contains it.
    var isHashed = false
    /// The fact as a person reads it; nil for none.
    var read: @Sendable (Subject) -> String?
    var losesData: @Sendable (Subject, Subject) -> Bool = { _, _ in false }
    var mayFail: @Sendable (Subject, Subject) -> Bool = { _, _ in false }
}

extension [String: String] {
    /// In the order of names: `a = 1, b = 2`; nil if empty.
    var listed: String? {
        isEmpty
            ? nil
            : sorted { $0.key.precedesInByteOrder($1.key) }.map { "\($0.key) = \($0.value)" }.joined(separator: ", ")
    }
}

extension AttributeValue {
    /// The value as a person reads it.
    package var text: String {
        switch self {
        case .integer(let value): String(value)
        case .boolean(let value): value ? "YES" : "NO"
        case .double(let value): "\(value)"
        case .decimal(let digits): digits
        case .string(let text): "\"\(text)\""
        case .date(let seconds): "\(seconds) s since 2001-01-01"
        case .binary(let bytes), .transformable(let bytes): "\(Quantity.count(bytes.count, "byte"))"
        case .uuid(let bytes): bytes.hexadecimal
        case .uri(let text): text
        }
    }
}
