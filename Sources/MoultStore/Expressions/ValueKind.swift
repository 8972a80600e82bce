import MoultModel
import MoultModelFiles
import MoultSQLite

/// The meaning of an SQL value, which its storage class does not determine: a date, for example, is a real number.
package enum ValueKind: Int64, Sendable {
    case null, integer, boolean, real, decimal, string, date, data, uuid, uri
    /// An integer or a real number, depending on the storage class.
    case number
    /// The key of an object; its entity is stored separately.
    case object
    /// Bytes that SQL cannot interpret: a transformable, or a value that may be in a file. Only nil can be detected.
    case opaque

    /// The group of kinds that values of this kind are compared with (``Predicate/holds(for:variables:in:)``); nil for
    /// bytes that cannot be compared.
    package var family: ExpressionValue.Kind? {
        switch self {
        case .null: .null
        case .integer, .boolean, .real, .decimal, .number, .date: .number
        case .string, .uri: .text
        case .data, .uuid: .bytes
        case .object: .object
        case .opaque: nil
        }
    }

    /// Returns nil for an attribute whose column cannot be compared: only its transformer can read a transformable's
    /// bytes.
    package init?(_ type: AttributeType) {
        switch type {
        case .integer16, .integer32, .integer64: self = .integer
        case .boolean: self = .boolean
        case .double, .float: self = .real
        case .decimal: self = .decimal
        case .string: self = .string
        case .date: self = .date
        case .binary: self = .data
        case .uuid: self = .uuid
        case .uri: self = .uri
        case .undefined, .transformable, .objectID, .composite: return nil
        }
    }

    package var name: String {
        switch self {
        case .null: "nil"
        case .integer, .boolean, .real, .decimal, .number: "a number"
        case .date: "a date"
        case .string, .uri: "a text"
        case .data, .uuid: "data"
        case .object: "an object"
        case .opaque: "a transformable or external value"
        }
    }

    /// Returns the value read from a column or function of this kind; null if the storage class does not match.
    package func value(_ stored: SQLiteValue) -> ExpressionValue {
        switch (self, stored) {
        case (.integer, .integer(let number)), (.number, .integer(let number)): .integer(number)
        case (.boolean, .integer(let number)): .boolean(number != 0)
        case (.real, .integer(let number)): .real(Double(number))
        case (.real, .real(let number)), (.number, .real(let number)): .real(number)
        case (.decimal, .integer(let number)): .decimal(String(number))
        // Swift prints large and small numbers with an exponent, which a decimal cannot have.
        case (.decimal, .real(let number)): .decimal(DecimalNumber("\(number)")?.text ?? "\(number)")
        case (.decimal, .text(let digits)): .decimal(digits)
        case (.date, .integer(let seconds)): .date(Double(seconds))
        case (.date, .real(let seconds)): .date(seconds)
        case (.string, .text(let text)): .string(text)
        case (.uri, .text(let text)): .uri(text)
        case (.data, .blob(let bytes)): .data(bytes)
        case (.uuid, .blob(let bytes)): .uuid(bytes)
        default: .null
        }
    }
}

extension ExpressionValue {
    /// The kind of a single value, and the value a column of that kind stores; nil for an object or a collection.
    package var stored: (kind: ValueKind, value: SQLiteValue)? {
        switch self {
        case _ where isNull: (.null, .null)
        case .null: (.null, .null)
        case .boolean(let flag): (.boolean, .integer(flag ? 1 : 0))
        case .integer(let number): (.integer, .integer(number))
        case .real(let number): (.real, .real(number))
        case .decimal: (.decimal, number?.stored ?? .null)
        case .string(let text): (.string, .text(text))
        case .date(let seconds): (.date, .real(seconds))
        case .data(let bytes): (.data, .blob(bytes))
        case .uuid(let bytes): (.uuid, .blob(bytes))
        case .uri(let text): (.uri, .text(text))
        case .object, .collection: nil
        }
    }
}

extension ExpressionNumber {
    package var stored: SQLiteValue {
        switch self {
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        }
    }
}
