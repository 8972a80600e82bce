import MoultBasics
public import MoultCoreData
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan

/// The released versions of an app's models, and the stages between them.
///
///     enum AppPlan: SchemaMigrationPlan {
///         static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self] }
///         static var stages: [MigrationStage] { [.lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self)] }
///     }
///
/// Use ``validate()`` in a test to find the faults of a plan. Opening a store finds the same faults before it changes
/// anything.
public protocol SchemaMigrationPlan {
    /// The versions, oldest first. The app works with the newest.
    static var schemas: [any VersionedSchema.Type] { get }
    /// The stages that lead from each version to the next.
    static var stages: [MigrationStage] { get }
    /// The answers to questions that the models alone leave open. The default is none.
    static var answers: [MigrationAnswer] { get }
    /// The data that a stage may lose although both versions have it and none of the stage's code reads it, for example
    /// `["Habit.target"]`. The default is nothing.
    static var acceptedLosses: AcceptedLosses { get }
    /// Called after a migration that has lost data is committed, with counts of what it deleted. Data that the later
    /// version no longer has counts as deleted.
    static func didLose(_ losses: [MigrationLoss])
}

extension SchemaMigrationPlan {
    /// No answers: any question that the models leave open is an error.
    public static var answers: [MigrationAnswer] { [] }
    /// No loss.
    public static var acceptedLosses: AcceptedLosses { .none }
    /// Does nothing.
    public static func didLose(_ losses: [MigrationLoss]) {}
}

/// A step from the models of one version to those of the next.
///
/// A stage with code runs on a copy of the store. The copy replaces the store after all stages have succeeded and the
/// result is verified. If the process dies, code may run again from its start, on a store that it has not changed.
public enum MigrationStage: @unchecked Sendable {
    /// A stage that can be inferred: properties are added with a default, removed, or renamed with `originalName`.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)

    /// A lightweight stage with code before and after it. `willMigrate` works with the models of the old version,
    /// `didMigrate` with those of the new one. Changes that the code has not saved when it returns are saved
    /// automatically.
    ///
    /// When `didMigrate` runs, the values of removed properties are gone, and so are those of properties whose type
    /// changed. A stage that loses the values of the latter unread is refused: see ``transform(from:to:_:)`` and
    /// ``SchemaMigrationPlan/acceptedLosses``.
    case custom(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
        willMigrate: ((ModelContext) throws -> Void)?, didMigrate: ((ModelContext) throws -> Void)?)

    /// A stage that converts one model, object by object: ``transform(from:to:_:)``.
    case transform(ModelTransform)

    /// Converts each object of a model with code that sees the old and the new object, so that renaming, splitting or
    /// retyping a value needs no intermediate version.
    ///
    ///     .transform(from: SchemaV1.Habit.self, to: SchemaV2.Habit.self) { old, new in
    ///         new.target = Int(old.target) ?? 0
    ///     }
    ///
    /// Before the code runs, the new object has everything that can be inferred: the values of properties that kept
    /// their names or have an `originalName`, defaults, and its relationships. The code can read the old object and its
    /// related objects, and can set the new object's relationships to new objects, which become rows. A link to another
    /// old object becomes a link to its successor automatically. Other models of the two versions migrate as in a
    /// lightweight stage, or by a transform of their own.
    ///
    /// - Parameters:
    ///   - old: the model in the last version that has it. Objects of its submodels are transformed too.
    ///   - new: the model in the next version.
    ///   - body: called once for each object, in the order of insertion; an error ends the migration and leaves the
    ///     store unchanged.
    public static func transform<Old: PersistentModel, New: PersistentModel>(
        from old: Old.Type, to new: New.Type, _ body: @escaping (_ old: Old, _ new: New) throws -> Void
    ) -> MigrationStage { .transform(ModelTransform(old, new, body)) }

