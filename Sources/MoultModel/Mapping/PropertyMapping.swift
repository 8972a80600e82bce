import MoultBasics

/// The mapping of one destination property: its name and the expression for its value (`NSPropertyMapping`).
public struct PropertyMapping: Sendable, Hashable {
    /// The destination's attribute or relationship.
    public var name: String
    /// The expression for the value, where `$source` is the source object. Nil leaves an attribute at its default value
    /// and a relationship empty, unless its inverse fills it.
    public var valueExpression: Expression?
    /// The closures that the expression calls, in addition to those of the entity's policy.
    public var transforms: [ValueTransform] = []
    /// The author's notes, by key; the migration does not read them.
    public var userInfo: [String: String]

    /// Creates a mapping of a destination property to an expression over the source object, or to the default for nil.
    public init(_ name: String, _ valueExpression: Expression? = nil, userInfo: [String: String] = [:]) {
        (self.name, self.valueExpression, self.userInfo) = (name, valueExpression, userInfo)
    }

    /// - Parameters:
    ///   - sources: attributes of the source, or key paths over to-one relationships; the arguments of the closure.
    ///   - transform: computes the value of the destination's attribute.
    public init(_ name: String, from sources: [String], _ transform: ValueTransform) {
        self.init(name, .message(transform.name, to: .variable("entityPolicy"), sources.map { .source($0) }))
        transforms = [transform]
    }

    /// - Parameter format: the expression in Core Data's format language, such as `$source.name`.
    /// - Throws: `modelInvalid` if it does not parse; the place is the property and the position of the fault.
    public init(_ name: String, _ format: String) throws(MigrationError) {
        do {
            self.init(name, try Expression(parsing: format))
        } catch {
            var error = error
            error.place = "\(name): \(error.place)"
            throw error
        }
    }
}

// Closures over values of a row, in Swift's own types. For more arguments, use a `ValueTransform`.

extension PropertyMapping {
    /// Computes the attribute from one value of each row, inside the statement that copies the row.
    ///
    /// ```swift
    /// PropertyMapping("title", from: "title") { (title: String?) in title?.lowercased() }
    /// ```
    ///
    /// A closure that modifies its text may take ownership of it (`consuming String?`) and append in place, which saves
    /// a copy per row.
    ///
    /// - Parameters:
    ///   - name: the destination's attribute.
    ///   - source: an attribute of the source, or a key path over to-one relationships.
    ///   - transform: called once for each row, in no particular order; nil is no value. If it throws, the migration
    ///     fails and the old store is unchanged.
    @inlinable public init<Value: AttributeConvertible, Result: AttributeConvertible>(
        _ name: String, from source: String, _ transform: @escaping @Sendable (consuming Value?) throws -> Result?
    ) {
        self.init(
            name, from: [source],
            ValueTransform(reading: name) { arguments in
                try transform(Self.read(arguments, 0, source))?.attributeValue
            })
    }

    /// Computes the attribute from two values, as in the variant with one.
    @inlinable public init<First: AttributeConvertible, Second: AttributeConvertible, Result: AttributeConvertible>(
        _ name: String, from first: String, _ second: String,
        _ transform: @escaping @Sendable (consuming First?, consuming Second?) throws -> Result?
    ) {
        self.init(
            name, from: [first, second],
            ValueTransform(reading: name) { arguments in
                try transform(Self.read(arguments, 0, first), Self.read(arguments, 1, second))?.attributeValue
            })
    }

    /// Computes the attribute from three values, as in the variant with one.
    @inlinable
    public init<
        First: AttributeConvertible, Second: AttributeConvertible, Third: AttributeConvertible,
        Result: AttributeConvertible
    >(
        _ name: String, from first: String, _ second: String, _ third: String,
        _ transform: @escaping @Sendable (consuming First?, consuming Second?, consuming Third?) throws -> Result?
    ) {
        self.init(
            name, from: [first, second, third],
            ValueTransform(reading: name) { arguments in
                try transform(
                    Self.read(arguments, 0, first), Self.read(arguments, 1, second), Self.read(arguments, 2, third)
                )?.attributeValue
            })
    }

    @inlinable static func read<Value: AttributeConvertible>(
        _ arguments: any TransformArguments, _ position: Int, _ source: String
    ) throws -> Value? {
        // Most arguments are texts; do not wrap them in a value first.
        if Value.self == String.self, let text = arguments.text(position) { return text as? Value }
        guard let value = try arguments.value(position) else { return nil }
        if let converted = Value(value) { return converted }
        throw MigrationError(
            .wrongType, "\(source) holds \(value), which is not of type \(Value.self).", place: source,
            remedy: "Declare the type that it has in the model.")
    }
}

/// An app's closure over one or more values of a row, which runs inside the statement that copies the row.
///
/// An expression calls it as `FUNCTION($entityPolicy, "name", $source.first, $source.last)`; so does a mapping made in
/// code. Two transforms are equal only if they are the same instance.
public final class ValueTransform: Sendable, Hashable {
    /// The name for calls in expressions; usually a selector, such as `cleanTitle:`.
    public let name: String
    /// The body as a closure over its arguments, for callers without an array of values.
    package let call: @Sendable (any TransformArguments) throws -> AttributeValue?

    /// - Parameter body: takes one value for each argument; nil is no value.
    public init(_ name: String, _ body: @escaping @Sendable ([AttributeValue?]) throws -> AttributeValue?) {
        self.name = name
        call = { try body($0.all) }
    }

    /// Creates a transform that reads its arguments itself, each as the type it needs.
    @usableFromInline init(
        reading name: String, _ call: @escaping @Sendable (any TransformArguments) throws -> AttributeValue?
    ) {
        self.name = name
        self.call = call
    }

    /// Calls the closure with one value for each argument; nil is no value.
    public func body(_ values: [AttributeValue?]) throws -> AttributeValue? { try call(values) }

    /// Whether both are the same instance. Equal names do not make transforms equal.
    public static func == (left: ValueTransform, right: ValueTransform) -> Bool { left === right }
    /// Hashes the identity of the transform.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The arguments of one call of a closure. Each is read on demand.
@usableFromInline package protocol TransformArguments {
    /// Returns the text of a String; nil for no value and for a value of any other type.
    func text(_ position: Int) -> String?
    /// Returns the value of an argument; nil for no value.
    func value(_ position: Int) throws -> AttributeValue?
    var all: [AttributeValue?] { get throws }
}

extension Array: TransformArguments where Element == AttributeValue? {
    @usableFromInline package func text(_ position: Int) -> String? {
        if case .string(let text)? = self[position] { text } else { nil }
    }
    @usableFromInline package func value(_ position: Int) -> AttributeValue? { self[position] }
    @usableFromInline package var all: [AttributeValue?] { self }
}
