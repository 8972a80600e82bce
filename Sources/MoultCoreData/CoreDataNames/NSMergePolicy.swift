// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These are the names of Core Data.

import Foundation
import MoultModel
import MoultObjects

/// The kind of a merge policy.
public typealias NSMergePolicyType = MergePolicyType
/// A policy for a save that conflicts with newer contents of the store.
public typealias NSMergePolicy = MergePolicy

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

/// A conflict over one object that was changed both in the context and elsewhere.
open class NSMergeConflict: NSObject, @unchecked Sendable {
    private let conflict: ManagedObjectMergeError.Conflict
    /// The object needs its context.
    private let context: NSManagedObjectContext?
    private let source: NSManagedObject?

    fileprivate init(_ conflict: ManagedObjectMergeError.Conflict, _ context: NSManagedObjectContext?) {
        (self.conflict, self.context) = (conflict, context)
        source = conflict.objectIDs.first.flatMap { context?.object(with: $0) }
    }

    /// The object in the context.
    open var sourceObject: NSManagedObject {
        if let source { return source }
        raise("NSMergeConflict.sourceObject", "The conflict has no context.")
    }
    /// The version on which the changes are based.
    open var oldVersionNumber: Int { conflict.oldVersionNumber ?? 0 }
    /// The version in the store; 0 if the row no longer exists.
    open var newVersionNumber: Int { conflict.newVersionNumber ?? 0 }
    /// The context's current attributes of the object, by name, and the relationships that differ, as identities.
    open var objectSnapshot: [String: Any]? { sourceObject.snapshot(conflict.ours) }
    /// The attributes of the object as the context read them, by name.
    open var cachedSnapshot: [String: Any]? { sourceObject.committedSnapshot }
    /// The attributes of the object in the store, by name, and the relationships that differ, as identities; nil if the
    /// row no longer exists.
    open var persistedSnapshot: [String: Any]? {
        newVersionNumber == 0 ? nil : sourceObject.snapshot(conflict.stored)
    }

    /// A sentence that describes the differences.
    open override var description: String { conflict.description }
}

/// A conflict over objects that would have the same values for a uniqueness constraint.
open class NSConstraintConflict: NSObject, @unchecked Sendable {
    private let conflict: ManagedObjectMergeError.Conflict
    /// The objects need their context.
    private let context: NSManagedObjectContext?
    private let stored: NSManagedObject?
    private let objects: [NSManagedObject]
    private let snapshots: [[AnyHashable: Any]]
    private let values: [String: Any]

    fileprivate init(_ conflict: ManagedObjectMergeError.Conflict, _ context: NSManagedObjectContext?) {
        (self.conflict, self.context) = (conflict, context)
        // The save gives the objects other identities, and deletes those that give way.
        stored = conflict.storedObjectID.flatMap { context?.object(with: $0) }
        objects = conflict.objectIDs.compactMap { context?.object(with: $0) }
        snapshots = objects.map { $0.snapshot([:]) }
        values = objects.first?.dictionaryWithValues(forKeys: conflict.constraint) ?? [:]
    }

    /// The properties of the constraint.
    open var constraint: [String] { conflict.constraint }
    /// The values that the objects have in common, by property.
    open var constraintValues: [String: Any] { values }
    /// The object in the store with these values; nil if all of the objects are part of the save.
    open var databaseObject: NSManagedObject? { stored }
    /// The attributes of that object as the context read them, by name.
    open var databaseSnapshot: [String: Any]? { databaseObject?.committedSnapshot }
    /// The objects in the save.
    open var conflictingObjects: [NSManagedObject] { objects }
    /// The attributes of each object at the time of the conflict, by name.
    open var conflictingSnapshots: [[AnyHashable: Any]] { snapshots }

    /// A sentence that describes the differences.
    open override var description: String { conflict.description }
}

extension ManagedObjectMergeError {
    /// Returns the conflicts, with the objects of a context.
    func conflicts(in context: NSManagedObjectContext?) -> [NSObject] {
        conflicts.map { conflict in
            conflict.constraint.isEmpty
                ? NSMergeConflict(conflict, context) : NSConstraintConflict(conflict, context)
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
