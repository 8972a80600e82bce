import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore
import TestSupport
import Testing

/// What happens to a second process that has the store open: it is named in a refusal, or it sees the new store; no
/// write that SQLite acknowledged to it is lost.
struct OtherProcessTests {  // tier: long
    private let impatient = Migrator(options: MigrationOptions(patience: 100))

    /// A run whose script doubles every ZOPT, so that new rows can be told from old ones.
    private static let doubling = Pass(
        StoreScript(statements: [.init(.update, "ZITEM", "UPDATE main.ZITEM SET Z_OPT = 2", "All rows", rows: 1_000)]),
        from: "1", to: "2"
    )

    private func expectRefusal(_ fixture: EngineFixture, by other: SQLiteProcess) throws {
        let error = #expect(throws: MigrationError.self) { try impatient.run(Self.doubling, on: fixture.store) }
        #expect(error?.code == .locked && error?.exitCode == 3)
        #expect(error?.message.contains("(\(other.identifier))") == true, "\(error?.message ?? "")")
        #expect(error?.coreData?.number == 134090)
    }

    private func expectRun(_ fixture: EngineFixture) throws {
        _ = try impatient.run(Self.doubling, on: fixture.store)
        #expect(try fixture.shell("SELECT min(Z_OPT) FROM ZITEM WHERE Z_PK <= 1000") == "2\n")
        #expect(try fixture.shell("PRAGMA integrity_check") == "ok\n")
    }

    @Test func `an app that is idle in WAL mode is named, and keeps working`() throws {
        let fixture = try EngineFixture(isWAL: true)
        let app = try SQLiteProcess(fixture.store)
        #expect(try app.run("SELECT count(*) FROM ZITEM") == "1000\n")
        try expectRefusal(fixture, by: app)
        #expect(try app.run("INSERT INTO ZITEM (Z_OPT) VALUES (7)").isEmpty)
        app.end()
        try expectRun(fixture)
        #expect(try fixture.shell("SELECT count(*) FROM ZITEM") == "1001\n")
    }

    @Test(arguments: [false, true])
    func `an app that reads is named, and reads on`(isWAL: Bool) throws {
        let fixture = try EngineFixture(isWAL: isWAL)
        let app = try SQLiteProcess(fixture.store)
        try app.run("BEGIN; SELECT count(*) FROM ZITEM")
        try expectRefusal(fixture, by: app)
        #expect(try app.run("SELECT sum(Z_OPT) FROM ZITEM; COMMIT") == "1000\n")
        app.end()
        try expectRun(fixture)
    }

    @Test(arguments: [false, true])
    func `an app that writes is named, and its commit is kept`(isWAL: Bool) throws {
        let fixture = try EngineFixture(isWAL: isWAL)
        let app = try SQLiteProcess(fixture.store)
        try app.run("BEGIN IMMEDIATE; INSERT INTO ZITEM (Z_OPT) VALUES (7)")
        try expectRefusal(fixture, by: app)
        #expect(try app.run("COMMIT").isEmpty)
        app.end()
        try expectRun(fixture)
        #expect(try fixture.shell("SELECT count(*) FROM ZITEM") == "1001\n")
    }

    @Test func `an app that is idle with a rollback journal sees the new store and writes to it`() throws {
        let fixture = try EngineFixture()
        let app = try SQLiteProcess(fixture.store)
        #expect(try app.run("SELECT sum(Z_OPT) FROM ZITEM") == "1000\n")
        try expectRun(fixture)
        #expect(try app.run("SELECT sum(Z_OPT) FROM ZITEM") == "2000\n")
        #expect(try app.run("INSERT INTO ZITEM (Z_OPT) VALUES (7)").isEmpty)
        app.end()
        #expect(try fixture.shell("SELECT sum(Z_OPT) FROM ZITEM; PRAGMA integrity_check") == "2007\nok\n")
    }

    @Test func `another run of Moult is named, and a dead one holds nothing`() throws {
        let fixture = try EngineFixture()
        let child = try EngineChild("hold", fixture.store)
        child.wait(for: "held")
        let error = #expect(throws: MigrationError.self) { try impatient.run(Pass(), on: fixture.store) }
        #expect(error?.code == .locked)
        #expect(error?.message.contains("process \(child.process.identifier)") == true)
        child.kill()
        try expectRun(fixture)
    }

    @Test func `a run that has just taken the lock is named, and not the one before it`() throws {
        let fixture = try EngineFixture()
        let child = try EngineChild("hold", fixture.store)
        child.wait(for: "held")
        // Between its lock and its record the file says what an earlier run has left there, or nothing.
        for record in ["{\"pid\":1,\"start\":\"\",\"since\":\"2020-01-01T00:00:00Z\"}", ""] {
            try POSIXSystem().write(Array(record.utf8), to: fixture.sidecar + "/lock")
            let error = #expect(throws: MigrationError.self) { try impatient.run(Pass(), on: fixture.store) }
            #expect(error?.code == .locked)
            #expect(error?.message.contains("(process \(child.process.identifier))") == true, "\(error?.message ?? "")")
        }
        child.kill()
    }

    /// Each line that the writer prints is a row that SQLite has acknowledged.
    @Test(arguments: ["WAL", "DELETE"], [true, false])
    func `no write of a busy app is lost`(mode: String, reconnects: Bool) throws {
        let fixture = try EngineFixture(isWAL: mode == "WAL")
        let writer = try PythonWriter(fixture.store, reconnects: reconnects)
        var (runs, refusals) = (0, 0)
        let end = Date().addingTimeInterval(Tier.faults.isAsked ? min(30, Tier.faults.seconds / 4) : 1)
        while Date() < end {
            do {
                _ = try impatient.run(Self.doubling, on: fixture.store)
                runs += 1
            } catch let error as MigrationError where error.code == .locked {
                refusals += 1
            }
        }
        let acknowledged = writer.stop()
        let kept = try fixture.shell("SELECT Z_PK FROM ZITEM WHERE ZNAME = 'written'").split(separator: "\n")
        #expect(Set(acknowledged).subtracting(kept.map(String.init)).isEmpty)
        #expect(!acknowledged.isEmpty)
        #expect(try fixture.shell("PRAGMA integrity_check") == "ok\n")
        print(
            "OtherProcessTests: \(mode), reconnects \(reconnects): \(runs) runs, \(refusals) refused, \(acknowledged.count) writes kept"
        )
    }
}

/// A process that writes row after row and prints the key of each that was committed.
private final class PythonWriter {
    private let process: ChildProcess
    private let path: String

    init(_ store: String, reconnects: Bool) throws {
        path = store + ".written"
        try Data().write(to: URL(fileURLWithPath: path))
        let script = """
            import sqlite3, sys, time
            def connect(): return sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None)
            connection = connect()
            while True:
                try:
                    cursor = connection.execute("INSERT INTO ZITEM (Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 'written')")
                    print(cursor.lastrowid, flush=True)
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error): raise
                if \(reconnects ? "True" : "False"):
                    connection.close(); time.sleep(0.005); connection = connect()
                else: time.sleep(0.002)
            """
        process = try ChildProcess(
            "python3", ["-c", script, store], output: .files(output: path, errors: "/dev/null"))
        let end = Date().addingTimeInterval(20)
        while try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty, Date() < end {
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    func stop() -> [String] {
        #expect(process.isRunning)
        process.kill()
        let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        // Only a line with its end is an acknowledgement.
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
