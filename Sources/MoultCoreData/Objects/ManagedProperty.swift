import Foundation
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
        guard let found = try object.access({ try object.object.toOne(key).map(object.shown) }) else { return nil }
        return try found.cast(to: Self.self, key, of: object)
    }

    /// Leads a to-one relationship to an object, or to none.
    ///
    /// - Throws: `usage` for an object of another context, `wrongType` for one of another entity.
    public static func writeElement(_ value: ManagedObject?, _ key: String, of object: ManagedObject) throws {
        try object.change { try $0.setToOne(key, value?.object) }
    }

    fileprivate func cast<Class: ManagedObject>(
        to type: Class.Type, _ key: String, of owner: ManagedObject
    ) throws -> Class {
        if let object = self as? Class { return object }
        throw MigrationError.wrongClass(self, of: objectID, Class.self, place: "\(owner.object.entityName).\(key)")
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
        try object.access({
            try object.liveContext(object.object).publicObjects(object.object.toMany(key), as: ManagedObject.self)
        })
        .map { try $0.cast(to: Element.self, key, of: object) }
    }
    /// Makes these objects the destinations, in this order where the relationship has one.
    ///
    /// - Throws: `usage` for an object of another context, `wrongType` for one of another entity.
    public static func write(_ value: [Element], _ key: String, of object: ManagedObject) throws {
        try object.change { try $0.setToMany(key, value.map(\.object)) }
    }
    /// No objects.
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

/// A type whose values an attribute can keep. Make an enum of your own one by saying how it is written:
///
///     enum Rating: String, AttributeValueConvertible { case good, bad; static var missing: Rating { .good } }
public protocol AttributeValueConvertible: AttributeConvertible, ManagedProperty, ManagedPropertyElement {}

extension AttributeValueConvertible {
    /// The value of an attribute; nil where it has none.
    ///
    /// - Throws: `wrongType` where the stored value is none of this type; what reading the object throws.
    public static func readElement(_ key: String, of object: ManagedObject) throws -> Self? {
        guard let value = try object.access({ try object.object.attribute(key) }) else { return nil }
        if let converted = Self(value) { return converted }
        throw MigrationError(
            .wrongType,
            "\(object.object.entityName).\(key) holds \(value.kindPhrase), which is not of type \(Self.self).",
            place: "\(object.object.entityName).\(key)", remedy: "Read it as the type that it has in the model.")
    }

    /// Sets an attribute, converted to the type that the model gives it, or empties it for nil.
    ///
    /// - Throws: `unknownKey`, `wrongType`, `objectGone`.
    public static func writeElement(_ value: Self?, _ key: String, of object: ManagedObject) throws {
        try object.change { object in
            var value = value?.attributeValue
            if case .attribute(_, let attribute)? = object.shape[key] { value = value?.fitted(to: attribute.type) }
            try object.setAttribute(key, value)
        }
    }

    /// The value of an attribute; ``ManagedProperty/missing`` where it has none.
    ///
    /// - Throws: as ``readElement(_:of:)``.
    public static func read(_ key: String, of object: ManagedObject) throws -> Self {
        try readElement(key, of: object) ?? missing
    }

    /// Sets an attribute.
    ///
    /// - Throws: as ``writeElement(_:_:of:)``.
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
    /// The bytes of a binary or transformable value; nil for any other.
    public init?(_ value: AttributeValue) {
        switch value {
        case .binary(let bytes), .transformable(let bytes): self = Data(bytes)
        default: return nil
        }
    }
    /// The bytes, as a binary value.
    public var attributeValue: AttributeValue { .binary([UInt8](self)) }
    /// No bytes.
    public static var missing: Data { Data() }
}

extension Date: AttributeValueConvertible {
    /// The date of the seconds since 2001-01-01 00:00:00 UTC; nil for a value of another kind.
    public init?(_ value: AttributeValue) {
        guard case .date(let seconds) = value else { return nil }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }
    /// Seconds since 2001-01-01 00:00:00 UTC.
    public var attributeValue: AttributeValue { .date(timeIntervalSinceReferenceDate) }
    /// 2001-01-01, the date that is stored as 0.
    public static var missing: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension UUID: AttributeValueConvertible {
    /// The UUID of 16 bytes; nil for any other value.
    public init?(_ value: AttributeValue) {
        guard case .uuid(let bytes) = value else { return nil }
        self.init(bytes: bytes)
    }
    /// The UUID's 16 bytes.
    public var attributeValue: AttributeValue { .uuid(bytes) }
    /// All zeros.
    public static var missing: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension URL: AttributeValueConvertible {
    /// The URL of a stored URI; nil for a text that is no URL, and for a value of another kind.
    public init?(_ value: AttributeValue) {
        guard case .uri(let text) = value else { return nil }
        self.init(string: text)
    }
    /// The URL in full, also where it is relative to another.
    public var attributeValue: AttributeValue { .uri(absoluteString) }
    /// The root folder, `file:///`.
    public static var missing: URL { URL(fileURLWithPath: "/") }
}

extension Decimal: AttributeValueConvertible {
    /// The number of the stored digits; nil for a value of another kind.
    public init?(_ value: AttributeValue) {
        guard case .decimal(let digits) = value else { return nil }
        self.init(string: digits)
    }
    /// The number's exact digits.
    public var attributeValue: AttributeValue { .decimal(digits) }
    /// Zero.
    public static var missing: Decimal { 0 }
}
