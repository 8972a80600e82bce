import MoultModel

extension ValidationRule {
    /// A change to each object that breaks a rule, made where a fix is asked for.
    public enum Fix: Sendable {
        /// Sets attributes and to-one relationships to expressions over the object as it was.
        case set([String: Expression])
        /// Ends a to-one relationship. Of a cycle one link is cut, that of the object with the smallest key.
        case nullify(relationship: String)
        /// Deletes the object; the delete rules of the model hold.
        case delete
        /// Gives a to-one relationship a destination.
        case assign(relationship: String, DefaultObject)
        /// Writes the count that was found into the attribute of a count rule.
        case recount
        /// Takes the object out of the store and keeps all of it in the quarantine.
        case quarantine
    }

    /// The object that orphans are given: the only one of the destination's entity that satisfies a predicate.
    public struct DefaultObject: Sendable {
        /// The condition that the object satisfies. It is an error if several objects satisfy it.
        public var predicate: Predicate
        /// The attributes of the object that is made where there is none; where nil, that is an error.
        public var values: [String: Expression]?

        /// A default object that satisfies a predicate, or is made with these values where there is none.
        public init(where predicate: Predicate, orNewWith values: [String: Expression]? = nil) {
            self.predicate = predicate
            self.values = values
        }
    }
}

extension ValidationRule.Fix {
    /// The word that rules files and reports have for it.
    package var word: String {
        switch self {
        case .set: "set"
        case .nullify: "nullify"
        case .delete: "delete"
        case .assign: "assign"
        case .recount: "recount"
        case .quarantine: "quarantine"
        }
    }
}
