/// The source of objects' values for an evaluation: a context, a store, or a table of a test.
package protocol ObjectValues {
    /// The value of a property: `.object` or `.null` for a to-one relationship, a `.collection` of objects for a
    /// to-many one, in its order.
    ///
    /// - Parameter key: the name of a property; for a value inside a composite attribute the path from the composite
    ///   on, such as `address.city`.
    /// - Throws: `MigrationError` for a key that the object's entity does not have.
    func value(_ key: String, of object: ObjectID) throws -> ExpressionValue

    /// Whether `key` names a composite attribute of the object, or by a path a composite inside one.
    func isComposite(_ key: String, of object: ObjectID) -> Bool

    /// The value of `now()`: seconds since 2001-01-01 00:00:00 UTC. One evaluation should see one moment.
    var now: Double { get }
}

extension ObjectValues {
    package func isComposite(_ key: String, of object: ObjectID) -> Bool { false }
}
