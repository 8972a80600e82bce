import MoultModel
import MoultStore

/// The objects of a store, to be compared with what a migration makes of them.
struct StoreObjects {
    private var objects: [String: [Int64: ObjectRow]] = [:]

    /// - Throws: `storeUnknown` for a store of none of the versions, and what reading it throws.
    init(ofStoreAt path: String, in versions: ModelVersions) throws {
        try StoreProbe.forEachObject(in: path, versions: versions) { row in
            objects[row.entityName, default: [:]][row.primaryKey] = row
        }
    }

    /// Returns a sentence that says what a migration has not kept of a place; nil if it has kept everything.
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
    /// Whether another value has everything that this one has.
    fileprivate func isKept(in new: PropertyValue) -> Bool {
        switch (self, new) {
        case (.attribute(nil), _), (.toOne(nil), _): true
        case (.toOne(let old?), .toOne(let new)): new?.primaryKey == old.primaryKey
        case (.toOne(let old?), .toMany(let new)): new.contains { $0.primaryKey == old.primaryKey }
        case (.toMany(let old), .toMany(let new)):
            // The order counts too: that of an ordered relationship, or that of the keys.
            new.map(\.primaryKey).filter(Set(old.map(\.primaryKey)).contains) == old.map(\.primaryKey)
        default: self == new
        }
    }
}
