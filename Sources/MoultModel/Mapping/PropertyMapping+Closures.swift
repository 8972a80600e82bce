// Closures over values of a row, in Swift's own types. What takes more values is written with a `ValueTransform`.

extension PropertyMapping {
    /// Computes the attribute from one value of each row, inside the statement that carries the row over.
    ///
    /// ```swift
    /// PropertyMapping("title", from: "title") { (title: String?) in title?.lowercased() }
    /// ```
    ///
    /// A closure that returns its text changed may take it over (`consuming String?`) and append to it where it lies,
    /// which saves a copy for each row.
    ///
    /// - Parameters:
    ///   - name: the destination's attribute.
    ///   - source: an attribute of the source, or a key path over to-one relationships.
    ///   - transform: called once for each row, in no particular order; nil is no value. What it throws ends the
    ///     migration, and leaves the old store as it was.
    @inlinable public init<Value: AttributeConvertible, Result: AttributeConvertible>(
        _ name: String, from source: String, _ transform: @escaping @Sendable (consuming Value?) throws -> Result?
    ) {
        self.init(
            name, from: [source],
            ValueTransform(reading: name) { arguments in
                try transform(Self.read(arguments, 0, source))?.attributeValue
            })
    }

    /// As with one value, from two.
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

    /// As with one value, from three.
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
        // A text, which most arguments are, is not wrapped first.
        if Value.self == String.self, let text = arguments.text(position) { return text as? Value }
        guard let value = try arguments.value(position) else { return nil }
        if let converted = Value(value) { return converted }
        throw MigrationError(
            .wrongType, "\(source) holds \(value), which is not of type \(Value.self).", place: source,
            remedy: "Declare the type that it has in the model.")
    }
}