    /// The same, for transforms that drop, quarantine or merge some objects.
    ///
    ///     .transform(from: SchemaV1.Person.self, to: SchemaV2.Person.self, deciding: { old, made in
    ///         guard let email = old.email else { return .dropped(reason: "no e-mail address") }
    ///         if let known = made[email] { return .merged(into: known) }
    ///         return .made(as: email)
    ///     }, transforming: { old, new in … })
    ///
    /// The report accounts for every old object, with a count for each reason.
    ///
    /// - Parameters:
    ///   - deciding: called once for each object before `body`, with the objects made so far by key.
    ///   - body: called for each object that becomes a new one.
    public static func transform<Old: PersistentModel, New: PersistentModel>(
        from old: Old.Type, to new: New.Type,
        deciding: @escaping (_ old: Old, _ made: TransformedModels<New>) throws -> TransformOutcome<New>,
        transforming body: @escaping (_ old: Old, _ new: New) throws -> Void
    ) -> MigrationStage { .transform(ModelTransform(old, new, deciding: deciding, body)) }

    /// The same, for a model in several versions, such as one whose class did not change.
    public static func transform<Old: PersistentModel, New: PersistentModel>(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type, from old: Old.Type,
        to new: New.Type, _ body: @escaping (_ old: Old, _ new: New) throws -> Void
    ) -> MigrationStage {
        .transform(ModelTransform(old, new, between: (fromVersion, toVersion), body))
    }
}

/// An answer about a model change that has two possible meanings. Moult asks and never guesses.
///
///     static var answers: [MigrationAnswer] { [.new("Habit.reminder", in: SchemaV2.self)] }
public struct MigrationAnswer: @unchecked Sendable {
    let place: String
    let version: any VersionedSchema.Type
    let verdict: Answer.Verdict
    let old: String?

    /// The property or model is new. The similar one in the previous version is removed, with its values.
    ///
    /// - Parameter place: `Model.property` or `Model`, as the version names it; the same applies to the other answers.
    public static func new(_ place: String, in version: any VersionedSchema.Type) -> MigrationAnswer {
        MigrationAnswer(place: place, version: version, verdict: .new, old: nil)
    }

    /// The property or model was named `old` in the previous version, like `originalName` for a property.
    public static func renamed(
        _ place: String, from old: String, in version: any VersionedSchema.Type
    ) -> MigrationAnswer {
        MigrationAnswer(place: place, version: version, verdict: .rename, old: old)
    }

    /// The values are kept where a property's new type can hold every value of the old one, or where an earlier stage
    /// removed the property or model and it returns in this version.
    public static func kept(_ place: String, in version: any VersionedSchema.Type) -> MigrationAnswer {
        MigrationAnswer(place: place, version: version, verdict: .keep, old: nil)
    }

    /// The values of a property whose type changed, or that an earlier stage removed, are dropped, and the property starts
    /// with its default. In a custom stage, list the property in ``SchemaMigrationPlan/acceptedLosses`` too, because the
    /// stage's code exists to keep something.
    public static func dropped(_ place: String, in version: any VersionedSchema.Type) -> MigrationAnswer {
        MigrationAnswer(place: place, version: version, verdict: .drop, old: nil)
    }

    /// Returns the answer in the engine's form.
    func answer(from: String, to: String) -> Answer {
        let (entity, property) = place.entityAndProperty
        return Answer(from: from, to: to, entity: entity, property: property, is: verdict, old: old)
    }
}

// Names that a plan's tool and error handling need, so that one import is enough.

/// Moult's only error type: what went wrong, where, and how to fix it.
public typealias MigrationError = MoultBasics.MigrationError
/// The app code that migrations call, by name; see `MigrationRegistry.init(plan:)`.
public typealias MigrationRegistry = MoultObjects.MigrationRegistry
/// The policy for the backups that are kept.
public typealias RetentionPolicy = MoultEngine.RetentionPolicy
/// The losses that a plan accepts.
public typealias AcceptedLosses = MoultModel.AcceptedLosses
/// Objects, values or links that a migration does not carry over, with their count.
public typealias MigrationLoss = MoultModel.MigrationLoss
/// The history of a store's migrations and rollbacks.
public typealias MigrationHistory = MoultCoreData.MigrationHistory
/// A migration, or a rollback to a backup.
public typealias MigrationEvent = MoultCoreData.MigrationEvent
/// The progress of a store's migration: the part that is done, the time left, the rows and the last step.
public typealias MigrationProgress = MoultCoreData.MigrationProgress
