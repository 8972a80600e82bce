import MoultBasics
public import MoultCoreData
import MoultModel
import MoultObjects
import MoultPlan

/// The released versions of an app's models, and how one becomes the next.
///
///     enum AppPlan: SchemaMigrationPlan {
///         static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self] }
///         static var stages: [MigrationStage] { [.lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self)] }
///     }
///
/// A test finds what is wrong with a plan with ``validate()``; opening a store finds the same before it does anything.
public protocol SchemaMigrationPlan {
    /// Oldest first; the newest is the one that the app works with.
    static var schemas: [any VersionedSchema.Type] { get }
    /// The stages that lead from each version to the next.
    static var stages: [MigrationStage] { get }
    /// The answers to questions that the models alone leave open; none where a plan does not say.
    static var answers: [MigrationAnswer] { get }
    /// The accepted losses: data that a stage may lose although both versions have it and none of its code has read it;
    /// nothing where a plan does not say. For example `["Habit.target"]`.
    static var acceptedLosses: AcceptedLosses { get }
    /// Told what the migration of a store has deleted, counted, once it is committed; not told of a migration that has
    /// lost nothing. What a later version leaves out is deleted.
    static func didLose(_ losses: [MigrationLoss])
}

extension SchemaMigrationPlan {
    /// No answers: what the models leave open is an error.
    public static var answers: [MigrationAnswer] { [] }
    /// No loss.
    public static var acceptedLosses: AcceptedLosses { .none }
    /// Does nothing.
    public static func didLose(_ losses: [MigrationLoss]) {}
}

/// The step from the models of one version to those of the next.
///
/// A stage runs on a copy of the store, which takes its place when all stages have gone well and what they left has
/// been verified. Code may run again from its start, after a process died, on a store that has never seen it.
public enum MigrationStage: @unchecked Sendable {
    /// A stage that can be inferred: properties are added with a default, removed, or renamed with `originalName`.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)

    /// As a lightweight stage, with code before and after: `willMigrate` has the models of the old version,
    /// `didMigrate` those of the new one. What the code has not saved when it returns is saved for it.
    ///
    /// When `didMigrate` runs, the values of a property that only the old version has are gone, and so are those of a
    /// property whose type changes. A stage that loses the latter unread is refused: see ``transform(from:to:_:)`` and
    /// ``SchemaMigrationPlan/acceptedLosses``.
    case custom(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
        willMigrate: ((ModelContext) throws -> Void)?, didMigrate: ((ModelContext) throws -> Void)?)

    /// One model, object by object: ``transform(from:to:_:)``.
    case transform(ModelTransform)

    /// Makes each object of a model with the old one at its side, so that a value that is renamed, split or of another
    /// type needs no version in between.
    ///
    ///     .transform(from: SchemaV1.Habit.self, to: SchemaV2.Habit.self) { old, new in
    ///         new.target = Int(old.target) ?? 0
    ///     }
    ///
    /// The new object has what can be inferred already: the values of properties that kept their names or have an
    /// `originalName`, defaults, and its relationships. The old object and those it leads to can be read; the new one's
    /// relationships can be led to new objects, which become rows. A link to an old object's successor is made by
    /// itself. Other models of the two versions follow as in a lightweight stage, or in a transform of their own.
    ///
    /// - Parameters:
    ///   - old: the model in the last version that has it. Its objects and those of its submodels are transformed.
    ///   - new: the model in the version after.
    ///   - body: called once for each object, in the order of insertion; what it throws ends the migration, and the
    ///     store is as it was.
    public static func transform<Old: PersistentModel, New: PersistentModel>(
        from old: Old.Type, to new: New.Type, _ body: @escaping (_ old: Old, _ new: New) throws -> Void
    ) -> MigrationStage { .transform(ModelTransform(old, new, body)) }

