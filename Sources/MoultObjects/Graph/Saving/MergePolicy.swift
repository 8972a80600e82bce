/// A policy for conflicts between a save and the present contents of the store: `NSMergePolicy`.
package enum MergePolicy: Sendable, Hashable, CaseIterable {
    /// Nothing is saved and ``MergeConflictError`` says what both sides hold (`NSErrorMergePolicy`).
    case error
    /// Property by property, what the store got since stays; other changes are saved.
    case mergeByPropertyStoreTrump
    /// Property by property, what was changed here is saved; the rest is taken from the store.
    case mergeByPropertyObjectTrump
    /// The whole object as it is here goes over what the store holds.
    case overwrite
    /// The changes here of an object in conflict are given up.
    case rollback
}
