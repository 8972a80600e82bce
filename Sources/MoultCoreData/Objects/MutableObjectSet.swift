import Foundation
import MoultModel
import MoultObjects

/// The destinations of a to-many relationship: what is done to it is done to the object.
public struct MutableObjectSet: Sequence {
    let owner: ManagedObject
    let key: String

    init(_ owner: ManagedObject, _ key: String) {
        self.owner = owner
        self.key = key
    }

    /// The present destinations; none where they cannot be read.
    public var allObjects: [ManagedObject] { owner[key, as: [ManagedObject].self] }
    /// The number of destinations, none of which is read; 0 where they cannot be counted.
    public var count: Int { owner.noting(0) { try owner.objectIDs(forRelationshipNamed: key).count } }
    /// Whether there is no destination.
    public var isEmpty: Bool { count == 0 }

    /// Whether the object is among the destinations, none of which is read.
    public func contains(_ object: ManagedObject) -> Bool {
        owner.noting(false) { try owner.objectIDs(forRelationshipNamed: key).contains(object.objectID) }
    }

    /// Adds a destination; one that is there already is no mistake.
    ///
    /// - Throws: `usage` for an object that is deleted or of another context, `wrongType` for one of another entity,
    ///   `externalRelationship` for one of another store.
    public func add(_ object: ManagedObject) throws {
        try owner.change { try $0.add(object.object, to: key) }
    }

    /// Takes a destination away; one that is not there is no mistake.
    ///
    /// - Throws: `usage` for an object of another context.
    public func remove(_ object: ManagedObject) throws {
        try owner.change { try $0.remove(object.object, from: key) }
    }

    /// Takes every destination away; the objects themselves stay.
    public func removeAllObjects() throws { try owner.change { try $0.setToMany(key, []) } }

    /// An iterator over the present destinations.
    public func makeIterator() -> IndexingIterator<[ManagedObject]> { allObjects.makeIterator() }
}

/// The destinations of an ordered relationship: what is done to it is done to the object.
public struct MutableObjectList: RandomAccessCollection {
    let owner: ManagedObject
    let key: String

    init(_ owner: ManagedObject, _ key: String) {
        self.owner = owner
        self.key = key
    }

    /// The present destinations, in their order; none where they cannot be read.
    public var array: [ManagedObject] { owner[key, as: [ManagedObject].self] }
    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of destinations; 0 where they cannot be counted.
    public var endIndex: Int { owner.noting(0) { try owner.objectIDs(forRelationshipNamed: key).count } }
    /// The destination at a place. The whole list is read for it: use ``array`` to go through all.
    public subscript(position: Int) -> ManagedObject { array[position] }
    /// Reads the list once; the places one by one would read it as often as it is long.
    public func makeIterator() -> IndexingIterator<[ManagedObject]> { array.makeIterator() }

    /// Adds a destination at the end; one that is there already stays where it is.
    ///
    /// - Throws: `usage` for an object that is deleted or of another context, `wrongType` for one of another entity,
    ///   `externalRelationship` for one of another store.
    public func add(_ object: ManagedObject) throws { try owner.change { try $0.add(object.object, to: key) } }
    /// Takes a destination away; one that is not there is no mistake.
    ///
    /// - Throws: `usage` for an object of another context.
    public func remove(_ object: ManagedObject) throws { try owner.change { try $0.remove(object.object, from: key) } }

    /// - Throws: `usage` for a place beyond the end.
    public func insert(_ object: ManagedObject, at place: Int) throws {
        try owner.change { try $0.insert(object.object, in: key, at: place) }
    }

    /// Moves one destination; `target` counts without it.
    public func move(from source: Int, to target: Int) throws {
        try owner.change { try $0.move(in: key, from: source, to: target) }
    }
}
