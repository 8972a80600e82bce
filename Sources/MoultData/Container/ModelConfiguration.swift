import Foundation
internal import MoultCoreData
import MoultSession

/// The configuration of a store: the models that it holds, its location, and whether it may be written.
///
/// A configuration without a schema holds all models of its container. If a container has several configurations, each
/// needs a schema and a name of its own.
public struct ModelConfiguration: DataStoreConfiguration, Sendable, Identifiable, CustomDebugStringConvertible {
    /// A store in SQLite.
    public typealias Store = DefaultStore

    /// The name of the store's file, without `.store`; `default` if none was given.
    public let name: String
    /// The models that the store holds; nil for all of the container's.
    public var schema: Schema?
    /// The URL of the store; `/dev/null` for one in memory.
    public let url: URL
    /// Whether the store is kept in memory only and is gone with its container; no file is written.
    public let isStoredInMemoryOnly: Bool
    /// Whether the store can be written; false for a store that is opened for reading only.
    public let allowsSave: Bool
    /// The folder that holds a store without a URL of its own; ``GroupContainer/none`` where a URL was given.
    public let groupContainer: GroupContainer
    /// The chosen CloudKit database, which has no effect: see ``CloudKitDatabase``.
    public let cloudKitDatabase: CloudKitDatabase
    /// Whether Apple's SwiftData opens the store too. If so, models that SwiftData may store differently are refused,
    /// with the reason (``Schema/unknownMappings``). An addition of Moult.
    public var isSharedWithSwiftData = false
    /// The accepted losses for a store that matches no version of a plan, by the names in the store's own model:
    /// `["Journal", "Item.note"]`. An addition of Moult.
    ///
    /// Such a store may belong to another app. Unless the losses are accepted, opening it throws `lossNotAccepted` when
    /// objects, values or links would be lost.
    public var acceptedLosses: AcceptedLosses = .none
    /// Whether to migrate a store that is mirrored to CloudKit on Apple's systems. Moult renumbers the mirror's records
    /// where necessary and leaves the rest unchanged. An addition of Moult.
    public var allowsCloudKitMigration = false
    /// The folder for the backup that a migration makes of the store; nil for the one next to the store. An addition of
    /// Moult.
    public var migrationBackupFolder: URL?
    /// The policy for the backups that are kept after a migration. An addition of Moult.
    public var migrationBackupRetention = RetentionPolicy()

    /// The options for migrating the store.
    var run: RunOptions {
        var run = RunOptions()
        (run.acceptedLosses, run.allowsCloudKit) = (acceptedLosses, allowsCloudKitMigration)
        (run.backupFolder, run.retention) = (migrationBackupFolder?.path, migrationBackupRetention)
        return run
    }

    /// The name and the path of the store, which together identify the configuration.
    public var id: String { "\(name) \(url.path)" }

    /// - Parameters:
    ///   - groupContainer: see ``GroupContainer``.
    ///   - cloudKitDatabase: accepted, and without effect: see ``CloudKitDatabase``.
    public init(
        _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
        groupContainer: GroupContainer = .automatic, cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        let name = name ?? "default"
        self.init(
            name, schema,
            isStoredInMemoryOnly ? .inMemory : Self.folder(groupContainer).appendingPathComponent("\(name).store"),
            isStoredInMemoryOnly, allowsSave, groupContainer, cloudKitDatabase)
    }

    /// Creates a configuration of a store at a URL.
    public init(
        _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
        cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        let file = url.deletingPathExtension().lastPathComponent
        self.init(
            name ?? (file.isEmpty ? "default" : file), schema, url, url.path == URL.inMemory.path, allowsSave, .none,
            cloudKitDatabase)
    }

    /// Creates a configuration named `default` that holds all models of the container, in memory or in the program's
    /// own folder.
    public init(isStoredInMemoryOnly: Bool) { self.init(nil, isStoredInMemoryOnly: isStoredInMemoryOnly) }

