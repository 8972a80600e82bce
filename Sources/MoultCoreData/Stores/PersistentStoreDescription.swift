import Foundation
import Synchronization

/// The configuration of a store that a container opens: `NSPersistentStoreDescription`.
///
/// A store that is behind the model is migrated when it is opened, by an inferred mapping, unless the description says
/// otherwise.
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
        var updates: [AsyncStream<MigrationProgress>.Continuation] = []
    }

    private let state: Mutex<State>

    /// - Parameter url: the store's file; nil or `/dev/null` for a store in memory.
    public init(url: URL?) {
        let isInMemory = url.map { $0.path == "/dev/null" } ?? true
        state = Mutex(State(url: url, type: isInMemory ? .inMemory : .sqlite))
        shouldMigrateStoreAutomatically = true
        shouldInferMappingModelAutomatically = true
    }

    /// A description of a store in memory.
    public convenience init() { self.init(url: nil) }

    var snapshot: State { state.withLock { $0 } }

    /// The store's file. Setting it to `/dev/null` makes the store one in memory.
    public var url: URL? {
        get { state.withLock { $0.url } }
        set {
            state.withLock {
                $0.url = newValue
                if newValue?.path == "/dev/null" { $0.type = .inMemory }
            }
        }
    }

    /// Whether the store is a file or in memory; the initialiser chooses by the URL.
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

    /// By the keys of ``PersistentStoreOption``.
    public var options: [String: any Sendable] { state.withLock { $0.options } }

    /// Sets an option, or takes it away. One that Moult does not know is an error when the store is opened.
    public func setOption(_ option: (any Sendable)?, forKey key: String) {
        state.withLock { $0.options[key] = option }
    }

    /// Whether the store is opened for reading only. It must exist then, and is not migrated.
    public var isReadOnly: Bool {
        get { flag(PersistentStoreOption.readOnly) }
        set { setOption(newValue, forKey: PersistentStoreOption.readOnly) }
    }

    /// Seconds to wait for another process that writes.
    public var timeout: TimeInterval {
        get { options[PersistentStoreOption.timeout].flatMap(NumberReading.double) ?? 5 }
        set { setOption(newValue, forKey: PersistentStoreOption.timeout) }
    }

    /// Whether a store of another version is migrated when it is opened, true by default; otherwise opening it throws.
    public var shouldMigrateStoreAutomatically: Bool {
        get { flag(PersistentStoreOption.migratePersistentStoresAutomatically) }
        set { setOption(newValue, forKey: PersistentStoreOption.migratePersistentStoresAutomatically) }
    }

    /// Whether a mapping may be inferred for a migration, true by default; otherwise a mapping or a stage must be
    /// registered.
    public var shouldInferMappingModelAutomatically: Bool {
        get { flag(PersistentStoreOption.inferMappingModelAutomatically) }
        set { setOption(newValue, forKey: PersistentStoreOption.inferMappingModelAutomatically) }
    }

    /// Whether the store is opened on another thread, without `addPersistentStore` waiting for it; false by default.
    public var shouldAddStoreAsynchronously: Bool {
        get { state.withLock { $0.addsAsynchronously } }
        set { state.withLock { $0.addsAsynchronously = newValue } }
    }

    /// SQLite's pragmas, by name.
    public var sqlitePragmas: [String: String] {
        options[PersistentStoreOption.sqlitePragmas] as? [String: String] ?? [:]
    }

    /// Sets a pragma by its name, or takes it away for nil. One that Moult does not know is an error when the store is
    /// opened.
    public func setValue(_ value: String?, forPragmaNamed name: String) {
        var pragmas = sqlitePragmas
        pragmas[name] = value
        setOption(pragmas, forKey: PersistentStoreOption.sqlitePragmas)
    }

    private func flag(_ key: String) -> Bool { options[key].flatMap(NumberReading.flag) ?? false }

    // MARK: - The migration

    /// Told often while the store is migrated, on the thread that migrates it.
    public var migrationProgress: (@Sendable (MigrationProgress) -> Void)? {
        get { state.withLock { $0.migrationProgress } }
        set { state.withLock { $0.migrationProgress = newValue } }
    }

    /// Returns the progress that ``migrationProgress`` is told, as a sequence that ends when the store is open, or
    /// cannot be opened.
    ///
    /// To be asked for before the store is loaded; who falls behind misses what is older than the last 256.
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

    /// The number of migrations between the same versions that may have died one after the other, such as by a watchdog
    /// at launch, before opening the store throws `tooManyAttempts` instead of beginning another.
    public var maximumMigrationAttempts: Int {
        get { state.withLock { $0.maximumMigrationAttempts } }
        set { state.withLock { $0.maximumMigrationAttempts = newValue } }
    }

    /// Whether a backup of the old store is kept. The caller says no where the old store is another file, which stays.
    package var keepsMigrationBackup: Bool {
        get { state.withLock { $0.keepsMigrationBackup } }
        set { state.withLock { $0.keepsMigrationBackup = newValue } }
    }

    /// Asked often; true ends the migration with the error `cancelled` and the store as it was.
    public var isMigrationCancelled: (@Sendable () -> Bool)? {
        get { state.withLock { $0.isMigrationCancelled } }
        set { state.withLock { $0.isMigrationCancelled = newValue } }
    }

    /// Told what a migration has deleted, counted, once it is committed; not told of a migration that has lost nothing.
    ///
    /// ``MigrationHistory`` and the store's log have the same.
    public var migrationLosses: (@Sendable ([MigrationLoss]) -> Void)? {
        get { state.withLock { $0.migrationLosses } }
        set { state.withLock { $0.migrationLosses = newValue } }
    }

    /// Whether the migrated store is compared with the old one, row for row, before it takes its place.
    public var validatesAfterMigration: Bool {
        get { state.withLock { $0.validatesAfterMigration } }
        set { state.withLock { $0.validatesAfterMigration = newValue } }
    }

    /// Runs once after a migration, over the migrated store; what it changes is saved when it returns.
    ///
    /// That it is due is written with the migration, and that it is done with its changes, each in one transaction: so
    /// it never runs twice, and runs again where it threw or the process died before its end.
    public var afterMigration: (@Sendable (ManagedObjectContext) throws -> Void)? {
        get { state.withLock { $0.afterMigration } }
        set { state.withLock { $0.afterMigration = newValue } }
    }

    /// The code that the migration may need: steps, migration policies, rules.
    public var migrationRegistry: MigrationRegistry {
        get { state.withLock { $0.migrationRegistry } }
        set { state.withLock { $0.migrationRegistry = newValue } }
    }

    /// The losses that are accepted, by the names of the older version.
    ///
    /// Without that, opening the store throws `lossNotAccepted` where a stage loses what both versions have and none of
    /// its code has read; where the store's version is known only from the store itself, and objects, values or links
    /// would be lost; and where another configuration has the entity of the objects. What was lost is told to
    /// ``migrationLosses``, and is in the store's history: ``MigrationHistory``.
    public var acceptedLosses: AcceptedLosses {
        get { migrationRegistry.acceptedLosses }
        set { state.withLock { $0.migrationRegistry.acceptedLosses = newValue } }
    }

    /// Whether the migration stops at each version on the way, which then is a backup and a commit of its own: a chain
    /// that dies continues from the last of them. Otherwise the whole way is one commit, all or nothing.
    public var stopsAtEachVersion: Bool {
        get { state.withLock { $0.stopsAtEachVersion } }
        set { state.withLock { $0.stopsAtEachVersion = newValue } }
    }

    /// Answers to the questions that a migration may ask, as the JSON that the error `question` prints.
    public var migrationAnswers: Data? {
        get { state.withLock { $0.migrationAnswers } }
        set { state.withLock { $0.migrationAnswers = newValue } }
    }
}
