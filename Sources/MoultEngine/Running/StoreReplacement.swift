import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// Puts a backup where no sound store is: what is there is damaged, or nothing is.
///
/// A damaged file stays the same file. SQLite writes the whole backup over it in one transaction, which a process that
/// has it open takes part in; a rename would leave that process with a file of which the next journal came to lie next
/// to the restored store. Where nothing is, there is no process to lock out, and the store gets its name when it is
/// whole.
struct StoreReplacement {
    let migrator: Migrator
    let backup: StoreBackup
    /// With `restoredUUID`.
    let journal: Journal
    let sidecar: Sidecar
    /// The lock of the sidecar, which the caller holds.
    let owner: FileLock
    let isMissing: Bool
    let observer: MigrationObserver

    private var system: any System { migrator.system }
    private var store: String { sidecar.store }
    private var aside: String { sidecar.aside(journal.run) }
    private var log: MigrationLog { MigrationLog(sidecar, system) }

    /// - Returns: the lock of the restored store; nil if another process has opened it since.
    /// - Throws: with what was there as it was; where the disk does not tell what is there, the journal stays.
    func perform(_ restored: RestoredPages) throws -> StoreLock? {
        try journal.write(sidecar, system)
        do {
            guard !observer.isCancelled() else { throw MigrationRun.cancelled(store) }
            try putAside()
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

    /// Copies of what is there; of a store that is gone what is next to its path, which SQLite would mix into the one
    /// that takes its place.
    private func putAside() throws {
        let name = Path.name(of: store)
        let suffixes = try ([""] + StoreProbe.sideFileSuffixes).filter { suffix in
            // The index of a log is made again by whoever opens it.
            try suffix != "-shm" && system.exists(store + suffix)
        }
        try system.makeFolder(sidecar.work(journal.run))
        try system.makeFolder(aside)
        // Before anything lies in them, the folders must be there after a power cut.
        for folder in [sidecar.folder, sidecar.work(journal.run)] { try system.synchronise(folder) }
        for suffix in suffixes {
            let kept = Path.join(aside, name) + suffix
            if isMissing {
                try system.rename(store + suffix, to: kept)
            } else {
                try system.copy(store + suffix, to: kept)
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

    /// Whether the backup is of a store in WAL mode.
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
            try lock.connection.writeBackLog(system, isProven: false)
            if !usesLog { try lock.connection.execute("PRAGMA journal_mode = DELETE") }
        } catch {
            log.append("The store is restored, but its log could not be written back: ", error)
        }
        return lock
    }

    /// After an error: what the next process would find counts, and is made durable.
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

    /// A damaged store that had no log has none after a restore that failed: SQLite removes it, once it has begun one.
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
