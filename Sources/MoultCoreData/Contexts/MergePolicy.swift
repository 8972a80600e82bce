// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The kinds have the names of Core Data.

import Foundation
import MoultObjects

/// The kind of a merge policy: how a save resolves conflicts with the store, with Core Data's numbers.
public enum MergePolicyType: UInt, Sendable {
    case errorMergePolicyType = 0
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    case overwriteMergePolicyType = 3
    case rollbackMergePolicyType = 4
}

/// A policy for a save that conflicts with newer contents of the store.
///
/// A subclass can examine the conflicts in ``resolve(mergeConflicts:)``, change the objects, and throw to refuse the
/// save. Only an `NSManagedObjectContext` calls this method, which does not exist on Apple's platforms. The kind
/// decides the rest.
open class MergePolicy: NSObject, @unchecked Sendable {
    /// The kind of the policy.
    public let mergeType: MergePolicyType

    /// Creates a policy of the given kind.
    public init(merge type: MergePolicyType) { mergeType = type }

    /// Saves nothing, and makes the save throw.
    public static let error = MergePolicy(merge: .errorMergePolicyType)
    /// Keeps the store's newer values, property by property, and saves all other changes.
    public static let mergeByPropertyStoreTrump = MergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    /// Saves the context's changes, property by property, and takes all other values from the store.
    public static let mergeByPropertyObjectTrump = MergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    /// Saves the whole object as it is in the context.
    public static let overwrite = MergePolicy(merge: .overwriteMergePolicyType)
    /// Discards the changes of an object in conflict.
    public static let rollback = MergePolicy(merge: .rollbackMergePolicyType)

    #if !canImport(Darwin)
        /// Called with the conflicts of a save, ``NSMergeConflict``s and ``NSConstraintConflict``s, before the policy
        /// is applied. Calls the two methods below.
        ///
        /// - Throws: to refuse the save.
        open func resolve(mergeConflicts list: [Any]) throws {
            let versions = list.compactMap { $0 as? NSMergeConflict }
            if !versions.isEmpty { try resolve(optimisticLockingConflicts: versions) }
            let constraints = list.compactMap { $0 as? NSConstraintConflict }
            if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
        }
        /// Called with the objects that were changed both in the context and elsewhere.
        ///
        /// - Throws: to refuse the save.
        open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {}
        /// Called with the uniqueness constraints that the save would violate.
        ///
        /// - Throws: to refuse the save.
        open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {}
    #endif

    package var isSubclass: Bool { type(of: self) != MergePolicy.self }

    /// The engine's policy of the same kind.
    package var policy: MoultObjects.MergePolicy {
        switch mergeType {
        case .errorMergePolicyType: .error
        case .mergeByPropertyStoreTrumpMergePolicyType: .mergeByPropertyStoreTrump
        case .mergeByPropertyObjectTrumpMergePolicyType: .mergeByPropertyObjectTrump
        case .overwriteMergePolicyType: .overwrite
        case .rollbackMergePolicyType: .rollback
        }
    }
}
