import Foundation
import MoultCoreData
import MoultModel
import MoultObjects

/// A mutable view of the destinations of a to-many relationship. Its changes apply to the object directly.
/// `mutableSetValue(forKey:)` returns it, because `NSMutableSet` cannot be subclassed this way on Linux.
public struct NSManagedSet: Sequence {
    private let owner: NSManagedObject
    private let key: String

    init(_ owner: NSManagedObject, _ key: String) {
        self.owner = owner
        self.key = key
    }

    /// The current destinations.
    public var allObjects: [Any] { objects }
    /// The number of destinations.
    public var count: Int { objects.count }
    /// Returns whether the object is a destination.
    public func contains(_ object: Any) -> Bool { objects.contains { $0 === object as AnyObject } }
    /// Adds a destination.
    public func add(_ object: Any) {
        let object = managed(object, "add(_:)")
        if owner.changed(object, by: { try $0.add($1, to: key) }) == nil { change { $0.insert(object) } }
    }
    /// Removes a destination.
    public func remove(_ object: Any) {
        let object = managed(object, "remove(_:)")
        if owner.changed(object, by: { try $0.remove($1, from: key) }) == nil { change { $0.remove(object) } }
    }
    /// Removes every destination.
    public func removeAllObjects() { change { $0 = [] } }
    /// Adds several destinations.
    public func union(_ others: Set<AnyHashable>) { for object in others { add(object.base) } }
    /// Adds several destinations.
    public func addObjects(from objects: [Any]) { for object in objects { add(object) } }
    /// Removes several destinations.
    public func minus(_ others: Set<AnyHashable>) { for object in others { remove(object.base) } }
    /// Returns an iterator over the current destinations.
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

/// A mutable view of the destinations of an ordered relationship. Its changes apply to the object directly.
public struct NSManagedOrderedSet: Sequence {
    private let owner: NSManagedObject
    private let key: String

    init(_ owner: NSManagedObject, _ key: String) {
        self.owner = owner
        self.key = key
    }

