import Foundation
import Synchronization

/// Turns values of a transformable attribute into data and back, as Foundation's class of that name does on Apple's
/// systems. A subclass that keeps data overrides both methods; it is used from any thread.
open class ValueTransformer {
    /// A transformer; one is made each time a value is read or written.
    public required init() {}

    open class func allowsReverseTransformation() -> Bool { true }

    /// The data for a value; nil for none.
    open func transformedValue(_ value: Any?) -> Any? { value }
    /// The value of the data; nil if it is none.
    open func reverseTransformedValue(_ value: Any?) -> Any? { value }

    private static let named = Mutex<[String: ValueTransformer.Type]>([:])

    /// Makes a transformer known by a name, for `.transformable(by: "Name")`.
    public static func setValueTransformer(_ transformer: ValueTransformer.Type, forName name: String) {
        named.withLock { $0[name] = transformer }
    }

    /// The transformer of that name; nil if there is none.
    public static func registered(forName name: String) -> ValueTransformer.Type? { named.withLock { $0[name] } }
}
