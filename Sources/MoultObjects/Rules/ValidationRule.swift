import MoultBasics
import MoultModel

/// A rule about an app's data: a name, a severity, a sentence that explains it, and a condition.
///
/// A rule is checked before or after a migration, after a step, or on any store; it changes nothing itself. Its ``fix``
/// is applied only on request.
public struct ValidationRule: Sendable {
    /// The consequence of a broken rule for the migration.
    public enum Severity: String, Sendable, Hashable, CaseIterable {
        /// The broken rule is reported.
        case warning
        /// The broken rule is reported and prevents the migration.
        case error
    }

    /// The moment at which a rule is checked.
    public enum Moment: Sendable, Hashable {
        /// On the current store, before the migration.
        case before
        /// On the new store, before it replaces the old one.
        case after
        /// After the step with this name.
        case afterStep(String)
    }

    /// The name of the rule in findings; no two rules of a set share one.
    public var name: String
    /// Whether a broken rule is only reported, or also prevents the migration.
    public var severity: Severity
    /// The sentence that describes a violation; if it is empty, the rule's requirement is printed instead.
    public var sentence: String
    /// The entity whose objects are checked, including those of its sub-entities.
    public var entityName: String
    /// The condition that is checked.
    public var kind: Kind
    /// The change to make to each object that breaks the rule, on request; nil for none.
    public var fix: Fix?
    /// The moments at which the rule is checked: before the migration, after it, after a step.
    public var when: Set<Moment>

    /// Creates a rule, by default with severity ``Severity/error`` and checked after a migration.
    public init(
        _ name: String, _ severity: Severity = .error, of entityName: String, _ kind: Kind, sentence: String = "",
        fix: Fix? = nil, when: Set<Moment> = [.after]
    ) {
        (self.name, self.severity, self.entityName, self.kind) = (name, severity, entityName, kind)
        (self.sentence, self.fix, self.when) = (sentence, fix, when)
    }

    /// The condition that a rule checks for the objects of its entity, including those of sub-entities.
    public enum Kind: Sendable {
        /// Every object satisfies the predicate.
        case predicate(Predicate)
        /// The relationship leads to an existing object; a to-many relationship leads to at least one.
        case orphan(relationship: String)
        /// There are at least this many objects.
        case minimumCount(Int)
        /// There are as many objects as in the source, except for a share and a number that may be missing.
        case minimumOfSource(SourceMinimum)
        /// The attribute equals the value of the expression, such as `posts.@count`.
        case count(attribute: String, equals: Expression)
        /// Following the to-one relationship from object to object ends; there is no cycle of any length.
        case noCycle(relationship: String)
        /// No two objects have the same values of all these attributes and to-one relationships. An object without one
        /// of the values equals no other.
        case unique([String])
        /// The code returns true for every object.
        case code(@Sendable (RuleObject) throws -> Bool)
    }

    /// A minimum number of objects, relative to the source.
    public struct SourceMinimum: Sendable, Hashable {
        /// The required share of the source's objects, from 0 to 1.
        public var share: Double
        /// The number of objects that are expected to be missing, such as duplicates that are merged.
        public var fewer: Int
        /// The name of the entity in the source, if it differs.
        public var sourceEntityName: String?

        /// Creates a minimum: by default, as many objects as the source had.
        public init(share: Double = 1, fewer: Int = 0, sourceEntityName: String? = nil) {
            (self.share, self.fewer, self.sourceEntityName) = (share, fewer, sourceEntityName)
        }

        /// Returns the minimum number of objects if the source had `count`.
        package func least(of count: Int) -> Int {
            let part = (Double(count) * share).rounded(.up)
            return max((Int(exactly: part) ?? count).subtractingReportingOverflow(fewer).partialValue, 0)
        }
    }
}

extension ValidationRule.Kind {
    /// Requires that the attribute equals the number of the relationship's destinations, or of those that satisfy a
    /// predicate.
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
    /// A change to each object that breaks a rule, made on request.
    public enum Fix: Sendable {
        /// Sets attributes and to-one relationships to expressions over the object's previous state.
        case set([String: Expression])
        /// Clears a to-one relationship. In a cycle, only the object with the smallest key loses its link.
        case nullify(relationship: String)
        /// Deletes the object, following the model's delete rules.
        case delete
        /// Sets the destination of a to-one relationship.
        case assign(relationship: String, DefaultObject)
        /// Sets the attribute of a count rule to the actual count.
        case recount
        /// Moves the object, with all of its data, from the store to the quarantine.
        case quarantine
    }

    /// The object assigned to orphans: the only one of the destination's entity that satisfies a predicate.
    public struct DefaultObject: Sendable {
        /// The condition that the object satisfies. It is an error if several objects satisfy it.
        public var predicate: Predicate
        /// The attributes of the object to make if there is none; if nil, a missing object is an error.
        public var values: [String: Expression]?

        /// Creates a default object that satisfies a predicate, or is made with these values if there is none.
        public init(where predicate: Predicate, orNewWith values: [String: Expression]? = nil) {
            self.predicate = predicate
            self.values = values
        }
    }
}

extension ValidationRule.Fix {
    /// The name of the fix in rules files and reports.
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

/// An object as the code of a rule sees it, with its values by name; valid only during the call.
public struct RuleObject {
    let snapshot: ObjectSnapshot
    let store: ObjectStore

    /// The identity of the object in the checked store.
    public var id: ObjectID { snapshot.id }

    /// Returns the value of an attribute; nil for no value.
    ///
    /// - Throws: `unknownKey` for a name that is not a stored attribute of the entity, `dataConflict` if the stored
    ///   value does not fit the attribute's type.
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

    /// Returns the destination of a to-one relationship; nil if there is none, or if its row is missing.
    public func destination(_ relationship: String) throws -> RuleObject? {
        guard case .toOne(let id)? = try value(relationship) else {
            throw unknown(relationship, "is not a to-one relationship")
        }
        return try id.flatMap { try store.snapshots(of: [$0]).first }.map { RuleObject(snapshot: $0, store: store) }
    }

    /// Returns the destinations of a to-many relationship, in order if the relationship is ordered.
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
