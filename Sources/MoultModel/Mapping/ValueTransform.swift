/// A closure of an app over one or more values of a row, which runs inside the statement that carries the row over.
///
/// An expression calls it as `FUNCTION($entityPolicy, "name", $source.first, $source.last)`, and so does a mapping made
/// in code. Two transforms are equal where they are the same one.
public final class ValueTransform: Sendable, Hashable {
    /// What expressions call it; by custom a selector, such as `cleanTitle:`.
    public let name: String
    /// One value for each argument, nil for none.
    public let body: @Sendable ([AttributeValue?]) throws -> AttributeValue?

    public init(_ name: String, _ body: @escaping @Sendable ([AttributeValue?]) throws -> AttributeValue?) {
        self.name = name
        self.body = body
    }

    public static func == (left: ValueTransform, right: ValueTransform) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
