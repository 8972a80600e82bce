import Foundation
import MoultObjects

/// The destinations of a to-many relationship: what is done to it is done to the object. What
/// `mutableSetValue(forKey:)` gives; `NSMutableSet` cannot be subclassed so on Linux.
public struct NSManagedSet: Sequence {
    private let owner: NSManagedObject
    private let key: String

    init(_ owner: NSManagedObject, _ key: String) {
        self.owner = owner
        self.key = key
    }

    /// The present destinations.
    public var allObjects: [Any] { objects }
    /// The number of destinations.
    public var count: Int { objects.count }
    /// Whether the object is among them.
    public func contains(_ object: Any) -> Bool { objects.contains { $0 === object as AnyObject } }
    /// Adds a destination.
    public func add(_ object: Any) {
        let object = managed(object, "add(_:)")
        if owner.changed(object, by: { try $0.add($1, to: key) }) == nil { change { $0.insert(object) } }
    }
    /// Takes a destination away.
    public func remove(_ object: Any) {
        let object = managed(object, "remove(_:)")
        if owner.changed(object, by: { try $0.remove($1, from: key) }) == nil { change { $0.remove(object) } }
    }
    /// Takes every destination away.
    public func removeAllObjects() { change { $0 = [] } }
    /// Adds several destinations.
    public func union(_ others: Set<AnyHashable>) { for object in others { add(object.base) } }
    /// Adds several destinations.
    public func addObjects(from objects: [Any]) { for object in objects { add(object) } }
    /// Takes several destinations away.
    public func minus(_ others: Set<AnyHashable>) { for object in others { remove(object.base) } }
    /// An iterator over the present destinations.
    public func makeIterator() -> IndexingIterator<[Any]> { (objects as [Any]).makeIterator() }

    private var objects: [NSManagedObject] { relatedObjects(owner, key) }

    private func change(_ body: (inout Set<NSManagedObject>) -> Void) {
        var present = Set(objects)
        body(&present)
        owner.setValue(NSSet(array: Array(present)), forKey: key)
    }

    private func managed(_ object: Any, _ call: String) -> NSManagedObject {
        if let object = object as? NSManagedObject { return object }
        raise("\(type(of: owner)).mutableSetValue(forKey: \"\(key)\").\(call)", "\(object) is no NSManagedObject.")
    }
}

/// The destinations of an ordered relationship: what is done to it is done to the object.
public struct NSManagedOrderedSet: Sequence {
    private let owner: NSManagedObject
    private let key: String

    init(_ owner: NSManagedObject, _ key: String) {
        self.owner = owner
        self.key = key
    }

    /// The present destinations, in their order.
    public var array: [Any] { objects }
    /// The number of destinations.
    public var count: Int { objects.count }
    /// The destination at a place.
    public subscript(place: Int) -> Any { objects[place] }
    /// The place of an object; `NSNotFound` if it is not there.
    public func index(of object: Any) -> Int { objects.firstIndex { $0 === object as AnyObject } ?? NSNotFound }
    /// Whether the object is among them.
    public func contains(_ object: Any) -> Bool { index(of: object) != NSNotFound }
    /// Adds a destination at the end.
    public func add(_ object: Any) {
        guard owner.changed(object as? NSManagedObject, by: { try $0.add($1, to: key) }) == nil else { return }
        if !contains(object) { change { $0.append(object) } }
    }
    /// Adds a destination at a place.
    public func insert(_ object: Any, at place: Int) {
        if !contains(object) { change { $0.insert(object, at: place) } }
    }
    /// Takes a destination away.
    public func remove(_ object: Any) { change { $0.removeAll { $0 as AnyObject === object as AnyObject } } }
    /// Takes the destination at a place away.
    public func removeObject(at place: Int) { change { $0.remove(at: place) } }
    /// Takes every destination away.
    public func removeAllObjects() { change { $0 = [] } }
    /// Moves one destination; the target counts without it.
    public func moveObject(from source: Int, to target: Int) { change { $0.insert($0.remove(at: source), at: target) } }
    /// An iterator over the present destinations.
    public func makeIterator() -> IndexingIterator<[Any]> { array.makeIterator() }

    private var objects: [NSManagedObject] { relatedObjects(owner, key) }

    private func change(_ body: (inout [Any]) -> Void) {
        var present: [Any] = objects
        body(&present)
        owner.setValue(NSOrderedSet(array: present), forKey: key)
    }
}

extension NSManagedObject {
    /// Runs a change of the stored object, to which the other end is handed; nil if they are not in one context.
    fileprivate func changed(_ other: NSManagedObject?, by body: (Object, Object) throws -> Void) -> Void? {
        guard let storedObject, let other = other?.storedObject, storedObject.context === other.context else {
            return nil
        }
        return orRaise("\(type(of: self)).mutableSetValue(forKey:)") {
            noteChange()
            try access { try body(storedObject, other) }
        }
    }
}

private func relatedObjects(_ owner: NSManagedObject, _ key: String) -> [NSManagedObject] {
    switch owner.value(forKey: key) {
    case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
    case let list as NSOrderedSet: list.array.compactMap { $0 as? NSManagedObject }
    default: []
    }
}
