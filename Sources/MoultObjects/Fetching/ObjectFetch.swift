import MoultModel

/// A description of what to fetch: `NSFetchRequest`.
package struct ObjectFetch: Sendable {
    package var entityName: String
    package var predicate: Predicate?
    /// Values for the predicate's variables (`$name`).
    package var variables: [String: ExpressionValue] = [:]
    package var sort: [SortTerm] = []
    package var includesSubentities = true
    /// Whether a context answers as its next save would leave the store.
    package var includesPendingChanges = true
    /// 0 for no limit.
    package var limit = 0
    package var offset = 0
    /// Objects whose rows are read together, as they are reached; 0 reads all at once.
    package var batchSize = 0
    /// To-one and to-many key paths whose destinations are read together with the objects.
    package var prefetched: [String] = []
    /// The attributes and to-one relationships that are read at once; asked for any other, an object is read whole,
    /// with the others of the fetch. Empty for all.
    package var properties: Set<String> = []

    // Dictionary results.
    /// Properties, key paths and computed values; empty fetches objects.
    package var columns: [Column] = []
    package var returnsDistinct = false
    package var groupBy: [String] = []
    package var having: Predicate?

    package init(entityName: String, predicate: Predicate? = nil, sort: [SortTerm] = []) {
        self.entityName = entityName
        self.predicate = predicate
        self.sort = sort
    }

    /// `NSSortDescriptor`
    package struct SortTerm: Sendable, Hashable {
        /// A key path, or any other expression, as the format language writes it.
        package var keyPath: String
        package var isAscending: Bool
        /// `caseInsensitive` and `diacriticInsensitive` for texts.
        package var options: Predicate.Options

        package init(_ keyPath: String, isAscending: Bool = true, options: Predicate.Options = []) {
            self.keyPath = keyPath
            self.isAscending = isAscending
            self.options = options
        }
    }

    /// `NSExpressionDescription`, or a property by its name.
    package struct Column: Sendable, Hashable {
        package var name: String
        package var expression: Expression

        package init(_ name: String, _ expression: Expression) {
            self.name = name
            self.expression = expression
        }
    }
}
