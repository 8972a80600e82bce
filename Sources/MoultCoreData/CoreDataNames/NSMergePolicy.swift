// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These are the names of Core Data.

import Foundation
import MoultModel
import MoultObjects

/// The kind of a merge policy.
public typealias NSMergePolicyType = MergePolicyType
/// A policy for a save where the store holds something else by now.
public typealias NSMergePolicy = MergePolicy

/// Nothing is saved, and the save throws.
public let NSErrorMergePolicy = NSMergePolicy.error
/// Property by property, the store's newer values stay; other changes are saved.
public let NSMergeByPropertyStoreTrumpMergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
/// Property by property, the changes made here are saved; the rest is taken from the store.
public let NSMergeByPropertyObjectTrumpMergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
/// The whole object as it is here is saved.
public let NSOverwriteMergePolicy = NSMergePolicy.overwrite
/// The changes of an object in conflict are given up.
public let NSRollbackMergePolicy = NSMergePolicy.rollback

/// One object that was changed here and elsewhere.
open class NSMergeConflict: NSObject, @unchecked Sendable {
    private let conflict: ManagedObjectMergeError.Conflict
    private weak var context: NSManagedObjectContext?

    fileprivate init(_ conflict: ManagedObjectMergeError.Conflict, _ context: NSManagedObjectContext?) {
        (self.conflict, self.context) = (conflict, context)
    }

    /// The object of the context. Ends the program once the context is gone.
    open var sourceObject: NSManagedObject { conflict.object(conflict.objectIDs.first, in: context) }
    /// The version that the changes were made over.
    open var oldVersionNumber: Int { conflict.oldVersionNumber ?? 0 }
    /// The version that the store holds; 0 where the row is gone.
    open var newVersionNumber: Int { conflict.newVersionNumber ?? 0 }
    /// The attributes of the object as they are in the context, by name, and the relationships that differ, as identities.
    open var objectSnapshot: [String: Any]? { sourceObject.snapshot(conflict.ours) }
    /// The same as the context has read it.
    open var cachedSnapshot: [String: Any]? { sourceObject.committedSnapshot }
    /// The same as the store holds it; nil where the row is gone.
    open var persistedSnapshot: [String: Any]? {
        newVersionNumber == 0 ? nil : sourceObject.snapshot(conflict.stored)
    }

    /// A sentence that says what differs.
    open override var description: String { conflict.description }
}

/// Objects that would have the same values of a uniqueness constraint.
open class NSConstraintConflict: NSObject, @unchecked Sendable {
    private let conflict: ManagedObjectMergeError.Conflict
    private weak var context: NSManagedObjectContext?

    fileprivate init(_ conflict: ManagedObjectMergeError.Conflict, _ context: NSManagedObjectContext?) {
        (self.conflict, self.context) = (conflict, context)
    }

    /// The properties of the constraint.
    open var constraint: [String] { conflict.constraint }
    /// The values that the objects share, by property.
    open var constraintValues: [String: Any] {
        conflictingObjects.first?.dictionaryWithValues(forKeys: constraint) ?? [:]
    }
    /// The object that the store holds with these values; nil if all of them are in the save.
    open var databaseObject: NSManagedObject? { conflict.storedObjectID.map { conflict.object($0, in: context) } }
    /// The attributes of that object as the context has read them, by name.
    open var databaseSnapshot: [String: Any]? { databaseObject?.committedSnapshot }
    /// The objects of the save. Ends the program once the context is gone.
    open var conflictingObjects: [NSManagedObject] { conflict.objectIDs.map { conflict.object($0, in: context) } }
    /// The attributes of each as they are in the context, by name.
    open var conflictingSnapshots: [[AnyHashable: Any]] { conflictingObjects.map { $0.snapshot([:]) } }

    /// A sentence that says what differs.
    open override var description: String { conflict.description }
}

extension ManagedObjectMergeError {
    /// The conflicts with the objects of a context.
    func conflicts(in context: NSManagedObjectContext?) -> [NSObject] {
        conflicts.map { conflict in
            conflict.constraint.isEmpty
                ? NSMergeConflict(conflict, context) : NSConstraintConflict(conflict, context)
        }
    }
}

extension ManagedObjectMergeError.Conflict {
    fileprivate func object(_ id: NSManagedObjectID?, in context: NSManagedObjectContext?) -> NSManagedObject {
        guard let id, let context else { raise("\(self)", "The context of the conflict is gone.") }
        return context.object(with: id)
    }
}

extension NSManagedObject {
    /// The attributes by name, as the context has read them.
    fileprivate var committedSnapshot: [String: Any] {
        committedValues(forKeys: Array(entity.attributesByName.keys))
    }

    private func spelled(_ value: AttributeValue, _ key: String) -> Any? {
        guard let storedObject, case .attribute(_, let attribute)? = storedObject.shape[key] else { return nil }
        return try? conversion(of: attribute, key, of: storedObject).foundation(value)
    }

    /// The attributes by name, with other values for some properties.
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
