import CSQLite
import MoultBasics

/// A connection to one SQLite database, used by one thread at a time.
///
/// The connection is strict, because the database may be hostile: a schema may call only functions marked as innocuous,
/// a word in double quotes is never a string, and every cell is checked before it is used. Errors are `MigrationError`s
/// with SQLite's own message as their cause.
package final class Connection {
    package enum Mode: Sendable, Hashable {
        /// Takes part in locking. In WAL mode SQLite creates a `-shm` file next to the database.
        case readOnly
        /// The database must exist.
        case readWrite
        case create
        /// For a file that does not change while it is open: no locks and no side files; journals are ignored.
        case immutable
    }

    package let path: String
    /// The path that errors name: ``path``, or the path of the store if this is a private copy of it.
    package let place: String
    private(set) var handle: OpaquePointer?
    private var statements: [ObjectIdentifier: Unmanaged<Statement>] = [:]
    private let watchers = StatementWatch()
    /// The number of objects that have been written through this connection, one by one.
    package var objectsWritten: Int64 = 0
    /// The last error that a registered function threw; SQLite itself keeps only its text.
    var functionError: (any Error)?

    /// - Parameters:
    ///   - busyTimeout: milliseconds to wait for another connection's lock.
    ///   - vfs: the name of a registered VFS, for tests that inject faults.
    ///   - followsLinks: false if another user may have put a symbolic link into the path.
    ///   - isProven: whether to record the written bytes so that they can be verified (``proveWrites()``). Every
    ///     synchronisation of the database, its WAL and its journal, and of those of one that is attached, then fails if
    ///     a byte differs, and SQLite keeps the WAL or the journal.
    ///   - place: the path that errors name instead.
    package init(
        _ path: String, mode: Mode, busyTimeout: Int32 = 0, vfs: String? = nil, followsLinks: Bool = true,
        isProven: Bool = false, naming place: String? = nil
    ) throws {
        self.path = path
        self.place = place ?? path
        let flags: Int32 =
            switch mode {
            case .readOnly, .immutable: SQLITE_OPEN_READONLY
            case .readWrite: SQLITE_OPEN_READWRITE
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            }
        let uri = Self.uri(path, isImmutable: mode == .immutable)
        let links = followsLinks ? 0 : SQLITE_OPEN_NOFOLLOW
        let strict = links | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let result = sqlite3_open_v2(uri, &handle, flags | strict, isProven ? WatchedVFS.proven : vfs)
        guard result == SQLITE_OK else {
            let error = error(result)
            sqlite3_close(handle)
            handle = nil
            throw error
        }
        sqlite3_busy_timeout(handle, busyTimeout)
        try beStrict(isReadOnly: mode == .readOnly || mode == .immutable)
        listen()
    }

    deinit { close() }

    /// Finalises every statement and closes the file. The connection cannot be used afterwards.
    ///
    /// If it records what it writes, SQLite removes the WAL only if the pages that it writes back are proven.
    package func close() {
        for statement in statements.values { statement.takeUnretainedValue().finalise() }
        statements = [:]
        sqlite3_close(handle)
        handle = nil
    }

    private func beStrict(isReadOnly: Bool) throws {
        var options = [
            SQLITE_DBCONFIG_TRUSTED_SCHEMA: false, SQLITE_DBCONFIG_DQS_DML: false, SQLITE_DBCONFIG_DQS_DDL: false,
        ]
        // Apple's SQLite turns this on by default, which would prevent editing the text of a table.
        options[SQLITE_DBCONFIG_DEFENSIVE] = isReadOnly
        for (option, isOn) in options { try check(moult_sqlite_set(handle, Int32(option), isOn ? 1 : 0)) }
        try execute("PRAGMA cell_size_check = ON")
        #if canImport(Darwin)
            // On Apple's systems, `fsync` leaves the data in the cache of the drive.
            try execute("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
        #endif
    }

    /// Returns the path as a URI for `sqlite3_open_v2` and ATTACH, with every unusual byte escaped.
    static func uri(_ path: String, isImmutable: Bool, isReadOnly: Bool = false) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text = Array((path.hasPrefix("/") ? "file://" : "file:").utf8)
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                text.append(byte)
            default:
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        let query = isImmutable ? "?immutable=1" : isReadOnly ? "?mode=ro" : ""
        return String(decoding: text, as: UTF8.self) + query
    }

    // MARK: - Internal interface

    func register(_ statement: Statement) {
        statements[ObjectIdentifier(statement)] = Unmanaged.passUnretained(statement)
    }

    func unregister(_ statement: Statement) { statements[ObjectIdentifier(statement)] = nil }

    /// Throws the error for any result other than OK.
    func check(_ result: Int32, sql: String? = nil) throws {
        if result != SQLITE_OK { throw error(result, sql: sql) }
    }

    /// Returns and clears the error that a registered function threw, or else returns the error for a result code.
    func error(_ result: Int32, sql: String? = nil) -> any Error {
        if let thrown = functionError {
            functionError = nil
            return thrown
        }
        // Not every call records its error on the connection; sqlite3_db_cacheflush does not. The message and the system
        // error number there are then those of an earlier call.
        let recorded = handle.flatMap { sqlite3_errcode($0) == result ? $0 : nil }
        let message = recorded.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(result)
        return MigrationError.sqlite(
            result, message.map { String(cString: $0) } ?? "unknown", place: place, sql: sql,
            system: recorded.map { sqlite3_system_errno($0) } ?? 0)
    }
}

