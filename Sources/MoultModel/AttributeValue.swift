/// One value of an attribute, as a model's default or a store's row has it. Nil is spelled as Swift's nil.
public enum AttributeValue: Sendable, Hashable {
    /// Integer 16, 32 and 64.
    case integer(Int64)
    case boolean(Bool)
    /// Double and Float.
    case double(Double)
    /// The exact digits, as `Decimal` prints them.
    case decimal(String)
    case string(String)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case binary([UInt8])
    /// Sixteen bytes.
    case uuid([UInt8])
    case uri(String)
    /// The transformer's output, not decoded.
    case transformable([UInt8])
}
