import Foundation
import MoultBasics
import MoultModel
import MoultSQLite
import TestSupport
import Testing

struct ConnectionTests {
    let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func path(_ name: String = "a.sqlite") -> String { folder.path + "/" + name }

    private func code(_ body: () throws -> Void) -> MigrationError.Code? {
        #expect(throws: MigrationError.self, performing: body)?.code
    }

    @Test func `every storage class comes back as it was bound`() throws {
        let connection = try Connection(path(), mode: .create)
        try connection.execute("CREATE TABLE t (v)")
        let values: [SQLiteValue] = [
            .null, .integer(.min), .integer(.max), .real(-0.1), .real(.infinity), .text(""), .text("a\0b ü 🪶"),
            .blob([]), .blob([0, 255]),
        ]
        let insert = try connection.prepare("INSERT INTO t VALUES (?)")
        for value in values { try insert.run([value]) }
        #expect(try connection.rows("SELECT v FROM t ORDER BY rowid") { $0.value(0) } == values)
        connection.close()
        let shell = try SQLiteShell.run(path(), "SELECT group_concat(typeof(v)), group_concat(length(v)) FROM t")
        #expect(shell == "null,integer,integer,real,real,text,text,blob,blob|20,19,4,3,0,1,0,2\n")
    }

    @Test(arguments: ["", ";", "; ", "\n-- a comment\n"])
    func `a script ends at a NUL, and a query with one is refused`(end: String) throws {
        let connection = try Connection(path(), mode: .create)
        try connection.execute("CREATE TABLE t (v)\(end)\0 INSERT INTO t VALUES (1)")
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
        #expect(code { _ = try connection.query("SELECT 1\(end)\0") } == .usage)
        #expect(code { _ = try connection.query("\0") } == .usage)
    }

    @Test(arguments: ["plain", "per%cent", "ques?tion", "ha#sh", "spa ce", "ümlaut", "quo'te\"s", "a&mode=rw"])
    func `a path may hold any character`(name: String) throws {
        try Connection(path(name), mode: .create).execute("CREATE TABLE t (v)")
        #expect(FileManager.default.fileExists(atPath: path(name)))
        let other = try Connection(path("other"), mode: .create)
        try other.attach(path(name), as: "source")
        #expect(try other.integer("SELECT count(*) FROM source.t") == 0)
    }

    @Test func `each fault has its own code`() throws {
        #expect(code { _ = try Connection(path("nothing"), mode: .readWrite) } == .fileNotReadable)
        try Data((0..<8192).map { UInt8(1 + $0 * 37 % 255) }).write(to: URL(fileURLWithPath: path("random")))
        #expect(code { _ = try Connection(path("random"), mode: .readOnly).catalogue() } == .notAStore)
        let connection = try Connection(path(), mode: .create)
        try connection.execute("CREATE TABLE t (v INTEGER UNIQUE); BEGIN EXCLUSIVE; INSERT INTO t VALUES (1)")
        #expect(code { _ = try Connection(path(), mode: .readOnly).catalogue() } == .locked)
        #expect(code { try connection.execute("INSERT INTO t VALUES (1)") } == .dataConflict)
        try connection.execute("COMMIT")
        #expect(code { try Connection(path(), mode: .immutable).execute("DELETE FROM t") } == .readOnly)
        #expect(code { try connection.execute("SELECT \"a text\"") } == .sqlite)
        connection.close()
        #expect(code { try connection.execute("SELECT 1") } == .internal)
    }

    /// SQLite opens no database in WAL mode in a folder without write permission, unless its `-shm` is there. To ignore
    /// changes that another user may make meanwhile (`immutable`) would not be safe.
    @Test func `a folder without write permission is told apart from a file without it`() {
        let words = "attempt to write a readonly database"
        let folder = MigrationError.sqlite(1544, words, place: "/ro/a.sqlite")
        #expect(folder.code == .readOnly && folder.message == "The folder of the database cannot be written.")
        #expect(folder.remedy.contains("PRAGMA journal_mode = DELETE"))
        let file = MigrationError.sqlite(8, words, place: "/ro/a.sqlite")
        #expect(file.code == .readOnly && !file.remedy.contains("journal_mode"))
    }

