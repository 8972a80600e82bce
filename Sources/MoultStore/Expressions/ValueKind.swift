import MoultModel
import MoultModelFiles
import MoultSQLite

/// The meaning of a value of SQL, which SQLite's storage classes alone do not tell: a date is a real number there.
package enum ValueKind: Int64, Sendable {
    case null, integer, boolean, real, decimal, string, date, data, uuid, uri
    /// An integer or a real number, as the storage class says.
    case number
    /// The key of an object; the entity stands next to it.
    case object
    /// Bytes that mean nothing to SQL: a transformable, a value that may lie in a file. Only nil can be told.
    case opaque

    /// With which others a value of this kind is compared (``Predicate/holds(for:variables:in:)``); nil for bytes that
    /// cannot be.
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

    /// Nil for an attribute whose column cannot be compared: a transformable's bytes are its transformer's own.
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

    /// The value that a column or function of this kind gave; null for a storage class that is not the kind's.
    package func value(_ stored: SQLiteValue) -> ExpressionValue {
        switch (self, stored) {
        case (.integer, .integer(let number)), (.number, .integer(let number)): .integer(number)
        case (.boolean, .integer(let number)): .boolean(number != 0)
        case (.real, .integer(let number)): .real(Double(number))
        case (.real, .real(let number)), (.number, .real(let number)): .real(number)
        case (.decimal, .integer(let number)): .decimal(String(number))
        // Swift prints large and small numbers with a power of ten, and a decimal has none.
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
    /// The kind of a single value and what a column of that kind stores; nil for an object or a
    /// collection.
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
