import MoultBasics
import MoultEngine
import MoultSQLite
import MoultStore

/// The result of moving a store.
public struct MoveReport: Sendable, Equatable {
    /// What a call did.
    public enum Outcome: String, Sendable, Hashable, CaseIterable, Codable {
        /// The store was moved, by this call or by an earlier one that was interrupted.
        case moved
        /// The store was already there.
        case nothingToDo
    }

    /// What the call did.
    public package(set) var outcome: Outcome
    /// The name of the run in the histories of both places.
    public package(set) var run: String
    /// The path that the store was moved to.
    public package(set) var destination: String
    /// The backup that is kept at the old place; nil if it has been removed since.
    public package(set) var backup: StoreBackup?
    /// The size of the store, in bytes.
    public package(set) var bytes: Int64
    package var seconds: Double
    /// The error of the cleanup at the old place, which the next call there or at the new one repeats; nil if it is done.
    package var untidied: MigrationError?

    /// The time that the move took.
    public var duration: Duration { .seconds(seconds) }
}

extension Migrator {
    /// Moves a store to another path, with its external data and the records that Moult keeps next to it.
    ///
    /// A verified backup stays at the old place, with a record of where the store went. On one volume the store's own
    /// file is renamed, so that exactly one of the two paths is the store at every moment. On another volume a compared
    /// copy gets the new path, and then the old file is removed. If the process dies, the next run at either place ends
    /// the move (``recover(_:)``), or undoes it if it had not committed.
    ///
    /// - Parameters:
    ///   - wanted: the new path, or a folder in which the store keeps its name.
    ///   - version: returns the name of the store's version, for the backup.
    /// - Throws: `usage` if something is at the new path, or if the store has a mirror; `locked` if another process has
    ///   the store open; `cancelled`, `insufficientStorage`, `storeCorrupted`. The store is where it was then.
    package func move(
        _ store: String, to wanted: String, version: () throws -> String, _ observer: MigrationObserver = .none
    ) throws -> MoveReport {
        let old = try sidecar(of: store)
        let destination = try newPath(wanted, of: old.store)
        if let report = try endMove(from: old, to: destination) { return report }
        do {
            return try beginMove(store, from: old, to: destination, version: version, observer)
        } catch {
            // Another process may have moved the store there meanwhile.
            guard try !system.exists(old.store) else { throw error }
            guard let report = try endMove(from: old, to: destination) else { throw error }
            return report
        }
    }

    /// Returns the report of a move that has ended, after ending it if its process died; nil if there is none.
    private func endMove(from old: StoreRecords, to destination: String) throws -> MoveReport? {
        let hasEnded = try finishMove(old) == .completed
        guard try !system.exists(old.store), let moved = MovedStore(from: old.store, system),
            moved.destination == destination, try system.exists(destination)
        else { return nil }
        try finishMove(StoreRecords(store: destination))
        return try report(of: moved, old, hasEnded ? .moved : .nothingToDo)
    }

    private func beginMove(
        _ store: String, from old: StoreRecords, to destination: String, version: () throws -> String,
        _ observer: MigrationObserver
    ) throws -> MoveReport {
        try recoverIfNeeded(store)
        let path = try ReadOnlyStore.checkFile(store, system)
        let name = try version()
        let lock = try lock(path)
        defer { lock.release() }
        let recovery = try Recovery.heal(lock, system)
        if recovery != .nothing { observer.report(.lock, 0, "Recovered an interrupted run") }
        lock.report(to: observer)
        guard try !system.exists(old.mirror) else {
            throw MigrationError(
                .usage, "The store has a mirror, which would not find it at another path.", place: path,
                remedy: "End the mirror with \(.stopMirror), and start it again after the move.")
        }
        return try StoreRelocation(self, lock, to: destination, version: name, observer).perform()
    }

    /// Returns the absolute path that a person means: a folder stands for the store's own name in it.
    private func newPath(_ wanted: String, of store: String) throws -> String {
        let isFolder = try wanted.hasSuffix("/") || system.status(of: wanted)?.kind == .folder
        let path = isFolder ? Path.join(wanted, Path.name(of: store)) : wanted
        let folder = Path.folder(of: path)
        guard try system.status(of: folder)?.kind == .folder else {
            throw MigrationError(
                .fileNotFound, "There is no folder \(folder).", place: path,
                remedy: "Create the folder first, or name a path in an existing one.")
        }
        return Path.join(try system.resolve(folder), Path.name(of: path))
    }

