import Foundation
import MoultModel
import MoultObjects

/// A mutable view of the destinations of a to-many relationship. Its changes apply to the object directly.
public struct MutableObjectSet: Sequence {
    let owner: ManagedObject
    let key: String

    init(_ owner: ManagedObject, _ key: String) {
        self.owner = owner
        self.key = key
    }

    /// The current destinations; empty if they cannot be read.
    public var allObjects: [ManagedObject] { owner[key, as: [ManagedObject].self] }
    /// The number of destinations, which are not read; 0 if they cannot be counted.
    public var count: Int { owner.noting(key, 0) { try owner.objectIDs(forRelationshipNamed: key).count } }
    /// Whether there are no destinations.
    public var isEmpty: Bool { count == 0 }

    /// Returns whether the object is a destination, without reading the destinations.
    public func contains(_ object: ManagedObject) -> Bool {
        owner.noting(key, false) { try owner.objectIDs(forRelationshipNamed: key).contains(object.objectID) }
    }

    /// Adds a destination, or does nothing if it is already one.
    ///
    /// - Throws: `usage` for an object that is deleted or belongs to another context, `wrongType` for one of another
    ///   entity, `externalRelationship` for one of another store.
    public func add(_ object: ManagedObject) throws {
        try owner.change { try $0.add(object.object, to: key) }
    }

    /// Removes a destination, or does nothing if it is not one.
    ///
    /// - Throws: `usage` for an object of another context.
    public func remove(_ object: ManagedObject) throws {
        try owner.change { try $0.remove(object.object, from: key) }
    }

    /// Removes every destination without deleting the objects.
    public func removeAllObjects() throws { try owner.change { try $0.setToMany(key, []) } }

    /// Returns an iterator over the current destinations.
    public func makeIterator() -> IndexingIterator<[ManagedObject]> { allObjects.makeIterator() }
}

/// A mutable view of the destinations of an ordered relationship. Its changes apply to the object directly.
public struct MutableObjectList: RandomAccessCollection {
    let owner: ManagedObject
    let key: String

    init(_ owner: ManagedObject, _ key: String) {
        self.owner = owner
        self.key = key
    }

    /// The current destinations, in order; empty if they cannot be read.
    public var array: [ManagedObject] { owner[key, as: [ManagedObject].self] }
    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of destinations; 0 if they cannot be counted.
    public var endIndex: Int { owner.noting(key, 0) { try owner.objectIDs(forRelationshipNamed: key).count } }
    /// Returns the destination at a position. It reads the whole list; to iterate, use ``array``.
    public subscript(position: Int) -> ManagedObject { array[position] }
    /// Returns an iterator that reads the list once. Access by position would read the whole list each time.
    public func makeIterator() -> IndexingIterator<[ManagedObject]> { array.makeIterator() }

    /// Adds a destination at the end. An existing destination keeps its position.
    ///
    /// - Throws: `usage` for an object that is deleted or belongs to another context, `wrongType` for one of another
    ///   entity, `externalRelationship` for one of another store.
    public func add(_ object: ManagedObject) throws { try owner.change { try $0.add(object.object, to: key) } }
    /// Removes a destination, or does nothing if it is not one.
    ///
    /// - Throws: `usage` for an object of another context.
    public func remove(_ object: ManagedObject) throws { try owner.change { try $0.remove(object.object, from: key) } }

    /// - Throws: `usage` for a position beyond the end.
    public func insert(_ object: ManagedObject, at place: Int) throws {
        try owner.change { try $0.insert(object.object, in: key, at: place) }
    }

    /// Moves one destination. The index `target` applies after its removal.
    public func move(from source: Int, to target: Int) throws {
        try owner.change { try $0.move(in: key, from: source, to: target) }
    }
}
