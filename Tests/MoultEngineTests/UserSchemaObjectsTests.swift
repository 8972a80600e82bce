import Foundation
import Moult
import MoultModel
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// What an app, or an earlier migration, has put beside Core Data's own tables. The sqlite3 shell makes it, and says
/// afterwards what is there and whether it works.
struct UserSchemaObjectsTests {
    /// Places and visits, the second version with one attribute more, so that the table of places is made anew.
    private final class Places {
        let folder: ScratchFolder
        let path: String
        let versions: ModelVersions

        init(_ sql: String, to later: [EntityDescription]? = nil, history: Bool = false) throws {
            folder = try ScratchFolder()
            path = folder.path + "/Places.sqlite"
            versions = try ModelVersions(of: [
                [UserSchemaObjectsTests.place(), UserSchemaObjectsTests.visit],
                later ?? [UserSchemaObjectsTests.place(["note"]), UserSchemaObjectsTests.visit],
            ])
            try StoreCreator(versions.versions[0], history: history).make(at: path)
            try shell(
                """
                INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCODE, ZLATITUDE, ZLONGITUDE)
                    SELECT value, 1, 1, 'place ' || value, value, value * 1.5, -value FROM generate_series(1, 5);
                INSERT INTO ZVISIT (Z_PK, Z_ENT, Z_OPT, ZPLACE) SELECT value, 2, 1, value FROM generate_series(1, 5);
                UPDATE Z_PRIMARYKEY SET Z_MAX = 5 WHERE Z_ENT IN (1, 2);
                \(sql)
                """)
        }

        @discardableResult
        func shell(_ sql: String) throws -> String { try SQLiteShell.run(path, sql) }

        func names(_ pattern: String) throws -> [String] {
            try shell("SELECT name FROM sqlite_master WHERE name LIKE '\(pattern)' ORDER BY 1").split(separator: "\n")
                .map(String.init)
        }

        @discardableResult
        func migrate(inPlace: Bool = false, defers: Bool = false) throws -> PreparedMigration {
            var options = PreparedMigration.Options(losses: .asTheVersionsSay())
            options.defersWork = defers
            let prepared = try PreparedMigration(path, versions: versions, to: "2", options: options)
            if inPlace {
                _ = try Migrator().run(try #require(try prepared.choosing(.inPlace).migration()), on: path)
            } else {
                _ = try Migrator().run(prepared)
            }
            return prepared
        }
    }

