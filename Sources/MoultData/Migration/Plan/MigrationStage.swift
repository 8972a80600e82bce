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
}

extension MigrationStage {
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
