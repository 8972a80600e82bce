import Foundation

/// The common base of attributes, relationships, fetched properties and computed values.
open class NSPropertyDescription: NSObject {
    weak var owner: NSEntityDescription?
    /// The name, unique among the entity's properties.
    open var name = "" { willSet { owner?.willChange() } }
    /// Whether an object without a value is valid; true by default.
    open var isOptional = true { willSet { owner?.willChange() } }
    /// Whether no store keeps the value.
    open var isTransient = false { willSet { owner?.willChange() } }
    /// The name in an earlier version.
    open var renamingIdentifier: String? { willSet { owner?.willChange() } }
    /// A text that goes into the version hash.
    open var versionHashModifier: String? { willSet { owner?.willChange() } }
    /// Notes of the app, with texts as keys and values.
    open var userInfo: [AnyHashable: Any]? { willSet { owner?.willChange() } }
    /// Whether Spotlight is to index the value. It changes nothing in the store.
    open var isIndexedBySpotlight = false { willSet { owner?.willChange() } }
    /// The entity that declares the property.
    open var entity: NSEntityDescription? { owner }

    /// A property without a name.
    public override init() {}

}

/// Notes of an app as a model keeps them.
func texts(_ userInfo: [AnyHashable: Any]?) -> [String: String] {
    (userInfo ?? [:]).reduce(into: [:]) { all, entry in
        if let key = entry.key.base as? String { all[key] = "\(entry.value)" }
    }
}
