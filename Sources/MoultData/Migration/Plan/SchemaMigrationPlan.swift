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