    /// Creates a configuration for these models and the models that they refer to.
    @_disfavoredOverload
    public init(for types: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: Schema(types), isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    private init(
        _ name: String, _ schema: Schema?, _ url: URL, _ isStoredInMemoryOnly: Bool, _ allowsSave: Bool,
        _ groupContainer: GroupContainer, _ cloudKitDatabase: CloudKitDatabase
    ) {
        (self.name, self.schema, self.url, self.isStoredInMemoryOnly) = (name, schema, url, isStoredInMemoryOnly)
        (self.allowsSave, self.groupContainer, self.cloudKitDatabase) = (allowsSave, groupContainer, cloudKitDatabase)
    }

    /// The folder that the programs of an app group share. Linux has no app groups: Moult uses a folder with the
    /// group's name in the user's application support folder.
    public struct GroupContainer: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case automatic, none
            case identifier(String)
        }
        let kind: Kind

        /// The same as ``none``: programs have no entitlements here that could name a group.
        public static var automatic: GroupContainer { GroupContainer(kind: .automatic) }
        /// The program's own folder.
        public static var none: GroupContainer { GroupContainer(kind: .none) }
        /// A folder of this name, next to the program's own in the user's application support folder.
        public static func identifier(_ name: String) -> GroupContainer { GroupContainer(kind: .identifier(name)) }
    }

    /// The CloudKit database to mirror a store to. Outside Apple's systems nothing is mirrored: every choice gives the
    /// same store, and ``cloudKitExplanation`` says so.
    public struct CloudKitDatabase: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case automatic, none
            case `private`(String)
        }
        let kind: Kind

        /// The container in the program's entitlements. Programs have no entitlements here, so there is none.
        public static var automatic: CloudKitDatabase { CloudKitDatabase(kind: .automatic) }
        /// No mirroring.
        public static var none: CloudKitDatabase { CloudKitDatabase(kind: .none) }
        /// The container with this identifier, which ``cloudKitExplanation`` then names.
        public static func `private`(_ name: String) -> CloudKitDatabase { CloudKitDatabase(kind: .private(name)) }
    }

    /// The name given to ``GroupContainer/identifier(_:)``; nil for the program's own folder.
    public var groupAppContainerIdentifier: String? {
        if case .identifier(let name) = groupContainer.kind { name } else { nil }
    }

    /// The identifier given to ``CloudKitDatabase/private(_:)``; nil where no container is named.
    public var cloudKitContainerIdentifier: String? {
        if case .private(let name) = cloudKitDatabase.kind { name } else { nil }
    }

    /// One sentence that explains what Moult does with the chosen CloudKit database; nil if none was chosen.
    public var cloudKitExplanation: String? {
        cloudKitContainerIdentifier.map {
            "The store \(name) is not mirrored to \($0): CloudKit exists on Apple's systems only, where the same store "
                + "is mirrored when the app opens it."
        }
    }

    /// - Parameter schema: the container's, for a configuration without one.
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` if a CloudKit database was named and a model is unique:
    ///   CloudKit keeps no uniqueness constraint, and SwiftData makes no such container.
    func checkCloudKit(_ schema: Schema) throws {
        guard let container = cloudKitContainerIdentifier else { return }
        let unique = (self.schema ?? schema).entities.filter { !$0.uniquenessConstraints.isEmpty }
        guard !unique.isEmpty else { return }
        let places = unique.map {
            "\($0.name) (\($0.uniquenessConstraints.map { $0.joined(separator: " and ") }.joined(separator: ", ")))"
        }
        throw SwiftDataError(
            .loadIssueModelContainer,
            "CloudKit keeps no uniqueness constraint, so SwiftData does not mirror these models to \(container): "
                + "\(places.sorted().joined(separator: ", ")).", place: name,
            remedy: "Remove .unique and #Unique from the models, or set cloudKitDatabase to .none.")
    }

    static func folder(_ group: GroupContainer) -> URL {
        let own = PersistentContainer.defaultDirectoryURL()
        guard case .identifier(let name) = group.kind else { return own }
        return own.deletingLastPathComponent().appendingPathComponent(name)
    }

    /// - Throws: `SwiftDataError` with ``SwiftDataError/configurationFileNameContainsInvalidCharacters`` or
    ///   ``SwiftDataError/configurationFileNameTooLong``.
    func checkName() throws {
        if name.contains("/") || name.contains("\0") || name == "." || name == ".." {
            throw SwiftDataError(
                .configurationFileNameContainsInvalidCharacters, "\(name) cannot be the name of a file.", place: name,
                remedy: "Name the configuration without slashes.")
        }
        guard url.isFileURL else {
            throw SwiftDataError(
                .configurationFileNameContainsInvalidCharacters, "\(url) is not the URL of a file.", place: "\(url)",
                remedy: "Use URL(fileURLWithPath:).")
        }
        // The store's side files have longer names, and file systems allow 255 bytes.
        if url.lastPathComponent.utf8.count > 250 {
            throw SwiftDataError(
                .configurationFileNameTooLong, "The name of the store's file is too long.", place: url.path,
                remedy: "Use at most 250 bytes.")
        }
    }

    /// The configuration's name and the path of its store.
    public var debugDescription: String { "ModelConfiguration(\(name), \(url.path))" }
}

/// A schema and its migration plan, for making containers: for an app, and for its tests in memory.
public struct SwiftDataConfiguration: Sendable {
    /// The models of the containers.
    public let schema: Schema
    nonisolated(unsafe) public let migrationPlan: (any SchemaMigrationPlan.Type)?
    /// Accepted, but without effect: see ``ModelConfiguration/CloudKitDatabase``.
    public let isCloudKitEnabled: Bool

    /// Creates a configuration for a schema. Without a plan, only changes that can be inferred are migrated.
    public init(schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, isCloudKitEnabled: Bool = false) {
        (self.schema, self.migrationPlan, self.isCloudKitEnabled) = (schema, migrationPlan, isCloudKitEnabled)
    }

    /// Creates a configuration for the models of one released version.
    public init(
        schema: any VersionedSchema.Type, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        isCloudKitEnabled: Bool = false
    ) {
        self.init(
            schema: Schema(versionedSchema: schema), migrationPlan: migrationPlan, isCloudKitEnabled: isCloudKitEnabled)
    }

    /// Returns a configuration for a store of the schema.
    ///
    /// - Parameter url: the store; nil for `default.store` in the program's own folder.
    public func modelConfiguration(url: URL? = nil, isStoredInMemoryOnly: Bool = false) -> ModelConfiguration {
        let mirror: ModelConfiguration.CloudKitDatabase = isCloudKitEnabled ? .automatic : .none
        guard let url, !isStoredInMemoryOnly else {
            return ModelConfiguration(
                schema: schema, isStoredInMemoryOnly: isStoredInMemoryOnly, cloudKitDatabase: mirror)
        }
        return ModelConfiguration(schema: schema, url: url, cloudKitDatabase: mirror)
    }

    /// - Parameter plan: a plan to use in place of ``migrationPlan``.
    /// - Throws: what making a ``ModelContainer`` throws.
    public func makeContainer(
        migrationPlan plan: (any SchemaMigrationPlan.Type)? = nil, url: URL? = nil, isStoredInMemoryOnly: Bool = false
    ) throws -> ModelContainer {
        try ModelContainer(
            for: schema, migrationPlan: plan ?? migrationPlan,
            configurations: modelConfiguration(url: url, isStoredInMemoryOnly: isStoredInMemoryOnly))
    }
}

/// The stages of a SwiftData plan, for files that import a module with another `MigrationStage`.
public typealias SwiftDataMigrationStage = MigrationStage
