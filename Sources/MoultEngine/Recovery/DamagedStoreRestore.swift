import MoultBasics
import MoultSQLite
import MoultStore

/// Restores a backup where there is no sound store: the store is damaged or missing.
///
/// A damaged file stays the same file: SQLite overwrites it with the backup in one transaction, which other processes
/// with the file open take part in. After a rename, such a process would keep the old file and put its next journal
/// next to the restored store. A missing store has no process to lock out, so the new file is renamed into place when
/// it is complete.
struct DamagedStoreRestore {
    let migrator: Migrator
    let backup: StoreBackup
    /// The journal, with `restoredUUID`.
    let journal: Journal
    let sidecar: StoreRecords
    /// The lock of the sidecar, which the caller holds.
    let owner: FileLock
    let isMissing: Bool
    let observer: MigrationObserver

    private var system: any System { migrator.system }
    private var store: String { sidecar.store }
    private var aside: String { sidecar.aside(journal.run) }
    private var log: MigrationLog { MigrationLog(sidecar, system) }

    /// - Returns: the lock of the restored store; nil if another process has opened it since.
    /// - Throws: an error after which the old files are unchanged; if the disk does not show their state, the journal
    ///   stays.
    func perform(_ restored: RestoredPages) throws -> StoreLock? {
        try journal.write(sidecar, system)
        do {
            guard !observer.isCancelled() else { throw Executor.cancelled(store) }
            try moveAside()
            try migrator.restoreExternalFiles(backup, sidecar)
            guard !isMissing else {
                try putInPlace(restored)
                return try lockRestored()
            }
            return try overwrite(restored)
        } catch {
            return try settle(after: error)
        }
    }

    /// Copies the present files. For a missing store, moves the side files at its path, which SQLite would apply to the
    /// new store.
    private func moveAside() throws {
        let name = Path.name(of: store)
        let suffixes = try ([""] + ReadOnlyStore.sideFileSuffixes).filter { suffix in
            // SQLite rebuilds the WAL index when it opens the store.
            try suffix != "-shm" && system.exists(store + suffix)
        }
        try system.makeFolder(sidecar.work(journal.run))
        try system.makeFolder(aside, sidecar.rights)
        // The folders must survive a power cut before any file is in them.
        for folder in [sidecar.folder, sidecar.work(journal.run)] { try system.synchronise(folder) }
        for suffix in suffixes {
            let kept = Path.join(aside, name) + suffix
            if isMissing {
                try system.rename(store + suffix, to: kept)
            } else {
                try system.copyExactly(store + suffix, to: kept, sidecar.rights)
                try system.synchronise(kept)
            }
        }
        if isMissing { try system.remove(store + "-shm") }
        try system.synchronise(aside)
        if suffixes.isEmpty { try system.remove(aside) }
        try system.synchronise(Path.folder(of: store))
    }

    private func putInPlace(_ restored: RestoredPages) throws {
        let made = Path.join(sidecar.work(journal.run), "restored")
        try system.makeFile(made, .like(backup.store))
        let new = try Connection(made, mode: .readWrite, isProven: true)
        do {
            try migrator.restorePages(of: restored.connection, to: new, observer)
            if try usesLog { try new.execute("PRAGMA journal_mode = WAL") }
            new.close()
        } catch {
            new.close()
            throw error
        }
        try system.synchronise(made)
        do {
            try system.rename(made, toUnused: store)
        } catch let error as MigrationError where error.code == .usage {
            throw MigrationError(
                .locked, "A store was created at this path in the meantime.", place: store,
                remedy: "Close every app that uses it, and run the command again. It is backed up first.")
        }
        try system.synchronise(Path.folder(of: store))
        observer.report(.commit, 1, bytes: backup.manifest.size)
    }

    /// Whether the backed-up store uses WAL mode.
    private var usesLog: Bool { get throws { try system.read(backup.store, prefix: 20).last == 2 } }

    private func overwrite(_ restored: RestoredPages) throws -> StoreLock {
        let usesLog = try usesLog
        let source = restored.connection
        let lock = try StoreLock(
            replacing: store, pageSize: try source.integer("PRAGMA page_size") ?? 4_096, system,
            patience: migrator.options.patience, owner: owner)
        do {
            try migrator.restorePages(of: source, to: lock.connection, observer)
        } catch {
            lock.release()
            throw error
        }
        do {
            try lock.connection.ignoresContents(false)
            try lock.connection.keepWALOnClose(false)
            try lock.connection.writeBackLog(system)
            if !usesLog { try lock.connection.execute("PRAGMA journal_mode = DELETE") }
        } catch {
            log.append("The store is restored, but its log could not be written back: ", error)
        }
        return lock
    }

    /// Handles an error: checks which store is in place, then makes the restored one durable or undoes the restore.
    private func settle(after error: any Error) throws -> StoreLock? {
        let outcome: RecoveryOutcome
        do {
            outcome = Recovery.outcome(of: try StoreCondition(of: store, system), journal)
            if outcome == .completed {
                for path in [store, store + "-wal"] where try system.exists(path) { try system.synchronise(path) }
                try system.synchronise(Path.folder(of: store))
            } else {
                try Recovery.settleAside(journal, outcome, sidecar, system)
                try removeOwnLog()
                try Recovery.removeParts(below: sidecar.support, system)
                try system.removeTree(sidecar.work(journal.run))
                try Journal.remove(sidecar, system)
            }
        } catch let obstacle {
            log.append("Run \(journal.run): it is not yet known which store is there: ", obstacle)
            throw error
        }
        guard outcome == .completed else {
            log.append("Run \(journal.run): failed: ", error)
            throw error
        }
        log.append("The restore reported an error, but the store is restored: ", error)
        return try lockRestored()
    }

