/// A closure of an app over one or more values of a row, which runs inside the statement that carries the row over.
///
/// An expression calls it as `FUNCTION($entityPolicy, "name", $source.first, $source.last)`, and so does a mapping made
/// in code. Two transforms are equal where they are the same one.
public final class ValueTransform: Sendable, Hashable {
    /// The name by which expressions call it; usually a selector, such as `cleanTitle:`.
    public let name: String
    /// The body as a closure over its arguments, for callers that have no array of values.
    package let call: @Sendable (any TransformArguments) throws -> AttributeValue?

    /// - Parameter body: is given one value for each argument, nil for none.
    public init(_ name: String, _ body: @escaping @Sendable ([AttributeValue?]) throws -> AttributeValue?) {
        self.name = name
        call = { try body($0.all) }
    }

    /// A closure that reads its arguments itself, and so each in the type that it wants.
    @usableFromInline init(
        reading name: String, _ call: @escaping @Sendable (any TransformArguments) throws -> AttributeValue?
    ) {
        self.name = name
        self.call = call
    }

    /// Calls the closure with one value for each argument, nil for none.
    public func body(_ values: [AttributeValue?]) throws -> AttributeValue? { try call(values) }

    /// Whether both are the same transform; two with equal names are not.
    public static func == (left: ValueTransform, right: ValueTransform) -> Bool { left === right }
    /// Hashes which transform it is.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
