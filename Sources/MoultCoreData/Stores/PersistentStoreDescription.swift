import Foundation
import Synchronization

/// The configuration of a store that a container opens: `NSPersistentStoreDescription`.
///
/// By default, a store with an older version of the model is migrated when it is opened, with an inferred mapping.
public final class PersistentStoreDescription: Sendable {
    struct State: Sendable {
        var url: URL?
        var type: PersistentStore.StoreType
        var configuration: String?
        var options: [String: any Sendable] = [:]
        var addsAsynchronously = false
        var validatesAfterMigration = true
        var migrationProgress: (@Sendable (MigrationProgress) -> Void)?
        var isMigrationCancelled: (@Sendable () -> Bool)?
        var migrationLosses: (@Sendable ([MigrationLoss]) -> Void)?
        var afterMigration: (@Sendable (ManagedObjectContext) throws -> Void)?
        var migrationAnswers: Data?
        var migrationRegistry = MigrationRegistry()
        var stopsAtEachVersion = false
        var maximumMigrationAttempts = 5
        var keepsMigrationBackup = true
        var backupFolder: URL?
        var backupRetention = RetentionPolicy()
        var updates: [AsyncStream<MigrationProgress>.Continuation] = []
    }

    private let state: Mutex<State>

    /// - Parameter url: the store's file; nil or `/dev/null` for a store in memory.
    public init(url: URL?) {
        let type: PersistentStore.StoreType = url.map { $0.path == URL.inMemory.path } ?? true ? .inMemory : .sqlite
        state = Mutex(State(url: url, type: type))
        shouldMigrateStoreAutomatically = true
        shouldInferMappingModelAutomatically = true
    }

    /// Creates a description of a store in memory.
    public convenience init() { self.init(url: nil) }

    private init(_ state: State) { self.state = Mutex(state) }

    /// Returns an independent description with the same properties.
    package func copy() -> PersistentStoreDescription {
        var state = snapshot
        state.updates = []
        return PersistentStoreDescription(state)
    }

    var snapshot: State { state.withLock { $0 } }

    /// The store's file. Setting it to `/dev/null` selects a store in memory.
    public var url: URL? {
        get { state.withLock { $0.url } }
        set {
            state.withLock {
                $0.url = newValue
                if newValue?.path == URL.inMemory.path { $0.type = .inMemory }
            }
        }
    }

    /// Whether the store is a file or in memory. The initialiser derives it from the URL.
    public var type: PersistentStore.StoreType {
        get { state.withLock { $0.type } }
        set { state.withLock { $0.type = newValue } }
    }

    /// The configuration of the model whose entities the store holds; nil for all of them.
    public var configuration: String? {
        get { state.withLock { $0.configuration } }
        set { state.withLock { $0.configuration = newValue } }
    }

    // MARK: - Options

    /// The options by the keys of ``PersistentStoreOption``.
    public var options: [String: any Sendable] { state.withLock { $0.options } }

    /// Sets or removes an option. An option that Moult does not know is an error when the store is opened.
    public func setOption(_ option: (any Sendable)?, forKey key: String) {
        state.withLock { $0.options[key] = option }
    }

    /// Whether the store is opened read-only. It must then exist, and is not migrated.
    public var isReadOnly: Bool {
        get { flag(PersistentStoreOption.readOnly) }
        set { setOption(newValue, forKey: PersistentStoreOption.readOnly) }
    }

    /// The number of seconds to wait for another process that is writing.
    public var timeout: TimeInterval {
        get { options[PersistentStoreOption.timeout].flatMap(NumberReading.double) ?? 5 }
        set { setOption(newValue, forKey: PersistentStoreOption.timeout) }
    }

    /// Whether opening a store with another version migrates it, true by default. If false, opening it throws.
    public var shouldMigrateStoreAutomatically: Bool {
        get { flag(PersistentStoreOption.migratePersistentStoresAutomatically) }
        set { setOption(newValue, forKey: PersistentStoreOption.migratePersistentStoresAutomatically) }
    }

    /// Whether a migration may infer a mapping, true by default. If false, a mapping or a stage must be registered.
    public var shouldInferMappingModelAutomatically: Bool {
        get { flag(PersistentStoreOption.inferMappingModelAutomatically) }
        set { setOption(newValue, forKey: PersistentStoreOption.inferMappingModelAutomatically) }
    }

    /// Whether the store is opened on another thread while `addPersistentStore` returns at once; false by default.
    public var shouldAddStoreAsynchronously: Bool {
        get { state.withLock { $0.addsAsynchronously } }
        set { state.withLock { $0.addsAsynchronously = newValue } }
    }

    /// SQLite pragmas, by name.
    public var sqlitePragmas: [String: String] {
        options[PersistentStoreOption.sqlitePragmas] as? [String: String] ?? [:]
    }

    /// Sets a pragma by name, or removes it if the value is nil. A pragma that Moult does not know is an error when the
    /// store is opened.
    public func setValue(_ value: String?, forPragmaNamed name: String) {
        var pragmas = sqlitePragmas
        pragmas[name] = value
        setOption(pragmas, forKey: PersistentStoreOption.sqlitePragmas)
    }

