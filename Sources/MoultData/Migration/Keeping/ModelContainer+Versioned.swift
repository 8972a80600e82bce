extension ModelContainer {
    /// Opens a store with the newest version of a plan: makes it, or migrates it, and says how that goes.
    ///
    /// - Parameters:
    ///   - plan: checked first, with every fault told at once.
    ///   - url: nil for `default.store` in the program's own folder.
    ///   - isCloudKitEnabled: accepted, and without effect: see ``ModelConfiguration/CloudKitDatabase``.
    ///   - logger: told of a migration's start and end.
    ///   - onProgress: told often while the store is migrated, on this thread: the part that is done, the time left, the
    ///     rows.
    ///   - isCancelled: asked often; true ends a migration with the error `cancelled`, and the store as it was.
    /// - Throws: what making a container throws.
    public static func makeContainer(
        migrationPlan plan: any SchemaMigrationPlan.Type, url: URL? = nil, isCloudKitEnabled: Bool = false,
        logger: (any MigrationLogging)? = nil, onProgress: @escaping @Sendable (MigrationProgress) -> Void,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws -> ModelContainer {
        try makeVersionedContainer(
            schema: newest(of: plan), migrationPlan: plan, url: url, isCloudKitEnabled: isCloudKitEnabled,
            logger: logger, onProgress: onProgress, isCancelled: isCancelled)
    }

    /// The same, with the models that the app works with; they must be those of a version of the plan.
    public static func makeVersionedContainer(
        schema: Schema, migrationPlan plan: any SchemaMigrationPlan.Type, url: URL? = nil,
        isCloudKitEnabled: Bool = false, logger: (any MigrationLogging)? = nil,
        onProgress: @escaping @Sendable (MigrationProgress) -> Void, isCancelled: (@Sendable () -> Bool)? = nil
    ) throws -> ModelContainer {
        let mirror: ModelConfiguration.CloudKitDatabase = isCloudKitEnabled ? .automatic : .none
        let configuration =
            url.map { ModelConfiguration(url: $0, cloudKitDatabase: mirror) }
            ?? ModelConfiguration(cloudKitDatabase: mirror)
        return try ModelContainer(schema, plan, [configuration]) { opener in
            opener.logger = logger
            opener.isCancelled = isCancelled
            opener.onProgress = onProgress
        }
    }

    private static func newest(of plan: any SchemaMigrationPlan.Type) -> Schema {
        plan.schemas.last.map { Schema(versionedSchema: $0) } ?? Schema([])
    }
}

// MARK: - Told less

extension ModelContainer {
    /// The same, told only the part that is done, 0 to 1, and what has just been done, in one sentence.
    public static func makeContainer(
        migrationPlan plan: any SchemaMigrationPlan.Type, url: URL? = nil, isCloudKitEnabled: Bool = false,
        logger: (any MigrationLogging)? = nil, onProgress: (@Sendable (Double, String?) -> Void)? = nil,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws -> ModelContainer {
        try makeVersionedContainer(
            schema: newest(of: plan), migrationPlan: plan, url: url, isCloudKitEnabled: isCloudKitEnabled,
            logger: logger, onProgress: onProgress, isCancelled: isCancelled)
    }

    /// The same, with the models that the app works with; they must be those of a version of the plan.
    public static func makeVersionedContainer(
        schema: Schema, migrationPlan plan: any SchemaMigrationPlan.Type, url: URL? = nil,
        isCloudKitEnabled: Bool = false, logger: (any MigrationLogging)? = nil,
        onProgress: (@Sendable (Double, String?) -> Void)? = nil, isCancelled: (@Sendable () -> Bool)? = nil
    ) throws -> ModelContainer {
        try makeVersionedContainer(
            schema: schema, migrationPlan: plan, url: url, isCloudKitEnabled: isCloudKitEnabled, logger: logger,
            onProgress: { now in onProgress?(now.fractionCompleted, now.message) }, isCancelled: isCancelled)
    }
}

/// Opens a store with a version of a plan: makes it, or migrates it.
///
/// - Parameters:
///   - url: nil for `default.store` in the program's own folder.
///   - isCloudKitEnabled: accepted, and without effect: see ``ModelConfiguration/CloudKitDatabase``.
/// - Throws: what making a ``ModelContainer`` throws.
public func makeVersionedContainer(
    schema: any VersionedSchema.Type, migrationPlan: any SchemaMigrationPlan.Type, url: URL? = nil,
    isCloudKitEnabled: Bool = false
) throws -> ModelContainer {
    try SwiftDataConfiguration(schema: schema, isCloudKitEnabled: isCloudKitEnabled)
        .makeContainer(migrationPlan: migrationPlan, url: url)
}
