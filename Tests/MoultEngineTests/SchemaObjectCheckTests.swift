import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Search tables, triggers, views and indexes of an app over a column that the new version does not have, or calls by
/// another name. The sqlite3 shell makes them, and does afterwards what the app will do.
struct SchemaObjectCheckTests {
    private static let used = "1 title 1,2 changed,4 title 4,5 title 5,9 later\n"

    private static let title = AttributeDescription(name: "title", type: .string)
    private static let body = AttributeDescription(name: "body", type: .string)
    private static let text = AttributeDescription(name: "text", type: .string, renamingIdentifier: "body")

    private static func dropped(_ prepared: PreparedMigration) -> Set<String> {
        Set((prepared.bound?.findings ?? []).filter { $0.code == "object-dropped" }.map(\.place))
    }

    private static let triggers = """
        CREATE TRIGGER note_insert AFTER INSERT ON ZNOTE BEGIN
            INSERT INTO note_search (rowid, ZTITLE, ZBODY) VALUES (NEW.Z_PK, NEW.ZTITLE, NEW.ZBODY); END;
        CREATE TRIGGER note_delete AFTER DELETE ON ZNOTE BEGIN
            INSERT INTO note_search (note_search, rowid, ZTITLE, ZBODY)
                VALUES ('delete', OLD.Z_PK, OLD.ZTITLE, OLD.ZBODY); END;
        CREATE TRIGGER note_update AFTER UPDATE ON ZNOTE BEGIN
            INSERT INTO note_search (note_search, rowid, ZTITLE, ZBODY)
                VALUES ('delete', OLD.Z_PK, OLD.ZTITLE, OLD.ZBODY);
            INSERT INTO note_search (rowid, ZTITLE, ZBODY) VALUES (NEW.Z_PK, NEW.ZTITLE, NEW.ZBODY); END;
        """

    /// What SQLite's own documentation shows: https://sqlite.org/fts5.html, external content tables.
    private static let external = """
        CREATE VIRTUAL TABLE note_search USING fts5(ZTITLE, ZBODY, content='ZNOTE', content_rowid='Z_PK');
        INSERT INTO note_search (note_search) VALUES ('rebuild'); \(triggers)
        """

    // MARK: - What goes

    @Test(arguments: [[title], [title, text]])
    func `a search table over a column that goes or is renamed goes, with its triggers`(
        later: [AttributeDescription]
    ) throws {
        let notes = try NotesStore(Self.external, to: later)
        let (plan, outcome) = try notes.migrate()
        #expect(Self.dropped(plan) == ["note_search", "note_insert", "note_delete", "note_update"])
        #expect(try notes.use() == Self.used)
        #expect(try notes.shell("SELECT count(*) FROM sqlite_master WHERE name LIKE 'note%'") == "0\n")
        #expect(try notes.shell("PRAGMA integrity_check") == "ok\n")
        let search = try #require(outcome.losses.first { $0.entityName == "note_search" })
        #expect(search.kind == .table && search.reason == .conflict)
        let renamed = later.contains(Self.text) ? ", which is renamed to ZTEXT" : ""
        #expect(search.sentence.hasSuffix("no such column: T.ZBODY\(renamed)."), "\(search.sentence)")
        // One truth: nothing that goes is said to be left as it is.
        let unknown = plan.bound?.findings.filter { $0.code == "table-unknown" } ?? []
        #expect(unknown.isEmpty)
    }

    @Test func `triggers that only delete from a search table, and name no column, go with it`() throws {
        let notes = try NotesStore(
            """
            CREATE VIRTUAL TABLE note_search USING fts4(content="ZNOTE", ZTITLE, ZBODY);
            INSERT INTO note_search (note_search) VALUES ('rebuild');
            CREATE TRIGGER note_gone BEFORE DELETE ON ZNOTE WHEN OLD.Z_PK > 2 BEGIN
                DELETE FROM note_search WHERE docid = OLD.Z_PK; END;
            """, to: [Self.title])
        #expect(Self.dropped(try notes.migrate().plan) == ["note_search", "note_gone"])
        #expect(try notes.use() == Self.used)
    }

