// A default value is written as Swift writes it: `defaultValue: 3`, `defaultValue: "untitled"`.

extension AttributeValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByStringLiteral
{
    /// An integer, as attributes of every integer type have it.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A double, as Double and Float attributes have it.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A Boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
}