    /// The same, where not every object is to become one of its own: some are dropped, put aside, or merged into others.
    ///
    ///     .transform(from: SchemaV1.Person.self, to: SchemaV2.Person.self, deciding: { old, made in
    ///         guard let email = old.email else { return .dropped(reason: "no e-mail address") }
    ///         if let known = made[email] { return .merged(into: known) }
    ///         return .made(as: email)
    ///     }, transforming: { old, new in … })
    ///
    /// Every old object is accounted for in the report, each reason with its count.
    ///
    /// - Parameters:
    ///   - deciding: called once for each object before `body`, with what was made before by key.
    ///   - body: called for those that become a new object.
    public static func transform<Old: PersistentModel, New: PersistentModel>(
        from old: Old.Type, to new: New.Type,
        deciding: @escaping (_ old: Old, _ made: TransformedModels<New>) throws -> TransformOutcome<New>,
        transforming body: @escaping (_ old: Old, _ new: New) throws -> Void
    ) -> MigrationStage { .transform(ModelTransform(old, new, deciding: deciding, body)) }

    /// The same, for a model that several versions have, such as one whose class did not change.
    public static func transform<Old: PersistentModel, New: PersistentModel>(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type, from old: Old.Type,
        to new: New.Type, _ body: @escaping (_ old: Old, _ new: New) throws -> Void
    ) -> MigrationStage {
        .transform(ModelTransform(old, new, between: (fromVersion, toVersion), body))
    }
}

/// A decision about a change of the models that could mean two things. Moult asks, and never guesses.
///
///     static var answers: [MigrationAnswer] { [.new("Habit.reminder", in: SchemaV2.self)] }
public struct MigrationAnswer: @unchecked Sendable {
    let place: String
    let version: any VersionedSchema.Type
    let verdict: Answer.Verdict
    let old: String?

    /// The property or model is new; what resembles it in the version before is to go, with its values.
    ///
    /// - Parameter place: `Model.property` or `Model`, as the version calls it, and so below.
    public static func new(_ place: String, in version: any VersionedSchema.Type) -> MigrationAnswer {
        MigrationAnswer(place: place, version: version, verdict: .new, old: nil)
    }

    /// The property or model was called `old` in the version before: what `originalName` says of a property.
    public static func renamed(
        _ place: String, from old: String, in version: any VersionedSchema.Type
    ) -> MigrationAnswer {
        MigrationAnswer(place: place, version: version, verdict: .rename, old: old)
    }

    /// The values stay where the property has another type, which holds every value of the old one.
    public static func kept(_ place: String, in version: any VersionedSchema.Type) -> MigrationAnswer {
        MigrationAnswer(place: place, version: version, verdict: .keep, old: nil)
    }

    /// The values go where the property has another type; it starts with its default. In a custom stage, whose code was
    /// written to keep something, ``SchemaMigrationPlan/acceptedLosses`` has to name the property too.
    public static func dropped(_ place: String, in version: any VersionedSchema.Type) -> MigrationAnswer {
        MigrationAnswer(place: place, version: version, verdict: .drop, old: nil)
    }

    /// As a plan of the engine has it.
    func answer(from: String, to: String) -> Answer {
        let (entity, property) = place.entityAndProperty
        return Answer(from: from, to: to, entity: entity, property: property, is: verdict, old: old)
    }
}

// Words that a plan's own tool and the handling of errors need, so that one import is enough.

/// The one error of Moult: what was found, where, and what to do next.
public typealias MigrationError = MoultBasics.MigrationError
/// The code of an app that its migrations call, by name; see `MigrationRegistry.init(plan:)`.
public typealias MigrationRegistry = MoultObjects.MigrationRegistry
/// The losses that a plan accepts.
public typealias AcceptedLosses = MoultModel.AcceptedLosses
/// Objects, values or links that a migration does not carry over, with their count.
public typealias MigrationLoss = MoultModel.MigrationLoss
/// The history of the migrations and rollbacks of one store.
public typealias MigrationHistory = MoultCoreData.MigrationHistory
/// One migration, or one rollback to a backup.
public typealias MigrationEvent = MoultCoreData.MigrationEvent
/// The progress of the migration of a store: the part that is done, the time left, the rows, what has just been done.
public typealias MigrationProgress = MoultCoreData.MigrationProgress
