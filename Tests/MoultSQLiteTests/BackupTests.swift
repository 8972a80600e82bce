import MoultBasics
import MoultModel
import MoultSQLite
import TestSupport
import Testing

struct BackupTests {
    let folder: ScratchFolder
    let source: Connection

    init() throws {
        folder = try ScratchFolder()
        source = try Connection(folder.path + "/a.sqlite", mode: .create)
        try source.execute(
            """
            PRAGMA journal_mode = WAL; CREATE TABLE t (v);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
            INSERT INTO t SELECT randomblob(100) FROM n
            """)
    }

    @Test func `a copy holds what the source holds, its WAL included`() throws {
        let copy = try Connection(folder.path + "/b.sqlite", mode: .create)
        var steps: [Int] = []
        try Backup(from: source, to: copy).run(stepPages: 50) { done, all in
            steps.append(done)
            return done <= all
        }
        #expect(steps.count > 2 && steps == steps.sorted())
        copy.close()
        let sum = "SELECT count(*), max(hex(v)), min(hex(v)) FROM t"
        #expect(try SQLiteShell.run(folder.path + "/b.sqlite", sum) == SQLiteShell.run(folder.path + "/a.sqlite", sum))
    }

    @Test func `a copy that is cancelled leaves the destination as it was`() throws {
        let copy = try Connection(folder.path + "/b.sqlite", mode: .create)
        try copy.execute("CREATE TABLE old (v); INSERT INTO old VALUES (42)")
        let error = #expect(throws: MigrationError.self) {
            try Backup(from: source, to: copy).run(stepPages: 10) { done, _ in done < 50 }
        }
        #expect(error?.code == .cancelled)
        #expect(try copy.integer("SELECT v FROM old") == 42)
        copy.close()
        #expect(try SQLiteShell.run(folder.path + "/b.sqlite", "PRAGMA integrity_check") == "ok\n")
    }
}