    private func flag(_ key: String) -> Bool { options[key].flatMap(NumberReading.flag) ?? false }

    // MARK: - Migration

    /// A closure called often during a migration, on the migrating thread.
    public var migrationProgress: (@Sendable (MigrationProgress) -> Void)? {
        get { state.withLock { $0.migrationProgress } }
        set { state.withLock { $0.migrationProgress = newValue } }
    }

    /// Returns the values passed to ``migrationProgress`` as a sequence, which ends when the store is open, or cannot
    /// be opened.
    ///
    /// Call it before the store is loaded. A slow consumer gets only the latest 256 values.
    public func migrationUpdates() -> AsyncStream<MigrationProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: MigrationProgress.self, bufferingPolicy: .bufferingNewest(256))
        state.withLock { $0.updates.append(continuation) }
        return stream
    }

    func endMigrationUpdates() {
        let updates = state.withLock { state in
            defer { state.updates = [] }
            return state.updates
        }
        for update in updates { update.finish() }
    }

    /// The number of consecutive migrations between the same versions that may die, for example because of a watchdog
    /// at launch, before opening the store throws `tooManyAttempts` instead of starting another.
    public var maximumMigrationAttempts: Int {
        get { state.withLock { $0.maximumMigrationAttempts } }
        set { state.withLock { $0.maximumMigrationAttempts = newValue } }
    }

    /// Whether to keep a backup of the old store. Callers set it to false if the old store is another file, which
    /// remains.
    package var keepsMigrationBackup: Bool {
        get { state.withLock { $0.keepsMigrationBackup } }
        set { state.withLock { $0.keepsMigrationBackup = newValue } }
    }

    /// The folder for the backup that a migration makes of the store; nil, the default, for the one next to the store.
    public var migrationBackupFolder: URL? {
        get { state.withLock { $0.backupFolder } }
        set { state.withLock { $0.backupFolder = newValue } }
    }

    /// The policy for the backups that are kept after a migration.
    public var migrationBackupRetention: RetentionPolicy {
        get { state.withLock { $0.backupRetention } }
        set { state.withLock { $0.backupRetention = newValue } }
    }

    /// A closure called often during a migration. If it returns true, the migration fails with the error `cancelled`
    /// and leaves the store unchanged.
    public var isMigrationCancelled: (@Sendable () -> Bool)? {
        get { state.withLock { $0.isMigrationCancelled } }
        set { state.withLock { $0.isMigrationCancelled = newValue } }
    }

    /// A closure called after the commit with the counts of everything that a migration has deleted; not called if
    /// nothing was lost.
    ///
    /// ``MigrationHistory`` and the store's log contain the same information.
    public var migrationLosses: (@Sendable ([MigrationLoss]) -> Void)? {
        get { state.withLock { $0.migrationLosses } }
        set { state.withLock { $0.migrationLosses = newValue } }
    }

    /// Whether to compare the migrated store with the old one, row by row, before it replaces the old one.
    public var validatesAfterMigration: Bool {
        get { state.withLock { $0.validatesAfterMigration } }
        set { state.withLock { $0.validatesAfterMigration = newValue } }
    }

    /// A closure that runs once on the migrated store after a migration. Its changes are saved when it returns.
    ///
    /// The migration's commit records that the closure is due, and the commit of the closure's changes records that it
    /// is done. It therefore never completes twice, and runs again if it threw or the process died before its end.
    public var afterMigration: (@Sendable (ManagedObjectContext) throws -> Void)? {
        get { state.withLock { $0.afterMigration } }
        set { state.withLock { $0.afterMigration = newValue } }
    }

    /// The code that the migration may need: steps, migration policies, rules.
    public var migrationRegistry: MigrationRegistry {
        get { state.withLock { $0.migrationRegistry } }
        set { state.withLock { $0.migrationRegistry = newValue } }
    }

    /// The accepted losses, by the names of the older version.
    ///
    /// Unless a loss is accepted, opening the store throws `lossNotAccepted` in these cases: a stage loses data that
    /// both versions have and that none of its code has read; the store's version is known only from the store itself,
    /// and objects, values or links would be lost; another configuration has the entity of the objects. All losses are
    /// passed to ``migrationLosses`` and recorded in the store's history: ``MigrationHistory``.
    public var acceptedLosses: AcceptedLosses {
        get { migrationRegistry.acceptedLosses }
        set { state.withLock { $0.migrationRegistry.acceptedLosses = newValue } }
    }

    /// Whether the migration makes a backup and a commit at each version in between, so that an interrupted chain
    /// continues from the last of them. If false, the whole migration is one commit, all or nothing.
    public var stopsAtEachVersion: Bool {
        get { state.withLock { $0.stopsAtEachVersion } }
        set { state.withLock { $0.stopsAtEachVersion = newValue } }
    }

    /// Answers to questions of a migration, as the JSON that the error `question` prints.
    public var migrationAnswers: Data? {
        get { state.withLock { $0.migrationAnswers } }
        set { state.withLock { $0.migrationAnswers = newValue } }
    }
}
