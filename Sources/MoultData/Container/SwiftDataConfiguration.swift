/// A schema with its migration plan, to make containers of: for an app, and for its tests in memory.
public struct SwiftDataConfiguration: Sendable {
    /// The models of the containers that are made.
    public let schema: Schema
    nonisolated(unsafe) public let migrationPlan: (any SchemaMigrationPlan.Type)?
    /// Accepted, and without effect: see ``ModelConfiguration/CloudKitDatabase``.
    public let isCloudKitEnabled: Bool

    /// A configuration of a schema; without a plan, only changes that can be inferred are migrated.
    public init(
        schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, isCloudKitEnabled: Bool = false
    ) {
        self.schema = schema
        self.migrationPlan = migrationPlan
        self.isCloudKitEnabled = isCloudKitEnabled
    }

    /// A configuration of the models of one released version.
    public init(
        schema: any VersionedSchema.Type, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        isCloudKitEnabled: Bool = false
    ) {
        self.init(
            schema: Schema(versionedSchema: schema), migrationPlan: migrationPlan,
            isCloudKitEnabled: isCloudKitEnabled)
    }

    /// Returns the configuration for a store of the schema.
    ///
    /// - Parameter url: nil for `default.store` in the program's own folder.
    public func modelConfiguration(url: URL? = nil, isStoredInMemoryOnly: Bool = false) -> ModelConfiguration {
        let mirror: ModelConfiguration.CloudKitDatabase = isCloudKitEnabled ? .automatic : .none
        guard let url, !isStoredInMemoryOnly else {
            return ModelConfiguration(
                schema: schema, isStoredInMemoryOnly: isStoredInMemoryOnly, cloudKitDatabase: mirror)
        }
        return ModelConfiguration(schema: schema, url: url, cloudKitDatabase: mirror)
    }

    /// - Parameter plan: in place of ``migrationPlan``.
    /// - Throws: what making a ``ModelContainer`` throws.
    public func makeContainer(
        migrationPlan plan: (any SchemaMigrationPlan.Type)? = nil, url: URL? = nil, isStoredInMemoryOnly: Bool = false
    ) throws -> ModelContainer {
        try ModelContainer(
            for: schema, migrationPlan: plan ?? migrationPlan,
            configurations: modelConfiguration(url: url, isStoredInMemoryOnly: isStoredInMemoryOnly))
    }
}

/// The stages of a SwiftData plan, where a file imports a module that has a `MigrationStage` of its own.
public typealias SwiftDataMigrationStage = MigrationStage
