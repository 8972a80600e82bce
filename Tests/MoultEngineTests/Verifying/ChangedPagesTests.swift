import Foundation
import MoultBasics
import MoultModel
import MoultSQLite
import TestSupport
import Testing

@testable import MoultEngine

/// Which trees a transaction has written to, against the sqlite3 shell's `dbstat` of the file before, the bytes that
/// differ in the file after it, and the rows.
@Suite("Changed pages") struct ChangedPagesTests {  // tier: long
    private static let tables = 0..<5

    /// Some tables with indexes, rows with overflow, and free pages.
    private static func make(_ path: String, journal: String, _ random: inout SeededGenerator) throws {
        let rows = tables.map { table in
            """
            CREATE TABLE t\(table) (id INTEGER PRIMARY KEY, name TEXT, data BLOB, size INTEGER);
            CREATE INDEX i\(table) ON t\(table) (name);
            INSERT INTO t\(table) SELECT value, 'name ' || (value * 7919 % 1000), randomblob(value * value % 3000), value
            FROM generate_series(1, \(Int.random(in: 1...300, using: &random)));
            """
        }
        _ = try SQLiteShell.run(
            path,
            """
            PRAGMA page_size = 1024; PRAGMA auto_vacuum = 2; PRAGMA journal_mode = \(journal == "wal" ? "wal" : "delete");
            BEGIN; \(rows.joined()) COMMIT; DELETE FROM t\(Int.random(in: tables, using: &random)) WHERE id % 3 = 0;
            PRAGMA wal_checkpoint(TRUNCATE)
            """)
    }

    private static func statement(_ table: Int, _ number: Int, _ random: inout SeededGenerator) -> String {
        let place = Int.random(in: 0...200, using: &random)
        let row = "WHERE id = (SELECT id FROM t\(table) ORDER BY id LIMIT 1 OFFSET \(place))"
        return [
            "UPDATE t\(table) SET size = -1 \(row)", "UPDATE t\(table) SET name = 'other' \(row)",
            // Nothing but the last page of a row's overflow differs.
            "UPDATE t\(table) SET data = substr(data, 1, length(data) - 1) || x'00' \(row)",
            "UPDATE t\(table) SET data = randomblob(9000) \(row)", "DELETE FROM t\(table) \(row)",
            "INSERT INTO t\(table) (name, data) VALUES ('new', randomblob(2500))",
            "ALTER TABLE t\(table) ADD COLUMN c\(number) TEXT",
            "ALTER TABLE t\(table) RENAME COLUMN size TO s\(number)",
            "CREATE INDEX j\(number) ON t\(table) (size)", "DROP INDEX IF EXISTS i\(table)",
            "CREATE TABLE n\(number) AS SELECT * FROM t\(table)", "DELETE FROM t\(table)",
            // Its root takes the place of a page of another tree.
            "CREATE TABLE e\(number) (a)",
        ].randomElement(using: &random) ?? ""
    }

