import Foundation
import MoultBasics
import MoultSQLite
import TestSupport
import Testing

struct PageCheckTests {
    let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    @Test(arguments: CheckedDatabase.all) func `a database that SQLite wrote has no fault`(
        _ database: CheckedDatabase
    ) throws {
        let path = try database.make(in: folder)
        #expect(try SQLiteShell.run(path, "PRAGMA integrity_check", immutable: true) == "ok\n")
        let found = try PageCheck(path).faults()
        #expect(found.faults == [])
        let names = "SELECT name FROM sqlite_master WHERE rootpage > 0 AND type = 'table' ORDER BY name LIMIT 50"
        for name in try SQLiteShell.run(path, names, immutable: true).split(separator: "\n") {
            let count = try SQLiteShell.run(path, "SELECT count(*) FROM \(name)", immutable: true)
            #expect(found.entries[String(name)].map { "\($0)\n" } == count, "\(name)")
        }
    }

    @Test(.enabled(if: Corpus.isAvailable)) func `a store of the corpus has the faults that SQLite finds`() throws {
        for store in CorpusStores.distinct {
            let connection = try Connection(store, mode: .immutable)
            defer { connection.close() }
            let isSound = try connection.text("PRAGMA quick_check(1)") == "ok"
            #expect(try PageCheck(connection).faults().faults.isEmpty == isSound, "\(CorpusStores.name(of: store))")
        }
        #expect(CorpusStores.distinct.count > 2)
    }

    @Test func `entries of an index that are not in order are found`() throws {
        let path = folder.path + "/a.sqlite"
        _ = try SQLiteShell.run(
            path,
            """
            CREATE TABLE t (v TEXT); CREATE INDEX i ON t (v); CREATE INDEX d ON t (v COLLATE NOCASE DESC);
            INSERT INTO t VALUES ('ant'), ('bee'), ('cat'), ('DOG'), ('eel')
            """)
        for (index, root) in [("i", 3), ("d", 4)] {
            var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
            // The list of cells of an index leaf begins after eight bytes.
            let list = (root - 1) * 4096 + 8
            bytes.swapAt(list + 2, list + 4)
            bytes.swapAt(list + 3, list + 5)
            let other = folder.path + "/\(index).sqlite"
            try Data(bytes).write(to: URL(fileURLWithPath: other))
            #expect(try SQLiteShell.run(other, "PRAGMA quick_check", immutable: true) == "ok\n")
            let faults = try PageCheck(other).faults().faults
            #expect(faults.map(\.kind) == [.index] && faults.map(\.tree) == [index] && faults.map(\.page) == [root])
        }
    }

