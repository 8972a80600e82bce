import Foundation
import Synchronization

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
