import Foundation
import MoultObjects

/// Carries the key of a sort descriptor, which has a key path only on Linux.
private final class SortKey {
    subscript(key: String) -> String { key }
}

extension NSSortDescriptor {
    /// A term of an order by a key of the model.
    public convenience init(key: String?, ascending: Bool) {
        self.init(keyPath: \SortKey.[key ?? ""], ascending: ascending)
    }

    /// A term of an order by an optional property of a class.
    public convenience init<Root: NSManagedObject, Value>(keyPath: KeyPath<Root, Value?>, ascending: Bool) {
        self.init(key: ManagedKey.name(of: keyPath), ascending: ascending)
    }

    /// A term of an order by a Boolean property of a class.
    public convenience init<Root: NSManagedObject>(keyPath: KeyPath<Root, Bool>, ascending: Bool) {
        self.init(key: ManagedKey.name(of: keyPath), ascending: ascending)
    }

    /// The key; nil for a key path that reads no property of the model.
    public var key: String? {
        if let path = keyPath as? KeyPath<SortKey, String> {
            return SortKey()[keyPath: path]
        }
        return ManagedKey.nameIfAny(of: keyPath)
    }

    /// - Throws: nothing; ends the program for a key path that reads no property of the model.
    var term: ObjectFetch.SortTerm {
        guard let key else {
            raise("NSFetchRequest.sortDescriptors", "\(keyPath) reads no property of the model; name the key instead.")
        }
        return ObjectFetch.SortTerm(key, isAscending: ascending)
    }
}

extension NSSortDescriptor {
    /// The order of a `SortDescriptor` over a property of a class.
    public convenience init<Compared: NSManagedObject>(_ descriptor: SortDescriptor<Compared>) {
        guard let path = descriptor.keyPath else {
            raise("NSSortDescriptor(_:)", "The SortDescriptor has no key path; name the key instead.")
        }
        self.init(key: ManagedKey.name(of: path), ascending: descriptor.order == .forward)
    }
}
