import Foundation
import MoultBasics
import MoultModel
import Synchronization

/// A conversion of the values of a transformable attribute to bytes and back: `ValueTransformer`.
public protocol AttributeTransformer<Value>: Sendable {
    associatedtype Value
    func data(from value: Value) throws -> Data
    func value(from data: Data) throws -> Value
}

/// Keeps any `Codable` value as JSON.
public struct JSONAttributeTransformer<Value: Codable & Sendable>: AttributeTransformer {
    /// A transformer for values of the type.
    public init(_ type: Value.Type = Value.self) {}

    /// The value as JSON, with its keys sorted so that equal values give equal data.
    ///
    /// - Throws: `EncodingError`.
    public func data(from value: Value) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(value)
    }

    /// The value that the JSON describes.
    ///
    /// - Throws: `DecodingError`.
    public func value(from data: Data) throws -> Value { try JSONDecoder().decode(Value.self, from: data) }
}

struct AnyAttributeTransformer: Sendable {
    /// The value, and the attribute's place for an error.
    let encode: @Sendable (Any, String) throws -> Data
    let decode: @Sendable (Data) throws -> Any

    init<Transformer: AttributeTransformer>(_ transformer: Transformer) {
        encode = { value, place in
            guard let value = value as? Transformer.Value else {
                throw MigrationError(
                    .wrongType,
                    "\(place) is kept by a transformer of \(Transformer.Value.self), not of "
                        + "\(type(of: value)).", place: place, remedy: "Give a value of that type.")
            }
            return try transformer.data(from: value)
        }
        decode = { try transformer.value(from: $0) }
    }
}

/// The transformers of a coordinator, by name.
final class TransformerRegistry: Sendable {
    private let transformers = Mutex<[String: AnyAttributeTransformer]>([:])

    func set(_ transformer: some AttributeTransformer, for name: String) {
        transformers.withLock { $0[name] = AnyAttributeTransformer(transformer) }
    }

    func transformer(for name: String) -> AnyAttributeTransformer? { transformers.withLock { $0[name] } }
}

/// Lets a coordinator use the ``ValueTransformer`` that is registered when a value is asked for.
///
/// Core Data's direction: a transformer makes the data with `transformedValue(_:)`, and the value of it with
/// `reverseTransformedValue(_:)`; a ``NSSecureUnarchiveFromDataTransformer`` the other way round.
struct TransformerBridge: AttributeTransformer {
    let name: String?

    init(_ name: String?) { self.name = name }

    func data(from value: Any) throws -> Data {
        let found = try transformer()
        let isReversed = found is NSSecureUnarchiveFromDataTransformer
        let made = isReversed ? found.reverseTransformedValue(value) : found.transformedValue(value)
        if let data = made as? Data { return data }
        throw MigrationError(
            .wrongType, "The transformer \(name ?? "NSSecureUnarchiveFromData") makes no data of a \(type(of: value)).",
            place: name ?? "", remedy: "Return Data from transformedValue(_:).")
    }

    func value(from data: Data) throws -> Any {
        let found = try transformer()
        let isReversed = found is NSSecureUnarchiveFromDataTransformer
        if let value = isReversed ? found.transformedValue(data) : found.reverseTransformedValue(data) { return value }
        throw MigrationError(
            .wrongType, "The transformer \(name ?? "NSSecureUnarchiveFromData") makes no value of the stored data.",
            place: name ?? "", remedy: "Add the class of the value to allowedTopLevelClasses of the transformer.")
    }

    private func transformer() throws -> ValueTransformer {
        if let found = ValueTransformer.registered(name) { return found }
        throw MigrationError(
            .wrongType, "No transformer named \(name ?? "") is registered.", place: name ?? "",
            remedy: "Call ValueTransformer.setValueTransformer(_:forName:) before values are read.")
    }
}

/// The name of a ``ValueTransformer``.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The name itself.
    public let rawValue: String
    /// A name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A name.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    /// The transformer that archives values.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}

/// A conversion of the values of a transformable attribute to data and back, as Foundation has it on Apple's platforms.
///
/// `transformedValue(_:)` makes the data of a value, and `reverseTransformedValue(_:)` the value of the data.
open class ValueTransformer: NSObject {
    private static let named = Mutex<[String: Unchecked<ValueTransformer>]>([:])

    private struct Unchecked<Value>: @unchecked Sendable { let value: Value }

    /// A transformer.
    public required override init() {}

    /// Keeps a transformer under a name, for the attributes that name it.
    open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        let box = transformer.map { Unchecked(value: $0) }
        named.withLock { $0[name.rawValue] = box }
    }

    /// Unavailable: an initialiser cannot give the registered object on Linux.
    @available(*, unavailable, message: "keep the transformer that you register")
    public convenience init?(forName name: NSValueTransformerName) { return nil }

    /// The transformer of a name; without one, the one that archives.
    package static func registered(_ name: String?) -> ValueTransformer? {
        let name = name ?? NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
        if let found = named.withLock({ $0[name] }) { return found.value }
        return name == NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
            ? NSSecureUnarchiveFromDataTransformer() : nil
    }

    /// The names of the registered transformers.
    open class func valueTransformerNames() -> [NSValueTransformerName] {
        named.withLock { $0.keys.sorted() }.map { NSValueTransformerName($0) }
    }

    /// The class of what ``transformedValue(_:)`` gives.
    open class func transformedValueClass() -> AnyClass { NSData.self }
    /// Whether there is a way back.
    open class func allowsReverseTransformation() -> Bool { true }
    /// The data of a value.
    open func transformedValue(_ value: Any?) -> Any? { value }
    /// The value of data.
    open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }
}

/// Archives values with `NSKeyedArchiver`, and reads only the classes that it allows.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The classes that may occur in an archive.
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
            NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    /// The value of an archive; nil for one that cannot be read, or holds a class that is not allowed.
    open override func transformedValue(_ value: Any?) -> Any? {
        (value as? Data).flatMap {
            try? NSKeyedUnarchiver.unarchivedObject(ofClasses: Self.allowedTopLevelClasses, from: $0)
        }
    }

    /// The archive of a value; nil for one that cannot be archived.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        value.flatMap { try? NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true) }
    }
}