    @Test func `a search table over a view, its vocabulary and a trigger on the view go where the column goes`() throws
    {
        let notes = try NotesStore(
            """
            CREATE VIEW note_text AS SELECT Z_PK, ZBODY FROM ZNOTE;
            CREATE VIRTUAL TABLE note_search USING fts5(ZBODY, content='note_text', content_rowid='Z_PK');
            CREATE VIRTUAL TABLE note_words USING fts5vocab('note_search', 'row');
            CREATE TRIGGER note_write INSTEAD OF UPDATE ON note_text BEGIN
                UPDATE ZNOTE SET ZBODY = NEW.ZBODY WHERE Z_PK = OLD.Z_PK; END;
            CREATE VIEW note_titles AS SELECT ZTITLE FROM ZNOTE;
            """, to: [Self.title])
        #expect(
            Self.dropped(try notes.migrate().plan) == ["note_text", "note_search", "note_words", "note_write"])
        #expect(try notes.use() == Self.used)
        #expect(try notes.shell("SELECT count(*) FROM note_titles") == "5\n")
    }

    @Test func `a trigger whose condition, and an index whose condition or expression, names the column goes`() throws {
        let notes = try NotesStore(
            """
            CREATE TABLE note_log (what);
            CREATE TRIGGER note_when AFTER UPDATE ON ZNOTE WHEN NEW.ZBODY IS NOT NULL BEGIN
                INSERT INTO note_log VALUES (NEW.ZTITLE); END;
            -- SQLite ignores a column that is not there in this place: such a trigger never fires.
            CREATE TRIGGER note_of AFTER UPDATE OF ZBODY ON ZNOTE BEGIN INSERT INTO note_log VALUES (1); END;
            CREATE TRIGGER note_both AFTER UPDATE OF "ZTITLE", ZBODY ON ZNOTE BEGIN INSERT INTO note_log VALUES (1); END;
            CREATE INDEX note_part ON ZNOTE (ZTITLE) WHERE ZBODY > 'b'; CREATE INDEX note_lower ON ZNOTE (lower(ZBODY));
            CREATE INDEX note_title ON ZNOTE (lower(ZTITLE)) WHERE ZTITLE > 'b';
            ALTER TABLE ZNOTE ADD COLUMN LENGTH INTEGER AS (length(ZBODY)); CREATE INDEX note_length ON ZNOTE (LENGTH);
            """, to: [Self.title])
        #expect(
            Self.dropped(try notes.migrate().plan) == [
                "note_when", "note_part", "note_lower", "note_length", "note_of",
            ])
        #expect(try notes.use() == Self.used)
        #expect(
            try notes.shell(
                "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE name LIKE 'note%' ORDER BY 1)")
                == "note_both,note_log,note_title\n")
    }

    /// A trigger on Core Data's own table, which ignores what is written there, stays and keeps no migration from writing.
    @Test func `an object that needs an index of the version before is dropped and named`() throws {
        let library = try LibraryStore()
        try library.shell(
            """
            CREATE TRIGGER app_tag AFTER DELETE ON ZLOAN BEGIN
                INSERT INTO ZTAG (Z_PK, Z_ENT, ZNAME) VALUES (900, 6, 'x') ON CONFLICT (ZNAME) DO NOTHING; END;
            CREATE VIEW app_view AS SELECT ZNAME FROM ZTAG INDEXED BY Z_Tag_UNIQUE_name WHERE ZNAME > 'a';
            CREATE TRIGGER app_ignore BEFORE UPDATE ON Z_METADATA BEGIN SELECT RAISE(IGNORE); END
            """)
        let entities = library.version.model.entities.map { entity in
            var entity = entity
            if entity.name == "Tag" { entity.uniquenessConstraints = [] }
            return entity
        }
        let versions = ModelVersions(versions: [
            library.version, ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: entities)),
        ])
        let prepared = try PreparedMigration(
            library.path, versions: versions, options: .init(losses: .asTheVersionsSay()))
        let outcome = try Migrator().run(try #require(try prepared.migration()), on: library.path)
        #expect(Set(outcome.losses.map(\.entityName)) == ["app_tag", "app_view"])
        #expect(
            try library.line("SELECT group_concat(name) FROM sqlite_master WHERE name LIKE 'app%'") == "app_ignore")
        try library.shell("DELETE FROM ZLOAN WHERE Z_PK = 1")
    }

    @Test func `an index of a table that goes is not put on the new table of that name`() throws {
        let notes = try NotesStore(
            "CREATE TABLE ZPAGE (Z_PK, a); INSERT INTO ZPAGE VALUES (1, 2); CREATE INDEX page_key ON ZPAGE (Z_PK)",
            to: [Self.title, Self.body])
        let page = EntityDescription(name: "Page", attributes: [.init(name: "name", type: .string)])
        let versions = ModelVersions(versions: [
            notes.versions.versions[0],
            ModelVersion(
                names: ["2"],
                model: try ManagedObjectModel(entities: notes.versions.versions[1].model.entities + [page])),
        ])
        let prepared = try PreparedMigration(
            notes.path, versions: versions, options: .init(losses: .asTheVersionsSay()))
        let outcome = try Migrator().run(prepared)
        #expect(Self.dropped(prepared) == ["ZPAGE", "page_key"])
        #expect(outcome.flatMap(\.losses).first { $0.entityName == "ZPAGE" }?.count == 1)
        #expect(!(prepared.bound?.findings.contains { $0.code == "table-unknown" } ?? true))
        #expect(try notes.shell("SELECT count(*) FROM sqlite_master WHERE name = 'page_key'") == "0\n")
    }

    @Test func `a foreign key of an app's table to what goes is named, and its rows stay`() throws {
        let notes = try NotesStore(
            """
            CREATE TABLE tag_pin (tag INTEGER REFERENCES ZTAG (Z_PK), what TEXT);
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'a'); INSERT INTO tag_pin VALUES (1, 'x');
            CREATE UNIQUE INDEX note_body ON ZNOTE (ZBODY); CREATE TABLE body_pin (b REFERENCES ZNOTE (ZBODY));
            CREATE TABLE note_pin (note INTEGER REFERENCES ZNOTE); CREATE TABLE old_pin (x REFERENCES nowhere);
            """, to: [Self.title], keepsTag: false)
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.defersWork = true
        let deferral = try PreparedMigration(notes.path, versions: notes.versions, options: options).deferral
        #expect(deferral?.reasons.contains("a foreign key of the table tag_pin would lead nowhere") == true)
        let (plan, outcome) = try notes.migrate()
        let broken = plan.bound?.findings.filter { $0.code == "object-broken" } ?? []
        #expect(broken.map(\.place) == ["tag_pin", "body_pin"])
        #expect(broken.allSatisfy { $0.severity == .warning && $0.remedy.contains("refuses to write") })
        let lost = outcome.losses.filter { $0.kind == .constraint }.map(\.sentence)
        #expect(
            lost == [
                "A foreign key of the table tag_pin no longer works: no such table: main.ZTAG.",
                "A foreign key of the table body_pin no longer works: it refers to columns that are not a key.",
            ])
        #expect(try notes.shell("SELECT * FROM tag_pin") == "1|x\n")
        #expect(
            try notes.shell("PRAGMA foreign_keys = ON; INSERT INTO note_pin VALUES (2); DELETE FROM note_pin") == "")
    }

    // MARK: - What stays

    @Test(arguments: [
        ([title], "ZBODY, which goes"), ([title, text], "ZBODY, which is renamed to ZTEXT"), ([title, body], nil),
    ])
    func `a trigger that waits for several columns is named where one of them goes`(
        later: [AttributeDescription], gone: String?
    ) throws {
        let notes = try NotesStore(
            """
            CREATE TABLE app_log (word);
            CREATE TRIGGER note_watch AFTER UPDATE OF ZTITLE, ZBODY ON ZNOTE
                BEGIN INSERT INTO app_log VALUES ('seen'); END;
            """, to: later)
        let (plan, outcome) = try notes.migrate()
        let found = plan.bound?.findings.filter { $0.code == "trigger-deaf" } ?? []
        let sentences = gone.map {
            "The trigger note_watch waits for the update of \($0). It stays, and is silent there."
        }
        #expect(found.map(\.message) == [sentences].compactMap(\.self))
        #expect(found.allSatisfy { $0.severity == .warning && $0.place == "note_watch" })
        #expect(!outcome.losses.contains { $0.kind == .trigger })
        // What is said is so.
        #expect(try notes.shell("UPDATE ZNOTE SET ZTITLE = 'x' WHERE Z_PK = 1; SELECT * FROM app_log") == "seen\n")
    }

    @Test(arguments: ["fts5(t, content='')", "fts4(content=\"\", t)"])
    func `a search table without text of its own stays, and the plan says that it may be stale`(using: String) throws {
        let search = """
            CREATE VIRTUAL TABLE note_search USING \(using);
            INSERT INTO note_search (rowid, t) SELECT Z_PK, ZTITLE FROM ZNOTE;
            """
        func stale(_ notes: NotesStore) throws -> [Finding] {
            (try notes.migrate().plan.bound?.findings ?? []).filter { $0.code == "search-not-rebuilt" }
        }
        // One column goes and one comes: no text changes.
        let changed = try NotesStore(search, to: [Self.title, .init(name: "more", type: .integer32)])
        #expect(try stale(changed) == [])
        let tags = "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1)"
        let gone = try NotesStore(search + tags, to: [Self.title], keepsTag: false)
        let found = try stale(gone)
        #expect(found.map(\.place) == ["note_search"] && found.first?.severity == .warning)
        #expect(
            found.first?.message
                == "The search table note_search keeps no text of its own and stays as it was: it may point to rows that "
                + "have changed.")
        #expect(try gone.shell("SELECT rowid FROM note_search WHERE note_search MATCH '4'") == "4\n")
    }

    @Test func `a search table over columns that stay works as before`() throws {
        let notes = try NotesStore(Self.external, to: [Self.title, Self.body, .init(name: "more", type: .string)])
        #expect(Self.dropped(try notes.migrate().plan) == [])
        #expect(try notes.use() == Self.used)
        #expect(
            try notes.shell("SELECT rowid FROM note_search WHERE note_search MATCH 'changed OR later OR 4' ORDER BY 1")
                == "2\n4\n9\n")
        #expect(try notes.shell("INSERT INTO note_search (note_search) VALUES ('integrity-check')") == "")
    }

    @Test(arguments: ["fts5(ZTITLE, content='ZNOTE', content_rowid=Z_PK)", "FTS4(content=ZNOTE, ZTITLE)"])
    func `a search table forgets the text of objects that go, and knows what is computed anew`(using: String) throws {
        let memo = EntityDescription(name: "Memo", superentityName: "Note")
        let note = EntityDescription(name: "Note", attributes: [Self.title])
        let folder = try ScratchFolder()
        let path = folder.path + "/Notes.sqlite"
        let versions = ModelVersions(versions: [
            ModelVersion(names: ["1"], model: try ManagedObjectModel(entities: [note, memo])),
            ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: [note])),
        ])
        try StoreCreator(versions.versions[0]).make(at: path)
        _ = try SQLiteShell.run(
            path,
            """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 2, 1, 'one note'), (2, 1, 1, 'two memo');
            UPDATE ZNOTE SET Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = iif(Z_PK = 1, 'Note', 'Memo'));
            UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_SUPER = 0;
            CREATE VIRTUAL TABLE note_search USING \(using); INSERT INTO note_search (note_search) VALUES ('rebuild');
            CREATE VIRTUAL TABLE own_search USING fts5(text); INSERT INTO own_search VALUES ('memo');
            """)
        let found = "SELECT rowid FROM note_search WHERE note_search MATCH "
        #expect(try SQLiteShell.run(path, "\(found) 'memo'; \(found) 'one'") == "2\n1\n")
        _ = try Migrator().run(PreparedMigration(path, versions: versions, options: .init(losses: .asTheVersionsSay())))
        #expect(try SQLiteShell.run(path, "\(found) 'memo'; \(found) 'one'") == "1\n")
        #expect(try SQLiteShell.run(path, "INSERT INTO note_search (note_search) VALUES ('integrity-check')") == "")
        #expect(try SQLiteShell.run(path, "SELECT * FROM own_search") == "memo\n")
    }

    @Test(arguments: [
        external,
        """
        CREATE VIRTUAL TABLE note_search USING fts4(ZTITLE, ZBODY);
        INSERT INTO note_search (docid, ZTITLE, ZBODY) SELECT Z_PK, ZTITLE, ZBODY FROM ZNOTE;
        CREATE TRIGGER note_insert AFTER INSERT ON ZNOTE BEGIN
            INSERT INTO note_search (docid, ZTITLE) VALUES (NEW.Z_PK, NEW.ZTITLE); END;
        CREATE TRIGGER note_gone BEFORE DELETE ON ZNOTE BEGIN DELETE FROM note_search WHERE docid = OLD.Z_PK; END;
        """,
    ])
    func `objects are saved into a store whose triggers fill an app's search table`(sql: String) throws {
        let notes = try NotesStore(sql, to: [Self.title, Self.body])
        let model = notes.versions.versions[0].model
        let (store, coordinator) = (try ObjectStore(notes.path, model: model), ObjectCoordinator(model: model))
        try coordinator.add(store)
        let context = ObjectContext(coordinator: coordinator)
        try context.insert("Note").setAttribute("title", .string("later"))
        try context.save()
        store.close()
        #expect(try notes.shell("SELECT rowid FROM note_search WHERE note_search MATCH 'later'") == "6\n")
    }

    @Test func `a table with a search table's name and more is a table of its own`() throws {
        let notes = try NotesStore(
            "CREATE VIRTUAL TABLE s USING fts5(a); CREATE TABLE s_log (a); CREATE TABLE s2 (a); INSERT INTO s_log VALUES (1)",
            to: [Self.title])
        let (plan, _) = try notes.migrate()
        let unknown = plan.bound?.findings.filter { $0.code == "table-unknown" }.map(\.place)
        #expect(unknown == ["s_log", "s2"])
        #expect(plan.bound?.keptObjects.kept.map(\.name) == ["s", "s_log", "s2"])
    }

    @Test(arguments: [false, true])
    func `what did not work before stays, and the migration is not blamed for it`(inPlace: Bool) throws {
        let sql = """
            CREATE VIEW note_old AS SELECT ZGONE FROM ZNOTE;
            CREATE TRIGGER note_broken AFTER UPDATE OF ZTITLE ON ZNOTE BEGIN INSERT INTO note_nowhere VALUES (1); END;
            CREATE TRIGGER note_words AFTER DELETE ON ZNOTE BEGIN SELECT app_function("text"); END;
            CREATE TRIGGER note_no BEFORE INSERT ON ZNOTE WHEN NEW.ZTITLE IS NULL BEGIN SELECT RAISE(ROLLBACK, 'no'); END;
            """
        let notes = try NotesStore(sql, to: [Self.title, Self.body, .init(name: "more", type: .string)])
        let texts = "SELECT sql FROM sqlite_master WHERE name LIKE 'note%'"
        let before = try notes.shell(texts)
        guard !inPlace else {
            // SQLite renames nothing beside such a view.
            #expect(throws: MigrationError.self) { try notes.migrate(inPlace: true) }
            return
        }
        let (plan, outcome) = try notes.migrate()
        #expect(Self.dropped(plan) == [] && outcome.losses == [])
        #expect(try notes.shell(texts) == before)
        let broken = plan.bound?.findings.filter { $0.code == "object-broken" } ?? []
        #expect(Set(broken.map(\.place)) == ["note_old", "note_broken", "note_words"])
        #expect(broken.allSatisfy { $0.severity == .note })
    }

    @Test func `an app's object that never ends is given up, and stays`() throws {
        let notes = try NotesStore(
            """
            CREATE VIEW note_endless AS WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
                SELECT count(*) AS Z_PK, 'x' AS ZTITLE FROM c;
            CREATE VIRTUAL TABLE note_search USING fts5(ZTITLE, content='note_endless', content_rowid='Z_PK');
            """, to: [Self.title])
        let (plan, _) = try notes.migrate()
        #expect(Self.dropped(plan) == [])
    }

    // MARK: - Where it is said

    @Test func `what goes is in the outcome, in the history of runs and in the log`() throws {
        let notes = try NotesStore(
            """
            CREATE VIEW note_text AS SELECT ZBODY FROM ZNOTE;
            INSERT INTO ACHANGE (Z_PK, Z_ENT, ZENTITY, ZENTITYPK, ZTRANSACTIONID)
                SELECT value, 16001, iif(value > 2, 2, 1), value, 1 FROM generate_series(1, 5);
            INSERT INTO ATRANSACTION (Z_PK, Z_ENT) VALUES (1, 16002)
            """, to: [Self.title], history: true, keepsTag: false)
        let prepared = try PreparedMigration(
            notes.path, versions: notes.versions, to: "2", options: .init(losses: .asTheVersionsSay()))
        let migration = try #require(try prepared.migration())
        let rehearsal = try Migrator().rehearse(migration, on: notes.path)
        let outcome = try Migrator().run(migration, on: notes.path)
        let sentences = [
            "The view note_text is dropped: no such column: ZBODY.",
            "3 changes of Tag in persistent history are deleted: the entity is not carried over.",
        ]
        #expect(rehearsal.losses == outcome.losses)
        #expect(outcome.losses.map(\.sentence).filter(sentences.contains) == sentences)
        #expect(try notes.shell("SELECT count(*), min(ZENTITY), max(ZENTITY) FROM ACHANGE") == "2|1|1\n")
        let record = try #require(try RunHistory(StoreRecords(store: notes.path)).records().last)
        #expect(record.losses == outcome.losses)
        let log = try MigrationLog(StoreRecords(store: notes.path)).read()
        for sentence in sentences {
            #expect(log.contains(sentence))
        }
        let codes = prepared.bound?.findings.map(\.code) ?? []
        #expect(codes.contains("object-dropped") && codes.contains("history-dropped"))
    }

    // MARK: - What needs an index of the version before

    @Test func `what names an index that the new version drops goes, and the next write works`() throws {
        let notes = try NotesStore("", to: [Self.title])
        let indexed = FetchIndexDescription(name: "byTitle", elements: [.init(subject: .property("title"))])
        var note = EntityDescription(name: "Note", attributes: [Self.title])
        let plain = note
        note.fetchIndexes = [indexed]
        let versions = ModelVersions(versions: [
            ModelVersion(names: ["1"], model: try ManagedObjectModel(entities: [note])),
            ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: [plain])),
        ])
        let path = notes.folder.path + "/Indexed.sqlite"
        try StoreCreator(versions.versions[0], history: false).make(at: path)
        _ = try SQLiteShell.run(
            path,
            """
            CREATE TABLE app_log (what);
            CREATE VIEW app_named AS SELECT ZTITLE FROM ZNOTE INDEXED BY Z_Note_byTitle;
            CREATE TRIGGER app_write AFTER INSERT ON ZNOTE BEGIN
                INSERT INTO app_log SELECT ZTITLE FROM ZNOTE INDEXED BY Z_Note_byTitle WHERE ZTITLE = NEW.ZTITLE; END;
            """)
        let prepared = try PreparedMigration(
            path, versions: versions, to: "2", options: .init(losses: .asTheVersionsSay()))
        _ = try Migrator().run(prepared)
        #expect(Self.dropped(prepared) == ["app_named", "app_write"])
        let written = try SQLiteShell.run(
            path, "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 1, 'a'); SELECT count(*) FROM ZNOTE")
        #expect(written == "1\n")
    }

    @Test func `a trigger that ignores writes to Core Data's own tables defeats no migration`() throws {
        let notes = try NotesStore(
            """
            CREATE TRIGGER app_metadata BEFORE UPDATE ON Z_METADATA BEGIN SELECT RAISE(IGNORE); END;
            CREATE TRIGGER app_keys BEFORE INSERT ON Z_PRIMARYKEY BEGIN SELECT RAISE(IGNORE); END;
            """, to: [Self.title])
        _ = try notes.migrate()
        #expect(
            try notes.shell("SELECT name FROM sqlite_master WHERE name LIKE 'app%' ORDER BY 1")
                == "app_keys\napp_metadata\n")
    }
}

extension NotesStore {
    @discardableResult
    fileprivate func migrate(inPlace: Bool = false) throws -> (plan: PreparedMigration, outcome: MigrationOutcome) {
        let prepared = try PreparedMigration(
            path, versions: versions, to: "2", options: .init(losses: .asTheVersionsSay()))
        let migration = try #require(try prepared.choosing(inPlace ? .inPlace : .cheapest).migration())
        return (prepared, try Migrator().run(migration, on: path))
    }

    /// What the app does with its notes, by the shell.
    fileprivate func use() throws -> String {
        try shell(
            """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (9, 1, 1, 'later');
            UPDATE ZNOTE SET ZTITLE = 'changed' WHERE Z_PK = 2; DELETE FROM ZNOTE WHERE Z_PK = 3;
            SELECT group_concat(Z_PK || ' ' || ZTITLE) FROM ZNOTE
            """)
    }
}
