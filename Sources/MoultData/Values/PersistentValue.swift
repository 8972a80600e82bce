import MoultModel

/// A type whose values an attribute has a column for. `Optional` of one is one too.
public protocol PersistentValue: SendableMetatype {
    static var attributeType: AttributeType { get }
    static var isOptionalAttribute: Bool { get }
    /// The value that stands for NULL in an attribute that is not optional.
    static var valueForNull: Self { get }

    /// Whether every value that a column of ``attributeType`` can hold is one of the type.
    static var fillsColumn: Bool { get }
    /// Whether a stored value is one of the type; nil is one of an optional.
    static func canBe(_ attribute: AttributeValue?) -> Bool

    /// Nil if the attribute holds a value of another kind.
    init?(attribute: AttributeValue?)
    var attributeValue: AttributeValue? { get }
}

extension PersistentValue {
    /// False: the attribute must have a value.
    public static var isOptionalAttribute: Bool { false }
    /// True: every value of the column is one of the type.
    public static var fillsColumn: Bool { true }

    /// Whether there is a value at all.
    public static func canBe(_ attribute: AttributeValue?) -> Bool { attribute != nil }
}

extension Optional: PersistentValue where Wrapped: PersistentValue {
    /// The column type of the wrapped type.
    public static var attributeType: AttributeType { Wrapped.attributeType }
    /// True: the attribute may be empty.
    public static var isOptionalAttribute: Bool { true }
    /// Whether every value of the column, apart from NULL, is one of the wrapped type.
    public static var fillsColumn: Bool { Wrapped.fillsColumn }
    /// Nil, which an empty column stands for.
    /// Whether the column is empty or holds a value of the wrapped type.
    @inlinable public static var valueForNull: Wrapped? { nil }
    @inlinable public static func canBe(_ attribute: AttributeValue?) -> Bool {
        attribute == nil || Wrapped.canBe(attribute)
    }
    /// The wrapped value; nil for an empty column and for a value of another kind, never a failure.
    @inlinable public init?(attribute: AttributeValue?) { self = Wrapped(attribute: attribute) }
    // A key path of a generic type is rebuilt each time.
    /// The wrapped value in its stored form; nil for nil.
    @inlinable public var attributeValue: AttributeValue? { flatMap { $0.attributeValue } }
}

extension Bool: PersistentValue {
    /// A Boolean column.
    public static var attributeType: AttributeType { .boolean }
    /// False.
    public static var valueForNull: Bool { false }
    /// The stored flag, or that of the numbers 0 and 1; nil for any other value.
    public init?(attribute: AttributeValue?) {
        guard case .boolean(let flag)? = attribute?.fitted(to: .boolean) else { return nil }
        self = flag
    }
    /// The flag, as a Boolean value.
    public var attributeValue: AttributeValue? { .boolean(self) }
}

extension String: PersistentValue {
    /// A String column.
    public static var attributeType: AttributeType { .string }
    /// An empty text.
    public static var valueForNull: String { "" }
    /// The stored text; nil for a value of another kind.
    public init?(attribute: AttributeValue?) {
        guard case .string(let text)? = attribute else { return nil }
        self = text
    }
    /// The text, as a String value.
    public var attributeValue: AttributeValue? { .string(self) }
}