    @Test func `what stands behind a statement in the catalogue is never run, as SQLite does not run it`() throws {
        let places = try Places("CREATE INDEX mine ON ZPLACE (ZCODE); CREATE VIEW seen AS SELECT ZNAME FROM ZPLACE")
        let target = places.folder.path + "/written.sqlite"
        try places.shell(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = sql || '; ATTACH ''\(target)'' AS e; CREATE TABLE e.x (y)'
                WHERE name IN ('mine', 'seen');
            """)
        #expect(try places.shell("PRAGMA integrity_check") == "ok\n")
        _ = try? PreparedMigration(places.path, versions: places.versions, to: "2")
        _ = try? StoreRepair(places.path, at: places.versions.versions[0])
        _ = try? places.migrate()
        #expect(!FileManager.default.fileExists(atPath: target))
        #expect(try places.shell("SELECT count(*) FROM ZPLACE") == "5\n")
    }

    private static func place(
        _ attributes: [String] = [], without gone: Set<String> = [], indexes: [FetchIndexDescription] = []
    ) -> EntityDescription {
        let all: [AttributeDescription] =
            [
                .init(name: "name", type: .string), .init(name: "code", type: .integer32),
                .init(name: "latitude", type: .double), .init(name: "longitude", type: .double),
            ] + attributes.map { .init(name: $0, type: .string) }
        return EntityDescription(
            name: "Place", attributes: all.filter { !gone.contains($0.name) },
            relationships: [.init(name: "visits", destinationEntityName: "Visit", inverseName: "place", maxCount: 0)],
            fetchIndexes: indexes)
    }

    private static let visit = EntityDescription(
        name: "Visit", attributes: [.init(name: "day", type: .date)],
        relationships: [.init(name: "place", destinationEntityName: "Place", inverseName: "visits")])

    /// As Photos has it: the model in the store does not say where it comes from.
    private static let tree = """
        CREATE VIRTUAL TABLE Z_RT_Place_bounds USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT, ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT);
        INSERT INTO Z_RT_Place_bounds SELECT Z_PK, ZLATITUDE, ZLATITUDE, ZLONGITUDE, ZLONGITUDE FROM ZPLACE;
        CREATE TRIGGER Z_RT_Place_bounds_INSERT AFTER INSERT ON ZPLACE FOR EACH ROW BEGIN INSERT OR REPLACE INTO Z_RT_Place_bounds (Z_PK, ZLATITUDE_MIN, ZLATITUDE_MAX, ZLONGITUDE_MIN, ZLONGITUDE_MAX) VALUES (NEW.Z_PK, NEW.ZLATITUDE ,NEW.ZLATITUDE, NEW.ZLONGITUDE, NEW.ZLONGITUDE) ; END;
        CREATE TRIGGER Z_RT_Place_bounds_UPDATE AFTER UPDATE ON ZPLACE FOR EACH ROW BEGIN DELETE FROM Z_RT_Place_bounds WHERE Z_PK = NEW.Z_PK ; INSERT INTO Z_RT_Place_bounds (Z_PK, ZLATITUDE_MIN, ZLATITUDE_MAX, ZLONGITUDE_MIN, ZLONGITUDE_MAX) VALUES (NEW.Z_PK, NEW.ZLATITUDE ,NEW.ZLATITUDE, NEW.ZLONGITUDE, NEW.ZLONGITUDE) ; END;
        CREATE TRIGGER Z_RT_Place_bounds_DELETE AFTER DELETE ON ZPLACE FOR EACH ROW BEGIN DELETE FROM Z_RT_Place_bounds WHERE Z_PK = OLD.Z_PK ; END;
        """

    private static let search = """
        CREATE VIRTUAL TABLE app_search USING fts5(name); INSERT INTO app_search (rowid, name) SELECT Z_PK, ZNAME FROM ZPLACE;
        CREATE TRIGGER app_search_insert AFTER INSERT ON ZPLACE BEGIN INSERT INTO app_search (rowid, name) VALUES (NEW.Z_PK, NEW.ZNAME); END;
        """

    private static let plain = """
        CREATE INDEX app_code ON ZPLACE (ZCODE DESC); CREATE UNIQUE INDEX app_name ON ZPLACE (lower(ZNAME)) WHERE ZCODE > 0;
        CREATE INDEX Z_Place_left_over ON ZPLACE (ZCODE COLLATE BINARY ASC);
        CREATE TABLE app_log (what TEXT, at REAL DEFAULT 0); CREATE INDEX app_log_what ON app_log (what);
        CREATE VIEW app_view AS SELECT p.ZNAME, count(*) AS visits FROM ZPLACE AS p JOIN ZVISIT AS v ON v.ZPLACE = p.Z_PK GROUP BY 1;
        CREATE TRIGGER app_trigger AFTER UPDATE OF ZNAME ON ZPLACE BEGIN INSERT INTO app_log (what) VALUES (NEW.ZNAME); END;
        """

    private func dropped(_ prepared: PreparedMigration) -> [String] {
        (prepared.bound?.findings ?? []).filter { $0.code == "object-dropped" }.map(\.place)
    }

    // MARK: - What stays

    @Test(arguments: ["copy", "in place", "deferred"])
    func `indexes, views, triggers and tables of an app stay, word for word`(way: String) throws {
        let places = try Places(Self.plain)
        let texts =
            "SELECT name, sql FROM sqlite_master WHERE name LIKE 'app%' OR name = 'Z_Place_left_over' ORDER BY 1"
        let before = try places.shell(texts)
        let prepared = try places.migrate(inPlace: way == "in place", defers: way == "deferred")
        #expect(dropped(prepared) == [])
        if way == "deferred" { #expect(prepared.bound?.isDeferred == true) }
        #expect(try places.shell(texts) == before)
        #expect(before.split(separator: "\n").count == 7)
        #expect(
            try places.shell(
                "UPDATE ZPLACE SET ZNAME = 'new' WHERE Z_PK = 2; SELECT what FROM app_log; SELECT sum(visits) FROM app_view; "
                    + "EXPLAIN QUERY PLAN SELECT 1 FROM ZPLACE INDEXED BY app_code WHERE ZCODE = 1; PRAGMA integrity_check"
            ).split(separator: "\n").first == "new")
    }

    @Test func `a search table stays, and its triggers go on filling it`() throws {
        let places = try Places(Self.search)
        #expect(dropped(try places.migrate()) == [])
        #expect(
            try places.shell(
                "INSERT INTO ZPLACE (Z_PK, Z_ENT, ZNAME) VALUES (9, 1, 'later'); "
                    + "SELECT rowid FROM app_search WHERE app_search MATCH 'later OR 3' ORDER BY 1") == "3\n9\n")
    }

    @Test(arguments: [false, true])
    func `an R-tree that the model does not ask for stays in step`(inPlace: Bool) throws {
        let places = try Places(Self.tree)
        let texts = "SELECT name, sql FROM sqlite_master WHERE name LIKE 'Z_RT%' ORDER BY 1"
        let before = try places.shell(texts)
        #expect(dropped(try places.migrate(inPlace: inPlace)) == [])
        #expect(try places.shell(texts) == before)
        let rows = "SELECT Z_PK, ZLATITUDE_MIN, ZLONGITUDE_MAX FROM Z_RT_Place_bounds ORDER BY 1"
        #expect(try places.shell(rows) == "1|1.5|-1.0\n2|3.0|-2.0\n3|4.5|-3.0\n4|6.0|-4.0\n5|7.5|-5.0\n")
        try places.shell("DELETE FROM ZPLACE WHERE Z_PK = 1; UPDATE ZPLACE SET ZLATITUDE = 8 WHERE Z_PK = 2")
        #expect(try places.shell(rows + " LIMIT 1") == "2|8.0|-2.0\n")
        #expect(try places.shell("SELECT rtreecheck('Z_RT_Place_bounds')") == "ok\n")
    }

    @Test func `the rows of a removed entity leave an R-tree that stays`() throws {
        let park = EntityDescription(name: "Park", superentityName: "Place")
        let folder = try ScratchFolder()
        let path = folder.path + "/Parks.sqlite"
        let versions = ModelVersions(versions: [
            ModelVersion(names: ["1"], model: try ManagedObjectModel(entities: [Self.place(), Self.visit, park])),
            ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: [Self.place(), Self.visit])),
        ])
        try StoreCreator(versions.versions[0]).make(at: path)
        _ = try SQLiteShell.run(
            path,
            """
            INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZLATITUDE, ZLONGITUDE) VALUES (1, 1, 1, 'a', 1, 1), (2, 2, 1, 'b', 2, 2);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_ENT = 1; \(Self.tree)
            """)
        _ = try Migrator().run(PreparedMigration(path, versions: versions, options: .init(losses: .asTheVersionsSay())))
        #expect(try SQLiteShell.run(path, "SELECT Z_PK FROM Z_RT_Place_bounds") == "1\n")
    }

    @Test func `a mirror has the objects of the store that it follows`() throws {
        let places = try Places(Self.plain, history: true)
        let second = places.folder.path + "/second.sqlite"
        _ = try MirroredStore.start(
            .init(places.path, .migrateInto(second)), .init(places.versions, losses: .asTheVersionsSay()))
        #expect(
            try SQLiteShell.run(second, "SELECT name FROM sqlite_master WHERE name LIKE 'app%' ORDER BY 1")
                == "app_code\napp_log\napp_log_what\napp_name\napp_trigger\napp_view\n")
    }

    @Test func `Core Data's trigger for a derivation that Moult cannot write stays`() throws {
        func place(_ attributes: [String]) -> EntityDescription {
            var place = Self.place(attributes)
            place.attributes.append(
                .init(
                    name: "total", type: .integer64, isOptional: true,
                    derivation: .init(expression: "visits.@sum.day")))
            return place
        }
        let folder = try ScratchFolder()
        let path = folder.path + "/Sums.sqlite"
        let versions = try ModelVersions(of: [[], ["note"]].map { [place($0), Self.visit] })
        try StoreCreator(versions.versions[0]).make(at: path)
        let trigger = """
            CREATE TRIGGER Z_DA_ZVISIT_Place_total_PARAMETER_INSERT AFTER INSERT ON ZVISIT FOR EACH ROW BEGIN UPDATE ZPLACE SET ZTOTAL = 1 WHERE Z_PK = NEW.ZPLACE; SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZPLACE', Z_ENT, Z_PK, 'total', ZTOTAL) FROM ZPLACE WHERE Z_PK = NEW.ZPLACE; END
            """
        _ = try SQLiteShell.run(path, trigger)
        _ = try Migrator().run(PreparedMigration(path, versions: versions, options: .init(losses: .asTheVersionsSay())))
        #expect(try SQLiteShell.run(path, "SELECT sql FROM sqlite_master WHERE type = 'trigger'") == trigger + "\n")
    }

    @Test(arguments: [true, false])
    func `an index that was left over is there when the new version asks for it`(isSame: Bool) throws {
        let index = FetchIndexDescription(name: "byCode", elements: [.init(subject: .property("code"))])
        let order = isSame ? "ASC" : "DESC"
        let places = try Places(
            "CREATE INDEX Z_Place_byCode ON ZPLACE (ZCODE COLLATE BINARY \(order))",
            to: [Self.place(indexes: [index]), Self.visit])
        let prepared = try places.migrate()
        #expect(dropped(prepared) == [])
        #expect(
            try places.shell("SELECT sql FROM sqlite_master WHERE name = 'Z_Place_byCode'")
                == "CREATE INDEX Z_Place_byCode ON ZPLACE (ZCODE COLLATE BINARY ASC)\n")
    }

    // MARK: - What goes

    @Test func `what the new version has no column for goes, and the plan names it`() throws {
        let places = try Places(
            """
            \(Self.plain) CREATE VIEW app_codes AS SELECT ZCODE FROM ZPLACE;
            CREATE TRIGGER app_coder AFTER INSERT ON ZVISIT BEGIN UPDATE ZPLACE SET ZCODE = 1 WHERE Z_PK = NEW.ZPLACE; END
            """, to: [Self.place(without: ["code"]), Self.visit])
        let prepared = try places.migrate()
        #expect(
            Set(dropped(prepared)) == ["app_code", "app_name", "app_codes", "app_coder"])
        #expect(try places.names("app%") == ["app_log", "app_log_what", "app_trigger", "app_view"])
        let message = prepared.bound?.findings.first { $0.place == "app_codes" }?.message
        #expect(message == "The view app_codes is dropped: no such column: ZCODE.")
    }

    /// As earlier versions of a model have left them, each in the words of Core Data.
    @Test func `indexes of Core Data's own that earlier versions left are no losses of the app`() throws {
        let left = [
            "CREATE INDEX ZPLACE_ZCODE_INDEX ON ZPLACE (ZCODE)",
            "CREATE INDEX ZPLACE_ZCODE_ZNAME ON ZPLACE (ZCODE, ZNAME)",
            "CREATE INDEX Z_Place_byCode ON ZPLACE (ZCODE COLLATE BINARY ASC, ZNAME COLLATE BINARY DESC)",
            "CREATE UNIQUE INDEX Z_Place_UNIQUE_code ON ZPLACE (ZCODE COLLATE BINARY ASC)",
        ]
        let own = ["CREATE INDEX ZPLACE_mine ON ZPLACE (ZCODE)", "CREATE INDEX Z_codes ON ZPLACE (ZCODE DESC)"]
        let places = try Places((left + own).joined(separator: ";"), to: [Self.place(without: ["code"]), Self.visit])
        let prepared = try places.migrate()
        #expect(Set(dropped(prepared)) == ["ZPLACE_mine", "Z_codes"])
        #expect(
            try places.shell("SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '%ZPLACE%ZCODE%'") == "")
    }

    @Test func `a table of an app that has the name of a new entity's table goes, with its rows counted`() throws {
        let park = EntityDescription(name: "Park", attributes: [.init(name: "name", type: .string)])
        let places = try Places(
            "CREATE TABLE ZPARK (a); INSERT INTO ZPARK VALUES (1), (2); CREATE VIEW app_view AS SELECT a FROM ZPARK",
            to: [Self.place(), Self.visit, park])
        let prepared = try places.migrate()
        #expect(Set(dropped(prepared)) == ["ZPARK", "app_view"])
        let message = prepared.bound?.findings.first { $0.code == "object-dropped" && $0.place == "ZPARK" }?.message
        #expect(message?.contains("with its 2 rows") == true)
        #expect(
            try places.shell("SELECT sql FROM sqlite_master WHERE name = 'ZPARK'").contains("Z_PK INTEGER PRIMARY KEY"))
    }

    @Test func `an index that the old version asked for and the new one does not goes without a word`() throws {
        let index = FetchIndexDescription(name: "byCode", elements: [.init(subject: .property("code"))])
        let folder = try ScratchFolder()
        let path = folder.path + "/Places.sqlite"
        let versions = ModelVersions(versions: [
            ModelVersion(
                names: ["1"], model: try ManagedObjectModel(entities: [Self.place(indexes: [index]), Self.visit])),
            ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: [Self.place(["note"]), Self.visit])),
        ])
        try StoreCreator(versions.versions[0]).make(at: path)
        _ = try SQLiteShell.run(path, "CREATE UNIQUE INDEX Z_Place_UNIQUE_name ON ZPLACE (ZNAME COLLATE BINARY ASC)")
        let prepared = try PreparedMigration(path, versions: versions, options: .init(losses: .asTheVersionsSay()))
        _ = try Migrator().run(prepared)
        #expect(dropped(prepared) == [])
        #expect(try SQLiteShell.run(path, "SELECT name FROM sqlite_master WHERE name LIKE 'Z_Place%'") == "")
    }

    @Test(arguments: ["\"app \"\" index\"", "'app''index'", "\"Ünïcode\"", "\"; DROP TABLE ZPLACE; --\""])
    func `hostile names are names`(name: String) throws {
        let places = try Places(
            "CREATE INDEX \(name) ON ZPLACE (ZCODE); CREATE VIEW \(name.dropLast()) v\(name.last ?? "x") AS SELECT 1")
        let count = try places.shell("SELECT count(*) FROM sqlite_master")
        #expect(dropped(try places.migrate()) == [])
        #expect(try places.shell("SELECT count(*) FROM sqlite_master") == count)
    }
}
