import MoultObjects

/// A policy for conflicts between a save and the present contents of the store: `NSMergePolicy`.
public struct MergePolicy: Sendable, Hashable {
    let policy: MoultObjects.MergePolicy

    /// Nothing is saved and ``ManagedObjectMergeError`` says what both sides hold.
    public static let error = MergePolicy(policy: .error)
    /// Property by property, what the store got since stays; other changes are saved.
    public static let mergeByPropertyStoreTrump = MergePolicy(policy: .mergeByPropertyStoreTrump)
    /// Property by property, what was changed here is saved; the rest is taken from the store.
    public static let mergeByPropertyObjectTrump = MergePolicy(policy: .mergeByPropertyObjectTrump)
    /// The whole object as it is here goes over what the store holds.
    public static let overwrite = MergePolicy(policy: .overwrite)
    /// The changes here of an object in conflict are given up.
    public static let rollback = MergePolicy(policy: .rollback)
}
