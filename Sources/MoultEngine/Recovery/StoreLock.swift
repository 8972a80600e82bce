import MoultBasics
import MoultSQLite

/// The one right to change a store, held from here to ``release()``.
///
/// Two locks: `flock` on the sidecar's file keeps other runs of Moult out and dies with its process; the connection,
/// in exclusive locking mode, keeps every other process from reading or writing the store, and taking it lets SQLite
/// heal what a killed writer left. As long as it is held, no file of the store may be opened outside SQLite: closing
/// any descriptor of it would drop the connection's locks.
package final class StoreLock {
    package let sidecar: StoreRecords
    /// The only connection to the store, without an open transaction.
    package let connection: Connection
    /// Whether no other connection reads or writes the store, and this one sees what is in it.
    private let isExclusive: Bool
    private let system: any System
    private var file: FileLock?
    /// The folder with copies of a log or a journal that SQLite cannot apply completely; nil if it applies all.
    private var kept: (folder: String, isNew: Bool)?

    /// - Parameters:
    ///   - store: the path without symbolic links.
    ///   - patience: milliseconds to wait for a process that is about to finish.
    ///   - owner: the lock of the sidecar's file, where the caller has it already.
    /// - Throws: `locked`, naming who holds the store where that is known.
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
        } catch let error as MigrationError where error.code == .locked {
            connection.close()
            // A living process writes them.
            if let kept, kept.isNew { DamagedSideFiles(sidecar, system).discard(kept.folder) }
            throw Self.openElsewhere(store, system, cause: error.cause)
        }
    }

    /// The right to read a store that another process has open, and writes to: one state of it, as long as it is held.
    ///
    /// No run of Moult begins in the meantime. With a rollback journal writers wait at their commit; with a WAL they
    /// continue.
    ///
    /// - Throws: `locked` if another run of Moult is under way, or a writer is not done in `patience` milliseconds.
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
            // The first read begins the transaction, and with it the state that is seen.
            try connection.execute("BEGIN; SELECT count(*) FROM sqlite_master")
        } catch let error as MigrationError where error.code == .locked {
            connection.close()
            throw Self.openElsewhere(store, system, cause: error.cause)
        }
    }

    /// The right to replace a damaged store, of which the connection takes no notice (``Connection/ignoresContents(_:)``).
    ///
    /// What is written goes through a log, so that the bytes of the file are what they were until the commit: a rollback
    /// journal would give them back, but not the length of a file that was cut off. An empty file has no log.
    ///
    /// - Parameter pageSize: that of the new store, in bytes.
    /// - Throws: `locked`, naming who holds the store where that is known.
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
            // SQLite would write the last page of a file that was cut off. If it died in the middle of that page, nobody
            // would complete it.
            try system.setSize(playedBack, of: store)
            try system.synchronise(store)
        }
        if !hasLog, !isEmpty {
            // A log whose header is not one holds nothing, and has SQLite write one (the WAL format, section 4).
            try system.write([UInt8](repeating: 0, count: 8), to: store + "-wal")
            try system.synchronise(Path.folder(of: store))
        }
        connection = try Connection(store, mode: .readWrite, busyTimeout: patience, isProven: true)
        do {
            try connection.ignoresContents(true)
            try connection.keepWALOnClose(hasLog)
            try connection.execute(
                "PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = \(pageSize); BEGIN EXCLUSIVE; ROLLBACK")
            // SQLite has played back the journal of a writer that died. Any other is not this store's, and must not be
            // next to the new one.
            if !isEmpty, try system.remove(store + "-journal") { try system.synchronise(Path.folder(of: store)) }
        } catch {
            connection.close()
            guard let error = error as? MigrationError, error.code == .locked else { throw error }
            throw Self.openElsewhere(store, system, cause: error.cause)
        }
    }

    /// Whether the store's file is all of the store, and does not change: no other process writes to it, and there is no log.
    var isInFileAlone: Bool {
        get throws { try isExclusive && system.status(of: sidecar.store + "-wal")?.size ?? 0 == 0 }
    }

    private func seize(keepingLog: Bool) throws {
        // Before the first read: then SQLite keeps the WAL's index in memory and never gives a lock back.
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        // A run that is refused leaves even a WAL as it was, and none where there was none.
        try connection.keepWALOnClose(keepingLog)
        try connection.execute("BEGIN EXCLUSIVE; COMMIT; PRAGMA synchronous = FULL")
    }

    /// After a commit that reported an error: makes the files say what the connection sees.
    ///
    /// A WAL whose synchronisation failed holds the whole transaction. The connection has taken it back; the next process
    /// would find it there, and take it for committed.
    ///
    /// - Throws: what the disk says; then it is not known which of the two the next process will find.
    func settle() throws { try connection.writeBackLog(system, isProven: false) }

    /// Says where copies are of what SQLite could not apply.
    func report(to observer: MigrationObserver) {
        guard let kept else { return }
        observer.report(.lock, 1, "SQLite could not apply all of the -wal or -journal: a copy is in \(kept.folder)")
    }

    /// Closes the connection and gives the right back.
    package func release() {
        connection.close()
        file = nil
    }

    deinit { release() }

    // MARK: - Who holds it

    /// Whether another process has a lock of SQLite's on a store, as far as the system tells.
    ///
    /// - Throws: `locked` that names it.
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
    /// Nil if the system does not tell and the lock's file does not either.
    package var process: Int32?
    /// When it began, as its record says; nil if the record is another's.
    package var since: String?

    /// Takes the lock and leaves this process's record in its file.
    ///
    /// - Throws: `locked`, naming the process that has it.
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
        // One that has just taken the lock has not written its record yet: the file names the one before it, or none.
        process = system.holders(of: sidecar.lock).first?.identifier ?? recorded
        since = process == recorded ? record?["since"]?.string : nil
    }
}

extension Connection {
    /// Writes the WAL back into the database and empties it.
    ///
    /// SQLite does not synchronise the empty file: after a power cut the old log would be there again.
    ///
    /// - Parameter isProven: whether the pages are proven (``proveWrites()``); false if the caller compares them.
    /// - Throws: `inputOutput` if a page is not read as it was in the log.
    package func writeBackLog(_ system: any System, isProven: Bool = true) throws {
        guard try text("PRAGMA journal_mode") == "wal" else { return }
        try run("PRAGMA wal_checkpoint(TRUNCATE)")
        if isProven { try proveWrites() }
        // No lock of SQLite's lies on this file.
        if try system.exists(path + "-wal") { try system.synchronise(path + "-wal") }
    }
}
