/// How the models of one version become those of the next.
public enum MigrationStage: @unchecked Sendable {
    /// What can be inferred: properties that come with a default or go, and that are renamed with `originalName`.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
}
