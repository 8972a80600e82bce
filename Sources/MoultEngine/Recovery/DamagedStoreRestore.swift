import MoultBasics
import MoultSQLite
import MoultStore

/// Puts a backup where no sound store is: what is there is damaged, or nothing is.
///
/// A damaged file stays the same file. SQLite writes the whole backup over it in one transaction, which a process that
/// has it open takes part in; a rename would leave that process with a file of which the next journal came to lie next
/// to the restored store. Where nothing is, there is no process to lock out, and the store gets its name when it is
/// whole.
struct DamagedStoreRestore {
    let migrator: Migrator
    let backup: StoreBackup
    /// With `restoredUUID`.
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
    /// - Throws: with what was there as it was; where the disk does not tell what is there, the journal stays.
    func perform(_ restored: RestoredPages) throws -> StoreLock? {
        try journal.write(sidecar, system)
        do {
            guard !observer.isCancelled() else { throw Executor.cancelled(store) }
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

/// The condition of a store at its path, found out without changing a byte.
enum StoreCondition: Sendable, Equatable {
    case missing
    /// Not a store, or one whose pages SQLite finds damaged; with the reason.
    case damaged(String)
    case sound(uuid: String)

    /// No connection of this process may have the store open.
    init(of store: String, _ system: any System) throws {
        guard try system.exists(store) else {
            self = .missing
            return
        }
        do {
            self = try StoreProbe.read(store, system: system) { probe in
                try probe.connection.checkPages(place: store)
                return .sound(uuid: try StoreState(probe.connection).uuid)
            }
        } catch let error as MigrationError where [.notAStore, .storeCorrupted, .metadataInvalid].contains(error.code) {
            self = .damaged("\(error)")
        }
    }
}

/// Recovery of a restore that died where no sound store was (``DamagedStoreRestore``).
extension Recovery {
    /// Undoes a restore that died before its commit, where SQLite has nothing to lock. One that had committed has left a
    /// sound store, which ``heal(_:_:keepsPaused:)`` is for.
    ///
    /// Whoever calls it holds the lock of the sidecar.
    ///
    /// - Parameter condition: of the store; it stays what it is.
    static func healUnsound(_ sidecar: StoreRecords, _ condition: StoreCondition, _ system: any System) throws
        -> Outcome
    {
        if case .sound = condition { return .nothing }
        guard let journal = try readJournal(sidecar, system), journal.operation == .rollback else {
            // Of a run on a store that is no more.
            try removeLeftovers(sidecar, BackupFolder(sidecar.backups, system), system)
            return .nothing
        }
        return try conclude(journal, .undone, size: 0, sidecar, system)
    }

    /// Returns the outcome of a restore, judged by what it has left at the path.
    static func outcome(of condition: StoreCondition, _ journal: Journal) -> Outcome {
        guard case .sound(let uuid) = condition else { return .undone }
        return uuid == journal.restoredUUID ? .completed : .replaced
    }

    /// Puts back or keeps the files that a restore has set aside. They lie in its working folder until its outcome is
    /// known.
    static func settleAside(_ journal: Journal, _ outcome: Outcome, _ sidecar: StoreRecords, _ system: any System)
        throws
    {
        guard journal.restoredUUID != nil else { return }
        let aside = sidecar.aside(journal.run)
        guard try system.exists(aside) else { return }
        guard outcome == .undone else { return try keepAside(journal.run, sidecar, system) }
        // Of a store that is there these are copies. Side files of one that was gone were moved.
        let name = Path.name(of: sidecar.store)
        if try system.exists(Path.join(aside, name)) { return }
        for suffix in StoreProbe.sideFileSuffixes {
            let (kept, path) = (Path.join(aside, name) + suffix, sidecar.store + suffix)
            guard try system.exists(kept) else { continue }
            // What another process has made there since is its own.
            do {
                try system.rename(kept, toUnused: path)
            } catch let error as MigrationError where error.code == .usage {
                continue
            }
        }
        try system.synchronise(Path.folder(of: sidecar.store))
    }

    /// Gives what was set aside its lasting place.
    static func keepAside(_ run: String, _ sidecar: StoreRecords, _ system: any System) throws {
        guard try system.exists(sidecar.aside(run)) else { return }
        try system.makeFolder(sidecar.damaged)
        try system.synchronise(sidecar.folder)
        try system.rename(sidecar.aside(run), to: sidecar.setAside(run))
        try system.synchronise(sidecar.damaged)
    }
}

extension StoreRecords {
    /// Returns the folder where a restore puts the files that were at the path, until it has committed.
    func aside(_ run: String) -> String { Path.join(work(run), "damaged") }

    /// Returns the folder where the files that were at the path of a store are kept once a backup has taken its place.
    func setAside(_ run: String) -> String { Path.join(damaged, run) }
}
