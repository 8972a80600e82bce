import Moult
import MoultBasics
import MoultModel

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
    /// The options of the migration of a store that is behind.
    package var run = RunOptions()
    var stagedMigrationManager: StagedMigrationManager?

    /// - Parameter migratesByDefault: what holds where the options do not say.
    /// - Throws: `usage` for a key or a value that Moult does not know, naming those it does.
    package init(_ options: [String: any Sendable]?, migratesByDefault: Bool = false) throws {
        migrates = migratesByDefault
        infers = migratesByDefault
        for (key, value) in (options ?? [:]).sorted(by: { $0.key < $1.key }) { try set(value, for: key) }
    }

    /// The options that are true or false.
    private static let flags: [String: WritableKeyPath<StoreOptions, Bool> & Sendable] = [
        PersistentStoreOption.migratePersistentStoresAutomatically: \.migrates,
        PersistentStoreOption.inferMappingModelAutomatically: \.infers,
        PersistentStoreOption.readOnly: \.isReadOnly,
        PersistentStoreOption.sqliteAnalyze: \.analyzes,
        PersistentStoreOption.sqliteManualVacuum: \.vacuums,
        PersistentStoreOption.historyTracking: \.tracksHistory,
        PersistentStoreOption.forceDestroy: \.forcesDestruction,
        PersistentStoreOption.deferredLightweightMigration: \.run.defersWork,
        PersistentStoreOption.allowsUncertainVersionHashes: \.run.isExperimental,
        PersistentStoreOption.allowsCloudKitMigration: \.run.allowsCloudKit,
    ]

    private mutating func set(_ value: any Sendable, for key: String) throws {
        if let flag = Self.flags[key] {
            guard let isSet = NumberReading.flag(value) else { throw wrong(value, key, "true or false") }
            self[keyPath: flag] = isSet
            return
        }
        switch key {
        case PersistentStoreOption.acceptedLosses:
            guard let places = value as? [String] else { throw wrong(value, key, "an array of texts") }
            run.acceptedLosses = AcceptedLosses(places)
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

    private func wrong(_ value: any Sendable, _ key: String, _ wanted: String) -> MigrationError {
        MigrationError(
            .usage, "The option \(key) is \(value), which is not \(wanted).", place: key, remedy: "Set it to \(wanted)."
        )
    }
}
