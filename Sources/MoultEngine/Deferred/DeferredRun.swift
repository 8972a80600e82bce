import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import MoultVerify

/// One call that performs deferred tasks while it holds the store's lock.
final class DeferredRun {
    private let lock: StoreLock
    private let version: ModelVersion
    private let migrator: Migrator
    let clock: CallClock
    private let startedAt: Timestamp
    var observer: MigrationObserver
    var done: [DeferredTask] = []
    private var backup: StoreBackup?
    private var losses: [MigrationLoss] = []
    /// Whether a task drops app-owned objects.
    private var losesObjects = false
    /// The remaining work after this call's last task, and the schema number that it left in the store.
    private var known: (work: DeferredWork, schema: Int64)?
    /// The sizes of the tables when the call began.
    private var sizes: TableSizes?
    /// The expected time of this call's tasks, and the finished tasks' part of it, with their rows.
    var expected: (all: Double, done: Double, rows: Int64) = (0, 0, 0)

    var system: any System { migrator.system }
    var connection: Connection { lock.connection }

    init(
        _ lock: StoreLock, version: ModelVersion, _ migrator: Migrator, _ clock: CallClock,
        _ observer: MigrationObserver
    ) {
        self.lock = lock
        self.version = version
        self.migrator = migrator
        self.clock = clock
        self.observer = observer
        startedAt = migrator.system.now
    }

    func perform(_ snapshot: StoreSnapshot) throws -> DeferredOutcome {
        guard snapshot.metadata.hasDeferredWork else {
            try clock.limit.check(
                against: MigrationUnit(sentence: "There is no deferred work in this store.", seconds: 0))
            return outcome(left: [])
        }
        try snapshot.requireExpectedCatalogue(for: version.model)
        let work = try DeferredWork(snapshot, version: version, measuredOver: connection)
        let tasks = work.tasks
        losesObjects = work.losesObjects
        try clock.limit.check(against: longestUnit(of: tasks))
        var planned = tasks
        if case .units(let count) = clock.limit { planned = Array(tasks.prefix(count)) }
        expected.all = planned.reduce(0) { $0 + $1.parts.total }
        sizes = try TableSizes(over: connection)
        observer = endingInTime(observer).timed(
            by: Estimate(
                finishing: expected.all,
                backup: needsBackup(before: tasks) ? try StoreState(connection).size : 0), system)
        observer.totalRows = planned.reduce(0) { $0 + $1.rows }
        defer { record() }
        if tasks.isEmpty { try connection.transaction { try settle() } }
        try makeBackup(before: tasks)
        let named = try namedFiles()
        var left = tasks
        while let task = left.first, hasTime(for: task) {
            let begun = clock.elapsed
            do {
                try run(task)
            } catch let error as MigrationError where error.code == .cancelled && clock.isOver && hasGained {
                // Finished tasks stay done; the rest is left to the next call.
                break
            } catch let error as MigrationError where error.code == .cancelled {
                throw stopped(at: task, begun: begun, error)
            }
            done.append(task)
            expected.done += task.parts.total
            expected.rows += task.rows
            left.removeFirst()
        }
        removeFiles(named)
        tidy()
        observer.report(.done, 1, rows: done.reduce(0) { $0 + $1.rows }, sentence(left))
        return outcome(left: left)
    }

    /// Whether there is time for a task. The first one always begins: a budget is never shorter than the longest task.
    private func hasTime(for task: DeferredTask) -> Bool {
        guard hasGained else { return true }
        return switch clock.limit {
        case .all: true
        case .units(let count): done.count < count
        case .seconds(let budget): budget - clock.elapsed >= task.seconds
        }
    }

    /// Whether the call has done something that the next one need not repeat.
    private var hasGained: Bool { !done.isEmpty || backup != nil }

    private func outcome(left: [DeferredTask]) -> DeferredOutcome {
        DeferredOutcome(done: done, left: left, backup: backup, seconds: clock.elapsed, losses: losses)
    }

    private func sentence(_ left: [DeferredTask]) -> String {
        left.isEmpty ? "Nothing is left to do" : "\(left.count) \(left.count == 1 ? "task is" : "tasks are") left to do"
    }
}

// MARK: - One task

extension DeferredRun {
    private func run(_ task: DeferredTask) throws {
        let work = try currentWork()
        let script = try work.script(for: task)
        let lost = try work.losses(of: task, over: connection)
        try checkSpace(for: task, copies: script.copying == nil ? 1 : 2)
        let observer = taskObserver(task)
        // Triggers and views keep their text unchanged.
        try connection.execute("PRAGMA legacy_alter_table = ON")
        defer { try? connection.execute("PRAGMA legacy_alter_table = OFF") }
        try connection.registerCoreDataStubs()
        do {
            known = try connection.transaction { try perform(task, of: work, script, observer) }
            losses += lost
        } catch {
            // A WAL whose synchronisation failed still holds the commit, and the next process would find it there.
            try? lock.settle()
            throw error
        }
    }

