// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These are the names of Core Data.

import Foundation
import MoultCoreData

/// What a save does where the store holds something else by now, with Core Data's numbers.
public enum NSMergePolicyType: UInt, Sendable {
    case errorMergePolicyType = 0
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    case overwriteMergePolicyType = 3
    case rollbackMergePolicyType = 4
}

/// What a save does where the store holds something else by now.
///
/// A subclass can look at the conflicts in ``resolve(mergeConflicts:)`` and throw to refuse them; what it is made with
/// decides the rest.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    /// What the policy does.
    public let mergeType: NSMergePolicyType

    /// A policy of a kind.
    public init(merge type: NSMergePolicyType) { mergeType = type }

    /// Nothing is saved, and the save throws.
    public static let error = NSMergePolicy(merge: .errorMergePolicyType)
    /// What the store got since stays.
    public static let mergeByPropertyStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    /// What was changed here is saved.
    public static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    /// The whole object as it is here is saved.
    public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
    /// The changes of an object in conflict are given up.
    public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)

    /// Called with the conflicts of a save before the policy decides.
    ///
    /// - Throws: to refuse the save.
    open func resolve(mergeConflicts list: [Any]) throws {}

    var isSubclass: Bool { type(of: self) != NSMergePolicy.self }

    var moult: MergePolicy {
        switch mergeType {
        case .errorMergePolicyType: .error
        case .mergeByPropertyStoreTrumpMergePolicyType: .mergeByPropertyStoreTrump
        case .mergeByPropertyObjectTrumpMergePolicyType: .mergeByPropertyObjectTrump
        case .overwriteMergePolicyType: .overwrite
        case .rollbackMergePolicyType: .rollback
        }
    }
}

/// Nothing is saved, and the save throws.
public let NSErrorMergePolicy = NSMergePolicy.error
/// What the store got since stays.
public let NSMergeByPropertyStoreTrumpMergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
/// What was changed here is saved.
public let NSMergeByPropertyObjectTrumpMergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
/// The whole object as it is here is saved.
public let NSOverwriteMergePolicy = NSMergePolicy.overwrite
/// The changes of an object in conflict are given up.
public let NSRollbackMergePolicy = NSMergePolicy.rollback

/// One object that was changed here and elsewhere.
open class NSMergeConflict: NSObject, @unchecked Sendable {
    /// The identities of the objects in conflict.
    public let objectIDs: [NSManagedObjectID]
    /// The properties of a uniqueness constraint that is violated; empty for a conflict of versions.
    public let constraint: [String]
    /// The version that the changes were made over.
    public let oldVersionNumber: Int
    /// The version that the store holds; 0 where the row is gone.
    public let newVersionNumber: Int
    private let words: String

    init(_ conflict: ManagedObjectMergeError.Conflict) {
        objectIDs = conflict.objectIDs
        constraint = conflict.constraint
        oldVersionNumber = conflict.oldVersionNumber ?? 0
        newVersionNumber = conflict.newVersionNumber ?? 0
        words = conflict.description
    }

    /// What differs, in one sentence.
    open override var description: String { words }
}
