extension ExpressionValue {
    /// The kinds that are compared among themselves, in the order in which a sort puts them.
    package enum Kind: Int, Sendable, Hashable {
        case null, number, text, bytes, object, collection

        var name: String {
            switch self {
            case .null: "nil"
            case .number: "a number"
            case .text: "a text"
            case .bytes: "data"
            case .object: "an object"
            case .collection: "a collection"
            }
        }
    }

    package var kind: Kind {
        switch self {
        case .null: .null
        case .real(let number), .date(let number): number.isNaN ? .null : .number
        case .boolean, .integer: .number
        case .decimal: number == nil ? .null : .number
        case .string, .uri: .text
        case .data, .uuid: .bytes
        case .object: .object
        case .collection: .collection
        }
    }

    /// Nil for NaN too, which no column can hold.
    package var isNull: Bool { kind == .null }

    /// The number that a column of the value's type holds; nil for what is no number, and for NaN.
    package var number: ExpressionNumber? {
        switch self {
        case .boolean(let flag): .integer(flag ? 1 : 0)
        case .integer(let number): .integer(number)
        case .real(let number), .date(let number): number.isNaN ? nil : .real(number)
        case .decimal(let digits): ExpressionNumber(digits: digits)
        case .null, .string, .data, .uuid, .uri, .object, .collection: nil
        }
    }

    /// The text of a string or URI.
    package var text: String? {
        switch self {
        case .string(let text), .uri(let text): text
        default: nil
        }
    }
}

extension ExpressionValue {
    /// Equal for values that are equal in a predicate, unlike the values themselves: numbers by their value, texts by
    /// their scalars.
    package enum Key: Hashable, Sendable {
        case null
        case integer(Int64)
        case real(Double)
        case text([UInt8])
        case bytes([UInt8])
        case object(ObjectID)
        case collection([Key])
    }

    package var key: Key {
        switch self {
        case .string(let text), .uri(let text): .text(Array(text.utf8))
        case .data(let bytes), .uuid(let bytes): .bytes(bytes)
        case .object(let id): .object(id)
        case .collection(let elements): .collection(elements.map(\.key))
        case .null, .boolean, .integer, .real, .decimal, .date:
            switch number {
            case .integer(let number): .integer(number)
            case .real(let number): Int64(exactly: number).map(Key.integer) ?? .real(number)
            case nil: .null
            }
        }
    }
}
