import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultSession

/// The keys of a store's options, in Core Data's spelling. A key that is not in ``all`` is an error when the store is
/// opened; it is never ignored.
public enum PersistentStoreOption {
    /// `Bool`: the default is true for a description, false for a coordinator.
    public static let migratePersistentStoresAutomatically = "NSMigratePersistentStoresAutomaticallyOption"
    /// `Bool`: the default is true for a description, false for a coordinator.
    public static let inferMappingModelAutomatically = "NSInferMappingModelAutomaticallyOption"
    /// `Bool`
    public static let readOnly = "NSReadOnlyPersistentStoreOption"
    /// The number of seconds to wait for another process that is writing.
    public static let timeout = "NSPersistentStoreTimeoutOption"
    /// `[String: String]`, keyed by the names of SQLite pragmas.
    public static let sqlitePragmas = "NSSQLitePragmasOption"
    /// `Bool`: run `ANALYZE` when the store is opened.
    public static let sqliteAnalyze = "NSSQLiteAnalyzeOption"
    /// `Bool`: rebuild the file when the store is opened, to free unused space.
    public static let sqliteManualVacuum = "NSSQLiteManualVacuumOption"
    /// `Bool`: create a new store with the tables for persistent history.
    public static let historyTracking = "NSPersistentHistoryTrackingKey"
    /// `Bool`: let ``PersistentStoreCoordinator/destroyPersistentStore(at:type:options:)`` remove a file that is not a
    /// store.
    public static let forceDestroy = "NSPersistentStoreForceDestroyOption"

    /// A ``StagedMigrationManager`` with the stages for migrating the store.
    public static let stagedMigrationManager = "NSPersistentStoreStagedMigrationManagerOptionKey"

    /// `Bool`: immediately apply changes that touch no row, and defer the rest (`PersistentStoreCoordinator`'s
    /// `finishDeferredLightweightMigration()`). In a store's metadata the same key means that work is pending.
    public static let deferredLightweightMigration = "NSPersistentStoreDeferredLightweightMigrationOptionKey"

    /// `Bool`: create, and migrate to, a model whose version hashes are Moult's best guess, because no store from Apple
    /// shows the form of an attribute (`AttributeDescription.uncertainty`). Core Data may refuse to open the store.
    public static let allowsUncertainVersionHashes = "MoultAllowsUncertainVersionHashesOption"

    /// `[String]`: the losses that a migration may cause, named as in ``AcceptedLosses``. Core Data ignores the key.
    public static let acceptedLosses = "MoultAcceptedLossesOption"

    /// `String`: the path of the folder for the backups that migrations make. Core Data ignores the key.
    public static let backupFolder = "MoultBackupFolderOption"

    /// `Bool`: migrate a store that is mirrored to CloudKit. Moult renumbers the mirror's records where necessary, and
    /// otherwise leaves them as they are. Core Data ignores the key.
    public static let allowsCloudKitMigration = "MoultAllowsCloudKitMigrationOption"

    /// All keys.
    public static let all = [
        migratePersistentStoresAutomatically, inferMappingModelAutomatically, readOnly, timeout, sqlitePragmas,
        sqliteAnalyze, sqliteManualVacuum, historyTracking, forceDestroy, stagedMigrationManager,
        deferredLightweightMigration, allowsUncertainVersionHashes, acceptedLosses, backupFolder,
        allowsCloudKitMigration,
    ]
}

