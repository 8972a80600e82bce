// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The kinds have the names of Core Data.

import Foundation
import MoultObjects

/// The kind of a merge policy: what a save does where the store holds something else by now, with Core Data's numbers.
public enum MergePolicyType: UInt, Sendable {
    case errorMergePolicyType = 0
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    case overwriteMergePolicyType = 3
    case rollbackMergePolicyType = 4
}

/// A policy for a save where the store holds something else by now.
///
/// A subclass can look at the conflicts in ``resolve(mergeConflicts:)``, change the objects, and throw to refuse them; an
/// ``NSManagedObjectContext`` alone asks it, which Apple's systems do not have.
/// What it is made with decides the rest.
open class MergePolicy: NSObject, @unchecked Sendable {
    /// The kind of the policy, which says what it does.
    public let mergeType: MergePolicyType

    /// A policy of a kind.
    public init(merge type: MergePolicyType) { mergeType = type }

    /// Nothing is saved, and the save throws.
    public static let error = MergePolicy(merge: .errorMergePolicyType)
    /// Property by property, the store's newer values stay; other changes are saved.
    public static let mergeByPropertyStoreTrump = MergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    /// Property by property, the changes made here are saved; the rest is taken from the store.
    public static let mergeByPropertyObjectTrump = MergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    /// The whole object as it is here is saved.
    public static let overwrite = MergePolicy(merge: .overwriteMergePolicyType)
    /// The changes of an object in conflict are given up.
    public static let rollback = MergePolicy(merge: .rollbackMergePolicyType)

    #if !canImport(Darwin)
        /// Called with the conflicts of a save, ``NSMergeConflict``s and ``NSConstraintConflict``s, before the policy decides.
        /// Calls the two below.
        ///
        /// - Throws: to refuse the save.
        open func resolve(mergeConflicts list: [Any]) throws {
            let versions = list.compactMap { $0 as? NSMergeConflict }
            if !versions.isEmpty { try resolve(optimisticLockingConflicts: versions) }
            let constraints = list.compactMap { $0 as? NSConstraintConflict }
            if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
        }
        /// Called with the objects that were changed here and elsewhere.
        ///
        /// - Throws: to refuse the save.
        open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {}
        /// Called with the uniqueness constraints that the save would violate.
        ///
        /// - Throws: to refuse the save.
        open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {}
    #endif

    var isSubclass: Bool { type(of: self) != MergePolicy.self }

    /// The engine's policy of the kind.
    var policy: MoultObjects.MergePolicy {
        switch mergeType {
        case .errorMergePolicyType: .error
        case .mergeByPropertyStoreTrumpMergePolicyType: .mergeByPropertyStoreTrump
        case .mergeByPropertyObjectTrumpMergePolicyType: .mergeByPropertyObjectTrump
        case .overwriteMergePolicyType: .overwrite
        case .rollbackMergePolicyType: .rollback
        }
    }
}
