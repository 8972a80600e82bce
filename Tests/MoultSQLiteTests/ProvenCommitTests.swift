import MoultBasics
import MoultSQLite
import Synchronization
import TestSupport
import Testing

/// Commits of a proven connection, which reads back what it has written.
struct ProvenCommitTests {
    /// Calls closures for what SQLite reads and writes below a folder while a test is interested.
    private final class Disk: FileWatcher {
        let read = Mutex<(@Sendable () -> Void)?>(nil)
        let isWrong = Mutex<(@Sendable (FileCall) -> Bool)?>(nil)

        func answer(_ call: FileCall) -> FileCall.Answer {
            if call.operation == .read { read.withLock { $0?() } }
            return .pass
        }
        func done(_ call: FileCall) {}
        func closed(_ path: String) {}

        /// Writes one bit of the first write wrong that is to be.
        func altered(_ call: FileCall) -> [UInt8]? {
            isWrong.withLock { isWrong in
                guard call.bytes.count >= 512, isWrong?(call) == true else { return nil }
                isWrong = nil
                var bytes = Array(call.bytes)
                // In the schema, of which page 1 is the table.
                bytes[bytes.count - 4] ^= 1
                return bytes
            }
        }
    }

    private let folder: ScratchFolder
    private let path: String
    private let disk = Disk()

    init() throws {
        folder = try ScratchFolder()
        path = try POSIXSystem().resolve(folder.path) + "/numbers.sqlite"
    }

    private func watching(_ body: () throws -> Void) throws {
        let watched = Path.folder(of: path)
        try #require(WatchedVFS.watch(watched, by: disk))
        defer { WatchedVFS.unwatch(watched) }
        try body()
    }

    private func make(_ mode: String) throws {
        _ = try SQLiteShell.run(path, "PRAGMA journal_mode = \(mode); CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    }

    /// Adds more rows than a cache of two pages holds.
    private func addRows() throws {
        let rows = "WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
        _ = try SQLiteShell.run(path, "\(rows) INSERT INTO t SELECT hex(zeroblob(300)) || i FROM n")
    }

    /// The other process has its chance at each read of the proof. Once the locks are released, it may overwrite the
    /// pages and the log.
    @Test(arguments: ["DELETE", "WAL"])
    func `another process that writes at once is not taken for a wrong disk`(mode: String) throws {
        try make(mode)
        let other = Mutex(try SQLiteProcess(path))
        let (path, disk) = (path, disk)
        let answers = Mutex<[String]>([])
        try watching {
            let connection = try Connection(path, mode: .readWrite, isProven: true)
            defer { connection.close() }
            try connection.transaction {
                try connection.execute("INSERT INTO t VALUES (2)")
                disk.read.withLock {
                    $0 = {
                        let answer = other.withLock {
                            (try? $0.run("INSERT INTO t VALUES (3); PRAGMA wal_checkpoint(TRUNCATE)")) ?? "nothing"
                        }
                        answers.withLock { $0.append(answer) }
                    }
                }
            }
            disk.read.withLock { $0 = nil }
        }
        let known = answers.withLock(\.self)
        #expect(!known.isEmpty && known.allSatisfy { $0.contains("locked") })
        #expect(try SQLiteShell.run(path, "SELECT a FROM t") == "1\n2\n")
    }

    /// SQLite copies the frames of a log without looking at their checksums.
    @Test func `a commit whose frame is wrong in the log reaches no database`() throws {
        try make("WAL")
        let schema = try SQLiteShell.run(path, ".schema")
        try watching {
            let connection = try Connection(path, mode: .readWrite, isProven: true)
            defer { connection.close() }
            disk.isWrong.withLock {
                $0 = { $0.isJournal && $0.bytes.starts(with: "SQLite format 3".utf8) }
            }
            let error = #expect(throws: MigrationError.self) {
                try connection.transaction { try connection.execute("INSERT INTO t VALUES (2)") }
            }
            #expect(error?.code == .inputOutput)
            #expect(disk.isWrong.withLock { $0 == nil })
            try connection.forgetFailedTransaction()
            try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        #expect(try SQLiteShell.run(path, ".schema") == schema)
        #expect(try SQLiteShell.run(path, "SELECT a FROM t") == "1\n")
    }

    /// The journal has the pages, and what SQLite writes from there is proven, too.
    @Test func `a commit whose page is wrong is rolled back`() throws {
        try make("DELETE")
        let schema = try SQLiteShell.run(path, ".schema")
        try watching {
            let connection = try Connection(path, mode: .readWrite, isProven: true)
            defer { connection.close() }
            disk.isWrong.withLock { $0 = { !$0.isJournal } }
            let error = #expect(throws: MigrationError.self) {
                try connection.proving { try connection.execute("BEGIN; INSERT INTO t VALUES (2); COMMIT") }
            }
            #expect(error?.code == .inputOutput && error?.message.contains("is not read as it was written") == true)
            #expect(disk.isWrong.withLock { $0 == nil })
            #expect(try !POSIXSystem().exists(path + "-journal"))
            #expect(try connection.integer("SELECT max(a) FROM t") == 1)
        }
        #expect(try SQLiteShell.run(path, ".schema") == schema)
        #expect(try SQLiteShell.run(path, "SELECT a FROM t") == "1\n")
    }

    /// A transaction whose pages do not fit in memory is rolled back from the journal. Its checksums cover every 200th
    /// byte alone.
    @Test(arguments: ["ROLLBACK", "COMMIT"])
    func `a journal is proven before the pages that it has are overwritten`(end: String) throws {
        try make("DELETE")
        try addRows()
        let expected = try SQLiteShell.run(path, ".sha3sum --schema")
        try watching {
            let connection = try Connection(path, mode: .readWrite, isProven: true)
            defer { connection.close() }
            try connection.execute("PRAGMA cache_size = 2")
            // The header has the size of a sector.
            disk.isWrong.withLock { $0 = { $0.isJournal && $0.bytes.count > 512 } }
            let error = #expect(throws: MigrationError.self) {
                try connection.proving {
                    try connection.execute("BEGIN; UPDATE t SET a = 'not committed' || a; \(end)")
                }
            }
            #expect(error?.code == .inputOutput)
            #expect(error?.message.contains("-journal is not read as it was written") == true)
            #expect(disk.isWrong.withLock { $0 == nil })
        }
        #expect(try SQLiteShell.run(path, ".sha3sum --schema") == expected)
    }