    /// Returns the report of a move that has ended.
    private func report(of moved: MovedStore, _ old: StoreRecords, _ outcome: MoveReport.Outcome) throws -> MoveReport {
        let run = try RunHistory(old, system).last { $0.run == moved.run }
        let backup = try run?.backup.flatMap { name in
            try run?.backups.map { BackupFolder($0, system) }?.list().first { $0.name == name }
        }
        return MoveReport(
            outcome: outcome, run: moved.run, destination: moved.destination, backup: backup, bytes: run?.bytes ?? 0,
            seconds: run?.seconds ?? 0)
    }
}

/// One move of one store, from the journal to the record at the old place.
private final class StoreRelocation {
    private let migrator: Migrator
    private let lock: StoreLock
    private let destination: String
    private let observer: MigrationObserver
    private let backups: BackupFolder
    private let startedAt: Timestamp
    private let before: StoreState
    private var journal: Journal

    private var system: any System { migrator.system }
    private var old: StoreRecords { lock.sidecar }
    private var log: MigrationLog { MigrationLog(old, system) }
    private var move: StoreMove { StoreMove(journal, old, system) }
    /// The paths that must be free.
    private var places: [String] {
        let new = StoreRecords(store: destination)
        return [destination, new.support, new.folder]
    }

    init(
        _ migrator: Migrator, _ lock: StoreLock, to destination: String, version: String, _ observer: MigrationObserver
    ) throws {
        (self.migrator, self.lock, self.destination) = (migrator, lock, destination)
        backups = try migrator.backups(of: lock.sidecar.store)
        startedAt = migrator.system.now
        before = try StoreState(lock.connection)
        let run = "\(startedAt.iso8601Basic)-\(migrator.system.uniqueName().prefix(8))"
        let name = version.isEmpty ? before.unnamedVersion : version
        journal = Journal(
            ofMove: run, at: startedAt.iso8601, of: name, before, backups: backups.folder, to: destination)
        self.observer = observer.timed(by: Estimate(restoring: before.size, over: before.size), migrator.system)
    }

    func perform() throws -> MoveReport {
        try StagedStore.checkFree(destination, taking: places, apartFrom: old.store, system)
        let unfinished = move.staged
        let backup: StoreBackup
        let canRename: Bool
        let unsynchronised: (any Error)?
        do {
            try journal.write(old, system)
            log.append("Run \(journal.run): moving the store to \(destination).")
            // From here the file alone is the store.
            try lock.connection.keepWALOnClose(false)
            try lock.connection.writeBackLog(system)
            backup = try makeBackup()
            try system.makeFolder(unfinished.folder)
            canRename = self.canRename(into: unfinished)
            try fill(unfinished, copyingPages: !canRename)
            guard !observer.isCancelled() else { throw cancelled }
            if try !ExternalStorage(store: old.store).files(on: system).isEmpty {
                journal.droppedFiles = try ExternalStorage.names(in: lock.connection).sorted()
            }
            if canRename { try leaveFileAlone() }
            journal.state = .committing
            try journal.write(old, system)
            unsynchronised = try unfinished.install(taking: places, moving: canRename ? old.store : nil)
        } catch {
            let error: any Error = (error as? MigrationError)?.code == .cancelled ? cancelled : error
            abandon(error)
            throw error
        }
        observer.report(.commit, 1, bytes: before.size, "The store is at \(destination)")
        let seconds = system.now.seconds(since: startedAt)
        var untidied: (any Error)?
        do {
            if let unsynchronised { throw unsynchronised }
            try move.complete(.done, seconds: seconds, size: before.size, removing: canRename ? nil : lock)
        } catch {
            untidied = error
            log.append("The store is at \(destination), but the cleanup failed: ", error)
        }
        observer.report(.done, 1, bytes: before.size)
        return MoveReport(
            outcome: .moved, run: journal.run, destination: destination, backup: backup, bytes: before.size,
            seconds: seconds, untidied: untidied as? MigrationError)
    }

    private func makeBackup() throws -> StoreBackup {
        let backup = try backups.make(of: lock, version: journal.from, for: .move, observer) { name in
            journal.backup = name
            try journal.write(old, system)
        }
        observer.report(.backup, 1, "Made the backup \(backup.name)")
        return backup
    }

    /// Whether a file can be renamed into a folder, which two mounts of one volume do not allow either.
    private func canRename(into unfinished: StagedStore) -> Bool {
        let (probe, moved) = (old.work("probe"), Path.join(unfinished.folder, "probe"))
        do {
            try system.write([], to: probe, old.rights)
            try system.rename(probe, to: moved)
            return true
        } catch {
            _ = try? system.remove(probe)
            return false
        }
    }

