import Foundation

/// A property of a ``ManagedObject`` subclass that is stored under a name of the model: `@NSManaged`.
///
/// A property cannot throw. A value that cannot be read is empty, and the context's next save throws the error.
@propertyWrapper public struct Managed<Value: ManagedProperty> {
    let key: String

    /// - Parameter key: the name of the property in the model.
    public init(_ key: String) { self.key = key }

    /// Unavailable: the object that has the property stores the value, so the wrapper works only in a
    /// ``ManagedObject``.
    @available(*, unavailable, message: "@Managed is for properties of a ManagedObject")
    public var wrappedValue: Value {
        get { Value.missing }
        set {}
    }

    /// Reads and sets the value under the wrapper's key in the object that has the property.
    public static subscript<Owner: ManagedObject>(
        _enclosingInstance owner: Owner, wrapped _: ReferenceWritableKeyPath<Owner, Value>,
        storage storage: ReferenceWritableKeyPath<Owner, Managed<Value>>
    ) -> Value {
        get { owner[owner[keyPath: storage].key, as: Value.self] }
        set { owner[owner[keyPath: storage].key, as: Value.self] = newValue }
    }
}

/// A property stored in a transformable attribute, through the transformer registered for it.
@propertyWrapper public struct ManagedTransformable<Value> {
    let key: String

    /// - Parameter key: the name of the attribute in the model.
    public init(_ key: String) { self.key = key }

    /// Unavailable: the object that has the property stores the value, so the wrapper works only in a
    /// ``ManagedObject``.
    @available(*, unavailable, message: "@ManagedTransformable is for properties of a ManagedObject")
    public var wrappedValue: Value? {
        get { nil }
        set {}
    }

    /// Reads and sets the transformed value; nil for a value of another type. The context's next save throws any error.
    public static subscript<Owner: ManagedObject>(
        _enclosingInstance owner: Owner, wrapped _: ReferenceWritableKeyPath<Owner, Value?>,
        storage storage: ReferenceWritableKeyPath<Owner, ManagedTransformable<Value>>
    ) -> Value? {
        get { owner[owner[keyPath: storage].key] as? Value }
        set { owner[owner[keyPath: storage].key] = newValue }
    }
}
