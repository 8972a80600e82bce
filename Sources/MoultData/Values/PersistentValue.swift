import MoultModel

/// A type whose values an attribute has a column for. `Optional` of one is one too.
public protocol PersistentValue: SendableMetatype {
    static var attributeType: AttributeType { get }
    static var isOptionalAttribute: Bool { get }
    /// What stands for NULL in an attribute that is not optional.
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
    public static var isOptionalAttribute: Bool { false }
    public static var fillsColumn: Bool { true }

    public static func canBe(_ attribute: AttributeValue?) -> Bool { attribute != nil }
}

extension Optional: PersistentValue where Wrapped: PersistentValue {
    public static var attributeType: AttributeType { Wrapped.attributeType }
    public static var isOptionalAttribute: Bool { true }
    public static var fillsColumn: Bool { Wrapped.fillsColumn }
    @inlinable public static var valueForNull: Wrapped? { nil }
    @inlinable public static func canBe(_ attribute: AttributeValue?) -> Bool {
        attribute == nil || Wrapped.canBe(attribute)
    }
    @inlinable public init?(attribute: AttributeValue?) { self = Wrapped(attribute: attribute) }
    // A key path of a generic type is rebuilt each time.
    @inlinable public var attributeValue: AttributeValue? { flatMap { $0.attributeValue } }
}

extension Bool: PersistentValue {
    public static var attributeType: AttributeType { .boolean }
    public static var valueForNull: Bool { false }
    public init?(attribute: AttributeValue?) {
        guard case .boolean(let flag)? = attribute?.fitted(to: .boolean) else { return nil }
        self = flag
    }
    public var attributeValue: AttributeValue? { .boolean(self) }
}

extension String: PersistentValue {
    public static var attributeType: AttributeType { .string }
    public static var valueForNull: String { "" }
    public init?(attribute: AttributeValue?) {
        guard case .string(let text)? = attribute else { return nil }
        self = text
    }
    public var attributeValue: AttributeValue? { .string(self) }
}
