import Foundation

/// A property that is kept by the store: what `@NSManaged` is on Apple's platforms. Its key is its own name, or the one
/// given.
///
/// A value that is not there is nil, 0, false, an empty text, or an empty set; any other type without a value ends the
/// program, as `@NSManaged` does. `MoultNSCoreData` has it as `Managed`.
@propertyWrapper public struct NSManaged<Value> {
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
        storage storage: ReferenceWritableKeyPath<Owner, NSManaged<Value>>
    ) -> Value {
        get { owner.typedValue(key(of: owner, storage)) }
        set { owner.setTypedValue(newValue, key(of: owner, storage)) }
    }

    private static func key<Owner: NSManagedObject>(
        of owner: Owner, _ storage: ReferenceWritableKeyPath<Owner, NSManaged<Value>>
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

extension NSManaged: KeyedProperty {
    fileprivate var heldKey: String? { key }
}

extension NSManagedObject {
    func typedValue<Value>(_ key: String) -> Value {
        let found = value(forKey: key)
        if let value = TypedValue.cast(found, to: Value.self) { return value }
        if detached?.record != nil {
            raise("NSSortDescriptor(keyPath:)", "\(type(of: self)).\(key) is not optional; name the key instead.")
        }
        raise(
            "\(type(of: self)).\(key)",
            found.map { "The value is a \(type(of: $0)), not a \(Value.self)." } ?? "The property has no value.")
    }

    func setTypedValue<Value>(_ value: Value, _ key: String) {
        let mirror = Mirror(reflecting: value)
        setValue(mirror.displayStyle == .optional ? mirror.children.first?.value : value, forKey: key)
    }
}

/// Finds the name of the property that a key path reads, by reading it of an object that only takes the name down.
final class ManagedKey {
    private var names: [String] = []

    func note(_ name: String) { names.append(name) }

    static func nameIfAny(of path: AnyKeyPath) -> String? {
        guard let type = type(of: path).rootType as? NSManagedObject.Type else { return nil }
        let (record, detached) = (ManagedKey(), DetachedObject())
        detached.record = record
        let object = type.init(NSManagedObjectHandle(detached: detached))
        _ = object[keyPath: path]
        return record.names.first
    }

    static func name(of path: AnyKeyPath) -> String {
        if let name = nameIfAny(of: path) { return name }
        raise("NSSortDescriptor(keyPath:)", "\(path) reads no property of the model; name the key instead.")
    }
}

/// The value of a property as its declared type.
enum TypedValue {
    /// Nil where the value cannot be the type.
    static func cast<Value>(_ value: Any?, to type: Value.Type) -> Value? {
        guard let value else { return empty(type) }
        if let direct = value as? Value { return direct }
        switch value {
        case let set as NSSet:
            if let objects = Set(set.allObjects.compactMap { $0 as? NSManagedObject }) as? Value { return objects }
            if let wanted = wrapped(type) as? any ObjectSet.Type {
                return wanted.make(set.allObjects) as? Value
            }
        case let list as NSOrderedSet:
            if let wanted = wrapped(type) as? any ObjectSet.Type { return wanted.make(list.array) as? Value }
        case let number as NSDecimalNumber: return number.decimalValue as? Value
        case let text as String: return NSString(string: text) as? Value
        case let date as Date:
            return NSDate(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate) as? Value
        case let data as Data: return NSData(data: data) as? Value
        default: break
        }
        return nil
    }

    /// Returns the value that stands for a missing one.
    private static func empty<Value>(_ type: Value.Type) -> Value? {
        if let optional = type as? any OptionalValue.Type { return optional.none as? Value }
        switch type {
        case is any FixedWidthInteger.Type: return NSNumber(value: 0) as? Value
        case is Double.Type: return 0.0 as? Value
        case is Float.Type: return Float(0) as? Value
        case is Bool.Type: return false as? Value
        case is String.Type: return "" as? Value
        default:
            return (type as? any ObjectSet.Type)?.make([]) as? Value ?? NSSet() as? Value ?? NSOrderedSet() as? Value
        }
    }

    private static func wrapped(_ type: any Any.Type) -> any Any.Type {
        (type as? any OptionalValue.Type)?.wrappedType ?? type
    }
}

private protocol OptionalValue {
    static var none: Self { get }
    static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalValue {
    fileprivate static var wrappedType: any Any.Type { Wrapped.self }
}

private protocol ObjectSet {
    static func make(_ objects: [Any]) -> Any
}

extension Set: ObjectSet {
    fileprivate static func make(_ objects: [Any]) -> Any { Set(objects.compactMap { $0 as? Element }) }
}

extension Array: ObjectSet {
    fileprivate static func make(_ objects: [Any]) -> Any { objects.compactMap { $0 as? Element } }
}