/// The listeners of a connection's running statements: the meter of the work that opened the connection, and the
/// closures that return whether the statement is still wanted.
private final class StatementWatch {
    let meter = WorkMeter.current
    var questions: [() -> Bool] = []

    /// Whether there is no listener.
    var isIdle: Bool { meter == nil && questions.isEmpty }

    func isWanted() -> Bool {
        meter?.pulse(Connection.instructionsPerPulse)
        return questions.allSatisfy { $0() }
    }
}

extension Connection {
    /// The instructions of SQLite's virtual machine between two calls of a watcher.
    package static let instructionsPerPulse = 20_000

    /// Runs `body`, and asks `isWanted` every ``instructionsPerPulse`` instructions while a statement runs. If it
    /// returns false, the statement fails with the error `cancelled`. Work within `body` may be watched too: the watchers
    /// outside are asked first.
    package func watched<Result>(
        by isWanted: @escaping () -> Bool, during body: () throws -> Result
    ) rethrows -> Result {
        let place = watchers.questions.count
        watch(by: isWanted)
        defer {
            watchers.questions.remove(at: place)
            listen()
        }
        return try body()
    }

    /// Asks `isWanted` in the same way until the connection is closed.
    package func watch(by isWanted: @escaping () -> Bool) {
        watchers.questions.append(isWanted)
        listen()
    }

    private func listen() {
        guard let handle else { return }
        guard !watchers.isIdle else { return sqlite3_progress_handler(handle, 0, nil, nil) }
        sqlite3_progress_handler(
            handle, Int32(Self.instructionsPerPulse),
            { pointer in
                guard let pointer else { return 0 }
                return Unmanaged<StatementWatch>.fromOpaque(pointer).takeUnretainedValue().isWanted() ? 0 : 1
            }, Unmanaged.passUnretained(watchers).toOpaque())
    }

    /// Turns off SQLite's memory statistics, which make every allocation in every thread wait for one lock. A migration
    /// and the verification of its backup, running in parallel, would often wait for each other.
    ///
    /// The setting applies to the whole process and disables `sqlite3_memory_used` and heap limits, so only a program
    /// may use it, never a library. It has no effect once a connection has been opened.
    package static func keepNoMemoryStatistics() { _ = moult_sqlite_keep_no_memory_statistics() }
}
