import Foundation
import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Columns and constraints that an app has added by hand to Core Data's own tables. The sqlite3 shell adds them, and says
/// afterwards what is there and whether it works.
struct KeptDefinitionsTests {  // tier: long
    /// A migration of notes: the cheapest, with every table made anew, in place, or with work that waits and is then
    /// finished.
    enum Way: CaseIterable {
        case cheapest, normalised, inPlace, deferred

        fileprivate var choice: StoreScript.Choice {
            switch self {
            case .cheapest, .deferred: .cheapest
            case .normalised: .normalised
            case .inPlace: .inPlace
            }
        }

        /// Whether tables stay to which columns are only added.
        fileprivate var keepsTables: Bool { self == .cheapest || self == .inPlace }
    }

    private static func notes(
        _ sql: String, to later: [AttributeDescription], history: Bool = false
    ) throws -> NotesStore {
        try NotesStore(sql, to: later, history: history, links: true)
    }

    private static let title = AttributeDescription(name: "title", type: .string)
    private static let body = AttributeDescription(name: "body", type: .string)
    private static let more = AttributeDescription(name: "more", type: .string)
    private static let text = AttributeDescription(name: "text", type: .string, renamingIdentifier: "body")

    private static let generated = """
        ALTER TABLE ZNOTE ADD COLUMN g TEXT GENERATED ALWAYS AS (upper(ZTITLE) || ', (x)') VIRTUAL;
        ALTER TABLE ZNOTE ADD COLUMN "AS h" AS (length("g"));
        CREATE INDEX app_g ON ZNOTE (g);
        """

    // MARK: - Generated columns

