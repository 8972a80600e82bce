/// A fetch index of an entity (models since 2017).
package struct FetchIndexDescription: Sendable, Hashable {
    package var name: String
    package var elements: [Element]
    /// The predicate of a partial index, in Core Data's format language.
    package var partialIndexPredicate: String?

    package init(name: String, elements: [Element], partialIndexPredicate: String? = nil) {
        self.name = name
        self.elements = elements
        self.partialIndexPredicate = partialIndexPredicate
    }

    /// One column of the index.
    package struct Element: Sendable, Hashable {
        package var subject: Subject
        package var kind: Kind
        package var isAscending: Bool
        /// The result type of an expression, as the model file words it.
        package var expressionType: String?

        package init(
            subject: Subject, kind: Kind = .binary, isAscending: Bool = true, expressionType: String? = nil
        ) {
            self.subject = subject
            self.kind = kind
            self.isAscending = isAscending
            self.expressionType = expressionType
        }
    }

    /// What an element indexes: a property by name, or an expression such as `self` or `entity`.
    package enum Subject: Sendable, Hashable {
        case property(String)
        case expression(String)
    }

    /// The data structure, with Core Data's numbers (`NSFetchIndexElementType`).
    package enum Kind: Int, Sendable, Hashable {
        case binary = 0
        case rTree = 1
    }
}
