import Foundation

/// A description of a fetch: which objects of a model are found, in which order, and how many of them.
///
/// A predicate and a sort are asked of the store in SQL and mean what they mean in Swift. What SQL cannot answer is
/// refused by the fetch, with the part named.
public struct FetchDescriptor<T: PersistentModel> {
    /// Nil for all objects.
    public var predicate: Foundation.Predicate<T>?
    /// The first decides; objects that are the same by all come in the order of their insertion.
    public var sortBy: [SortDescriptor<T>]
    /// Nil for no limit.
    public var fetchLimit: Int?
    /// The number of found objects that are left out at the beginning.
    public var fetchOffset: Int?
    /// Whether objects are found as the next save of the context would leave them.
    public var includePendingChanges = true
    /// The attributes to read at once; the others of an object are read when the first of them is asked for. Empty for
    /// all.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// Relationships whose objects are read together with those found, `\.author` or `\.author.books`.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []
    /// Whether a predicate or a sort that no store can answer is answered in memory, with every object of the model read.
    /// SwiftData has no such property: it is false unless asked for, and such a fetch is refused.
    public var allowsInMemoryEvaluation = false

    /// A fetch of the objects that a predicate holds for, in an order; of all objects where none is given.
    public init(predicate: Foundation.Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

// The key paths are those of stored properties, which capture nothing.
extension FetchDescriptor: @unchecked Sendable {}
