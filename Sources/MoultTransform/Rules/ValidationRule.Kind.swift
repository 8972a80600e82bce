import MoultModel

extension ValidationRule {
    /// The condition that a rule checks for the objects of its entity, those of sub-entities among them.
    public enum Kind: Sendable {
        /// Every object satisfies the predicate.
        case predicate(Predicate)
        /// The relationship leads to an object that is there; a to-many one to at least one.
        case orphan(relationship: String)
        /// There are so many objects.
        case minimumCount(Int)
        /// There are as many objects as the source had, but for a share and a number that may be missing.
        case minimumOfSource(SourceMinimum)
        /// The attribute holds what the expression comes to, such as `posts.@count`.
        case count(attribute: String, equals: Expression)
        /// Following the to-one relationship from object to object ends, however long the way is.
        case noCycle(relationship: String)
        /// No two objects have the same values of all these attributes and to-one relationships; an object without one
        /// of them is like no other.
        case unique([String])
        /// The code says of each object whether it is as it should be.
        case code(@Sendable (RuleObject) throws -> Bool)
    }

    /// The least number of the source's objects that must be there.
    public struct SourceMinimum: Sendable, Hashable {
        /// From 0 to 1.
        public var share: Double
        /// The number of objects that are expected to be missing, such as duplicates that are merged.
        public var fewer: Int
        /// The name of the entity in the source, where it had another name.
        public var sourceEntityName: String?

        /// As many objects as the source had, unless a share or a number says that fewer will do.
        public init(share: Double = 1, fewer: Int = 0, sourceEntityName: String? = nil) {
            self.share = share
            self.fewer = fewer
            self.sourceEntityName = sourceEntityName
        }

        /// The least number of objects where the source had `count`.
        package func least(of count: Int) -> Int {
            let part = (Double(count) * share).rounded(.up)
            return max((Int(exactly: part) ?? count).subtractingReportingOverflow(fewer).partialValue, 0)
        }
    }
}

extension ValidationRule.Kind {
    /// The attribute holds how many destinations the relationship has, or how many of them satisfy a predicate.
    public static func count(
        attribute: String, equalsCountOf relationship: String, where predicate: Predicate? = nil
    ) -> ValidationRule.Kind {
        guard let predicate else { return .count(attribute: attribute, equals: counted(.keyPath(relationship))) }
        let each = "each"
        let ofEach = predicate.replacing { $0 == .evaluatedObject ? .variable(each) : nil }
        let matching = Expression.subquery(.keyPath(relationship), variable: each, ofEach)
        return .count(attribute: attribute, equals: counted(matching))
    }

    private static func counted(_ collection: Expression) -> Expression { .function("count:", [collection]) }

    /// Returns the requirement of the rule, in words.
    func requirement(of entityName: String) -> String {
        switch self {
        case .predicate(let predicate): "Every \(entityName) satisfies \(predicate.format)."
        case .orphan(let relationship): "Every \(entityName) has an object for its \(relationship)."
        case .minimumCount(let count):
            "There \(count == 1 ? "is" : "are") at least \(Quantity.count(count, "object")) of \(entityName)."
        case .minimumOfSource(let minimum):
            "There are at least \(minimum.share * 100) % of the source's \(minimum.sourceEntityName ?? entityName)"
                + (minimum.fewer == 0 ? "." : ", less \(minimum.fewer).")
        case .count(let attribute, let expression): "\(entityName).\(attribute) is \(expression.format)."
        case .noCycle(let relationship): "No \(entityName) is its own ancestor by \(relationship)."
        case .unique(let names): "No two objects of \(entityName) have the same \(names.joined(separator: ", "))."
        case .code: "Every \(entityName) passes the app's own check."
        }
    }
}
