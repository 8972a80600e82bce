import MoultModel

/// One term of an order: `NSSortDescriptor`. Foundation has a `SortDescriptor` of its own, hence the name.
public struct FetchSortDescriptor: Sendable, Hashable {
    /// A property, or a key path through to-one relationships.
    public var key: String
    public var ascending: Bool
    /// How texts are compared.
    public var options: Options

    public init(key: String, ascending: Bool = true, options: Options = []) {
        self.key = key
        self.ascending = ascending
        self.options = options
    }

    public struct Options: OptionSet, Sendable, Hashable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let caseInsensitive = Options(rawValue: 1)
        public static let diacriticInsensitive = Options(rawValue: 2)

        var predicateOptions: Predicate.Options { Predicate.Options(rawValue: rawValue) }
    }
}