    @Test(arguments: Way.allCases)
    func `a generated column stays, and so does its index`(way: Way) throws {
        let notes = try Self.notes(Self.generated, to: [Self.title, Self.body, Self.more])
        #expect(try notes.migrate(way) == [])
        #expect(
            try notes.shell("SELECT name, hidden FROM pragma_table_xinfo('ZNOTE') WHERE hidden > 0")
                == "g|2\nAS h|2\n")
        #expect(try notes.indexes == "app_g\n")
        #expect(
            try notes.shell("SELECT Z_PK, \"AS h\", ZMORE FROM ZNOTE INDEXED BY app_g WHERE g = 'TITLE 4, (x)'")
                == "4|12|\n")
        #expect(try notes.shell("PRAGMA integrity_check") == "ok\n")
    }

    @Test(arguments: Way.allCases)
    func `a generated column over a column that is renamed stays with its values`(way: Way) throws {
        let notes = try Self.notes(
            """
            ALTER TABLE ZNOTE ADD COLUMN g TEXT AS (upper("ZBODY") || ' ZBODY ' || zbody) VIRTUAL;
            CREATE INDEX app_g ON ZNOTE (g);
            """, to: [Self.title, Self.text])
        let values = try notes.shell("SELECT Z_PK, g FROM ZNOTE ORDER BY 1")
        #expect(values.hasPrefix("1|BODY 1 ZBODY body 1\n"))
        #expect(try notes.migrate(way) == [])
        #expect(try notes.shell("SELECT Z_PK, g FROM ZNOTE ORDER BY 1") == values)
        #expect(try notes.indexes == "app_g\n")
        #expect(try notes.shell("UPDATE ZNOTE SET ZTEXT = 'x'; SELECT DISTINCT g FROM ZNOTE") == "X ZBODY x\n")
        #expect(try notes.shell("PRAGMA integrity_check") == "ok\n")
    }

    @Test func `a table that has generated columns beside its own is not made anew`() throws {
        let notes = try Self.notes(Self.generated, to: [Self.title])
        try notes.shell("ALTER TABLE Z_1TAGS ADD COLUMN both AS (Z_1NOTES || Z_2TAGS)")
        let connection = try Connection(notes.path, mode: .readOnly)
        defer { connection.close() }
        let version = notes.versions.versions[0]
        let bound = try BoundPlan(
            ResolvedMapping(identityOf: version.model), from: version, to: version, over: StoreSnapshot(connection),
            connection: connection)
        for name in ["ZNOTE", "Z_1TAGS"] {
            let sql = bound.destination.table(named: name)?.sql ?? bound.destination.joinTable(named: name)?.sql
            #expect(try notes.shell("SELECT sql FROM sqlite_master WHERE name = '\(name)'") == "\(sql ?? "")\n")
        }
        #expect(bound.losses == [])
    }

    @Test func `a stored generated column, in a table that an app has made itself, stays`() throws {
        let notes = try Self.notes("", to: [Self.title, Self.body, Self.more])
        try notes.shell(
            """
            ALTER TABLE ZNOTE RENAME TO old;
            CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, -- comma, (bracket
                Z_OPT INTEGER, ZBODY VARCHAR, ZTITLE VARCHAR, g INT AS (length(ZTITLE) * 2) STORED /* ) */);
            INSERT INTO ZNOTE SELECT Z_PK, Z_ENT, Z_OPT, ZBODY, ZTITLE FROM old; DROP TABLE old;
            """)
        #expect(try notes.migrate() == [])
        #expect(
            try notes.shell("SELECT g, hidden FROM ZNOTE, pragma_table_xinfo('ZNOTE') WHERE name = 'g'")
                == String(repeating: "14|3\n", count: 5))
    }

    @Test(arguments: [[title], [title, body, .init(name: "g", type: .string)]])
    func `a generated column over a column that goes, or whose name is taken, is named`(
        later: [AttributeDescription]
    ) throws {
        let notes = try Self.notes(
            """
            ALTER TABLE ZNOTE ADD COLUMN ZG AS (length(ZBODY)); CREATE INDEX app_g ON ZNOTE (ZG);
            ALTER TABLE ZNOTE ADD COLUMN kept AS (length(ZTITLE));
            """, to: later)
        let reason = "the generated column ZNOTE.ZG leaves"
        #expect(try notes.prepared(defers: true).deferral?.reasons.contains(reason) == true)
        let error = #expect(throws: MigrationError.self) { try notes.prepared().choosing(.inPlace).migration() }
        #expect(error?.message.contains(reason) == true)
        let plan = try notes.prepared()
        let found = plan.bound?.findings.filter { $0.code == "column-dropped" }.map(\.place)
        #expect(found == ["ZNOTE.ZG"])
        let isTaken = later.contains { $0.name == "g" }
        let why = isTaken ? "duplicate column name: ZG" : "no such column: ZBODY"
        let losses = try notes.migrate()
        #expect(losses.contains("The generated column ZNOTE.ZG is dropped: \(why)."))
        let isIndexDropped = losses.contains { $0.hasPrefix("The index app_g is dropped") }
        #expect(isIndexDropped != isTaken)
        #expect(try notes.shell("SELECT sum(kept) FROM ZNOTE") == "35\n")
        let record = try #require(try RunHistory(StoreRecords(store: notes.path)).records().last)
        #expect(record.losses.contains { $0.kind == .column && $0.place == "ZNOTE.ZG" })
    }

    // MARK: - Constraints and ordinary columns

    @Test(arguments: Way.allCases)
    func `constraints of an app's own stay in place, and are named where a table is made anew`(way: Way) throws {
        let notes = try Self.notes("", to: [Self.title, Self.body, Self.more])
        try notes.shell(
            """
            ALTER TABLE ZNOTE RENAME TO old;
            CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER NOT NULL, Z_OPT INTEGER, ZBODY VARCHAR,
                ZTITLE VARCHAR COLLATE NOCASE, CHECK (length(ZBODY) < 1000), UNIQUE (ZTITLE, ZBODY));
            INSERT INTO ZNOTE SELECT Z_PK, Z_ENT, Z_OPT, ZBODY, ZTITLE FROM old; DROP TABLE old;
            """)
        let lost = [
            "The constraint NOT NULL of ZNOTE.Z_ENT is dropped: the model does not ask for it.",
            "The constraint COLLATE NOCASE of ZNOTE.ZTITLE is dropped: the model does not ask for it.",
            "The constraint CHECK (length(ZBODY) < ?) of ZNOTE is dropped: the model does not ask for it.",
            "The constraint UNIQUE (ZTITLE, ZBODY) of ZNOTE is dropped: the model does not ask for it.",
        ]
        #expect(try notes.migrate(way) == (way.keepsTables ? [] : lost))
        let sql = try notes.shell("SELECT sql FROM sqlite_master WHERE name = 'ZNOTE'")
        #expect(sql.contains("CHECK") == way.keepsTables)
        if way == .deferred {
            let record = try #require(try RunHistory(StoreRecords(store: notes.path)).records().last)
            #expect(record.operation == .finish && record.backup != nil)
        }
    }

    private static let ordinary = """
        ALTER TABLE ZNOTE ADD COLUMN full TEXT; UPDATE ZNOTE SET full = 'x' || Z_PK WHERE Z_PK < 3;
        ALTER TABLE ZNOTE ADD COLUMN empty TEXT;
        ALTER TABLE Z_1TAGS ADD COLUMN since REAL DEFAULT 5; UPDATE Z_1TAGS SET since = rowid;
        CREATE INDEX app_full ON ZNOTE (full);
        """

    /// Added, dropped, renamed, and given new values.
    @Test(arguments: [
        [title, body, more], [title], [title, text], [title],
        [title, body, .init(name: "mark", type: .boolean, isOptional: false, defaultValue: .boolean(true))],
    ])
    func `an ordinary column of an app's own stays with its values where its table stays`(
        later: [AttributeDescription]
    ) throws {
        let notes = try Self.notes(Self.ordinary, to: later)
        let query = "SELECT Z_PK, full, empty FROM ZNOTE; SELECT * FROM Z_1TAGS"
        let before = try notes.shell(query)
        #expect(before.hasPrefix("1|x1|\n2|x2|\n3||\n"))
        let prepared = try notes.prepared()
        // A default value is written into the rows.
        let way: TableStrategy.Kind = later.last?.name == "mark" ? .updated : .altered
        #expect(try prepared.tableWays.map(\.kind) == [way, .unchanged, .unchanged])
        let strict = try notes.prepared(losses: .refuseUndeclared)
        #expect(try strict.undeclaredLosses(among: strict.foreseenLosses())?.message.contains("full") != true)
        #expect(try !notes.migrate().joined().contains("full"))
        #expect(try notes.shell(query) == before)
        #expect(try notes.indexes == "app_full\n")
        _ = try Migrator().rollback(notes.path, to: #require(try Migrator().backups(of: notes.path).list().last))
        #expect(try notes.shell(query) == before)
        #expect(try notes.shell("SELECT sum(length(ZBODY)) FROM ZNOTE") == "30\n")
    }

    @Test(arguments: [
        "UPDATE main.ZNOTE SET full = 'y' WHERE Z_PK = 2", "UPDATE main.Z_1TAGS SET since = 9 WHERE rowid = 1",
        "ALTER TABLE main.ZNOTE DROP COLUMN empty", "ALTER TABLE main.Z_1TAGS DROP COLUMN since",
        "ALTER TABLE main.ZNOTE ADD COLUMN other TEXT",
    ])
    func `verification finds what a statement does to an app's own column`(sql: String) throws {
        let notes = try Self.notes(Self.ordinary, to: [Self.title, Self.body, Self.more])
        var migration = try #require(try notes.prepared().migration())
        migration.script.statements.append(.init(.update, "ZNOTE", sql, "Does something wrong."))
        let error = #expect(throws: MigrationError.self) { try Migrator().run(migration, on: notes.path) }
        #expect(error?.code == .verificationFailed)
    }

    @Test func `an ordinary column whose table is made anew is refused until its loss is accepted`() throws {
        let notes = try Self.notes(Self.ordinary, to: [Self.title, Self.body, Self.more])
        var prepared = try notes.prepared(losses: .refuseUndeclared).choosing(.normalised)
        let refusal = try prepared.undeclaredLosses(among: prepared.foreseenLosses())
        #expect(refusal?.code == .lossNotAccepted && refusal?.place == "ZNOTE.full")
        #expect(refusal?.remedy.contains("[\"ZNOTE.full\", \"Z_1TAGS.since\"]") == true)
        prepared = try notes.prepared(losses: .refuseUndeclared, accepting: ["ZNOTE.full", "Z_1TAGS.since"])
            .choosing(.normalised)
        #expect(try prepared.undeclaredLosses(among: prepared.foreseenLosses()) == nil)
        #expect(
            try notes.migrate(.normalised) == [
                "2 values in the column full of ZNOTE are deleted: the column belongs to no property of the model.",
                "The column ZNOTE.empty is dropped: it belongs to no property of the model.",
                "3 values in the column since of Z_1TAGS are deleted: the column belongs to no property of the model.",
                "The index app_full is dropped: no such column: full.",
            ])
    }

    /// With the type of the attribute, the table has the very text that it has in a new store.
    @Test(arguments: [Way.cheapest, .normalised, .deferred], ["VARCHAR", "TEXT"])
    func `the values of a column are lost whose name an added attribute takes`(way: Way, type: String) throws {
        let later = [Self.title, Self.body, AttributeDescription(name: "zoo", type: .string)]
        let notes = try Self.notes(
            "ALTER TABLE ZNOTE ADD COLUMN ZZOO \(type); UPDATE ZNOTE SET ZZOO = 'x' WHERE Z_PK < 3", to: later)
        let losses = try notes.migrate(way)
        #expect(
            losses == [
                "2 values in the column ZZOO of ZNOTE are deleted: the column belongs to no property of the model."
            ])
        #expect(try notes.shell("SELECT count(ZZOO) FROM ZNOTE") == "0\n")
    }

    // MARK: - What is made while work waits

    @Test func `finish drops what an app has made since over a column that leaves, and names it`() throws {
        let notes = try Self.notes("CREATE INDEX app_before ON ZNOTE (ZBODY)", to: [Self.title])
        let prepared = try notes.prepared(defers: true)
        let outcome = try Migrator().run(prepared).first
        #expect(prepared.bound?.isDeferred == true)
        #expect(outcome?.losses.map(\.place) == ["Note.body", "app_before"])
        // What goes at once is in a backup.
        let backup = try #require(outcome?.backup)
        #expect(
            try SQLiteShell.run(backup.store, "SELECT sql FROM sqlite_master WHERE name = 'app_before'")
                == "CREATE INDEX app_before ON ZNOTE (ZBODY)\n")
        #expect(try notes.indexes == "")
        try notes.shell(
            """
            CREATE INDEX app_body ON ZNOTE (ZBODY); CREATE INDEX app_title ON ZNOTE (ZTITLE);
            CREATE VIEW app_bodies AS SELECT ZBODY FROM ZNOTE;
            CREATE TRIGGER app_write AFTER INSERT ON ZNOTE WHEN NEW.ZBODY IS NULL BEGIN SELECT 1; END;
            ALTER TABLE ZNOTE ADD COLUMN g AS (length(ZBODY));
            """)
        let finished = try Migrator().finishDeferred(notes.path, versions: notes.versions)
        #expect(
            finished.losses.map(\.place) == ["app_body", "app_bodies", "app_write", "ZNOTE.ZBODY", "ZNOTE.g"])
        #expect(finished.backup != nil && finished.left.isEmpty)
        #expect(try notes.indexes == "app_title\n")
        #expect(try notes.shell("INSERT INTO ZNOTE (Z_PK, Z_ENT) VALUES (9, 1); PRAGMA integrity_check") == "ok\n")
    }

    @Test func `finish drops an object once, however many tasks follow`() throws {
        let notes = try Self.notes("", to: [Self.title])
        _ = try Migrator().run(try notes.prepared(defers: true))
        // A table that was set aside is a task of its own, done before the table of notes is made anew.
        try notes.shell(
            """
            CREATE INDEX Z_Note_stale ON ZNOTE (ZTITLE); CREATE TABLE Z_DEFERRED_1_ZOLD (Z_PK INTEGER PRIMARY KEY);
            CREATE VIEW late AS SELECT ZBODY FROM ZNOTE;
            """)
        let finished = try Migrator().finishDeferred(notes.path, versions: notes.versions)
        #expect(finished.losses.map(\.place).filter { $0 == "late" } == ["late"])
        #expect(finished.left.isEmpty)
    }

    @Test func `a deferred migration that loses nothing at once makes no backup`() throws {
        let notes = try Self.notes(Self.generated, to: [Self.title])
        let outcome = try Migrator().run(try notes.prepared(defers: true)).first
        #expect(outcome?.backup == nil && outcome?.losses.map(\.count) == [nil])
    }
}

extension NotesStore {
    fileprivate func prepared(
        defers: Bool = false, losses: LossPolicy = .asTheVersionsSay(), accepting accepted: AcceptedLosses = .none
    ) throws -> PreparedMigration {
        var options = PreparedMigration.Options(losses: losses)
        options.defersWork = defers
        options.registry.acceptedLosses = accepted
        return try PreparedMigration(path, versions: versions, to: "2", options: options)
    }

    /// What was lost, in sentences, and the backup of what was lost at once.
    @discardableResult
    fileprivate func migrate(_ way: KeptDefinitionsTests.Way = .cheapest) throws -> [String] {
        let prepared = try prepared(defers: way == .deferred)
        let outcome = try Migrator().run(
            #require(try prepared.choosing(way.choice).migration()), on: path)
        guard way == .deferred else { return outcome.losses.map(\.sentence) }
        #expect(prepared.bound?.isDeferred == true)
        return outcome.losses.filter { $0.count != nil || $0.reason == .conflict }.map(\.sentence)
            + (try Migrator().finishDeferred(path, versions: versions).losses.map(\.sentence))
    }

    fileprivate var indexes: String {
        get throws { try shell("SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'app%'") }
    }
}