    /// The current destinations, in order.
    public var array: [Any] { objects }
    /// The number of destinations.
    public var count: Int { objects.count }
    /// Returns the destination at an index.
    public subscript(place: Int) -> Any { objects[place] }
    /// Returns the index of an object; `NSNotFound` if it is not a destination.
    public func index(of object: Any) -> Int { objects.firstIndex { $0 === object as AnyObject } ?? NSNotFound }
    /// Returns whether the object is a destination.
    public func contains(_ object: Any) -> Bool { index(of: object) != NSNotFound }
    /// Adds a destination at the end.
    public func add(_ object: Any) {
        guard owner.changed(object as? NSManagedObject, by: { try $0.add($1, to: key) }) == nil else { return }
        if !contains(object) { change { $0.append(object) } }
    }
    /// Inserts a destination at an index.
    public func insert(_ object: Any, at place: Int) {
        if !contains(object) { change { $0.insert(object, at: place) } }
    }
    /// Removes a destination.
    public func remove(_ object: Any) { change { $0.removeAll { $0 as AnyObject === object as AnyObject } } }
    /// Removes the destination at an index.
    public func removeObject(at place: Int) { change { $0.remove(at: place) } }
    /// Removes every destination.
    public func removeAllObjects() { change { $0 = [] } }
    /// Moves one destination. The target index applies after its removal.
    public func moveObject(from source: Int, to target: Int) { change { $0.insert($0.remove(at: source), at: target) } }
    /// Returns the destination at an index.
    public func object(at place: Int) -> Any { objects[place] }
    /// The first destination.
    public var firstObject: Any? { objects.first }
    /// The last destination.
    public var lastObject: Any? { objects.last }
    /// The current destinations, without their order.
    public var set: Set<AnyHashable> { Set(objects) }
    /// Adds destinations at the end, in order.
    public func addObjects(from others: [Any]) { for object in others { add(object) } }
    /// Inserts destinations, each at its index in the result.
    public func insert(_ others: [Any], at places: IndexSet) {
        for (object, place) in zip(others, places) { insert(object, at: place) }
    }
    /// Removes the destinations at several indexes.
    public func removeObjects(at places: IndexSet) {
        change { for place in places.reversed() { $0.remove(at: place) } }
    }
    /// Removes several destinations.
    public func removeObjects(in others: [Any]) {
        change { $0.removeAll { object in others.contains { $0 as AnyObject === object as AnyObject } } }
    }
    /// Puts a destination in the place of another. Nothing changes if it is a destination already.
    public func replaceObject(at place: Int, with object: Any) {
        if !contains(object) { change { $0[place] = object } }
    }
    /// Puts destinations in the places of others.
    public func replaceObjects(at places: IndexSet, with others: [Any]) {
        for (place, object) in zip(places, others) { replaceObject(at: place, with: object) }
    }
    /// Puts a destination in the place of another, or adds it if the index is the number of destinations.
    public func setObject(_ object: Any, at place: Int) {
        place == count ? add(object) : replaceObject(at: place, with: object)
    }
    /// Exchanges the places of two destinations.
    public func exchangeObject(at first: Int, withObjectAt second: Int) { change { $0.swapAt(first, second) } }
    /// Moves several destinations, in their order. The target index applies after their removal.
    public func moveObjects(at places: IndexSet, to target: Int) {
        change { list in
            let moved = places.map { list[$0] }
            for place in places.reversed() { list.remove(at: place) }
            list.insert(contentsOf: moved, at: target)
        }
    }
    /// Adds the destinations of a set that are not there yet, at the end.
    public func union(_ others: NSOrderedSet) { addObjects(from: others.array) }
    /// Adds the objects of a set that are not destinations yet, at the end.
    public func unionSet(_ others: Set<AnyHashable>) { addObjects(from: others.map(\.base)) }
    /// Removes the destinations that are in a set.
    public func minus(_ others: NSOrderedSet) { removeObjects(in: others.array) }
    /// Removes the destinations that are in a set.
    public func minusSet(_ others: Set<AnyHashable>) { removeObjects(in: others.map(\.base)) }
    /// Keeps only the destinations that are in a set.
    public func intersect(_ others: NSOrderedSet) { change { $0.removeAll { !others.contains($0) } } }
    /// Keeps only the destinations that are in a set.
    public func intersectSet(_ others: Set<AnyHashable>) { intersect(NSOrderedSet(array: others.map(\.base))) }
    /// Sorts the destinations.
    public func sort(comparator: (Any, Any) -> ComparisonResult) {
        change { $0.sort { comparator($0, $1) == .orderedAscending } }
    }
    /// Sorts the destinations by the values of their properties. Destinations with equal values keep their order.
    public func sort(using sortDescriptors: [NSSortDescriptor]) {
        let terms = sortDescriptors.map(\.term)
        let keyed = objects.map { object in
            (object, terms.map { predicateValue(object.value(forKeyPath: $0.keyPath)) })
        }
        let sorted = keyed.sorted { first, second in
            for (term, (one, other)) in zip(terms, zip(first.1, second.1)) {
                let order = ExpressionValue.ordering(one, other, term.options)
                if order != .orderedSame { return (order == .orderedAscending) == term.isAscending }
            }
            return false
        }
        change { $0 = sorted.map(\.0) }
    }
    /// Returns an iterator over the current destinations.
    public func makeIterator() -> IndexingIterator<[Any]> { array.makeIterator() }

    private var objects: [NSManagedObject] { relatedObjects(owner, key) }

    private func change(_ body: (inout [Any]) -> Void) {
        var present: [Any] = objects
        body(&present)
        owner.setValue(NSOrderedSet(array: present), forKey: key)
    }
}

extension NSManagedObject {
    /// Changes the stored object, passing it the other object; nil if they are not in the same context, or one of them
    /// is deleted or gone, or its store.
    fileprivate func changed(_ other: NSManagedObject?, by body: (Object, Object) throws -> Void) -> Void? {
        guard let storedObject, let other = other?.storedObject, let shared = storedObject.context,
            shared === other.context
        else { return nil }
        return orRaise("\(type(of: self)).mutableSetValue(forKey:)") {
            noteChange()
            do {
                return try access { try body(storedObject, other) }
            } catch {
                let isGone = (error as? MigrationError)?.code == .objectGone
                guard isGone || storedObject.isLost(to: storedObject) || other.isLost(to: storedObject) else {
                    throw error
                }
                return nil
            }
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
