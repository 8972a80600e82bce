import MoultBasics
import MoultModel

/// Something that must be true of an app's data: a name, a severity, a sentence for people, and what is checked.
///
/// A rule is checked before or after a migration, after a step, or on a store as it stands; it changes nothing by
/// itself. Its ``fix`` is only ever applied where somebody asks for that.
public struct ValidationRule: Sendable {
    /// The consequence of a broken rule for the migration.
    public enum Severity: String, Sendable, Hashable, CaseIterable {
        /// Reported.
        case warning
        /// Reported, and the migration does not happen.
        case error
    }

    /// When a rule is checked.
    public enum Moment: Sendable, Hashable {
        /// On the store as it is, before anything is migrated.
        case before
        /// On the new store, before it is put in place.
        case after
        /// When the step of that name has run.
        case afterStep(String)
    }

    /// The name of the rule in findings; no two rules of a set share one.
    public var name: String
    /// Whether a broken rule is only reported, or stops the migration too.
    public var severity: Severity
    /// The sentence that says what is wrong where the rule is broken; where it is left empty, what the rule asks for.
    public var sentence: String
    /// The entity whose objects are checked, those of its sub-entities included.
    public var entityName: String
    /// The condition that is checked.
    public var kind: Kind
    /// The change to each object that breaks the rule, made where a fix is asked for; nil for none.
    public var fix: Fix?
    /// When the rule is checked: before the migration, after it, after a step.
    public var when: Set<Moment>

    /// A rule of severity ``Severity/error`` that is checked after a migration, unless told otherwise.
    public init(
        _ name: String, _ severity: Severity = .error, of entityName: String, _ kind: Kind, sentence: String = "",
        fix: Fix? = nil, when: Set<Moment> = [.after]
    ) {
        (self.name, self.severity, self.entityName, self.kind) = (name, severity, entityName, kind)
        (self.sentence, self.fix, self.when) = (sentence, fix, when)
    }

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
            (self.share, self.fewer, self.sourceEntityName) = (share, fewer, sourceEntityName)
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

/// One object as the code of a rule sees it, its values by name; good only while the code is called.
public struct RuleObject {
    let snapshot: ObjectSnapshot
    let store: ObjectStore

    /// The identity of the object in the store that is checked.
    public var id: ObjectID { snapshot.id }

    /// The value of an attribute; nil for none.
    ///
    /// - Throws: `unknownKey` for a name that is no stored attribute of the entity, `dataConflict` if the store holds
    ///   what the attribute cannot be.
    public func attribute(_ name: String) throws -> AttributeValue? {
        switch try value(name) {
        case .attribute(let value)?: return value
        case nil:
            throw MigrationError(
                .dataConflict, "The store's value of \(place(name)) does not fit its type.",
                place: "\(id).\(name)", remedy: "Repair the store first.")
        case .toOne?, .toMany?: throw unknown(name, "is not an attribute")
        }
    }

    /// The destination of a to-one relationship; nil for none, and for one that is not there.
    public func destination(_ relationship: String) throws -> RuleObject? {
        guard case .toOne(let id)? = try value(relationship) else {
            throw unknown(relationship, "is not a to-one relationship")
        }
        return try id.flatMap { try store.snapshots(of: [$0]).first }.map { RuleObject(snapshot: $0, store: store) }
    }

    /// The destinations of a to-many relationship, in their order where it has one.
    public func destinations(_ relationship: String) throws -> [RuleObject] {
        let ids = try store.destinations(of: relationship, owners: [id])[id] ?? []
        return try store.snapshots(of: ids).map { RuleObject(snapshot: $0, store: store) }
    }

    private func value(_ name: String) throws -> ObjectValue? {
        guard let position = try store.columns(of: id.entityName).shape.position(of: name) else {
            throw unknown(name, "is not a property")
        }
        return snapshot.values[position]
    }

    private func place(_ name: String) -> String { "\(id.entityName).\(name)" }

    private func unknown(_ name: String, _ fault: String) -> MigrationError {
        MigrationError(
            .unknownKey, "\(place(name)) \(fault).", place: place(name), remedy: "Use a property of the entity.")
    }
}
