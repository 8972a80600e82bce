import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultPlan
import MoultSQLite
import MoultSession
import MoultStore

/// A second store, of another version or layout, that is kept up to date with the first one.
///
/// The second store starts as a migration of the first by the engine itself. From then on
/// ``synchronise(all:overwriting:)`` copies inserts, updates and deletes. The keys come from persistent history, or
/// from a scan of keys and lock counters; the statements of the migration make the rows for these keys alone. The store
/// that follows keeps its progress in its own metadata, written in the same transaction as the rows, so each change is
/// copied once, however often a process dies.
///
/// No process has to keep the stores open, and neither store gets a trigger.
package struct MirroredStore: Sendable {
    /// The resolved path of the first store.
    package let store: String
    package internal(set) var record: MirrorRecord
    /// The code, the answers and the mapping models that the mirror was started with.
    let context: StoreSession.Context
    /// The options that the mirror was started with.
    let run: RunOptions
    /// The warnings about the first store that do not prevent its migration; set when the mirror is started.
    package internal(set) var warnings: [Finding] = []
    let system: any System
    /// Polled often; once it returns true, the work ends with the error `cancelled` and leaves both stores unchanged.
    var isCancelled: @Sendable () -> Bool = { false }

    var sidecar: StoreRecords { StoreRecords(store: store) }
    var options: PreparedMigration.Options { PreparedMigration.Options(run, context) }

    /// - Parameter permitted: further permissions, in addition to those in the record.
    init(
        _ store: String, _ record: MirrorRecord, _ context: StoreSession.Context, _ permitted: RunOptions,
        _ system: any System
    ) {
        var (context, run) = (context, record.request.options)
        // The losses were checked when the mirror was started. Data written since is lost only with the first store.
        context.losses = .asTheVersionsSay()
        (context.part, run.configuration) = (record.part, nil)
        if permitted.isExperimental { run.isExperimental = true }
        if permitted.allowsCloudKit { run.allowsCloudKit = true }
        run.acceptedLosses.formUnion(permitted.acceptedLosses)
        (self.store, self.record, self.context, self.run, self.system) = (store, record, context, run, system)
    }

    /// Opens the mirror of a store.
    ///
    /// - Parameters:
    ///   - context: the versions of the model that the mirror was started with; the same answers, mapping models and
    ///     code.
    ///   - permitted: further permissions, in addition to those that the mirror was started with.
    /// - Throws: `usage` if the store has no mirror; `planStale` if the mapping is not the one it was started with;
    ///   `lockFileMismatch` if a released version has changed.
    package init(
        of store: String, _ context: StoreSession.Context, _ permitted: RunOptions = RunOptions(),
        on system: any System = POSIXSystem(), isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws {
        try context.versions.checkReleased()
        let (path, record) = try Self.record(of: store, system)
        self.init(path, record, context, permitted, system)
        self.isCancelled = isCancelled
        _ = try forward()
    }

    /// Reads the record of a store's mirror, without its model.
    ///
    /// - Parameter isStarting: whether to return the record of a start that died, too.
    /// - Throws: `usage` if it has none.
    package static func record(
        of store: String, _ system: any System = POSIXSystem(), isStarting: Bool = false
    ) throws -> (store: String, record: MirrorRecord) {
        // The record of the mirror stays even if the store is gone.
        let path = try StoreRecords(of: store, system).store
        guard let record = try MirrorRecord.read(StoreRecords(store: path), system) else {
            _ = try ReadOnlyStore.checkFile(store, system)
            throw MigrationError(
                .usage, "The store has no mirror.", place: store,
                remedy: "Start one: \(.startMirror, .anyStore, .model("MODEL"), .at("PATH")).")
        }
        guard record.state != .starting || isStarting else {
            throw MigrationError(
                .usage, "The process died while it made the mirror.", place: store,
                remedy:
                    "Run \(.startMirror) again, which starts over; or \(.stopMirror), which removes what is left."
            )
        }
        return (path, record)
    }

    // MARK: - Cancelling

    var observer: MigrationObserver {
        let meter = WorkMeter.current
        return MigrationObserver(
            onProgress: { meter?.reach($0.fraction, rows: $0.rows, of: $0.totalRows) }, isCancelled: isCancelled)
    }

    /// Interrupts a running statement of the connection when the work is cancelled.
    func watch(_ connection: Connection) { connection.watch { [isCancelled] in !isCancelled() } }

    func checkCancelled() throws {
        guard isCancelled() else { return }
        throw MigrationError(
            .cancelled, "The work on the mirror was cancelled. Both stores are unchanged.", place: store,
            remedy: "Run the command again when you want it done.")
    }

    // MARK: - The route

    private var registered: [RegisteredStage] {
        get throws { context.registered + (try context.registry.stages(in: context.versions)) }
    }

    /// Plans with the first store's own metadata, which tells versions with equal hashes apart.
    private func planOverStore() throws -> MigrationPlan {
        let connection = try Connection(store, mode: .readOnly, busyTimeout: Self.patience)
        defer { connection.close() }
        let metadata = try StoreMetadata(from: connection)
        return try MigrationPlan(
            context.versions, from: metadata.hashes ?? VersionHashes(read: [:]),
            identifiers: metadata.versionIdentifiers, to: record.to, answers: context.answers, registered: registered,
            as: record.part)
    }

    /// Returns the route from the first store to the second.
    func forward() throws -> MirrorMapping {
        var plan = try MigrationPlan(
            context.versions, from: record.from, to: record.to, answers: context.answers, registered: registered)
        if plan.digest.hexadecimal != record.plan, let other = try? planOverStore() { plan = other }
        guard plan.digest.hexadecimal == record.plan else {
            throw MigrationError(
                .planStale,
                "The mapping from \(record.from) to \(record.to) is not the one with which the mirror was started.",
                place: store, remedy: "Use that model and mapping, or stop the mirror and start a new one.")
        }
        return try MirrorMapping(
            plan, hasRules: !context.registry.rules.isEmpty, store: store, second: record.second, as: record.part)
    }

    /// Returns the route in the present state.
    func route() throws -> MirrorMapping {
        let forward = try forward()
        guard record.state == .cutOver else { return forward }
        guard !record.isOneWay, let mapping = forward.mapping else {
            throw MigrationError(
                .unsupported, "The cut-over was one-way: the first store does not follow.",
                place: store, remedy: "Use the second store; \(.stopMirror) ends the mirror.")
        }
        return MirrorMapping(ReverseMapping(mapping, from: forward.from.model, to: forward.to.model), of: forward)
    }

    /// Runs `body` while no other run of Moult can change either store.
    func locked<Result>(_ body: () throws -> Result) throws -> Result {
        let locks = try [store, record.second].map { path in
            let sidecar = StoreRecords(store: path, like: store)
            try sidecar.make(system)
            return try RunOwner.take(sidecar, system)
        }
        defer { withExtendedLifetime(locks) {} }
        do {
            try removeParts()
            return try body()
        } catch let error as MigrationError where error.code == .locked && error.cause != nil {
            throw StoreLock.openElsewhere(error.place, system, cause: error.cause)
        }
    }

    /// Removes records and files of external data that a dead process has only partly written.
    private func removeParts() throws {
        for folder in [sidecar.folder, StoreRecords(store: record.second).folder] {
            for name in try system.list(folder) where name.hasSuffix(".part") {
                try system.remove(Path.join(folder, name))
            }
        }
        for store in [store, record.second] {
            try Recovery.removeParts(below: StoreRecords(store: store).support, system)
        }
    }

    /// Runs `body` with a temporary folder on the volume of the second store.
    func withWorkFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
        let second = StoreRecords(store: record.second)
        let folder = second.work("mirror")
        try second.make(system)
        // Remove the remains of a run that died.
        try system.removeTree(folder)
        try system.makeFolder(folder)
        defer { _ = try? system.removeTree(folder) }
        return try body(folder)
    }
}
