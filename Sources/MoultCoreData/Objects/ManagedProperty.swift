import Foundation
import MoultBasics
import MoultModel
import MoultObjects

/// A type for a property of a ``ManagedObject``: attribute values, optional attribute values, objects, and sets and
/// arrays of objects.
public protocol ManagedProperty {
    static func read(_ key: String, of object: ManagedObject) throws -> Self
    static func write(_ value: Self, _ key: String, of object: ManagedObject) throws
    /// The value to use if the property has none.
    static var missing: Self { get }
}

/// A type that can be the wrapped type of an optional property.
public protocol ManagedPropertyElement {
    static func readElement(_ key: String, of object: ManagedObject) throws -> Self?
    static func writeElement(_ value: Self?, _ key: String, of object: ManagedObject) throws
}

extension Optional: ManagedProperty where Wrapped: ManagedPropertyElement {
    /// Returns the value of the property; nil if it has none.
    ///
    /// - Throws: the errors of reading the wrapped type.
    public static func read(_ key: String, of object: ManagedObject) throws -> Wrapped? {
        try Wrapped.readElement(key, of: object)
    }
    /// Sets the property, or clears it if the value is nil.
    ///
    /// - Throws: the errors of writing the wrapped type.
    public static func write(_ value: Wrapped?, _ key: String, of object: ManagedObject) throws {
        try Wrapped.writeElement(value, key, of: object)
    }
    /// Nil.
    public static var missing: Wrapped? { nil }
}

extension ManagedObject: ManagedPropertyElement {
    /// Returns the destination of a to-one relationship; nil if it has none.
    ///
    /// - Throws: `wrongType` for a destination of another class; the errors of reading the object.
    public static func readElement(_ key: String, of object: ManagedObject) throws -> Self? {
        guard let found = try object.access({ try object.object.toOne(key).map(object.shown) }) else { return nil }
        return try found.cast(to: Self.self, key, of: object)
    }

    /// Sets the destination of a to-one relationship, or clears it if the value is nil.
    ///
    /// - Throws: `usage` for an object of another context, `wrongType` for one of another entity.
    public static func writeElement(_ value: ManagedObject?, _ key: String, of object: ManagedObject) throws {
        try object.change { try $0.setToOne(key, value?.object, touches: true) }
    }

    fileprivate func cast<Class: ManagedObject>(
        to type: Class.Type, _ key: String, of owner: ManagedObject
    ) throws -> Class {
        if let object = self as? Class { return object }
        throw MigrationError.wrongClass(self, of: objectID, Class.self, place: "\(owner.object.entityName).\(key)")
    }
}

extension Set: ManagedProperty where Element: ManagedObject {
    /// Returns the destinations of a to-many relationship.
    ///
    /// - Throws: `wrongType` for a destination of another class; the errors of reading the object.
    public static func read(_ key: String, of object: ManagedObject) throws -> Set<Element> {
        Set(try [Element].read(key, of: object))
    }
    /// Sets the destinations of a to-many relationship.
    ///
    /// - Throws: `usage` for an object of another context, `wrongType` for one of another entity.
    public static func write(_ value: Set<Element>, _ key: String, of object: ManagedObject) throws {
        try [Element].write(Array(value), key, of: object)
    }
    /// The empty set.
    public static var missing: Set<Element> { [] }
}

extension Array: ManagedProperty where Element: ManagedObject {
    /// Returns the destinations of a to-many relationship, in order if the relationship is ordered.
    ///
    /// - Throws: `wrongType` for a destination of another class; the errors of reading the object.
    public static func read(_ key: String, of object: ManagedObject) throws -> [Element] {
        try object.access({
            try object.liveContext(object.object).publicObjects(object.object.toMany(key), as: ManagedObject.self)
        })
        .map { try $0.cast(to: Element.self, key, of: object) }
    }
    /// Sets the destinations of a to-many relationship, in this order if the relationship is ordered.
    ///
    /// - Throws: `usage` for an object of another context, `wrongType` for one of another entity.
    public static func write(_ value: [Element], _ key: String, of object: ManagedObject) throws {
        try object.change { try $0.setToMany(key, value.map(\.object), touches: true) }
    }
    /// The empty array.
    public static var missing: [Element] { [] }
}

extension MigrationError {
    static func wrongClass(
        _ object: AnyObject, of id: ManagedObjectID, _ wanted: any Any.Type, place: String
    ) -> MigrationError {
        MigrationError(
            .wrongType, "\(id) is a \(type(of: object)), not a \(wanted).", place: place,
            remedy: "Register the class of each entity, with register(_:), before objects are read.")
    }
}

