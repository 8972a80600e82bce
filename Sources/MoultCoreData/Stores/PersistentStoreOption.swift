import MoultModel

/// The keys of a store's options, as Core Data spells them. A key that is not among ``all`` is an error when the store
/// is opened, never ignored.
public enum PersistentStoreOption {
    /// `Bool`; a description's default is true, a coordinator's false.
    public static let migratePersistentStoresAutomatically = "NSMigratePersistentStoresAutomaticallyOption"
    /// `Bool`; a description's default is true, a coordinator's false.
    public static let inferMappingModelAutomatically = "NSInferMappingModelAutomaticallyOption"
    /// `Bool`
    public static let readOnly = "NSReadOnlyPersistentStoreOption"
    /// Seconds to wait for another process that writes.
    public static let timeout = "NSPersistentStoreTimeoutOption"
    /// `[String: String]`, by the names of SQLite's pragmas.
    public static let sqlitePragmas = "NSSQLitePragmasOption"
    /// `Bool`: run `ANALYZE` when the store is opened.
    public static let sqliteAnalyze = "NSSQLiteAnalyzeOption"
    /// `Bool`: rebuild the file when the store is opened, to free unused space.
    public static let sqliteManualVacuum = "NSSQLiteManualVacuumOption"
    /// `Bool`: make a new store with the tables of persistent history.
    public static let historyTracking = "NSPersistentHistoryTrackingKey"
    /// `Bool`: let ``PersistentStoreCoordinator/destroyPersistentStore(at:type:options:)`` remove what is no store.
    public static let forceDestroy = "NSPersistentStoreForceDestroyOption"

    /// A ``StagedMigrationManager``: the stages by which the store is migrated.
    public static let stagedMigrationManager = "NSPersistentStoreStagedMigrationManagerOptionKey"

    /// `Bool`: migrate at once what touches no row, and put the rest off (`PersistentStoreCoordinator`'s
    /// `finishDeferredLightweightMigration()`). In a store's metadata the same key says that work is pending.
    public static let deferredLightweightMigration = "NSPersistentStoreDeferredLightweightMigrationOptionKey"

    /// `Bool`: make, and migrate to, a model whose version hashes are Moult's best guess, because no store of Apple's
    /// shows the form of an attribute (`AttributeDescription.uncertainty`). Core Data may refuse to open the store.
    public static let allowsUncertainVersionHashes = "MoultAllowsUncertainVersionHashesOption"

    /// `[String]`: losses that a migration may bring, as ``AcceptedLosses`` names them. Core Data ignores the key.
    public static let acceptedLosses = "MoultAcceptedLossesOption"

    /// `Bool`: migrate a store that is mirrored to CloudKit. Moult renumbers the mirror's records where it has to, and
    /// leaves them otherwise as they are. Core Data ignores the key.
    public static let allowsCloudKitMigration = "MoultAllowsCloudKitMigrationOption"

    /// Every key there is.
    public static let all = [
        migratePersistentStoresAutomatically, inferMappingModelAutomatically, readOnly, timeout, sqlitePragmas,
        sqliteAnalyze, sqliteManualVacuum, historyTracking, forceDestroy, stagedMigrationManager,
        deferredLightweightMigration, allowsUncertainVersionHashes, acceptedLosses, allowsCloudKitMigration,
    ]
}

/// Options that have been read and found good.
package struct StoreOptions: Sendable {
    var migrates: Bool
    var infers: Bool
    package var isReadOnly = false
    /// Milliseconds.
    var busyTimeout: Int32 = 5_000
    var pragmas: [(name: String, value: String)] = []
    var analyzes = false
    var vacuums = false
    package var tracksHistory = false
    var forcesDestruction = false
    var defersMigration = false
    package var allowsUncertainHashes = false
    package var acceptedLosses = AcceptedLosses.none
    package var allowsCloudKitMigration = false
    var stagedMigrationManager: StagedMigrationManager?

    /// - Parameter migratesByDefault: what holds where the options do not say.
    /// - Throws: `usage` for a key or a value that Moult does not know, naming those it does.
    package init(_ options: [String: any Sendable]?, migratesByDefault: Bool = false) throws {
        migrates = migratesByDefault
        infers = migratesByDefault
        for (key, value) in (options ?? [:]).sorted(by: { $0.key < $1.key }) { try set(value, for: key) }
    }

    private mutating func set(_ value: any Sendable, for key: String) throws {
        switch key {
        case PersistentStoreOption.migratePersistentStoresAutomatically: migrates = try flag(value, key)
        case PersistentStoreOption.inferMappingModelAutomatically: infers = try flag(value, key)
        case PersistentStoreOption.readOnly: isReadOnly = try flag(value, key)
        case PersistentStoreOption.sqliteAnalyze: analyzes = try flag(value, key)
        case PersistentStoreOption.sqliteManualVacuum: vacuums = try flag(value, key)
        case PersistentStoreOption.historyTracking: tracksHistory = try flag(value, key)
        case PersistentStoreOption.deferredLightweightMigration: defersMigration = try flag(value, key)
        case PersistentStoreOption.allowsUncertainVersionHashes: allowsUncertainHashes = try flag(value, key)
        case PersistentStoreOption.allowsCloudKitMigration: allowsCloudKitMigration = try flag(value, key)
        case PersistentStoreOption.acceptedLosses:
            guard let places = value as? [String] else { throw wrong(value, key, "an array of texts") }
            acceptedLosses = AcceptedLosses(places)
        case PersistentStoreOption.forceDestroy: forcesDestruction = try flag(value, key)
        case PersistentStoreOption.timeout:
            guard let seconds = NumberReading.double(value), seconds >= 0, seconds < 1e6 else {
                throw wrong(value, key, "a number of seconds")
            }
            busyTimeout = Int32(seconds * 1000)
        case PersistentStoreOption.stagedMigrationManager:
            guard let manager = value as? StagedMigrationManager else {
                throw wrong(value, key, "a StagedMigrationManager")
            }
            stagedMigrationManager = manager
        case PersistentStoreOption.sqlitePragmas:
            guard let pragmas = value as? [String: any Sendable] else { throw wrong(value, key, "a dictionary") }
            self.pragmas = try pragmas.sorted { $0.key < $1.key }.map { try StorePragma.check($0.key, $0.value) }
        default:
            throw MigrationError(
                .usage, "There is no option \(key).", place: key,
                remedy: "The options are: \(PersistentStoreOption.all.sorted().joined(separator: ", ")).")
        }
    }

    private func flag(_ value: any Sendable, _ key: String) throws -> Bool {
        guard let flag = NumberReading.flag(value) else { throw wrong(value, key, "true or false") }
        return flag
    }

    private func wrong(_ value: any Sendable, _ key: String, _ wanted: String) -> MigrationError {
        MigrationError(
            .usage, "The option \(key) is \(value), which is not \(wanted).", place: key, remedy: "Set it to \(wanted)."
        )
    }
}
