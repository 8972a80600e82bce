/// A fetch index of an entity (models since 2017).
public struct FetchIndexDescription: Sendable, Hashable {
    /// The index's name, which is also part of its name in SQLite.
    public var name: String
    /// The columns, in the order in which the index sorts by them.
    public var elements: [Element]
    /// The predicate of a partial index, in Core Data's format language.
    public var partialIndexPredicate: String?

    /// An index over all rows of the entity, or over those that a predicate holds for.
    public init(name: String, elements: [Element], partialIndexPredicate: String? = nil) {
        self.name = name
        self.elements = elements
        self.partialIndexPredicate = partialIndexPredicate
    }

    /// One column of the index.
    public struct Element: Sendable, Hashable {
        /// The property or the expression whose values the column holds.
        public var subject: Subject
        /// The data structure of the column; an R-tree needs it in every column of the index.
        public var kind: Kind
        /// Whether the least value comes first.
        public var isAscending: Bool
        /// The result type of an expression, as the model file words it.
        public var expressionType: String?

        /// A column of a binary index in ascending order, unless told otherwise.
        public init(
            subject: Subject, kind: Kind = .binary, isAscending: Bool = true, expressionType: String? = nil
        ) {
            self.subject = subject
            self.kind = kind
            self.isAscending = isAscending
            self.expressionType = expressionType
        }
    }

    /// The subject of an element: a property by name, or an expression such as `self` or `entity`.
    public enum Subject: Sendable, Hashable {
        case property(String)
        case expression(String)
    }

    /// The data structure, with Core Data's numbers (`NSFetchIndexElementType`).
    public enum Kind: Int, Sendable, Hashable {
        case binary = 0
        case rTree = 1
    }
}
