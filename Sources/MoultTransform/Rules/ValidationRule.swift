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
        self.name = name
        self.severity = severity
        self.entityName = entityName
        self.kind = kind
        self.sentence = sentence
        self.fix = fix
        self.when = when
    }
}