    /// Returns the work left in the store. A task changes only its own table, or reads the store again itself, so this
    /// reads it again only if another process has changed it.
    private func currentWork() throws -> DeferredWork {
        if let known, try connection.schemaVersion() == known.schema { return known.work }
        return try DeferredWork(StoreSnapshot(connection), version: version)
    }

    /// Performs a task in the open transaction.
    ///
    /// - Returns: the remaining work, and the schema number after the task.
    private func perform(
        _ task: DeferredTask, of work: DeferredWork, _ script: DeferredWork.Script, _ observer: MigrationObserver
    ) throws -> (work: DeferredWork, schema: Int64) {
        let parts = task.parts.ends
        if let copying = script.copying, let copy = script.rebuilt?.copy {
            try run(copying, observer.spanning(0...0))
            try RebuildVerifier(connection, copy).verify()
        }
        try run(script.making, observer.spanning(0...parts.made))
        var observer = observer
        if let rebuilt = script.rebuilt {
            try observer.spanning(parts.made...parts.proven).watching(
                connection, as: .change, rows: { _ in task.rows },
                during: { try RebuildVerifier(connection, rebuilt).verify() })
            // Count the rows only once.
            observer.onProgress = { [onProgress = observer.onProgress] progress in
                var progress = progress
                progress.rows = task.rows
                onProgress(progress)
            }
        }
        var (first, rest) = (script.leaving, script.leaving)
        first.statements.removeLast(max(first.statements.count - 1, 0))
        rest.statements.removeFirst(min(rest.statements.count, 1))
        try run(first, observer.spanning(parts.proven...parts.left))
        try run(rest, observer.spanning(parts.left...parts.indexed))
        guard var left = try work.without(task, doneOver: connection) else { throw Self.unchanged(task) }
        // The catalogue no longer shows what the task has dropped.
        if left.tasks.isEmpty || script.dropsObjects {
            left = try DeferredWork(StoreSnapshot(connection), version: version)
            if left.tasks.isEmpty { try settle() }
        }
        guard !observer.isCancelled() else { throw Executor.cancelled(connection.path) }
        return (left, try connection.schemaVersion())
    }

    private func run(_ script: StoreScript, _ observer: MigrationObserver) throws {
        try ScriptRunner(script: script, observer: observer, sizes: sizes).run(on: connection)
    }

    /// Checks that the tables match a new store's exactly, and removes the mark of deferred work.
    private func settle() throws {
        let work = try DeferredWork(StoreSnapshot(connection), version: version)
        let faults = try StoreVerifier(connection, shape: StoreShape(work.fresh, withObjects: true)).structure()
        if let fault = faults.first {
            throw MigrationError(
                .verificationFailed, "The tables are not those of a new store. \(fault.message)", place: fault.place,
                remedy: "This task changed nothing. Report this as a bug, with the model.")
        }
        var metadata = try StoreMetadata(from: connection)
        metadata.hasDeferredWork = false
        // An app's trigger may refuse the write, or ignore it.
        let triggers = try connection.catalogue().triggers.map(\.entry).filter { $0.tableName == "Z_METADATA" }
        try connection.withoutTriggers(triggers) { try metadata.write(to: connection) }
    }

    private static func unchanged(_ task: DeferredTask) -> MigrationError {
        MigrationError(
            .verificationFailed, "The task ran without effect: \(task.sentence)", place: task.name,
            remedy: "This task changed nothing. Report this as a bug, with the model.")
    }

    /// Checks the space for a table's rows, which exist twice and pass through the WAL once more.
    private func checkSpace(for task: DeferredTask, copies: Int64) throws {
        guard task.kind == .rebuildTable, let bytes = task.bytes.map({ $0 * copies }) else { return }
        let (folder, pageSize) = (Path.folder(of: connection.path), try connection.integer("PRAGMA page_size") ?? 0)
        let log = SpaceRequirement.commitLog(pages: 2 * bytes / max(pageSize, 1), pageSize: pageSize)
        try SpaceRequirement(parts: [
            .init(reason: "rebuilt table", folder: folder, bytes: bytes),
            .init(reason: "commit log", folder: folder, bytes: log),
            .records(in: folder),
        ]).check(for: "The deferred work", system)
    }

    /// - Parameter begun: the seconds that had passed in the call before the task.
    private func stopped(at task: DeferredTask, begun: Double, _ error: MigrationError) -> MigrationError {
        if clock.isOver, !observer.isCancelled(), case .seconds(let budget) = clock.limit {
            return .budgetTooSmall(budget, max(task.seconds, clock.elapsed - begun) * 2, task.sentence, after: begun)
        }
        return MigrationError(
            .cancelled, "The work was cancelled. The current task changed nothing: \(task.sentence)",
            place: connection.path, remedy: "Earlier tasks stay done. Run the command again for the rest.",
            cause: error.cause)
    }
}

// MARK: - Before and after

