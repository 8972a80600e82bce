import Foundation
import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultEngine

/// A backup of a store that somebody uses is one state of it, whole.
struct LiveBackupTests {  // tier: long
    @Test(arguments: [false, true])
    func `a store that is read, or open, is backed up`(isWAL: Bool) throws {
        let fixture = try EngineFixture(isWAL: isWAL)
        let app = try SQLiteProcess(fixture.store)
        try app.run("BEGIN; SELECT count(*) FROM ZITEM")
        let backup = try Migrator(options: .init(patience: 100)).backUp(fixture.store, version: "1")
        #expect(backup.manifest.rows["ZITEM"] == 1_000)
        #expect(try app.run("SELECT count(*) FROM ZITEM; COMMIT") == "1000\n")
        #expect(try SQLiteShell.run(backup.store, "SELECT count(*) FROM ZITEM; PRAGMA integrity_check") == "1000\nok\n")
        #expect(try app.run("INSERT INTO ZITEM (Z_OPT) VALUES (7)").isEmpty)
        app.end()
    }

    @Test func `what is not committed is not in the backup, and what is committed meanwhile is not either`() throws {
        let fixture = try EngineFixture(isWAL: true)
        let app = try SQLiteProcess(fixture.store)
        try app.run("BEGIN IMMEDIATE; INSERT INTO ZITEM (Z_OPT) VALUES (7)")
        let backup = try Migrator(options: .init(patience: 100)).backUp(fixture.store, version: "1")
        #expect(try app.run("COMMIT").isEmpty)
        #expect(backup.manifest.rows["ZITEM"] == 1_000)
        #expect(
            try Migrator(options: .init(patience: 100)).backUp(fixture.store, version: "1").manifest.rows["ZITEM"]
                == 1_001)
        app.end()
    }

    /// Each transaction moves an amount from one row to another: of any whole state the sum is the same.
    @Test(arguments: ["WAL", "DELETE"])
    func `a backup beside a busy writer is one of its states`(mode: String) throws {
        let fixture = try EngineFixture(isWAL: mode == "WAL")
        let script = """
            import sqlite3, sys, random, time
            c = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
            while True:
                a, b = random.randint(1, 1000), random.randint(1, 1000)
                try:
                    c.execute("BEGIN IMMEDIATE")
                    c.execute("UPDATE ZITEM SET Z_OPT = Z_OPT - 1 WHERE Z_PK = ?", (a,))
                    c.execute("UPDATE ZITEM SET Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", (b,))
                    c.execute("COMMIT")
                    print("x", flush=True)
                    time.sleep(0.002)
                except sqlite3.OperationalError as error:
                    if c.in_transaction: c.execute("ROLLBACK")
                    if "locked" not in str(error): raise
            """
        let output = fixture.folder.path + ".written"
        let writer = try ChildProcess(
            "python3", ["-c", script, fixture.store], output: .files(output: output, errors: nil))
        defer {
            writer.kill()
            try? FileManager.default.removeItem(atPath: output)
        }
        func written() -> Int { FileManager.default.contents(atPath: output)?.count ?? 0 }
        func waitForWrites() {
            let before = written()
            while writer.isRunning, written() == before { Thread.sleep(forTimeInterval: 0.01) }
        }
        var states: Set<String> = []
        for _ in Tier.faults.rounds(quick: 4, full: 100, sharedBy: 4) {
            waitForWrites()
            let backup = try Migrator().backUp(fixture.store, version: "1")
            #expect(
                try SQLiteShell.run(backup.store, "SELECT sum(Z_OPT) FROM ZITEM; PRAGMA integrity_check")
                    == "1000\nok\n")
            states.insert(backup.manifest.sha256)
        }
        #expect(writer.isRunning)
        #expect(states.count > 1)
    }

    @Test func `while another run of Moult has the store no backup is made`() throws {
        let fixture = try EngineFixture()
        let child = try EngineChild("hold", fixture.store)
        child.wait(for: "held")
        let error = #expect(throws: MigrationError.self) {
            try Migrator(options: .init(patience: 50)).backUp(fixture.store, version: "1")
        }
        #expect(error?.code == .locked && error?.message.contains("\(child.process.identifier)") == true)
        child.kill()
    }
}
