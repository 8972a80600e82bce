import MoultModel

// Closures that wait for something: an actor, a file, a server. Each call is a task of its own, and the statement stands
// still until it has ended, so that a million rows are a million waits one after the other. What can be asked once for
// many values is better asked before the migration, or in a policy.

extension ValueTransform {
    /// A closure that may wait.
    ///
    /// - Parameters:
    ///   - timeLimit: how long one call may wait; then its task is cancelled, and the migration fails.
    ///   - body: one value for each argument, nil for none. It must not need the thread that waits, such as the main
    ///     actor in a migration that runs on the main thread.
    public convenience init(
        _ name: String, timeLimit: Duration = .seconds(60),
        _ body: @escaping @Sendable ([AttributeValue?]) async throws -> AttributeValue?
    ) {
        self.init(name) { values in
            try BlockingTask.run(timeLimit: timeLimit) { try await body(values) }
        }
    }
}

extension PropertyMapping {
    /// Computes the attribute from one value of each row by a closure that may wait.
    ///
    /// ```swift
    /// PropertyMapping("city", from: "postcode") { (postcode: String?) in try await directory.city(postcode) }
    /// ```
    ///
    /// - Parameters:
    ///   - name: the destination's attribute.
    ///   - source: an attribute of the source, or a key path over to-one relationships.
    ///   - timeLimit: how long one call may wait; then its task is cancelled, and the migration fails.
    ///   - transform: called for one row after the other; nil is no value. What it throws ends the migration with an
    ///     error that names the entity, the key, the property and the value.
    public init<Value: AttributeConvertible & Sendable, Result: AttributeConvertible>(
        _ name: String, from source: String, timeLimit: Duration = .seconds(60),
        _ transform: @escaping @Sendable (Value?) async throws -> Result?
    ) {
        self.init(
            name, from: [source],
            ValueTransform(name, timeLimit: timeLimit) { values in
                let value: Value? = try Self.converted(values, 0, source)
                return try await transform(value)?.attributeValue
            })
    }

    /// As with one value, from two.
    public init<
        First: AttributeConvertible & Sendable, Second: AttributeConvertible & Sendable, Result: AttributeConvertible
    >(
        _ name: String, from first: String, _ second: String, timeLimit: Duration = .seconds(60),
        _ transform: @escaping @Sendable (First?, Second?) async throws -> Result?
    ) {
        self.init(
            name, from: [first, second],
            ValueTransform(name, timeLimit: timeLimit) { values in
                let one: First? = try Self.converted(values, 0, first)
                let two: Second? = try Self.converted(values, 1, second)
                return try await transform(one, two)?.attributeValue
            })
    }

    private static func converted<Value: AttributeConvertible>(
        _ values: [AttributeValue?], _ position: Int, _ source: String
    ) throws -> Value? {
        guard let value = values[position] else { return nil }
        if let converted = Value(value) { return converted }
        throw MigrationError(
            .wrongType, "\(source) holds \(value.kindPhrase), which is not of type \(Value.self).", place: source,
            remedy: "Declare the type that it has in the model.")
    }
}
