import MoultModel

/// One released version of an app's data.
public struct RegisteredVersion: Sendable {
    /// The version's number, unique in a ``VersionRegistry``.
    public let version: SemanticVersion
    /// Two versions may have equal models, where only code changes the data between them.
    public let model: ManagedObjectModel
    /// A sentence that says what is new in the version.
    public let description: String
    /// When it was released, such as `2025-03-01`; free text.
    public let date: String
    /// The type of the migration that makes a store of the version before one of this.
    public let type: MigrationType

    /// A released version; `type` says how a store of the version before becomes one of this, by inference unless
    /// given.
    public init(
        _ version: SemanticVersion, model: ManagedObjectModel, description: String, date: String = "",
        type: MigrationType = .lightweight
    ) {
        self.version = version
        self.model = model
        self.description = description
        self.date = date
        self.type = type
    }

    /// The version as the engine knows it. Its number is the first identifier of its model, which a migration writes
    /// into the store's own metadata (`NSStoreModelVersionIdentifiers`) in the commit that makes the store one of it.
    var modelVersion: ModelVersion {
        var model = model
        let own = model.versionIdentifiers.filter { !$0.isEmpty && $0 != version.description }
        model.versionIdentifiers = [version.description] + own
        return ModelVersion(names: [version.description], model: model)
    }
}
