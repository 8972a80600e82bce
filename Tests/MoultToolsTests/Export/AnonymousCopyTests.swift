import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultStore
import MoultTools
import TestSupport
import Testing

@Suite("Anonymous copies")
struct AnonymousCopyTests {  // tier: long
    /// Prints each text of the first store that is in the bytes of the second, by Python alone.
    static let search = Witness.folder + "/traces.py"

    private func copy(
        _ store: SampleStore, _ name: String = "copy.sqlite", rules: [String: StandInRules.Rule] = [:], seed: UInt64 = 1
    ) throws -> (path: String, outcome: AnonymousCopy.Outcome) {
        let path = store.folder.path + "/" + name
        let copy = AnonymousCopy(of: store.path, versions: nil, rules: StandInRules(rules), seed: seed)
        return (path, try copy.make(at: path))
    }

    @Test func `no text is left of rows, freed pages, the log, history, metadata, an app's tables or files`() throws {
        let store = try SampleStore()
        _ = try SQLiteShell.run(
            store.path,
            """
            UPDATE ZINGREDIENT SET ZNAME = 'Confidential ' || Z_PK || ' of ' || hex(randomblob(4));
            CREATE TABLE app (id INTEGER PRIMARY KEY, note TEXT, amount REAL, seen TIMESTAMP);
            INSERT INTO app (note, amount, seen) VALUES ('Confidential memo', 1234.5, 700000000.25);
            CREATE TABLE gone (note TEXT); INSERT INTO gone VALUES ('Confidential and gone'); DELETE FROM gone;
            CREATE VIRTUAL TABLE search USING fts5(body); INSERT INTO search VALUES ('Confidential in an index');
            CREATE TABLE search_more (note TEXT); INSERT INTO search_more VALUES ('Confidential beside an index');
            """)
        let folder = store.folder.path + "/.sample_SUPPORT/_EXTERNAL_DATA"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let before = try FileManager.default.contentsOfDirectory(atPath: folder)
        try Data("Confidential picture of somebody".utf8).write(to: URL(fileURLWithPath: folder + "/ConfidentialName"))
        // What is only in the log.
        let writer = try SQLiteProcess(store.path)
        try writer.run(
            "PRAGMA journal_mode = WAL; UPDATE ZTAG SET Z_OPT = 2; INSERT INTO gone VALUES ('Confidential in the log');"
        )
        let (path, outcome) = try copy(store)
        let files = try FileManager.default.contentsOfDirectory(
            atPath: store.folder.path + "/.copy_SUPPORT/_EXTERNAL_DATA")
        #expect(files.count == before.count + 1 && outcome.files == files.count)
        for file in [path] + files.map({ store.folder.path + "/.copy_SUPPORT/_EXTERNAL_DATA/" + $0 }) {
            let bytes =
                try Data(contentsOf: URL(fileURLWithPath: file)) + Data(file.dropFirst(store.folder.path.count).utf8)
            #expect(
                bytes.firstRange(of: Data("Confidential".utf8)) == nil
                    && bytes.firstRange(of: Data("picture".utf8)) == nil, "\(file)")
        }
        #expect(outcome.emptied == ["search"])
        let found = try ChildProcess.run("python3", [Self.search, store.path, path])
        #expect(found.exit == 0, "\(found.output)")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let left = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
        #expect(!left.contains { $0.hasSuffix(".part") }, "\(left)")
    }

    @Test func `text keys, texts in the place of numbers, and those of views, triggers and defaults are replaced`()
        throws
    {
        let store = try SampleStore(count: 5, isHostile: false)
        _ = try SQLiteShell.run(
            store.path,
            """
            CREATE TABLE accounts (email TEXT PRIMARY KEY, token TEXT DEFAULT 'alice default',
                state TEXT /* of alice */ CHECK (state <> 'alice checked'),
                kind TEXT GENERATED ALWAYS AS ('alice ' || state) STORED);
            INSERT INTO accounts VALUES ('alice.secret@example.com', 'alice token', 'open');
            CREATE TABLE cache (url TEXT NOT NULL, n INTEGER, body TEXT, PRIMARY KEY (url, n)) WITHOUT ROWID;
            INSERT INTO cache VALUES ('https://alice.example/u', 1, 'alice');
            CREATE TABLE short (name TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO short VALUES ('alic'), ('bob1');
            CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT GENERATED ALWAYS AS ('alice ' || id) STORED);
            INSERT INTO names VALUES (1);
            UPDATE ZINGREDIENT SET Z_OPT = 'alice in a counter', ZDISH = 'alice as a key' WHERE Z_PK = 1;
            UPDATE ZDISH SET ZAINTEGER16 = 'alice as a number', ZABOOLEAN = 'alice as a flag' WHERE Z_PK = 1;
            UPDATE Z_PRIMARYKEY SET Z_MAX = 'alice as a maximum' WHERE Z_NAME = 'Tag';
            CREATE VIEW mine AS SELECT email, 'alice of a view' AS note FROM accounts
                WHERE email = 'alice.secret@example.com' OR token LIKE '%alice%';
            CREATE TRIGGER audit AFTER INSERT ON accounts WHEN new.email <> 'alice.of.a@trigger' BEGIN
                INSERT OR IGNORE INTO accounts VALUES ('alice.of.a@trigger', strftime('%Y'), 'open'); END;
            CREATE INDEX part ON accounts (token) WHERE token <> 'alice of an index';
            CREATE VIEW path AS SELECT json_extract(json_array(7, 8), '$[1]') AS second;
            """)
        let (path, outcome) = try copy(store)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes.firstRange(of: Data("alic".utf8)) == nil && bytes.firstRange(of: Data("bob1".utf8)) == nil)
        #expect(outcome.byChance == 0)
        // What the statements did they do with the stand-ins.
        let queries = [
            "SELECT count(*) FROM mine", "SELECT count(*), length(email), length(kind) FROM accounts",
            "SELECT count(*), sum(length(name)) FROM short", "PRAGMA integrity_check",
            "SELECT substr(kind, 7) = state, length(kind) FROM accounts", "SELECT length(name) FROM names",
            "SELECT second FROM path",
            """
            INSERT INTO accounts (email) VALUES ('x');
            SELECT count(*), length(group_concat(token)), max(token GLOB '[12][0-9][0-9][0-9]') FROM accounts
            """,
        ]
        for query in queries {
            #expect(try SQLiteShell.run(path, query) == SQLiteShell.run(store.path, query), "\(query)")
        }
    }

    @Test
    func `keys, links, NULLs, storage classes and lengths are those of the store; the dates are as far apart`() throws {
        let store = try SampleStore()
        let (path, outcome) = try copy(store)
        let near = try SQLiteShell.run(store.path, "SELECT group_concat(Z_PK) FROM ZDISH WHERE abs(ZADATE) < 2e10")
        let spans = try [store.path, path].map {
            try SQLiteShell.run($0, "SELECT round(max(ZADATE) - min(ZADATE)) FROM ZDISH WHERE Z_PK IN (\(near))")
        }
        #expect(spans[0] == spans[1])
        for query in [
            "SELECT Z_PK, Z_ENT, Z_OPT, ZABOOLEAN, ZDISH FROM (SELECT * FROM ZINGREDIENT), (SELECT ZABOOLEAN FROM ZDISH LIMIT 1)",
            "SELECT Z_PK, typeof(ZAINTEGER16), typeof(ZADOUBLE), typeof(ZADECIMAL), typeof(ZASTRING), length(ZASTRING), length(ZABINARY), length(ZAUUID), typeof(ZADATE), length(ZAINTEGER32), ZABOOLEAN FROM ZDISH",
            "SELECT * FROM Z_PRIMARYKEY", "SELECT name FROM sqlite_master ORDER BY name",
            "SELECT count(DISTINCT ZASTRING), count(DISTINCT ZAINTEGER64), count(DISTINCT ZAUUID), count(DISTINCT ZADATE) FROM ZDISH",
            "SELECT Z_PK FROM ZDISH ORDER BY ZAINTEGER64, Z_PK", "SELECT Z_PK FROM ZDISH ORDER BY ZADOUBLE, Z_PK",
            "PRAGMA integrity_check", "PRAGMA page_size",
        ] {
            #expect(try SQLiteShell.run(store.path, query) == SQLiteShell.run(path, query), "\(query)")
        }
        #expect(outcome.objects == ["Dish": 40, "Soup": 40, "Ingredient": 40, "Tag": 40, "ZDISH": 40])
        #expect(
            try SQLiteShell.run(store.path, "SELECT Z_UUID FROM Z_METADATA")
                != SQLiteShell.run(path, "SELECT Z_UUID FROM Z_METADATA"))
    }

    @Test func `a seed makes the same copy byte for byte, another seed another one`() throws {
        let store = try SampleStore(count: 20)
        let paths = try [(1, "a.sqlite"), (1, "b.sqlite"), (2, "c.sqlite")].map { seed, name in
            try copy(store, name, seed: seed).path
        }
        let bytes = try paths.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        #expect(bytes[0] == bytes[1] && bytes[0] != bytes[2])
    }

    @Test func `a rule keeps, shuffles or erases the values of a property or an entity`() throws {
        let store = try SampleStore(isHostile: false)
        let (path, outcome) = try copy(
            store,
            rules: ["Ingredient": .keep, "Dish.aString": .shuffle, "Soup.aString": .erase, "Dish.aDouble": .erase])
        func both(_ query: String) throws -> [String] { try [store.path, path].map { try SQLiteShell.run($0, query) } }
        let kept = try both("SELECT Z_PK, ZNAME FROM ZINGREDIENT")
        #expect(kept[0] == kept[1])
        let dish = "FROM ZDISH WHERE Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Dish')"
        let sorted = try both("SELECT ZASTRING \(dish) ORDER BY 1")
        let placed = try both("SELECT Z_PK, ZASTRING \(dish)")
        let nulls = try both("SELECT Z_PK \(dish) AND ZASTRING IS NULL")
        #expect(sorted[0] == sorted[1] && placed[0] != placed[1] && nulls[0] == nulls[1])
        let soup = dish.replacingOccurrences(of: "'Dish'", with: "'Soup'")
        #expect(try SQLiteShell.run(path, "SELECT count(ZASTRING), count(ZADOUBLE) \(soup)") == "0|0\n")
        #expect(try SQLiteShell.run(path, "SELECT count(ZADOUBLE) \(dish)") == "0\n")
        #expect(outcome.kept.contains { $0.place == "Ingredient.name" && $0.rule == .keep })
        #expect(outcome.kept.contains { $0.place == "Dish.aString" && $0.rule == .shuffle })
    }

    @Test func `what cannot be done is refused, and nothing is left`() throws {
        let store = try SampleStore(count: 3)
        try Data().write(to: URL(fileURLWithPath: store.folder.path + "/taken.sqlite"))
        let before = try Set(FileManager.default.contentsOfDirectory(atPath: store.folder.path))
        for (name, rules) in [
            ("taken.sqlite", [:]), ("sample.sqlite", [:]), ("x.sqlite", ["Nobody": .keep]),
            ("x.sqlite", ["Dish.nothing": .keep]),
        ] as [(String, [String: StandInRules.Rule])] {
            let error = #expect(throws: MigrationError.self) { try copy(store, name, rules: rules) }
            #expect(error?.code == .usage, "\(name) \(rules)")
        }
        _ = try SQLiteShell.run(store.path, "DROP TABLE Z_MODELCACHE")
        #expect(throws: MigrationError.self) { try copy(store, "x.sqlite") }
        let left = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
        #expect(Set(left) == before, "\(left)")
    }
}