    @Test func `an index that lacks a row is found`() throws {
        let path = folder.path + "/a.sqlite"
        _ = try SQLiteShell.run(
            path,
            """
            CREATE TABLE t (v TEXT); CREATE INDEX i ON t (v); INSERT INTO t VALUES ('ant'), ('bee');
            PRAGMA writable_schema = ON; UPDATE sqlite_master SET type = 'x', sql = NULL WHERE name = 'i'; SELECT 1
            """)
        _ = try SQLiteShell.run(path, "PRAGMA writable_schema = ON; INSERT INTO t VALUES ('cat')")
        _ = try SQLiteShell.run(
            path,
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET type = 'index', sql = 'CREATE INDEX i ON t (v)' WHERE name = 'i'
            """)
        #expect(try SQLiteShell.run(path, "PRAGMA quick_check", immutable: true) == "ok\n")
        let faults = try PageCheck(path).faults().faults
        #expect(faults.map(\.message) == ["The index has 2 entries, but t has 3 rows."])
        #expect(faults.map(\.kind) == [.index])
    }

    @Test func `what only SQLite judges is checked by SQLite`() throws {
        for (columns, value, complaint) in [
            ("(v TEXT NOT NULL)", "NULL", "NULL value in t.v"),
            ("(v INTEGER) STRICT", "'x'", "non-INTEGER value in t.v"),
        ] {
            let path = folder.path + "/\(value.count).sqlite"
            _ = try SQLiteShell.run(
                path,
                """
                CREATE TABLE t (v); INSERT INTO t VALUES (\(value)); PRAGMA writable_schema = ON;
                UPDATE sqlite_master SET sql = 'CREATE TABLE t \(columns)'
                """)
            #expect(try SQLiteShell.run(path, "PRAGMA quick_check", immutable: true) == "\(complaint)\n")
            #expect(try PageCheck(path).faults().faults.map(\.message) == [complaint])
        }
    }

    @Test func `the faults of damaged databases are those that SQLite finds`() throws {
        try DamagedDatabases(folder).check(rounds: Tier.matrix.rounds(quick: 40, full: 2_000, sharedBy: 2))
    }
}

@Suite(.enabled(if: Tier.matrix.isAsked)) struct PageCheckMatrixTests {
    @Test func `the faults of many damaged databases are those that SQLite finds`() throws {
        let folder = try ScratchFolder()
        try DamagedDatabases(folder).check(rounds: Tier.matrix.rounds(quick: 0, full: 20_000))
    }
}

extension PageCheck {
    /// A check of a file through a connection of its own.
    fileprivate init(_ path: String) throws { self.init(try Connection(path, mode: .immutable)) }
}

/// A small database with every kind of page.
struct CheckedDatabase: Sendable, CustomTestStringConvertible {
    let pageSize: Int
    var autoVacuum = 0
    var encoding = "UTF-8"
    var reserved = 0

    static let all = [
        CheckedDatabase(pageSize: 512), CheckedDatabase(pageSize: 512, autoVacuum: 1),
        CheckedDatabase(pageSize: 1024, autoVacuum: 2), CheckedDatabase(pageSize: 1024, encoding: "UTF-16le"),
        CheckedDatabase(pageSize: 1024, autoVacuum: 2, encoding: "UTF-16be"), CheckedDatabase(pageSize: 4096),
        CheckedDatabase(pageSize: 1024, reserved: 24), CheckedDatabase(pageSize: 65_536, autoVacuum: 2),
    ]

    var testDescription: String {
        "\(pageSize) bytes, auto_vacuum \(autoVacuum), \(encoding), \(reserved) bytes reserved"
    }

    func make(in folder: ScratchFolder) throws -> String {
        let path = folder.path + "/\(pageSize)-\(autoVacuum)-\(encoding)-\(reserved).sqlite"
        let first = [
            "-cmd", ".filectrl reserve_bytes \(reserved)", "-cmd", "PRAGMA page_size = \(pageSize)",
            "-cmd", "PRAGMA auto_vacuum = \(autoVacuum)", "-cmd", "PRAGMA encoding = '\(encoding)'",
        ]
        _ = try SQLiteShell.run(
            path, "BEGIN; \(Self.sql); COMMIT", arguments: Array(reserved == 0 ? first[2...] : first[...]))
        return path
    }

    private static let sql = """
        CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120) SELECT i FROM n;
        CREATE TABLE a (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, t VARCHAR, r FLOAT, b BLOB, n NUMERIC DEFAULT 3);
        CREATE INDEX a_k ON a (k);
        CREATE INDEX a_t ON a (t COLLATE NOCASE DESC, k);
        INSERT INTO a SELECT i, i * 7919 % 101 - 50, CASE WHEN i % 5 THEN char(65 + i % 60) || i END, i / 7.0 - 9,
            randomblob(i % 13), i * 1000003 FROM n;
        DELETE FROM a WHERE id % 9 = 4;
        ALTER TABLE a ADD COLUMN late TEXT NOT NULL DEFAULT 'x';
        CREATE TABLE long (id INTEGER PRIMARY KEY, t TEXT, z BLOB);
        CREATE INDEX long_t ON long (t);
        INSERT INTO long SELECT i, printf('%.*c', i * 97 % 1500, char(97 + i % 26)), randomblob(i * 331 % 3000)
            FROM n WHERE i < 16;
        DELETE FROM long WHERE id % 6 = 1;
        CREATE TABLE keyed (a TEXT COLLATE RTRIM, b REAL, c, d BLOB, PRIMARY KEY (b DESC, a)) WITHOUT ROWID;
        CREATE INDEX keyed_c ON keyed (c DESC, d);
        INSERT INTO keyed SELECT 'k' || i || substr('    ', 1, i % 4), i % 10 * 1.5,
            CASE i % 4 WHEN 1 THEN i - 60 WHEN 2 THEN 'v' || i WHEN 3 THEN randomblob(i % 30) END, randomblob(i % 40) FROM n;
        CREATE TABLE s (v TEXT, e INTEGER);
        INSERT INTO s SELECT 'Word' || (i * 37 % 91), i FROM n;
        CREATE INDEX s_part ON s (v) WHERE e % 2 = 0;
        CREATE INDEX s_expression ON s (upper(v) || e, e DESC);
        CREATE INDEX s_spaces ON s (v COLLATE RTRIM);
        CREATE TABLE numbers (v);
        CREATE INDEX numbers_v ON numbers (v);
        CREATE INDEX numbers_d ON numbers (v DESC);
        INSERT INTO numbers VALUES (9007199254740993), (9007199254740992.0), (9223372036854775807), (9.3e18), (-9.3e18),
            (0.0), (-0.0), (0), (1), (1.5), (127), (128), (32768), (8388608), (2147483648), (140737488355328), (-129),
            (NULL), (NULL), (''), (x''), ('a'), ('A'), ('a '), (x'00'), (9e999), (-9e999), (4503599627370496.5);
        CREATE TABLE empty (x, y TEXT);
        CREATE INDEX empty_x ON empty (x);
        CREATE TABLE gone (x);
        INSERT INTO gone SELECT randomblob(300) FROM n;
        DROP TABLE gone
        """
}

/// Copies of databases with seeded damage, and the witnesses of what is damaged in them.
private struct DamagedDatabases {
    private let path: String
    private let originals: [(name: String, bytes: [UInt8])]

    init(_ folder: ScratchFolder) throws {
        path = folder.path + "/damaged.sqlite"
        originals = try CheckedDatabase.all.filter { $0.pageSize < 65_536 }.map { database in
            let made = try database.make(in: folder)
            return (database.testDescription, try [UInt8](Data(contentsOf: URL(fileURLWithPath: made))))
        }
    }

    /// Damages each database once in each round. Every fault of SQLite's must be found, and no other: what `quick_check`
    /// does not look at, `integrity_check` must confirm, or it is in a record or in the order of an index.
    func check(rounds: some Sequence<Int>) throws {
        let seed = SeededGenerator.seedOfRun
        var (faulty, sound, complaints) = (0, 0, 0)
        for round in rounds {
            for original in originals {
                var generator = SeededGenerator(seed: seed &+ UInt64(round))
                let bytes = original.bytes.damaged(&generator)
                try Data(bytes).write(to: URL(fileURLWithPath: path))
                let words = "\(original.name), seed \(seed), round \(round)"
                let complaint = complaint { try $0.text("PRAGMA quick_check(1)") }
                var fault: PageCheck.Fault?
                let own = self.complaint { connection in
                    fault = try PageCheck(connection).faults(limit: 1).faults.first
                    return fault?.message ?? "ok"
                }
                #expect(complaint == nil || own != nil, "\(words): \(complaint ?? "")")
                if complaint == nil, let own, fault?.kind != .index, !own.hasPrefix("The record"),
                    !own.hasPrefix("The file ends")
                {
                    #expect(self.complaint { try $0.text("PRAGMA integrity_check(1)") } != nil, "\(words): \(own)")
                }
                (faulty, sound) = own == nil ? (faulty, sound + 1) : (faulty + 1, sound)
                if complaint != nil { complaints += 1 }
            }
        }
        print("\(faulty + sound) damaged databases: quick_check finds a fault in \(complaints), Moult in \(faulty)")
        #expect(faulty > sound / 4 && sound > faulty / 4)
    }

    /// Returns what a check of the damaged file says, or its error; nil if it says `ok`.
    private func complaint(_ check: (Connection) throws -> String?) -> String? {
        do {
            let connection = try Connection(path, mode: .immutable)
            defer { connection.close() }
            let answer = try check(connection) ?? "no answer"
            return answer == "ok" ? nil : answer
        } catch {
            return "\(error)"
        }
    }
}

extension [UInt8] {
    /// The bytes of a database with damage of one kind: in a byte, a cell, a header or a whole page.
    fileprivate func damaged(_ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = self
        let size = databasePageSize ?? 1024
        func random(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
        let page = random(count / size) * size
        let header = page == 0 ? 100 : page
        // Of a page that is no b-tree page, any place will do.
        let cells = Swift.max(Int(self[header + 4]), 1)
        let list = Swift.min(header + (self[header] > 5 ? 8 : 12) + 2 * random(cells), count - 2)
        let cell = page + Int(self[list]) << 8 + Int(self[list + 1])
        let change = [UInt8(random(256)), UInt8(1) << UInt8(random(8)), 0x80, 0xff, 1, 2][random(6)]
        switch random(9) {
        case 0: bytes[random(count)] ^= change
        case 1: bytes[random(100)] ^= change
        case 2: bytes[header + random(12)] ^= change
        case 3: bytes[list + random(2)] ^= change
        case 4, 5: bytes[Swift.min(cell + random(14), count - 1)] ^= change
        case 6: bytes.replaceSubrange(page..<(page + size), with: [UInt8](repeating: 0, count: size))
        case 7:
            let other = random(count / size) * size
            bytes.replaceSubrange(page..<(page + size), with: self[other..<(other + size)])
        default: bytes.removeLast(random(count / size) * size)
        }
        return bytes
    }
}
