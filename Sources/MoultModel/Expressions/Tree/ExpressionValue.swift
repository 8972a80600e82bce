/// A value that stands in an expression, or that one has when it is evaluated, in memory or by a store.
public enum ExpressionValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    /// The exact digits.
    case decimal(String)
    case string(String)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data([UInt8])
    /// Sixteen bytes.
    case uuid([UInt8])
    case uri(String)
    case object(ObjectID)
    case collection([ExpressionValue])

    /// The value of an attribute; ``null`` for nil, ``data(_:)`` for the bytes of a transformable attribute too.
    public init(_ value: AttributeValue?) {
        switch value {
        case nil: self = .null
        case .integer(let number): self = .integer(number)
        case .boolean(let flag): self = .boolean(flag)
        case .double(let number): self = .real(number)
        case .decimal(let digits): self = .decimal(digits)
        case .string(let text): self = .string(text)
        case .date(let seconds): self = .date(seconds)
        case .binary(let bytes), .transformable(let bytes): self = .data(bytes)
        case .uuid(let bytes): self = .uuid(bytes)
        case .uri(let text): self = .uri(text)
        }
    }
}
