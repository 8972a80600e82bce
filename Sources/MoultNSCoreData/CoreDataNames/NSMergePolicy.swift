// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These are the names of Core Data.

import Foundation
import MoultCoreData
import MoultModel
import MoultObjects

/// The kind of a merge policy.
public typealias NSMergePolicyType = MoultCoreData.MergePolicyType
/// A policy for a save that conflicts with newer contents of the store.
public typealias NSMergePolicy = MoultCoreData.MergePolicy

/// Saves nothing, and makes the save throw.
public let NSErrorMergePolicy = NSMergePolicy.error
/// Keeps the store's newer values, property by property, and saves all other changes.
public let NSMergeByPropertyStoreTrumpMergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
/// Saves the context's changes, property by property, and takes all other values from the store.
public let NSMergeByPropertyObjectTrumpMergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
/// Saves the whole object as it is in the context.
public let NSOverwriteMergePolicy = NSMergePolicy.overwrite
/// Discards the changes of an object in conflict.
public let NSRollbackMergePolicy = NSMergePolicy.rollback

/// The object of a conflict, which the save may change.
private final class HeldObject {
    /// The object needs its context.
    let context: NSManagedObjectContext?
    let source: NSManagedObject?

    init(_ conflict: ManagedObjectMergeError.Conflict, _ context: NSManagedObjectContext?) {
        self.context = context
        source = conflict.objectIDs.first.flatMap { context?.object(with: $0) }
    }
}

extension NSMergeConflict {
    /// The object in the context.
    public var sourceObject: NSManagedObject {
        if let source = (held as? HeldObject)?.source { return source }
        raise("NSMergeConflict.sourceObject", "The conflict has no context.")
    }
    /// The version on which the changes are based.
    public var oldVersionNumber: Int { conflict.oldVersionNumber ?? 0 }
    /// The version in the store; 0 if the row no longer exists.
    public var newVersionNumber: Int { conflict.newVersionNumber ?? 0 }
    /// The context's current attributes of the object, by name, and the relationships that differ, as identities.
    public var objectSnapshot: [String: Any]? { sourceObject.snapshot(conflict.ours) }
    /// The attributes of the object as the context read them, by name.
    public var cachedSnapshot: [String: Any]? { sourceObject.committedSnapshot }
    /// The attributes of the object in the store, by name, and the relationships that differ, as identities; nil if the
    /// row no longer exists.
    public var persistedSnapshot: [String: Any]? {
        newVersionNumber == 0 ? nil : sourceObject.snapshot(conflict.stored)
    }
}

/// The objects of a conflict. The save gives them other identities, and deletes those that give way.
private final class HeldObjects {
    /// The objects need their context.
    let context: NSManagedObjectContext?
    let stored: NSManagedObject?
    let objects: [NSManagedObject]
    let snapshots: [[AnyHashable: Any]]
    let values: [String: Any]

    init(_ conflict: ManagedObjectMergeError.Conflict, _ context: NSManagedObjectContext?) {
        self.context = context
        stored = conflict.storedObjectID.flatMap { context?.object(with: $0) }
        objects = conflict.objectIDs.compactMap { context?.object(with: $0) }
        snapshots = objects.map { $0.snapshot([:]) }
        values = objects.first?.dictionaryWithValues(forKeys: conflict.constraint) ?? [:]
    }
}

extension NSConstraintConflict {
    private var own: HeldObjects? { held as? HeldObjects }

    /// The properties of the constraint.
    public var constraint: [String] { conflict.constraint }
    /// The values that the objects have in common, by property.
    public var constraintValues: [String: Any] { own?.values ?? [:] }
    /// The object in the store with these values; nil if all of the objects are part of the save.
    public var databaseObject: NSManagedObject? { own?.stored }
    /// The attributes of that object as the context read them, by name.
    public var databaseSnapshot: [String: Any]? { databaseObject?.committedSnapshot }
    /// The objects in the save.
    public var conflictingObjects: [NSManagedObject] { own?.objects ?? [] }
    /// The attributes of each object at the time of the conflict, by name.
    public var conflictingSnapshots: [[AnyHashable: Any]] { own?.snapshots ?? [] }
}

extension ManagedObjectMergeError {
    /// Returns the conflicts, with the objects of a context.
    func conflicts(in context: NSManagedObjectContext?) -> [NSObject] {
        conflicts.map { conflict in
            conflict.constraint.isEmpty
                ? NSMergeConflict(conflict, holding: HeldObject(conflict, context))
                : NSConstraintConflict(conflict, holding: HeldObjects(conflict, context))
        }
    }
}

extension NSManagedObject {
    /// The attributes as the context read them, by name.
    fileprivate var committedSnapshot: [String: Any] {
        committedValues(forKeys: Array(entity.attributesByName.keys))
    }

    private func spelled(_ value: AttributeValue, _ key: String) -> Any? {
        guard let storedObject, case .attribute(_, let attribute)? = storedObject.shape[key] else { return nil }
        return try? conversion(of: attribute, key, of: storedObject).foundation(value)
    }

    /// Returns the attributes by name, with other values for some properties.
    fileprivate func snapshot(_ others: [String: ObjectValue]) -> [String: Any] {
        var values = dictionaryWithValues(forKeys: Array(entity.attributesByName.keys))
        for (key, value) in others {
            switch value {
            case .attribute(let value):
                values[key] = value.flatMap { spelled($0, key) } ?? NSNull()
            case .toOne(let id): values[key] = id ?? NSNull()
            case .toMany(let ids): values[key] = ids
            }
        }
        return values
    }
}