    /// SQLite reads a page again that has left its cache, and would write it as it has read it.
    @Test(arguments: ["DELETE", "WAL"])
    func `a wrong page that is read before it is proven is not committed`(mode: String) throws {
        try make(mode)
        try addRows()
        let expected = try SQLiteShell.run(path, ".sha3sum --schema")
        try watching {
            let connection = try Connection(path, mode: .readWrite, isProven: true)
            defer { connection.close() }
            try connection.execute("PRAGMA cache_size = 2")
            disk.isWrong.withLock {
                $0 = { $0.isJournal == (mode == "WAL") && !$0.bytes.starts(with: "SQLite format 3".utf8) }
            }
            let error = #expect(throws: MigrationError.self) {
                try connection.proving {
                    try connection.execute(
                        """
                        BEGIN; UPDATE t SET a = replace(a, '0', '1'); UPDATE t SET a = replace(a, '1', '2'); COMMIT
                        """)
                }
            }
            #expect(error?.code == .inputOutput && error?.message.contains("is not read as it was written") == true)
            #expect(disk.isWrong.withLock { $0 == nil })
        }
        #expect(try SQLiteShell.run(path, ".sha3sum --schema") == expected)
    }

    /// The pages of a transaction that do not fit in memory are in the log, where a rollback leaves them.
    @Test func `another process that writes after a rollback is not taken for a wrong disk`() throws {
        try make("WAL")
        try addRows()
        let connection = try Connection(path, mode: .readWrite, isProven: true)
        defer { connection.close() }
        try connection.execute("PRAGMA cache_size = 2")
        #expect(throws: CancellationError.self) {
            try connection.transaction {
                try connection.execute("UPDATE t SET a = 'not committed' || a")
                throw CancellationError()
            }
        }
        _ = try SQLiteShell.run(path, "INSERT INTO t SELECT a FROM t LIMIT 100")
        try connection.transaction { try connection.execute("INSERT INTO t VALUES (2)") }
        #expect(try SQLiteShell.run(path, "SELECT count(*), sum(a = 2) FROM t") == "502|1\n")
    }

    /// The next connection begins the playback again.
    @Test(arguments: [true, false])
    func `a journal stays until what is played back from it is proven`(isAttached: Bool) throws {
        try make("DELETE")
        try addRows()
        let expected = try SQLiteShell.run(path, ".sha3sum --schema")
        let app = try SQLiteProcess(path)
        _ = try app.run("PRAGMA cache_size = 2; BEGIN; UPDATE t SET a = 'not committed' || a")
        app.kill()
        #expect(try POSIXSystem().exists(path + "-journal"))
        try watching {
            disk.isWrong.withLock { $0 = { !$0.isJournal } }
            let connection = try Connection(isAttached ? ":memory:" : path, mode: .create, isProven: true)
            defer { connection.close() }
            let error = #expect(throws: MigrationError.self) {
                if isAttached { try connection.attach(path, as: "app", mode: .readWrite) }
                _ = try connection.integer("SELECT count(*) FROM t")
            }
            #expect(error?.code == .inputOutput)
            #expect(disk.isWrong.withLock { $0 == nil })
        }
        #expect(try POSIXSystem().exists(path + "-journal"))
        #expect(try SQLiteShell.run(path, ".sha3sum --schema") == expected)
    }
}
