import Foundation
import MoultBasics
import MoultModel
import Synchronization

/// A conversion of the values of a transformable attribute to data and back: `ValueTransformer`.
public protocol AttributeTransformer<Value>: Sendable {
    associatedtype Value
    func data(from value: Value) throws -> Data
    func value(from data: Data) throws -> Value
}

/// A transformer that stores any `Codable` value as JSON.
public struct JSONAttributeTransformer<Value: Codable & Sendable>: AttributeTransformer {
    /// Creates a transformer for values of the given type.
    public init(_ type: Value.Type = Value.self) {}

    /// Returns the value as JSON. Keys are sorted, so equal values give equal data.
    ///
    /// - Throws: `EncodingError`.
    public func data(from value: Value) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(value)
    }

    /// Returns the value decoded from JSON.
    ///
    /// - Throws: `DecodingError`.
    public func value(from data: Data) throws -> Value { try JSONDecoder().decode(Value.self, from: data) }
}

package struct AnyAttributeTransformer: Sendable {
    /// Encodes a value. The string is the attribute's name, for errors.
    let encode: @Sendable (Any, String) throws -> Data
    let decode: @Sendable (Data) throws -> Any

    package init<Transformer: AttributeTransformer>(_ transformer: Transformer) {
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

/// A bridge to the ``ValueTransformer`` that is registered at the time a value is accessed.
///
/// As in Core Data, a transformer converts a value to data with `transformedValue(_:)`, and back with
/// `reverseTransformedValue(_:)`. A ``NSSecureUnarchiveFromDataTransformer`` works the other way round. It takes the
/// place of one that is not registered, with a warning.
package struct TransformerBridge: AttributeTransformer {
    let name: String?

    package init(_ name: String?) { self.name = name }

    package func data(from value: Any) throws -> Data {
        let found = transformer()
        let isReversed = found is NSSecureUnarchiveFromDataTransformer
        let made = isReversed ? found.reverseTransformedValue(value) : found.transformedValue(value)
        if let data = made as? Data { return data }
        throw MigrationError(
            .wrongType, "The transformer \(name ?? "NSSecureUnarchiveFromData") makes no data of a \(type(of: value)).",
            place: name ?? "", remedy: "Return Data from transformedValue(_:).")
    }

    package func value(from data: Data) throws -> Any {
        let found = transformer()
        let isReversed = found is NSSecureUnarchiveFromDataTransformer
        if let value = isReversed ? found.transformedValue(data) : found.reverseTransformedValue(data) { return value }
        throw MigrationError(
            .dataConflict, "The transformer \(name ?? "NSSecureUnarchiveFromData") makes no value of the stored data.",
            place: name ?? "", remedy: "Add the class of the value to allowedTopLevelClasses of the transformer.")
    }

    private static let missing = Mutex<Set<String>>([])

    private func transformer() -> ValueTransformer {
        if let found = ValueTransformer.registered(name) { return found }
        if let name, Self.missing.withLock({ $0.insert(name).inserted }) {
            let warning =
                "warning: No ValueTransformer named \(name) is registered, and the default one takes its place. Call "
                + "ValueTransformer.setValueTransformer(_:forName:) before values are read or set.\n"
            FileHandle.standardError.write(Data(warning.utf8))
        }
        return NSSecureUnarchiveFromDataTransformer()
    }
}

#if !canImport(Darwin)
    /// The name of a ``ValueTransformer``.
    public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
        /// The name itself.
        public let rawValue: String
        /// Creates a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Creates a name.
        public init(_ rawValue: String) { self.rawValue = rawValue }
        /// The transformer that archives values.
        public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
    }

    /// A conversion of the values of a transformable attribute to data and back, as in Foundation on Apple's platforms.
    ///
    /// `transformedValue(_:)` converts a value to data, and `reverseTransformedValue(_:)` converts it back.
    open class ValueTransformer: NSObject {
        private static let named = Mutex<[String: Unchecked<ValueTransformer>]>([:])

        private struct Unchecked<Value>: @unchecked Sendable { let value: Value }

        /// Creates a transformer.
        public required override init() {}

        /// Registers a transformer under a name, for the attributes that refer to it.
        open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
            let box = transformer.map { Unchecked(value: $0) }
            named.withLock { $0[name.rawValue] = box }
        }

        /// Unavailable: on Linux, an initialiser cannot return the registered object.
        @available(*, unavailable, message: "keep the transformer that you register")
        public convenience init?(forName name: NSValueTransformerName) { return nil }

        /// Returns the transformer with a name; the archiving transformer if the name is nil.
        package static func registered(_ name: String?) -> ValueTransformer? {
            let name = name ?? NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
            if let found = named.withLock({ $0[name] }) { return found.value }
            return name == NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
                ? NSSecureUnarchiveFromDataTransformer() : nil
        }

        /// Returns the names of the registered transformers.
        open class func valueTransformerNames() -> [NSValueTransformerName] {
            named.withLock { $0.keys.sorted() }.map { NSValueTransformerName($0) }
        }

        /// Returns the class of the results of ``transformedValue(_:)``.
        open class func transformedValueClass() -> AnyClass { NSData.self }
        /// Returns whether the transformation is reversible.
        open class func allowsReverseTransformation() -> Bool { true }
        /// Returns the data for a value.
        open func transformedValue(_ value: Any?) -> Any? { value }
        /// Returns the value for data.
        open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }
    }

    /// A transformer that archives values with `NSKeyedArchiver`, and decodes only allowed classes.
    open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
        /// The classes allowed in an archive.
        open class var allowedTopLevelClasses: [AnyClass] {
            [
                NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
                NSURL.self, NSUUID.self, NSNull.self,
            ]
        }

        /// Returns the value in an archive; nil if it cannot be read, or contains a class that is not allowed.
        open override func transformedValue(_ value: Any?) -> Any? {
            (value as? Data).flatMap {
                try? NSKeyedUnarchiver.unarchivedObject(ofClasses: Self.allowedTopLevelClasses, from: $0)
            }
        }

        /// Returns the archive of a value; nil if it cannot be archived.
        open override func reverseTransformedValue(_ value: Any?) -> Any? {
            value.flatMap { try? NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true) }
        }
    }
#else
    extension ValueTransformer {
        /// Returns the transformer with a name; the archiving transformer if the name is nil.
        package static func registered(_ name: String?) -> ValueTransformer? {
            ValueTransformer(
                forName: name.map { NSValueTransformerName($0) } ?? .secureUnarchiveFromDataTransformerName)
        }
    }
#endif
