import MoultBasics
import MoultSQLite

/// The exclusive right to change a store, held until ``release()``.
///
/// Two locks: `flock` on the sidecar's file keeps other Moult runs out and ends with its process. The connection, in
/// exclusive locking mode, keeps every other process from reading or writing the store; taking it lets SQLite recover
/// what a killed writer left. While it is held, no file of the store may be opened outside SQLite: closing any
/// descriptor of it would drop the connection's locks.
package final class StoreLock {
    package let sidecar: StoreRecords
    /// The only connection to the store, without an open transaction.
    package let connection: Connection
    /// Whether no other connection uses the store, and this one reads its contents.
    private let isExclusive: Bool
    /// Whether no other process can open the store until ``release()``.
    private var isAlone = false
    private let system: any System
    private var file: FileLock?
    /// The folder with copies of a WAL or a journal that SQLite cannot apply completely; nil if it can.
    private var kept: (folder: String, isNew: Bool)?

    /// - Parameters:
    ///   - store: the path without symbolic links.
    ///   - patience: milliseconds to wait for a process that is about to finish.
    ///   - owner: the lock of the sidecar's file, if the caller already has it.
    /// - Throws: `locked`, naming the holder if known.
    package init(_ store: String, _ system: any System, patience: Int32 = 2_000, owner: FileLock? = nil) throws {
        sidecar = StoreRecords(store: store)
        self.system = system
        isExclusive = true
        try sidecar.make(system)
        file = try owner ?? RunOwner.take(sidecar, system)
        let hasLog = try system.exists(store + "-wal")
        kept = try DamagedSideFiles(sidecar, system).keep(isAlone: true)
        connection = try Connection(store, mode: .readWrite, busyTimeout: patience, isProven: true)
        do {
            try seize(keepingLog: hasLog)
            isAlone = true
        } catch let error as MigrationError where error.code == .locked {
            connection.close()
            // A live process is writing them.
            if let kept, kept.isNew { DamagedSideFiles(sidecar, system).discard(kept.folder) }
            throw Self.openElsewhere(store, system, cause: error.cause)
        }
    }

    /// Takes a lock for reading one state of a store that another process has open and writes to.
    ///
    /// No Moult run can begin meanwhile. With a rollback journal writers wait at their commit; with a WAL they
    /// continue.
    ///
    /// - Throws: `locked` if another Moult run is active, or a writer does not finish in `patience` milliseconds.
    package init(reading store: String, _ system: any System, patience: Int32 = 5_000) throws {
        sidecar = StoreRecords(store: store)
        self.system = system
        isExclusive = false
        try sidecar.make(system)
        file = try RunOwner.take(sidecar, system)
        kept = try DamagedSideFiles(sidecar, system).keep(isAlone: false)
        connection = try Connection(store, mode: .readWrite, busyTimeout: patience, isProven: true)
        do {
            try connection.keepWALOnClose(true)
            // The first read begins the transaction and fixes the visible state.
            try connection.proving { try connection.execute("BEGIN; SELECT count(*) FROM sqlite_master") }
        } catch let error as MigrationError where error.code == .locked {
            connection.close()
            throw Self.openElsewhere(store, system, cause: error.cause)
        }
    }

    /// Takes a lock for replacing a damaged store, whose contents the connection ignores
    /// (``Connection/ignoresContents(_:)``).
    ///
    /// Writes go through a WAL, so the bytes of the file stay unchanged until the commit. A rollback journal would
    /// restore them, but not the length of a truncated file. An empty file has no WAL.
    ///
    /// - Parameter pageSize: the page size of the new store, in bytes.
    /// - Throws: `locked`, naming the holder if known.
    init(replacing store: String, pageSize: Int64, _ system: any System, patience: Int32, owner: FileLock) throws {
        sidecar = StoreRecords(store: store)
        self.system = system
        isExclusive = false
        file = owner
        let hasLog = try (system.status(of: store + "-wal")?.size ?? 0) > 0
        let size = try system.status(of: store)?.size ?? 0
        let isEmpty = size == 0
        let playedBack = try RollbackJournal(store + "-journal", system).databaseSize
        if !isEmpty, size < playedBack {
            // SQLite would write the last page of a truncated file. If it died in the middle of that page, no process
            // would complete it.
            try system.setSize(playedBack, of: store)
            try system.synchronise(store)
        }
        if !hasLog, !isEmpty {
            // An invalid header makes a WAL empty, and SQLite writes a new header (the WAL format, section 4).
            try system.write([UInt8](repeating: 0, count: 8), to: store + "-wal", sidecar.rights)
            try system.synchronise(Path.folder(of: store))
        }
        connection = try Connection(store, mode: .readWrite, busyTimeout: patience, isProven: true)
        do {
            try connection.ignoresContents(true)
            try connection.keepWALOnClose(hasLog)
            try connection.execute(
                "PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = \(pageSize); BEGIN EXCLUSIVE; ROLLBACK; "
                    + "PRAGMA synchronous = FULL")
            // SQLite has played back the journal of a dead writer. Any other journal is not this store's, and must not
            // be next to the new one.
            if !isEmpty, try system.remove(store + "-journal") { try system.synchronise(Path.folder(of: store)) }
        } catch {
            connection.close()
            guard let error = error as? MigrationError, error.code == .locked else { throw error }
            throw Self.openElsewhere(store, system, cause: error.cause)
        }
    }

    /// Whether the store's file is the whole store and does not change: no other process writes to it, and there is no
    /// WAL.
    var isInFileAlone: Bool {
        get throws { try isExclusive && system.status(of: sidecar.store + "-wal")?.size ?? 0 == 0 }
    }

    private func seize(keepingLog: Bool) throws {
        // Set before the first read, so that SQLite keeps the WAL index in memory and never releases a lock.
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        // A refused run must leave an existing WAL as it was, and must not create one.
        try connection.keepWALOnClose(keepingLog)
        // SQLite may play back the journal of a dead writer.
        try connection.proving { try connection.execute("BEGIN EXCLUSIVE; COMMIT; PRAGMA synchronous = FULL") }
    }

    /// Makes the files match what the connection sees, after a commit that reported an error
    /// (``Connection/settleCommit(_:)``).
    func settle() throws { try connection.settleCommit(system) }

    /// Reports where the copies are of files that SQLite could not apply completely.
    package func report(to observer: MigrationObserver) {
        guard let kept else { return }
        observer.report(.lock, 1, "SQLite does not apply all of the -wal or -journal: a copy is in \(kept.folder)")
    }

    /// Closes the connection and releases the lock.
    package func release() {
        if isAlone { removeIndex() }
        connection.close()
        file = nil
    }

    /// Removes the -shm next to an empty WAL, which SQLite removes or any program begins anew. This connection has its
    /// index in memory, so the file is that of a process that has ended.
    private func removeIndex() {
        isAlone = false
        guard (try? system.status(of: sidecar.store + "-wal")?.size ?? 0) == 0 else { return }
        _ = try? system.remove(sidecar.store + "-shm")
    }

    deinit { release() }

    // MARK: - Lock holders

    /// Whether another process has an SQLite lock on a store, if the system can tell.
    ///
    /// - Throws: `locked`, naming the process.
    package static func checkUnused(_ store: String, _ system: any System) throws {
        guard holders(of: store, system).isEmpty else { throw openElsewhere(store, system, cause: nil) }
    }

    private static func holders(of store: String, _ system: any System) -> [RunningProcess] {
        system.holders(of: store) + system.holders(of: store + "-shm")
    }

    package static func openElsewhere(_ store: String, _ system: any System, cause: String?) -> MigrationError {
        let holders = holders(of: store, system)
        let names = Set(holders.map { $0.name.isEmpty ? "process \($0.identifier)" : "\($0.name) (\($0.identifier))" })
        let who = names.isEmpty ? "Another process" : names.sorted().joined(separator: ", ")
        return MigrationError(
            .locked, "\(who) has the store open.", place: store,
            remedy: "Close every app that uses the store and run the command again.", cause: cause)
    }
}

