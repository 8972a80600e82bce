import MoultBasics
import MoultModel
import MoultStore

/// Two versions of a model, and the data that a migration from the older to the newer one must keep.
///
/// ```swift
/// MigrationPair("Shop 1", to: "Shop 2", keeps: ["Customer", "Customer.name", "Order.total as Order.sum"])
/// ```
///
/// `moult generate tests` writes one for each pair of versions. ``TestStore/migrate(_:)`` checks it.
public struct MigrationPair: Sendable, Hashable, CustomStringConvertible {
    /// The name of the version before the migration.
    public let from: String
    /// The name of the version after the migration.
    public let to: String
    /// The entities and properties that the migration keeps.
    ///
    /// `Entity` means the objects: none of them is lost. `Entity.property` means values and links: an object that still
    /// exists keeps the same ones. A renamed entity or property is written with both names, as in
    /// `Order.total as Order.sum`. The migration may add objects and links, and fill in missing values. An entity does
    /// not include its sub-entities.
    public let keeps: [String]

    /// - Parameters:
    ///   - from: the name of the older version.
    ///   - to: the name of the newer version.
    ///   - keeps: the entities and properties, as ``keeps`` describes them.
    public init(_ from: String, to: String, keeps: [String]) { (self.from, self.to, self.keeps) = (from, to, keeps) }

    /// The names of the two versions.
    public var description: String { "\(from) → \(to)" }
}

/// One parsed entry of ``MigrationPair/keeps``.
struct KeptPlace {
    let text: String
    let old: (entity: String, property: String?)
    let new: (entity: String, property: String?)

    /// - Throws: `unknownKey` for a name that its version does not have.
    init(_ text: String, from older: ManagedObjectModel, to newer: ManagedObjectModel) throws(MigrationError) {
        self.text = text
        let sides = text.split(separator: " as ", maxSplits: 1).map(Self.parts)
        let first = sides.first ?? (text, nil)
        (old, new) = (first, sides.last ?? first)
        for (side, model) in [(old, older), (new, newer)] where !model.has(side.entity, side.property) {
            let name = [side.entity, side.property].compactMap(\.self).joined(separator: ".")
            throw MigrationError(
                .unknownKey, "The model has no \(name).", place: text,
                remedy: "Correct the entry, such as \"Post\", \"Post.title\" or \"Post.text as Post.body\".")
        }
        guard (old.property == nil) == (new.property == nil) else {
            throw MigrationError(
                .unknownKey, "\(text) names an entity and a property.", place: text,
                remedy: "Name two entities, or two properties.")
        }
    }

    private static func parts(_ name: Substring) -> (entity: String, property: String?) {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        return (parts.first ?? String(name), parts.count > 1 ? parts[1] : nil)
    }
}

extension ManagedObjectModel {
    fileprivate func has(_ name: String, _ property: String?) -> Bool {
        guard let entity = entity(name) else { return false }
        guard let property else { return true }
        return relationship(property, of: entity) != nil || leaves(of: entity).contains { $0.name == property }
    }
}

/// The objects of a store, to compare before and after a migration.
struct StoreObjects {
    private var objects: [String: [Int64: ObjectRow]] = [:]

    /// - Throws: `storeUnknown` for a store of none of the versions, and the errors of reading it.
    init(ofStoreAt path: String, in versions: ModelVersions) throws {
        try ReadOnlyStore.forEachObject(in: path, versions: versions) { row in
            objects[row.entityName, default: [:]][row.primaryKey] = row
        }
    }

    /// Returns a sentence about the part of a place that a migration lost; nil if it has kept everything.
    func loss(of place: KeptPlace, in later: StoreObjects) -> String? {
        let (before, after) = (objects[place.old.entity] ?? [:], later.objects[place.new.entity] ?? [:])
        let changed = before.keys.sorted().filter { key in
            guard let (name, newName) = place.properties else { return after[key] == nil }
            guard let old = before[key]?[name], let object = after[key] else { return false }
            return object[newName].map { !old.isKept(in: $0) } ?? true
        }
        guard let first = changed.first else { return nil }
        let what = place.old.property == nil ? "lost" : "changed"
        return "\(place.text): \(Quantity.count(changed.count)) of \(Quantity.count(before.count)) objects "
            + "\(changed.count == 1 ? "is" : "are") \(what), such as \(place.old.entity) \(first)."
    }
}

extension KeptPlace {
    fileprivate var properties: (String, String)? {
        guard let old = old.property, let new = new.property else { return nil }
        return (old, new)
    }
}

extension PropertyValue {
    /// Whether another value includes everything in this one.
    fileprivate func isKept(in new: PropertyValue) -> Bool {
        switch (self, new) {
        case (.attribute(nil), _), (.toOne(nil), _): true
        case (.toOne(let old?), .toOne(let new)): new?.primaryKey == old.primaryKey
        case (.toOne(let old?), .toMany(let new)): new.contains { $0.primaryKey == old.primaryKey }
        case (.toMany(let old), .toMany(let new)):
            // The order must match as well, whether the relationship is ordered or the keys define it.
            new.map(\.primaryKey).filter(Set(old.map(\.primaryKey)).contains) == old.map(\.primaryKey)
        default: self == new
        }
    }
}
