import MoultModel

/// One term of an order: `NSSortDescriptor`. Foundation has a `SortDescriptor` of its own, hence the name.
public struct FetchSortDescriptor: Sendable, Hashable {
    /// A property, or a key path through to-one relationships.
    public var key: String
    /// Whether the least value comes first.
    public var ascending: Bool
    /// The options of the comparison of texts.
    public var options: Options

    /// A term of an order by a key, ascending unless told otherwise.
    public init(key: String, ascending: Bool = true, options: Options = []) {
        self.key = key
        self.ascending = ascending
        self.options = options
    }

    /// The options of the comparison of two texts, as `[cd]` gives them in a predicate.
    public struct Options: OptionSet, Sendable, Hashable {
        /// The bits of the options, with the numbers of `NSComparisonPredicate.Options`.
        public let rawValue: Int
        /// Options of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Upper and lower case count as the same.
        public static let caseInsensitive = Options(rawValue: 1)
        /// Letters with and without marks, such as accents, count as the same.
        public static let diacriticInsensitive = Options(rawValue: 2)

        var predicateOptions: Predicate.Options { Predicate.Options(rawValue: rawValue) }
    }
}