    /// Removes the WAL that a failed restore began for a damaged store that had none.
    private func removeOwnLog() throws {
        let kept = Path.join(aside, Path.name(of: store))
        guard try system.exists(kept), try !system.exists(kept + "-wal"), try system.exists(store + "-wal"),
            try system.read(store + "-wal", prefix: 8).allSatisfy({ $0 == 0 })
        else { return }
        try system.remove(store + "-wal")
    }

    private func lockRestored() throws -> StoreLock? {
        do {
            return try StoreLock(store, system, patience: migrator.options.patience, owner: owner)
        } catch {
            // The store is restored; the journal stays, and the next run tidies up.
            log.append("The store is restored, but could not be opened: ", error)
            return nil
        }
    }
}

/// The condition of a store, determined without changing a byte.
enum StoreCondition: Sendable, Equatable {
    case missing
    /// Not a store, or a store with pages that SQLite reports as damaged; with the reason.
    case damaged(String)
    case sound(uuid: String)

    /// Requires that no connection of this process has the store open.
    init(of store: String, _ system: any System) throws {
        guard try system.exists(store) else {
            self = .missing
            return
        }
        do {
            self = try ReadOnlyStore.read(store, system: system) { probe in
                try probe.connection.checkPages(place: store)
                return .sound(uuid: try StoreState(probe.connection).uuid)
            }
        } catch let error as MigrationError where ReadOnlyStore.unreadable.contains(error.code) {
            self = .damaged("\(error)")
        }
    }
}

/// Recovery of a restore that died where no sound store was (``DamagedStoreRestore``).
extension Recovery {
    /// Undoes a restore that died before its commit, where SQLite has nothing to lock. A restore that committed has
    /// left a sound store, which ``heal(_:_:keepsPaused:)`` handles.
    ///
    /// The caller holds the lock of the sidecar.
    ///
    /// - Parameter condition: the condition of the store, which this does not change.
    static func healUnsound(_ sidecar: StoreRecords, _ condition: StoreCondition, _ system: any System) throws
        -> Outcome
    {
        if case .sound = condition { return .nothing }
        let journal = try readJournal(sidecar, system)
        guard let journal, journal.operation == .rollback else {
            // The journal is about a store that no longer exists.
            if let move = journal.flatMap({ StoreMove($0, at: sidecar, system) }), try !move.isCommitted {
                try move.discard()
            }
            try removeLeftovers(sidecar, BackupFolder(sidecar.backups, system), system)
            return .nothing
        }
        return try conclude(journal, .undone, size: 0, sidecar, system)
    }

    /// Returns the outcome of a restore, judged by the condition of the store.
    static func outcome(of condition: StoreCondition, _ journal: Journal) -> Outcome {
        guard case .sound(let uuid) = condition else { return .undone }
        return uuid == journal.restoredUUID ? .completed : .replaced
    }

    /// Puts back or keeps the files that a restore set aside. They are in its working folder until its outcome is
    /// known.
    static func settleAside(_ journal: Journal, _ outcome: Outcome, _ sidecar: StoreRecords, _ system: any System)
        throws
    {
        guard journal.restoredUUID != nil else { return }
        let aside = sidecar.aside(journal.run)
        guard try system.exists(aside) else { return }
        guard outcome == .undone else { return try keepAside(journal.run, sidecar, system) }
        // For a present store these are copies. The side files of a missing store were moved.
        let name = Path.name(of: sidecar.store)
        if try system.exists(Path.join(aside, name)) { return }
        for suffix in ReadOnlyStore.sideFileSuffixes {
            let (kept, path) = (Path.join(aside, name) + suffix, sidecar.store + suffix)
            guard try system.exists(kept) else { continue }
            // A file that another process has made there since belongs to that process.
            do {
                try system.rename(kept, toUnused: path)
            } catch let error as MigrationError where error.code == .usage {
                continue
            }
        }
        try system.synchronise(Path.folder(of: sidecar.store))
    }

    /// Moves the files that were set aside to their permanent folder.
    static func keepAside(_ run: String, _ sidecar: StoreRecords, _ system: any System) throws {
        guard try system.exists(sidecar.aside(run)) else { return }
        try system.makeFolder(sidecar.damaged, sidecar.rights)
        try system.synchronise(sidecar.folder)
        try system.rename(sidecar.aside(run), to: sidecar.setAside(run))
        try system.synchronise(sidecar.damaged)
    }
}

extension StoreRecords {
    /// Returns the folder where a restore keeps the previous files until it commits.
    func aside(_ run: String) -> String { Path.join(work(run), "damaged") }

    /// Returns the folder where the previous files of a store are kept after a backup has replaced it.
    func setAside(_ run: String) -> String { Path.join(damaged, run) }
}