    private static func pages(_ path: String) throws -> [Data] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        return stride(from: 0, to: bytes.count, by: 1024).map { bytes[$0..<min($0 + 1024, bytes.count)] }
    }

    /// The columns of a table before, by their places, of all rows.
    private static func rows(_ table: String, in path: String) throws -> String {
        let columns = try SQLiteShell.run(path, "SELECT name FROM pragma_table_info('\(table)') LIMIT 4")
        let values = columns.split(separator: "\n").map { "quote(\"\($0)\")" }.joined(separator: ", ")
        return try SQLiteShell.run(path, "SELECT rowid, \(values) FROM \(table) ORDER BY rowid")
    }

    @Test(arguments: ["wal", "delete", "truncate", "persist"])
    func `each tree with a page that differs is named, or has only moved`(journal: String) throws {
        var counts = (named: 0, whole: 0, moved: 0)
        for seed in 0..<(Tier.matrix.isAsked ? 500 : 30) {
            var random = SeededGenerator(seed: UInt64(seed))
            let folder = try ScratchFolder()
            let (path, old) = (folder.path + "/new.sqlite", folder.path + "/old.sqlite")
            try Self.make(path, journal: journal, &random)
            try FileManager.default.copyItem(atPath: path, toPath: old)
            func numbers(_ query: String) throws -> [[Int]] {
                try SQLiteShell.run(old, query).split(separator: "\n").map { line in
                    line.split(separator: "|").compactMap { Int($0) }
                }
            }
            let trees = try numbers(
                "SELECT d.pageno, s.rootpage FROM dbstat AS d JOIN sqlite_schema AS s USING (name)")
            let roots = Dictionary(trees.map { ($0[0], $0[1]) }, uniquingKeysWith: { $1 })
            let tables = try numbers("SELECT substr(name, 2), rootpage FROM sqlite_schema WHERE type = 'table'")

            let connection = try Connection(path, mode: .readWrite)
            if journal != "wal" { try connection.execute("PRAGMA journal_mode = \(journal)") }
            try connection.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE")
            for number in 0..<Int.random(in: 1...4, using: &random) {
                let table = Int.random(in: Self.tables, using: &random)
                // It may follow one that has renamed what it names.
                try? connection.execute(Self.statement(table, number, &random))
            }
            let changed = try ChangedPages(connection, since: old, POSIXSystem())
            try connection.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()

            let differing = zip(try Self.pages(old), try Self.pages(path)).enumerated()
                .filter { $1.0 != $1.1 }.compactMap { roots[$0.offset + 1] }
            // A statement may have found no row; then there is nothing to read.
            guard changed != nil || !differing.isEmpty else { continue }
            let named = try #require(changed, "seed \(seed)").roots
            let moved = Set(differing).subtracting(named)
            #expect(moved.isEmpty || journal == "wal", "seed \(seed)")
            for table in tables where moved.contains(table[1]) {
                let name = "t\(table[0])"
                #expect(try Self.rows(name, in: path) == Self.rows(name, in: old), "seed \(seed)")
            }
            counts.moved += moved.count
            counts.named += named.subtracting([1]).count
            counts.whole += Set(roots.values).count
        }
        #expect(counts.named > 0 && counts.named < counts.whole, "\(counts)")
        #expect(counts.moved > 0 || journal != "wal", "\(counts)")
    }

    @Test(arguments: ["PRAGMA journal_mode = MEMORY", "PRAGMA journal_mode = OFF", "PRAGMA auto_vacuum = 0; VACUUM"])
    func `where the files do not say it, nothing is claimed`(settings: String) throws {
        var random = SeededGenerator(seed: 1)
        let folder = try ScratchFolder()
        let (path, old) = (folder.path + "/new.sqlite", folder.path + "/old.sqlite")
        try Self.make(path, journal: "delete", &random)
        let connection = try Connection(path, mode: .readWrite)
        try connection.execute(settings)
        try FileManager.default.copyItem(atPath: path, toPath: old)
        try connection.execute("BEGIN IMMEDIATE; UPDATE t1 SET size = -1 WHERE id = 1")
        #expect(try ChangedPages(connection, since: old, POSIXSystem()) == nil)
        try connection.execute("ROLLBACK")
    }

    @Test func `while a statement reads, nothing is claimed`() throws {
        var random = SeededGenerator(seed: 1)
        let folder = try ScratchFolder()
        let (path, old) = (folder.path + "/new.sqlite", folder.path + "/old.sqlite")
        try Self.make(path, journal: "wal", &random)
        try FileManager.default.copyItem(atPath: path, toPath: old)
        let connection = try Connection(path, mode: .readWrite)
        try connection.execute("BEGIN IMMEDIATE; UPDATE t1 SET size = -1 WHERE id = 1")
        let reading = try connection.prepare("SELECT * FROM t1")
        #expect(try reading.step())
        #expect(try ChangedPages(connection, since: old, POSIXSystem()) == nil)
        reading.finalise()
        #expect(try ChangedPages(connection, since: old, POSIXSystem()) != nil)
        try connection.execute("ROLLBACK")
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5])
    func `a copy that is damaged where it is asked is not believed`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let folder = try ScratchFolder()
        let (path, old) = (folder.path + "/new.sqlite", folder.path + "/old.sqlite")
        try Self.make(path, journal: "wal", &random)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        // The map says nothing of any page.
        bytes.replaceSubrange(1024..<2048, with: Data(count: 1024))
        try bytes.write(to: URL(fileURLWithPath: old))
        let connection = try Connection(path, mode: .readWrite)
        try connection.execute("BEGIN IMMEDIATE; UPDATE t\(seed % 5) SET size = -1")
        #expect(try ChangedPages(connection, since: old, POSIXSystem()) == nil)
        try connection.execute("ROLLBACK")
    }
}
