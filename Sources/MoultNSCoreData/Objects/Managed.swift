import Foundation

/// A property that is kept by the store: what `@NSManaged` is on Apple's platforms. Its key is its own name, or the one
/// given.
///
/// A value that is not there is nil, 0, false, an empty text, or an empty set; any other type without a value ends the
/// program, as `@NSManaged` does.
@propertyWrapper public struct Managed<Value> {
    private var key: String?

    /// A property under its own name.
    public init() {}
    /// A property under another name of the model.
    public init(_ key: String) { self.key = key }

    /// Unavailable: the value is kept by the object that has the property.
    @available(*, unavailable, message: "@Managed is for properties of a NSManagedObject")
    public var wrappedValue: Value {
        get { fatalError("@Managed is for properties of a NSManagedObject") }
        set {}
    }

    /// Reads and sets the value under the wrapper's key.
    public static subscript<Owner: NSManagedObject>(
        _enclosingInstance owner: Owner, wrapped _: ReferenceWritableKeyPath<Owner, Value>,
        storage storage: ReferenceWritableKeyPath<Owner, Managed<Value>>
    ) -> Value {
        get { owner.typedValue(key(of: owner, storage)) }
        set { owner.setTypedValue(newValue, key(of: owner, storage)) }
    }

    private static func key<Owner: NSManagedObject>(
        of owner: Owner, _ storage: ReferenceWritableKeyPath<Owner, Managed<Value>>
    ) -> String {
        if let key = owner[keyPath: storage].key { return key }
        // A wrapper does not know its name: marked, it is found among the object's stored properties.
        let mark = "\u{0}"
        owner[keyPath: storage].key = mark
        var mirror: Mirror? = Mirror(reflecting: owner)
        while let reflected = mirror {
            for child in reflected.children {
                guard let label = child.label, (child.value as? any KeyedProperty)?.heldKey == mark else { continue }
                let key = String(label.dropFirst())
                owner[keyPath: storage].key = key
                return key
            }
            mirror = reflected.superclassMirror
        }
        raise("@Managed", "\(Owner.self) was built without reflection metadata; name the key: @Managed(\"name\").")
    }
}

private protocol KeyedProperty {
    var heldKey: String? { get }
}

extension Managed: KeyedProperty {
    fileprivate var heldKey: String? { key }
}