    /// Removes the empty WAL. At its end the connection would remove the file at that path, where another store may be
    /// by then.
    private func leaveFileAlone() throws {
        try lock.connection.keepWALOnClose(true)
        for suffix in ["-wal", "-shm"] { try system.remove(old.store + suffix) }
        try system.synchronise(Path.folder(of: old.store))
    }

    /// Copies what belongs to the store, and its pages if the file cannot be renamed, into the folder of the new store.
    private func fill(_ unfinished: StagedStore, copyingPages: Bool) throws {
        let folder = Path.join(unfinished.folder, "store")
        try system.makeFolder(folder)
        // The copy keeps the final name, because its other files are named after it.
        let copy = StoreRecords(store: Path.join(folder, Path.name(of: destination)), like: old.store)
        try copyRecords(to: copy)
        if try system.exists(old.support) { try system.copyTree(old.support, to: copy.support, old.rights) }
        if copyingPages {
            try BackupFolder(folder, system).copyPages(from: lock.connection, to: copy.store, old.rights, observer)
            try system.synchronise(copy.store)
            try BackupFolder.checkSoundness(of: copy.store, for: .move, place: old.store)
        }
        for (made, name) in [
            (copy.store, unfinished.new), (copy.support, unfinished.support), (copy.folder, unfinished.records),
        ] where try system.exists(made) {
            try system.rename(made, to: name)
        }
        for place in [folder, unfinished.folder] { try system.synchronise(place) }
    }

    /// Copies the records: the history and the log with this run, the quarantine, and the backups next to the store
    /// except the new one.
    private func copyRecords(to copy: StoreRecords) throws {
        try system.makeFolder(copy.folder, old.rights)
        for name in try system.list(old.folder) where StoreMove.isCarried(name) {
            let (source, made) = (Path.join(old.folder, name), Path.join(copy.folder, name))
            guard try system.status(of: source)?.kind == .folder else {
                try system.copyExactly(source, to: made, old.rights)
                try system.synchronise(made)
                continue
            }
            guard source == old.backups else {
                try system.copyTree(source, to: made, old.rights)
                continue
            }
            try system.makeFolder(made, old.rights)
            for backup in try system.list(source) where backup != journal.backup && !backup.hasPrefix(".") {
                try system.copyTree(Path.join(source, backup), to: Path.join(made, backup), old.rights)
            }
            try system.synchronise(made)
        }
        // The backup is of the old place, where a rollback undoes the move.
        try RunHistory(copy, system).append(
            journal.record(
                .done, at: system.now, seconds: system.now.seconds(since: startedAt), size: before.size, backup: nil))
        MigrationLog(copy, system).append("Run \(journal.run): moved here from \(old.store).")
        try StoreArrival(run: journal.run, from: old.store, uuid: before.uuid).write(to: copy, system)
        try system.synchronise(copy.folder)
    }

    private var cancelled: MigrationError {
        MigrationError(
            .cancelled, "The move was cancelled. The store is where it was.", place: old.store,
            remedy: "Run the command again to move the store.")
    }

    /// Ends a move that has changed nothing. A cancelled move leaves no backup.
    private func abandon(_ error: any Error) {
        let isCancelled = (error as? MigrationError)?.code == .cancelled
        log.append("Run \(journal.run): \(isCancelled ? "cancelled" : "failed"): ", error)
        do {
            // A rename may have happened although it reported an error. The next run then ends the move.
            guard try journal.state != .committing || !move.isCommitted else { return }
            try move.discard()
            if let name = journal.backup {
                if try !system.exists(Path.join(backups.folder, name)) {
                    journal.backup = nil
                } else if isCancelled {
                    try backups.remove(try backups.backup(named: name))
                    journal.backup = nil
                }
            }
            var record = journal.record(
                isCancelled ? .cancelled : .failed, at: system.now, seconds: system.now.seconds(since: startedAt),
                size: before.size, backup: journal.backup)
            record.error = (error as? MigrationError).map { "\($0.code): \($0.message)" } ?? "\(type(of: error))"
            try RunHistory(old, system).append(record)
            try Recovery.removeLeftovers(old, backups, system)
            try Journal.remove(old, system)
        } catch {
            log.append("Run \(journal.run): the cleanup failed: ", error)
        }
    }
}