/// A type whose values an attribute can store. To store an enum of your own, declare its raw type and a value for a
/// missing attribute:
///
///     enum Rating: String, AttributeValueConvertible { case good, bad; static var missing: Rating { .good } }
public protocol AttributeValueConvertible: AttributeConvertible, ManagedProperty, ManagedPropertyElement {}

extension AttributeValueConvertible {
    /// Returns the value of an attribute; nil if it has none.
    ///
    /// - Throws: `wrongType` if the stored value is not of this type; the errors of reading the object.
    public static func readElement(_ key: String, of object: ManagedObject) throws -> Self? {
        guard let value = try object.access({ try object.object.attribute(key) }) else { return nil }
        if let converted = Self(value) { return converted }
        throw MigrationError(
            .wrongType,
            "\(object.object.entityName).\(key) holds \(value.kindPhrase), which is not of type \(Self.self).",
            place: "\(object.object.entityName).\(key)", remedy: "Read it as the type that it has in the model.")
    }

    /// Sets an attribute, converted to its type in the model, or clears it if the value is nil.
    ///
    /// - Throws: `unknownKey`, `wrongType`, `objectGone`.
    public static func writeElement(_ value: Self?, _ key: String, of object: ManagedObject) throws {
        try object.change { object in
            var value = value?.attributeValue
            if case .attribute(_, let attribute)? = object.shape[key] { value = value?.fitted(to: attribute.type) }
            try object.setAttribute(key, value, touches: true)
        }
    }

    /// Returns the value of an attribute; ``ManagedProperty/missing`` if it has none.
    ///
    /// - Throws: the errors of ``readElement(_:of:)``.
    public static func read(_ key: String, of object: ManagedObject) throws -> Self {
        try readElement(key, of: object) ?? missing
    }

    /// Sets an attribute.
    ///
    /// - Throws: the errors of ``writeElement(_:_:of:)``.
    public static func write(_ value: Self, _ key: String, of object: ManagedObject) throws {
        try writeElement(value, key, of: object)
    }
}

extension AttributeValueConvertible where Self: FixedWidthInteger { public static var missing: Self { 0 } }

extension Int: AttributeValueConvertible {}
extension Int16: AttributeValueConvertible {}
extension Int32: AttributeValueConvertible {}
extension Int64: AttributeValueConvertible {}

extension AttributeValueConvertible where Self: BinaryFloatingPoint { public static var missing: Self { 0 } }

extension Double: AttributeValueConvertible {}
extension Float: AttributeValueConvertible {}

extension Bool: AttributeValueConvertible { public static var missing: Bool { false } }

extension String: AttributeValueConvertible { public static var missing: String { "" } }

extension Data: AttributeValueConvertible {
    /// Creates data from a binary or transformable value; nil for any other.
    public init?(_ value: AttributeValue) {
        switch value {
        case .binary(let bytes), .transformable(let bytes): self = Data(bytes)
        default: return nil
        }
    }
    /// The bytes as a binary value.
    public var attributeValue: AttributeValue { .binary([UInt8](self)) }
    /// Empty data.
    public static var missing: Data { Data() }
}

extension Date: AttributeValueConvertible {
    /// Creates a date from the seconds since 2001-01-01 00:00:00 UTC; nil for any other kind of value.
    public init?(_ value: AttributeValue) {
        guard case .date(let seconds) = value else { return nil }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }
    /// The seconds since 2001-01-01 00:00:00 UTC.
    public var attributeValue: AttributeValue { .date(timeIntervalSinceReferenceDate) }
    /// 2001-01-01, which is stored as 0.
    public static var missing: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension UUID: AttributeValueConvertible {
    /// Creates a UUID from 16 bytes; nil for any other value.
    public init?(_ value: AttributeValue) {
        guard case .uuid(let bytes) = value else { return nil }
        self.init(bytes: bytes)
    }
    /// The UUID's 16 bytes.
    public var attributeValue: AttributeValue { .uuid(bytes) }
    /// The UUID of all zeros.
    public static var missing: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension URL: AttributeValueConvertible {
    /// Creates a URL from a stored URI; nil for text that is not a URL, and for any other kind of value.
    public init?(_ value: AttributeValue) {
        guard case .uri(let text) = value else { return nil }
        self.init(string: text)
    }
    /// The absolute URL, even if this one is relative.
    public var attributeValue: AttributeValue { .uri(absoluteString) }
    /// The root folder, `file:///`.
    public static var missing: URL { URL(fileURLWithPath: "/") }
}

extension Decimal: AttributeValueConvertible {
    /// Creates a number from the stored digits; nil for any other kind of value.
    public init?(_ value: AttributeValue) {
        guard case .decimal(let digits) = value else { return nil }
        self.init(string: digits)
    }
    /// The number's exact digits.
    public var attributeValue: AttributeValue { .decimal(digits) }
    /// Zero.
    public static var missing: Decimal { 0 }
}