/// The parsed and validated options of a store.
package struct StoreOptions: Sendable {
    var migrates: Bool
    var infers: Bool
    package var isReadOnly = false
    /// The timeout in milliseconds.
    var busyTimeout: Int32 = 5_000
    /// The timeout as the patience of a run.
    var patience: Duration { .milliseconds(max(busyTimeout, 0)) }
    var pragmas: [(name: String, value: String)] = []
    var analyzes = false
    var vacuums = false
    package var tracksHistory = false
    var forcesDestruction = false
    /// The options for migrating an older store.
    package var run = RunOptions()
    var stagedMigrationManager: StagedMigrationManager?

    /// - Parameter migratesByDefault: the value of both migration options if they are not set.
    /// - Throws: `usage` for an unknown key or value, listing the known ones.
    package init(_ options: [String: any Sendable]?, migratesByDefault: Bool = false) throws {
        migrates = migratesByDefault
        infers = migratesByDefault
        for (key, value) in (options ?? [:]).sorted(by: { $0.key < $1.key }) { try set(value, for: key) }
    }

    /// The Boolean options.
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
        case PersistentStoreOption.backupFolder:
            guard let folder = value as? String, !folder.isEmpty else {
                throw wrong(value, key, "the path of a folder")
            }
            run.backupFolder = folder
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

/// The pragmas that may be set for a store: those that affect how SQLite works, never the store's contents.
enum StorePragma {
    static let all = [
        "cache_size", "journal_mode", "journal_size_limit", "mmap_size", "secure_delete", "synchronous", "temp_store",
        "wal_autocheckpoint",
    ]

    /// - Throws: `usage` for another pragma, listing the allowed ones, or for a value that is not a word or a number.
    static func check(_ name: String, _ value: any Sendable) throws -> (name: String, value: String) {
        let name = name.lowercased()
        guard all.contains(name) else {
            throw MigrationError(
                .usage, "The pragma \(name) cannot be set for a store.", place: name,
                remedy: "The pragmas are: \(all.joined(separator: ", ")).")
        }
        let text = (value as? String) ?? "\(value)"
        let isPlain = text.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
        }
        guard !text.isEmpty, isPlain else {
            throw MigrationError(
                .usage, "The pragma \(name) cannot be \"\(text)\".", place: name,
                remedy: "Give a word or a whole number, such as WAL or -2000.")
        }
        return (name, text)
    }
}

extension ObjectStore {
    /// Applies the options for SQLite to a newly opened store.
    func configure(_ options: StoreOptions) throws {
        for pragma in options.pragmas { try setPragma(pragma.name, pragma.value) }
        guard !isReadOnly else { return }
        if options.vacuums { try vacuum() }
        if options.analyzes { try analyze() }
    }

    /// Copies the store to a new path. The copy has the same identity.
    func copy(to destination: String) throws {
        try withConnection { try StoreCopy(from: path, to: destination, exists: false).copy(from: $0) }
    }
}

/// The wording of remedies for users of a ``PersistentStoreDescription``, or of options by key.
package struct DescriptionWords: RemedyWords {
    package init() {}

    private static let words = SwiftWords(functions: [.runs: "MigrationHistory(storeAt:).events()"])

    package func text(_ action: Remedy.Action) -> String { Self.words.text(action) }

    package func text(_ setting: Remedy.Setting) -> String {
        switch setting {
        case .experimental: "the store's option \(PersistentStoreOption.allowsUncertainVersionHashes)"
        case .deferred: "the store's option \(PersistentStoreOption.deferredLightweightMigration)"
        case .stopAtEachVersion: "stopsAtEachVersion of the description"
        case .again: "a higher maximumMigrationAttempts of the description"
        default: SwiftWords().text(setting)
        }
    }

    package func text(_ permission: Remedy.Permission) -> String {
        switch permission {
        case .cloudKit: "set the store's option \(PersistentStoreOption.allowsCloudKitMigration) to true"
        case .configuration(let name): "set configuration of the description to \(name)"
        case .losses(let places):
            "If the store is another app's, open one of your own. Otherwise add the version of the model that the store is "
                + "of, or accept the loss: acceptedLosses = \(places.swiftLiteral) of the description, or the store's "
                + "option \(PersistentStoreOption.acceptedLosses) with the same value."
        case .loss, .clearing, .code: SwiftWords().text(permission)
        }
    }

    package func remedy(for code: MigrationError.Code) -> Remedy? {
        code == .question
            ? """
            Set renaming identifiers in the model. Or answer each question: migrationAnswers of the description is JSON such \
            as {"format": 1, "answers": [ANSWER, …]}, with an answer that is given above.
            """ : nil
    }
}