/// The process that holds the lock of a store's sidecar: one run of Moult at a time.
package struct RunOwner {
    /// The process; nil if neither the system nor the lock's file names it.
    package var process: Int32?
    /// The start time from the process's record; nil if the record belongs to another process.
    package var since: String?

    /// Takes the lock and writes this process's record to its file.
    ///
    /// - Throws: `locked`, naming the process that holds it.
    package static func take(_ sidecar: StoreRecords, _ system: any System) throws -> FileLock {
        guard let file = try system.lock(sidecar.lock, sidecar.rights) else {
            let owner = RunOwner(of: sidecar, system)
            let since = owner.since.map { " since \($0)" } ?? ""
            let who = owner.process.map { " (process \($0)\(since))" } ?? ""
            throw MigrationError(
                .locked, "Another run of Moult\(who) is changing this store.", place: sidecar.store,
                remedy: "Wait for it to end. A run that died holds no lock.")
        }
        let record = JSONValue.object([
            .init("pid", .integer(Int64(system.processIdentifier))),
            .init("start", .string(system.startTime(ofProcess: system.processIdentifier) ?? "")),
            .init("since", .string(system.now.iso8601)),
        ])
        try system.write(Array(record.compact.utf8), to: sidecar.lock, sidecar.rights)
        return file
    }

    /// Reads which process holds a lock that could not be taken.
    package init(of sidecar: StoreRecords, _ system: any System) {
        let bytes = (try? system.read(sidecar.lock)) ?? []
        let record = try? JSONValue(parsing: bytes, place: sidecar.lock, code: .internal)
        let recorded = record?["pid"]?.integer.flatMap(Int32.init(exactly:))
        // A process that has just taken the lock may not have written its record yet, so the file names the previous
        // one, or none.
        process = system.holders(of: sidecar.lock).first?.identifier ?? recorded
        since = process == recorded ? record?["since"]?.string : nil
    }
}

extension Connection {
    /// Writes the WAL back into the database and empties it. Writes the pages once more if one does not read back as it
    /// was in the WAL.
    ///
    /// SQLite does not synchronise the empty file: after a power cut the old WAL could reappear.
    ///
    /// - Throws: `inputOutput` if a page still differs; the WAL then stays.
    package func writeBackLog(_ system: any System) throws {
        guard try text("PRAGMA journal_mode") == "wal" else { return }
        func writeBack() throws { try run("PRAGMA wal_checkpoint(TRUNCATE)") }
        do {
            try writeBack()
        } catch {
            guard try fileChangedOnTheWay() != nil else { throw error }
            try proving(writeBack)
        }
        // SQLite does not synchronise the database if another process reads the log.
        try proveWrites()
        // SQLite has no locks on this file.
        if try system.exists(path + "-wal") { try system.synchronise(path + "-wal") }
    }

    /// Makes the files match what the connection sees, after a commit that reported an error.
    ///
    /// A WAL whose synchronisation failed holds the whole transaction. The connection has rolled it back, but the next
    /// process would find it there and treat it as committed.
    ///
    /// - Throws: errors from the disk; then it is unknown which of the two states the next process will find.
    package func settleCommit(_ system: any System) throws {
        try forgetFailedTransaction()
        try writeBackLog(system)
    }
}
