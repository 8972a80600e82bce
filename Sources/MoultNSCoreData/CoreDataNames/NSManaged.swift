import Foundation
import MoultCoreData
import Synchronization

/// A property stored by the model, like `@NSManaged` on Apple's platforms. Its key is its own name, or the given one.
///
/// A missing value reads as nil, 0, false, an empty string, empty data, or an empty collection. For any other type,
/// such as a date, a missing value ends the program, as with `@NSManaged`. `MoultNSCoreData` calls this wrapper `Managed`.
@propertyWrapper public struct NSManaged<Value> {
    private var key: String?

    /// Creates a property whose key is its own name.
    public init() {}
    /// Creates a property with another key.
    public init(_ key: String) { self.key = key }

    /// Unavailable: the object that has the property stores the value.
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
        if let name = ManagedNames.known.withLock({ $0[storage] }) { return name }
        // A property wrapper does not know its name. Mark it, and look for the mark among the object's stored
        // properties.
        let mark = "\u{0}"
        owner[keyPath: storage].key = mark
        defer { owner[keyPath: storage].key = nil }
        var mirror: Mirror? = Mirror(reflecting: owner)
        while let reflected = mirror {
            for child in reflected.children {
                guard let label = child.label, (child.value as? any KeyedProperty)?.heldKey == mark else { continue }
                let name = String(label.dropFirst())
                ManagedNames.known.withLock { $0[storage] = name }
                return name
            }
            mirror = reflected.superclassMirror
        }
        raise("@Managed", "\(Owner.self) was built without reflection metadata; name the key: @Managed(\"name\").")
    }
}

/// The names of wrapped properties, each found once. A look at an object's stored properties takes long.
private struct ManagedNames: @unchecked Sendable {
    static let known = Mutex(ManagedNames())

    // Key paths of stored properties capture nothing, so they can be shared between threads. The compiler makes one
    // object for each, which is kept here, so that no other can have its identity.
    private var names: [ObjectIdentifier: (path: AnyKeyPath, name: String)] = [:]

    subscript(path: AnyKeyPath) -> String? {
        get { names[ObjectIdentifier(path)]?.name }
        set { if let newValue, names.count < 10_000 { names[ObjectIdentifier(path)] = (path, newValue) } }
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
        if let type = Value.self as? any OptionalValue.Type {
            setValue(type.content(of: value), forKey: key)
        } else {
            setValue(value, forKey: key)
        }
    }
}

/// A recorder that finds the name of the property that a key path reads, by applying the key path to an object that
/// records its keys.
final class ManagedKey {
    private var names: [String] = []

    func note(_ name: String) { names.append(name) }

    static func nameIfAny(of path: AnyKeyPath) -> String? {
        guard let type = type(of: path).rootType as? NSManagedObject.Type else { return nil }
        let (record, detached) = (ManagedKey(), DetachedObject())
        detached.record = record
        let object = type.make(NSManagedObjectHandle(detached: detached), NSEntityDescription(), nil)
        _ = object[keyPath: path]
        return record.names.first
    }

    static func name(of path: AnyKeyPath) -> String {
        if let name = nameIfAny(of: path) { return name }
        raise("NSSortDescriptor(keyPath:)", "\(path) reads no property of the model; name the key instead.")
    }
}

/// Conversions of a property's value to its declared type.
enum TypedValue {
    /// Returns the value as the given type; nil if it cannot be converted.
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

    /// Returns the default for a missing value.
    private static func empty<Value>(_ type: Value.Type) -> Value? {
        if let optional = type as? any OptionalValue.Type { return optional.none as? Value }
        if type is any FixedWidthInteger.Type { return NSNumber(value: 0) as? Value }
        return (type as? any EmptyForNil.Type)?.init() as? Value ?? NSSet() as? Value ?? NSOrderedSet() as? Value
    }

    private static func wrapped(_ type: any Any.Type) -> any Any.Type {
        (type as? any OptionalValue.Type)?.wrappedType ?? type
    }
}

private protocol OptionalValue {
    static var none: Self { get }
    static var wrappedType: any Any.Type { get }
    /// Returns what an optional of this type contains.
    static func content(of optional: Any) -> Any?
}

extension Optional: OptionalValue {
    fileprivate static var wrappedType: any Any.Type { Wrapped.self }
    fileprivate static func content(of optional: Any) -> Any? { (optional as? Wrapped?).flatMap(\.self) }
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

/// A type to which Foundation bridges nil as a value.
private protocol EmptyForNil {
    init()
}

extension Double: EmptyForNil {}
extension Float: EmptyForNil {}
extension Bool: EmptyForNil {}
extension Decimal: EmptyForNil {}
extension String: EmptyForNil {}
extension Data: EmptyForNil {}
extension Set: EmptyForNil {}
extension Array: EmptyForNil {}
extension Dictionary: EmptyForNil {}