extension DeferredRun {
    private func longestUnit(of tasks: [DeferredTask]) -> MigrationUnit {
        let longest = tasks.max { $0.seconds < $1.seconds }
        let unit = MigrationUnit(sentence: longest?.sentence ?? "", seconds: longest?.seconds ?? 0)
        guard needsBackup(before: tasks), let state = try? StoreState(connection) else { return unit }
        // The store is copied, and read again to prove the copy.
        let seconds = Double(state.size) * (CostModel.backup + CostModel.proof)
        return seconds > unit.seconds ? MigrationUnit(sentence: "Back up the store.", seconds: seconds) : unit
    }

    private func needsBackup(before tasks: [DeferredTask]) -> Bool {
        guard !migrator.options.isFrugal, losesObjects || tasks.contains(where: \.losesValues) else {
            return false
        }
        return (try? earlierBackup()).flatMap { $0 } == nil
    }

    /// Returns the backup that an earlier call made of what this migration left.
    private func earlierBackup() throws -> StoreBackup? {
        let hashes = version.hashes.entities.mapValues(\.base64)
        let migrated =
            try RunHistory(lock.sidecar, system).last { [.migrate, .downgrade].contains($0.operation) }?
            .endTime ?? ""
        return try migrator.backups(of: connection.path).list().first { backup in
            backup.manifest.reason == .finish && backup.manifest.versionHashes == hashes
                && backup.manifest.createdAt.iso8601 >= migrated
        }
    }

    private func makeBackup(before tasks: [DeferredTask]) throws {
        guard needsBackup(before: tasks) else { return }
        let size = try StoreState(connection).size
        try migrator.checkSpace(backingUp: connection, of: lock.sidecar, for: "The deferred work")
        backup = try migrator.backups(of: connection.path).make(
            of: lock, version: version.name, for: .finish, observer)
        observer.report(.backup, 1, bytes: size, backup.map { "Made the backup \($0.name)" })
    }

    /// Writes the WAL back. Throws nothing, because the work is committed: if the WAL cannot be written back now, the
    /// next process that opens the store does it.
    private func tidy() {
        do {
            try connection.writeBackLog(system)
        } catch {
            MigrationLog(lock.sidecar, system).append("The work is done, but the cleanup failed: ", error)
        }
    }

    /// Returns the names of the external files that the store refers to; empty if no external file exists.
    private func namedFiles() throws -> Set<String> {
        let hasFiles = try !ExternalStorage(store: lock.sidecar.store).files(on: system).isEmpty
        return hasFiles ? try ExternalStorage.names(in: connection) : []
    }

    /// Removes the external files that only the dropped data needed. All tasks are committed.
    private func removeFiles(_ named: Set<String>) {
        guard !named.isEmpty, !done.isEmpty else { return }
        let external = ExternalStorage(store: lock.sidecar.store)
        do {
            let gone = try named.subtracting(ExternalStorage.names(in: connection))
            for name in try external.droppable(gone, of: lock.sidecar.store, on: system) {
                try system.remove(Path.join(external.folder, name))
            }
        } catch {
            MigrationLog(lock.sidecar, system).append("The work is done, but files of external data stay: ", error)
        }
    }

    private func record() {
        let log = MigrationLog(lock.sidecar, system)
        for task in done { log.append(task.sentence) }
        for loss in losses { log.append(loss.sentence) }
        guard !done.isEmpty else { return }
        let history = RunHistory(lock.sidecar, system)
        // An earlier call may have died before it recorded its backup.
        func unrecorded() throws -> StoreBackup? {
            try earlierBackup().flatMap { made in try history.last { $0.backup == made.name } == nil ? made : nil }
        }
        let backup = self.backup ?? (try? unrecorded())
        // The tasks are done, whether or not the history can be written.
        try? history.append(
            StoreRun(
                run: "\(startedAt.iso8601Basic)-\(system.uniqueName().prefix(8))", operation: .finish, result: .done,
                from: version.name, to: version.name, startTime: startedAt.iso8601, endTime: system.now.iso8601,
                seconds: (clock.elapsed * 1000).rounded() / 1000, backup: backup?.name,
                backups: backup.map { Path.folder(of: $0.folder) }, rows: done.reduce(0) { $0 + $1.rows },
                bytes: done.reduce(0) { $0 + ($1.bytes ?? 0) }, error: nil,
                losses: losses))
    }
}

extension Connection {
    /// Returns a number that every change of the catalogue raises, whichever process makes it.
    fileprivate func schemaVersion() throws -> Int64 { try integer("PRAGMA main.schema_version") ?? 0 }
}

extension RebuildVerifier {
    fileprivate init(_ connection: Connection, _ rebuilt: DeferredWork.Rebuilt) {
        let column = { (column: DeferredWork.Rebuilt.Column) in
            Column(column.name, origin: column.origin, numbers: column.numbers)
        }
        self.init(
            connection, table: rebuilt.table, old: rebuilt.old, keys: rebuilt.keys.map(column),
            columns: rebuilt.columns.map(column), without: rebuilt.repeated)
    }
}
