import Foundation
import MoultReport

/// The configuration of a store: the models that it holds, its location, and whether it may be written.
///
/// A configuration without a schema holds all models of its container. Several of one container need a schema each, and
/// names of their own.
public struct ModelConfiguration: DataStoreConfiguration, Sendable, Identifiable {
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
        self.name = name
        self.schema = schema
        self.url = url
        self.isStoredInMemoryOnly = isStoredInMemoryOnly
        self.allowsSave = allowsSave
        self.groupContainer = groupContainer
        self.cloudKitDatabase = cloudKitDatabase
    }
}
