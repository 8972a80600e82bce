import MoultEngine
import MoultModel
import MoultStore
import MoultSystem

/// The options for changing a store; the defaults are the safe ones.
public struct RunOptions: Sendable, Hashable, Codable {
    /// The folder for backups; nil for the one next to the store.
    public var backupFolder: String?
    /// Whether the old store is kept as a backup. Without it there is nothing to roll back to, and less space is needed.
    public var keepsBackup = true
    /// The policy for the backups that are kept after a run.
    public var retention = RetentionPolicy()
    /// Whether to remove expired backups, and to continue without keeping one, if space is short.
    public var makesRoom = false
    /// The time to wait for a process that is about to close the store.
    public var patience: Duration = .seconds(2)
    /// The number of runs between the same versions that may have died one after the other before no further one
    /// begins.
    public var maximumAttempts = 5

    /// Whether each version on the way has a backup and a commit of its own. Otherwise the whole way is one commit.
    public var stopsAtEachVersion = false
    /// Whether to change the store itself in one transaction, after its backup; refused unless only the schema changes.
    public var isInPlace = false
    /// Whether every table that changes is rebuilt, with its columns in the order of a new store. Otherwise a table stays
    /// where it can, and new columns are at its end.
    public var normalises = false
    /// Whether to change the schema at once and leave what takes long for a later call to finish.
    public var defersWork = false
    /// The time that one call may take; nil for as long as it takes. A call that runs out of it reports
    /// `paused`, and the next one continues.
    public var budget: Duration?
    /// The losses that are accepted, by the names of the older version; added to the registry's. A migration that would
    /// lose any other objects, values or links is refused, unless an answer, a mapping model or a stage declares the loss.
    public var acceptedLosses = AcceptedLosses.none
    /// Whether the new store is compared with the old one, row by row; without it only its pages are checked.
    public var comparesStores = true
    /// Whether the rows of tables that were not written to are compared too. Otherwise their pages, of which none is in
    /// SQLite's log or journal, are the proof that they are unchanged.
    public var comparesUnwrittenTables = false
    /// Whether to migrate a store that is mirrored to CloudKit.
    public var allowsCloudKit = false
    /// The name of the configuration that the app opens the store with; nil for the one whose entities the store has.
    public var configuration: String?
    /// Whether to write version hashes that are not certain.
    public var isExperimental = false
    /// Whether the fixes of the rules are applied.
    public var appliesFixes = false
    /// Whether a repair or a fix may put more than a quarter of an entity's objects into the quarantine.
    public var allowsLargeQuarantine = false

    /// The defaults.
    public init() {}

    /// A budget of so many seconds, within what a duration has room for; none at all for what is no number.
    package static func budget(seconds: Double) -> Duration {
        .seconds(seconds.isNaN ? 0 : min(max(seconds, -1e9), 1e9))
    }

    /// The engine with these options.
    ///
    /// - Parameter isSequential: whether everything happens on one thread, for a system that counts its calls.
    package func migrator(on system: any System = POSIXSystem(), isSequential: Bool = false) -> Migrator {
        var options = MigrationOptions(
            backupFolder: backupFolder, isFrugal: !keepsBackup, retention: retention,
            patience: Int32(clamping: Int64(patience / .milliseconds(1))))
        options.maximumAttempts = maximumAttempts
        options.isSequential = isSequential
        return Migrator(options: options, system: system)
    }
}
