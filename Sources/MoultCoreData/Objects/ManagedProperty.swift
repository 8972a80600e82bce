import MoultBasics
import MoultModel
import MoultObjects

/// A type that a property of a ``ManagedObject`` can have: the values of attributes, optional ones, objects and sets and
/// arrays of them.
public protocol ManagedProperty {
    static func read(_ key: String, of object: ManagedObject) throws -> Self
    static func write(_ value: Self, _ key: String, of object: ManagedObject) throws
    /// The value that stands in for a missing one.
    static var missing: Self { get }
}

/// A type whose optional a property can have.
public protocol ManagedPropertyElement {
    static func readElement(_ key: String, of object: ManagedObject) throws -> Self?
    static func writeElement(_ value: Self?, _ key: String, of object: ManagedObject) throws
}

extension Optional: ManagedProperty where Wrapped: ManagedPropertyElement {
    /// The value of the property; nil where it has none.
    ///
    /// - Throws: what reading the wrapped type throws.
    public static func read(_ key: String, of object: ManagedObject) throws -> Wrapped? {
        try Wrapped.readElement(key, of: object)
    }
    /// Sets the property, or empties it for nil.
    ///
    /// - Throws: what writing the wrapped type throws.
    public static func write(_ value: Wrapped?, _ key: String, of object: ManagedObject) throws {
        try Wrapped.writeElement(value, key, of: object)
    }
    /// Nil.
    public static var missing: Wrapped? { nil }
}

extension ManagedObject: ManagedPropertyElement {
    /// The destination of a to-one relationship; nil where it has none.
    ///
    /// - Throws: `wrongType` for a destination of another class; what reading the object throws.
    public static func readElement(_ key: String, of object: ManagedObject) throws -> Self? {
        guard let found = try object.access({ try object.object.toOne(key).map(object.face) }) else { return nil }
        return try found.cast(to: Self.self, key, of: object)
    }

    /// Leads a to-one relationship to an object, or to none.
    ///
    /// - Throws: `usage` for an object of another context, `wrongType` for one of another entity.
    public static func writeElement(_ value: ManagedObject?, _ key: String, of object: ManagedObject) throws {
        object.keepWhileChanged()
        try object.access { try object.object.setToOne(key, value?.object) }
    }

    fileprivate func cast<Class: ManagedObject>(
        to type: Class.Type, _ key: String, of owner: ManagedObject
    ) throws -> Class {
        if let object = self as? Class { return object }
        throw MigrationError.wrongClass(self, Class.self, place: "\(owner.object.entityName).\(key)")
    }
}

extension Set: ManagedProperty where Element: ManagedObject {
    /// The destinations of a to-many relationship.
    ///
    /// - Throws: `wrongType` for a destination of another class; what reading the object throws.
    public static func read(_ key: String, of object: ManagedObject) throws -> Set<Element> {
        Set(try [Element].read(key, of: object))
    }
    /// Makes these objects the destinations of a to-many relationship.
    ///
    /// - Throws: `usage` for an object of another context, `wrongType` for one of another entity.
    public static func write(_ value: Set<Element>, _ key: String, of object: ManagedObject) throws {
        try [Element].write(Array(value), key, of: object)
    }
    /// No objects.
    public static var missing: Set<Element> { [] }
}

extension Array: ManagedProperty where Element: ManagedObject {
    /// The destinations of a to-many relationship, in its order where it has one.
    ///
    /// - Throws: `wrongType` for a destination of another class; what reading the object throws.
    public static func read(_ key: String, of object: ManagedObject) throws -> [Element] {
        try object.access({ try object.object.toMany(key).map(object.face) })
            .map { try $0.cast(to: Element.self, key, of: object) }
    }
    /// Makes these objects the destinations, in this order where the relationship has one.
    ///
    /// - Throws: `usage` for an object of another context, `wrongType` for one of another entity.
    public static func write(_ value: [Element], _ key: String, of object: ManagedObject) throws {
        object.keepWhileChanged()
        try object.access { try object.object.setToMany(key, value.map(\.object)) }
    }
    /// No objects.
    public static var missing: [Element] { [] }
}

extension MigrationError {
    static func wrongClass(_ object: ManagedObject, _ wanted: any Any.Type, place: String) -> MigrationError {
        MigrationError(
            .wrongType, "\(object.objectID) is a \(type(of: object)), not a \(wanted).", place: place,
            remedy: "Register the class of each entity, with register(_:), before objects are read.")
    }
}
