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