    @Test func `a transaction that throws leaves nothing`() throws {
        let connection = try Connection(path(), mode: .create)
        try connection.execute("CREATE TABLE t (v)")
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try connection.transaction {
                try connection.run("INSERT INTO t VALUES (1)")
                throw Stop()
            }
        }
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
        #expect(!connection.isInTransaction)
        try connection.transaction { try connection.run("INSERT INTO t VALUES (1)") }
        #expect(try connection.integer("SELECT count(*) FROM t") == 1)
    }

    @Test func `closing ends statements that are still alive`() throws {
        let connection = try Connection(path(), mode: .create)
        try connection.execute("CREATE TABLE t (v); INSERT INTO t VALUES (1), (2)")
        let statement = try connection.prepare("SELECT v FROM t")
        #expect(try statement.step())
        connection.close()
        #expect(code { _ = try statement.step() } == .internal)
        #expect(try SQLiteShell.run(path(), "DROP TABLE t").isEmpty)
    }

    private static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"

    @Test func `a watcher ends a statement, and hears of none after its work`() throws {
        let connection = try Connection(path(), mode: .create)
        let error = code { try connection.watched(by: { false }, during: { _ = try connection.integer(Self.endless) }) }
        #expect(error == .cancelled)
        let ending = Self.endless.replacing("i + 1 FROM n", with: "i + 1 FROM n LIMIT 100000")
        #expect(try connection.integer(ending) == 5_000_050_000)
    }

    @Test func `watchers inside of each other and the meter all hear of a statement, and each can end it`() throws {
        var heard: [String] = []
        let work = try WatchedWork {
            let connection = try Connection(path(), mode: .create)
            let pieces: [WorkMeter.Piece<Void>] = [
                (
                    1_000,
                    {
                        let inner = {
                            heard.append("inner")
                            return true
                        }
                        let outer = {
                            heard.append("outer")
                            return heard.count < 200
                        }
                        let within = {
                            try connection.watched(by: inner, during: { _ = try connection.integer(Self.endless) })
                        }
                        #expect(code { try connection.watched(by: outer, during: within) } == .cancelled)
                        return []
                    }
                )
            ]
            _ = try WorkMeter.each(beats: 10_000, pieces)
        }
        #expect(Set(heard) == ["outer", "inner"] && heard.last == "outer")
        let parts = work.reports.map(\.fraction)
        #expect(parts.count > 50 && parts.first ?? 1 < 0.1, "\(parts)")
    }

    @Test func `a name is quoted as SQLite reads it`() throws {
        let connection = try Connection(path(), mode: .create)
        for name in ["order", "a\"b", "a b", "ü", "a'b", "a]b"] {
            try connection.execute("CREATE TABLE \(name.quotedName) (\(name.quotedName))")
            #expect(try connection.columns(of: name).map(\.name) == [name])
            #expect(try connection.text("SELECT \(name.quotedLiteral)") == name)
        }
    }

    @Test func `the catalogue lists everything in the order of sqlite_master`() throws {
        let connection = try Connection(path(), mode: .create)
        try connection.execute(
            """
            CREATE TABLE b (x INTEGER PRIMARY KEY, y VARCHAR NOT NULL DEFAULT 'n', UNIQUE (y));
            CREATE TABLE a (z);
            CREATE INDEX i ON a (z);
            CREATE TRIGGER r AFTER INSERT ON a BEGIN SELECT 1; END
            """)
        let catalogue = try connection.catalogue()
        let listed = catalogue.entries.map { "\($0.kind.rawValue)|\($0.name)|\($0.tableName)" }
        let shell = try SQLiteShell.run(path(), "SELECT type, name, tbl_name FROM sqlite_master ORDER BY rowid")
        #expect(listed.joined(separator: "\n") + "\n" == shell)
        #expect(
            try connection.columns(of: "b") == [
                .init(name: "x", declaredType: "INTEGER", primaryKeyPosition: 1),
                .init(name: "y", declaredType: "VARCHAR", isNotNull: true, defaultValue: "'n'"),
            ])
    }
}
