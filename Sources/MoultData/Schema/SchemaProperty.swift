/// The interface that attributes and relationships have in common.
public protocol SchemaProperty: Sendable, Hashable {
    var name: String { get }
    /// The name in an earlier version; the same name where none is given.
    var originalName: String { get }
    /// The Swift type of the property, optional where it is.
    var valueType: any Any.Type { get }
    var isAttribute: Bool { get }
    var isRelationship: Bool { get }
    /// Whether no store keeps it.
    var isTransient: Bool { get }
    var isOptional: Bool { get }
    var isUnique: Bool { get }
}

extension SchemaProperty {
    /// False, unless an attribute says otherwise.
    public var isAttribute: Bool { false }
    /// False, unless a relationship says otherwise.
    public var isRelationship: Bool { false }
    /// False: a store keeps the property unless it says otherwise.
    public var isTransient: Bool { false }
}
