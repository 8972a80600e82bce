import Foundation

/// A property of a ``ManagedObject``'s subclass that is kept by the store, under a name of the model: `@NSManaged`.
///
/// A property cannot throw: what cannot be read is empty, and the error is thrown by the context's next save.
@propertyWrapper public struct Managed<Value: ManagedProperty> {
    let key: String

    /// - Parameter key: the name of the property in the model.
    public init(_ key: String) { self.key = key }

    /// Unavailable: the value is kept by the object that has the property, so the wrapper works in a ``ManagedObject``
    /// only.
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

/// A property that is kept by a transformable attribute, through the transformer registered for it.
@propertyWrapper public struct ManagedTransformable<Value> {
    let key: String

    /// - Parameter key: the name of the attribute in the model.
    public init(_ key: String) { self.key = key }

    /// Unavailable: the value is kept by the object that has the property, so the wrapper works in a ``ManagedObject``
    /// only.
    @available(*, unavailable, message: "@ManagedTransformable is for properties of a ManagedObject")
    public var wrappedValue: Value? {
        get { nil }
        set {}
    }

    /// Reads and sets the transformed value; nil for a value of another type. Errors are thrown by the context's next
    /// save.
    public static subscript<Owner: ManagedObject>(
        _enclosingInstance owner: Owner, wrapped _: ReferenceWritableKeyPath<Owner, Value?>,
        storage storage: ReferenceWritableKeyPath<Owner, ManagedTransformable<Value>>
    ) -> Value? {
        get { owner[owner[keyPath: storage].key] as? Value }
        set { owner[owner[keyPath: storage].key] = newValue }
    }
}
