import Foundation
import Moult
internal import MoultCoreData

/// The configuration of a store: the models that it holds, its location, and whether it may be written.
///
/// A configuration without a schema holds all models of its container. Several of one container need a schema each, and
/// names of their own.
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
    /// False for a store that is opened for reading only.
    public let allowsSave: Bool
    /// The folder that holds a store without a URL of its own; ``GroupContainer/none`` where a URL was given.
    public let groupContainer: GroupContainer
    /// The CloudKit container that was asked for. It has no effect: see ``CloudKitDatabase``.
    public let cloudKitDatabase: CloudKitDatabase
    /// True for a store that Apple's SwiftData opens too: models whose form there is not known are then refused, with
    /// the reason (``Schema/unknownMappings``). Moult's own.
    public var isSharedWithSwiftData = false
    /// The losses that are accepted where the store is of no version of a plan, by the names of the store's own model:
    /// `["Journal", "Item.note"]`. Moult's own.
    ///
    /// The models of such a store are known only from the store, which may be another app's. Without that, opening it
    /// throws `lossNotAccepted` where objects, values or links would be lost.
    public var acceptedLosses: AcceptedLosses = .none
    /// Whether a store that is mirrored to CloudKit on Apple's systems is migrated. Moult renumbers the mirror's records
    /// where it has to, and leaves them otherwise as they are. Moult's own.
    public var allowsCloudKitMigration = false

    /// The options of the migration of its store.
    var run: RunOptions {
        var run = RunOptions()
        (run.acceptedLosses, run.allowsCloudKit) = (acceptedLosses, allowsCloudKitMigration)
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
            isStoredInMemoryOnly ? Self.nowhere : Self.folder(groupContainer).appendingPathComponent("\(name).store"),
            isStoredInMemoryOnly, allowsSave, groupContainer, cloudKitDatabase)
    }

    /// A store at a place of your own.
    public init(
        _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
        cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        let file = url.deletingPathExtension().lastPathComponent
        self.init(
            name ?? (file.isEmpty ? "default" : file), schema, url, url.path == Self.nowhere.path, allowsSave, .none,
            cloudKitDatabase)
    }

    /// A store named `default` that holds all models of the container, in memory or in the program's own folder.
    public init(isStoredInMemoryOnly: Bool) { self.init(nil, isStoredInMemoryOnly: isStoredInMemoryOnly) }

    /// A store of these models, and of those that they lead to.
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

    /// The folder that the programs of one group share. Linux has no such thing: a group's is a folder of its name in
    /// the user's application support folder.
    public struct GroupContainer: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case automatic, none
            case identifier(String)
        }
        let kind: Kind

        /// As ``none``: no program here has entitlements that would name a group.
        public static var automatic: GroupContainer { GroupContainer(kind: .automatic) }
        /// The program's own folder.
        public static var none: GroupContainer { GroupContainer(kind: .none) }
        /// A folder of this name, next to the program's own in the user's application support folder.
        public static func identifier(_ name: String) -> GroupContainer { GroupContainer(kind: .identifier(name)) }
    }

    /// The CloudKit database that a store would be mirrored to. Nothing is mirrored outside Apple's systems, whatever
    /// is asked for: the store is the same as without, and ``cloudKitExplanation`` says so.
    public struct CloudKitDatabase: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case automatic, none
            case `private`(String)
        }
        let kind: Kind

        /// Asks for the container that the program's entitlements name. No program has any here, so nothing is asked
        /// for.
        public static var automatic: CloudKitDatabase { CloudKitDatabase(kind: .automatic) }
        /// Asks for no mirroring.
        public static var none: CloudKitDatabase { CloudKitDatabase(kind: .none) }
        /// Asks for mirroring to a container by its identifier, which ``cloudKitExplanation`` then names.
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

    /// An explanation of what becomes of a wish for CloudKit, in one sentence; nil if there is none.
    public var cloudKitExplanation: String? {
        cloudKitContainerIdentifier.map {
            "The store \(name) is not mirrored to \($0): CloudKit exists on Apple's systems only, where the same store "
                + "is mirrored when the app opens it."
        }
    }

    static let nowhere = URL(fileURLWithPath: "/dev/null")

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
        // The side files of a store have longer names, and 255 bytes is what file systems take.
        if url.lastPathComponent.utf8.count > 250 {
            throw SwiftDataError(
                .configurationFileNameTooLong, "The name of the store's file is too long.", place: url.path,
                remedy: "Use at most 250 bytes.")
        }
    }

    /// The configuration's name and the path of its store.
    public var debugDescription: String { "ModelConfiguration(\(name), \(url.path))" }
}

/// A schema with its migration plan, to make containers of: for an app, and for its tests in memory.
public struct SwiftDataConfiguration: Sendable {
    /// The models of the containers that are made.
    public let schema: Schema
    nonisolated(unsafe) public let migrationPlan: (any SchemaMigrationPlan.Type)?
    /// Accepted, and without effect: see ``ModelConfiguration/CloudKitDatabase``.
    public let isCloudKitEnabled: Bool

    /// A configuration of a schema; without a plan, only changes that can be inferred are migrated.
    public init(schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, isCloudKitEnabled: Bool = false) {
        (self.schema, self.migrationPlan, self.isCloudKitEnabled) = (schema, migrationPlan, isCloudKitEnabled)
    }

    /// A configuration of the models of one released version.
    public init(
        schema: any VersionedSchema.Type, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        isCloudKitEnabled: Bool = false
    ) {
        self.init(
            schema: Schema(versionedSchema: schema), migrationPlan: migrationPlan, isCloudKitEnabled: isCloudKitEnabled)
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
