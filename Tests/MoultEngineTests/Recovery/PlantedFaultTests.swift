import Foundation
import Moult
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Faults that the sqlite3 shell plants, each in a store of its own: an audit finds each, and a repair ends with a sound
/// store or names what it has left.
struct PlantedFaultTests {  // tier: long
    private static func expectAgreement(_ sql: String, isFault: Bool = true) throws {
        let store = try PlantedStore()
        try store.plant(sql)
        let before = try store.errors()
        #expect(before.isEmpty != isFault, "\(sql): \(before)")
        let report = try store.repair()
        if !isFault { #expect(report.isWell && report.faults.isEmpty, "\(sql): \(report)") }
        let after = try store.errors()
        #expect(after.isEmpty == report.isWell, "\(sql): \(report)\n\(after)")
        for finding in after {
            let isLeft = report.faults.contains { fault in
                fault.left > 0 && RepairRule.repairing[finding.code]?.contains(fault.rule) == true
            }
            // What has the name of a table stands for the table too.
            let isNamed = report.remarks.contains { $0.place == finding.place }
            #expect(isLeft || isNamed, "\(sql): \(finding)\n\(report)")
        }
    }

    // MARK: - Every column

    /// A column in one row, with the values that are no fault there.
    struct Place: CustomStringConvertible {
        let table: String
        let column: String
        let sound: Set<Value>
        var row = "rowid = 5"

        var description: String { "\(table).\(column)" }
    }

    enum Value: String, CaseIterable {
        case null = "NULL"
        case text = "'junk'"
        case bytes = "x'00ff'"
        case fraction = "1.5"
        case largest = "9223372036854775807"
        case negative = "-1"
        case huge = "1e300"
    }

    private static let number: Set<Value> = [.null, .fraction, .largest, .negative, .huge]
    /// A column of texts turns every number into one.
    private static let text: Set<Value> = number.union([.text])
    private static let whole: Set<Value> = [.null, .largest, .negative]

    static let places: [Place] = [
        .init(table: "ZTHING", column: "Z_ENT", sound: []), .init(table: "ZTHING", column: "Z_OPT", sound: whole),
        .init(table: "ZTHING", column: "ZFLAG", sound: [.null]),
        .init(table: "ZTHING", column: "ZI16", sound: [.null, .negative]),
        .init(table: "ZTHING", column: "ZI32", sound: [.null, .negative]),
        .init(table: "ZTHING", column: "ZI64", sound: [.largest, .negative]),
        .init(table: "ZTHING", column: "ZDAY", sound: number), .init(table: "ZTHING", column: "ZDBL", sound: number),
        .init(table: "ZTHING", column: "ZFLT", sound: number),
        .init(table: "ZTHING", column: "ZDEC", sound: number.subtracting([.huge])),
        .init(table: "ZTHING", column: "ZSTR", sound: text.subtracting([.null])),
        .init(table: "ZTHING", column: "ZEXTRA", sound: text), .init(table: "ZTHING", column: "ZLINK", sound: text),
        .init(table: "ZTHING", column: "ZIDENT", sound: [.null]),
        .init(table: "ZTHING", column: "ZTRANS", sound: [.null, .bytes]),
        .init(table: "ZTHING", column: "ZBIN", sound: [.null, .bytes]),
        .init(table: "ZTHING", column: "ZEXT", sound: [.null]),
        .init(table: "ZTHING", column: "ZBOSS", sound: [.null]), .init(table: "ZTHING", column: "Z4_BOSS", sound: []),
        .init(table: "ZTHING", column: "ZCOVER", sound: []), .init(table: "ZTHING", column: "ZMUST", sound: []),
        // One thing less is another count.
        .init(table: "ZTHING", column: "ZOWNER", sound: []),
        .init(table: "ZTHING", column: "Z_FOK_OWNER", sound: whole),
        .init(table: "ZOWNER", column: "ZNAME", sound: text), .init(table: "ZOWNER", column: "ZTHINGCOUNT", sound: []),
        .init(table: "ZTAG", column: "Z_ENT", sound: []), .init(table: "ZTAG", column: "ZWORD", sound: text),
        .init(table: "ZTAG", column: "Z4LOOSE", sound: [.null]),
        .init(table: "ZCOVER", column: "ZTHING", sound: []), .init(table: "ZCOVER", column: "Z4_THING", sound: []),
        .init(table: "Z_4TAGS", column: "Z_4THINGS", sound: []), .init(table: "Z_4TAGS", column: "Z_3TAGS", sound: []),
        .init(table: "Z_4TAGS", column: "Z_FOK_3TAGS", sound: whole),
        .init(table: "Z_4FRIENDS", column: "Z_4FRIENDS", sound: [], row: "rowid = 1"),
        .init(table: "Z_4FRIENDS", column: "REFLEXIVE", sound: [], row: "rowid = 1"),
        .init(table: "Z_PRIMARYKEY", column: "Z_MAX", sound: [], row: "Z_ENT = 4"),
        .init(table: "Z_PRIMARYKEY", column: "Z_MAX", sound: [], row: "Z_ENT = 16002"),
        .init(table: "ACHANGE", column: "ZCHANGETYPE", sound: [], row: "Z_PK = 9"),
        .init(table: "ACHANGE", column: "ZENTITY", sound: [.largest, .negative], row: "Z_PK = 9"),
        .init(table: "ACHANGE", column: "ZENTITYPK", sound: [.largest, .negative], row: "Z_PK = 9"),
        .init(table: "ACHANGE", column: "ZTRANSACTIONID", sound: [], row: "Z_PK = 9"),
        .init(table: "ATRANSACTION", column: "ZAUTHORTS", sound: [.null], row: "Z_PK = 7"),
    ]

    /// All values in the tier, else two of each column.
    @Test(arguments: places.indices)
    func `what a column must not hold is found, and repaired or named`(place: Int) throws {
        let (column, values) = (Self.places[place], Value.allCases)
        for (number, value) in values.enumerated() where Tier.matrix.isAsked || (number + place) % 4 == 0 {
            try Self.expectAgreement(
                "UPDATE \(column.table) SET \(column.column) = \(value.rawValue) WHERE \(column.row)",
                isFault: !column.sound.contains(value))
        }
    }

    // MARK: - Pairs

    private static let ends = ["NULL", "'junk'", "x'00ff'", "1.5", "99"]
    private static let pairs = ends.flatMap { [($0, "2"), ("2", $0)] } + ends.map { ($0, $0) }

    @Test(arguments: pairs, ["Z_4TAGS", "Z_4FRIENDS"])
    func `a pair that leads from or to nothing goes`(pair: (String, String), table: String) throws {
        let store = try PlantedStore()
        let keys = table == "Z_4TAGS" ? "Z_4THINGS || ' ' || Z_3TAGS" : "Z_4FRIENDS || ' ' || REFLEXIVE"
        let rows = "SELECT \(keys) FROM \(table) ORDER BY 1"
        let before = try store.line(rows)
        let place = table == "Z_4TAGS" ? ", 2048" : ""
        // Once more: NULL is in no unique index.
        let again = pair.0 == "NULL" || pair.1 == "NULL" ? ", (\(pair.0), \(pair.1)\(place))" : ""
        try store.plant("INSERT INTO \(table) VALUES (\(pair.0), \(pair.1)\(place))\(again)")
        let count = try store.line("SELECT count(*) FROM \(table)")
        #expect(try store.errors().contains { $0.code == "dangling-reference" })
        // Another repair leaves them alone, and what verifies it does too.
        try store.plant("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT = 3")
        let other = try StoreRepair(store.path, at: store.version, rules: [.keyCounters])
        _ = try Migrator().run(try #require(other.migration), on: store.path)
        #expect(try store.line("SELECT count(*) FROM \(table)") == count)
        let report = try store.repair()
        #expect(report.isWell && !report.faults.contains { $0.rule != .dangling }, "\(report)")
        #expect(try store.errors().isEmpty && store.line(rows) == before)
    }

    // MARK: - Everything else

    static let faults = [
        // A row without a number, with further faults that nobody could see.
        "UPDATE ZTHING SET Z_ENT = 99, ZSTR = NULL WHERE Z_PK = 3",
        "UPDATE ZTHING SET Z_ENT = NULL, ZMUST = 'junk', ZI64 = NULL WHERE Z_PK = 3",
        "UPDATE ZTHING SET Z_ENT = 'x', ZEXTRA = 'special', ZOWNER = x'00' WHERE Z_PK = 3",
        "UPDATE ZTAG SET Z_ENT = 99, ZWORD = NULL, Z4LOOSE = 'x' WHERE Z_PK = 3",
        // Objects that go to the quarantine with what nobody can read.
        """
        UPDATE ZTHING SET ZMUST = 999, ZI16 = 'x', ZDAY = 'x', ZIDENT = 'x', ZEXT = 'y', ZDEC = 'q', ZTRANS = 1,
            ZLINK = x'00', Z_FOK_OWNER = 'x', Z_OPT = 'x' WHERE Z_PK = 3
        """,
        "UPDATE ZTHING SET ZMUST = 999, ZBOSS = 'x', Z4_BOSS = x'00', ZOWNER = 'x', ZCOVER = 'x' WHERE Z_PK = 3",
        "INSERT INTO ZTHING (Z_PK) VALUES (900)", "INSERT INTO ZTHING (Z_PK, Z_ENT) VALUES (900, 4)",
        "INSERT INTO ZTHING (Z_PK, Z_ENT) VALUES (900, 5); UPDATE ZTHING SET ZBOSS = 900, Z4_BOSS = 'x' WHERE Z_PK < 5",
        // Counters of writes that a repair raises.
        "UPDATE ZTHING SET ZOWNER = 'junk', Z_OPT = 'x' WHERE Z_PK = 3",
        "UPDATE ZTHING SET ZOWNER = 'junk', Z_OPT = x'31' WHERE Z_PK = 3",
        "UPDATE ZTHING SET ZOWNER = 'junk', Z_OPT = 1e300 WHERE Z_PK = 3",
        "UPDATE ZTHING SET ZOWNER = 'junk', Z_OPT = 9223372036854775807 WHERE Z_PK = 3",
        // Contradictions.
        "UPDATE ZOWNER SET ZTHINGCOUNT = 77 WHERE Z_PK < 9",
        "UPDATE ZCOVER SET ZTHING = 5, Z4_THING = 5", "UPDATE ZTHING SET ZCOVER = x'00' WHERE Z_PK < 9",
        "DROP INDEX Z_Tag_UNIQUE_word; UPDATE ZTAG SET ZWORD = 'one', Z4LOOSE = 'x' WHERE Z_PK IN (6, 7)",
        "DROP INDEX Z_Tag_UNIQUE_word; UPDATE ZTAG SET ZWORD = x'00ff' WHERE Z_PK IN (6, 7)",
        "DROP INDEX Z_Tag_UNIQUE_word; UPDATE ZTAG SET ZWORD = 'one', Z_ENT = 99 WHERE Z_PK IN (6, 7)",
        "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZWORD) VALUES (9223372036854775807, 3, 1, 'last')",
        // Entity numbers.
        "DELETE FROM Z_PRIMARYKEY", "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 3",
        "UPDATE Z_PRIMARYKEY SET Z_NAME = NULL WHERE Z_ENT = 1", "UPDATE Z_PRIMARYKEY SET Z_NAME = '' WHERE Z_ENT = 5",
        "UPDATE Z_PRIMARYKEY SET Z_NAME = NULL WHERE Z_ENT = 16003",
        "UPDATE Z_PRIMARYKEY SET Z_SUPER = 3 WHERE Z_ENT = 5",
        "UPDATE Z_PRIMARYKEY SET Z_SUPER = 'x' WHERE Z_ENT = 5", "UPDATE Z_PRIMARYKEY SET Z_MAX = 'x'",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 'x'; UPDATE ZTHING SET ZMUST = 'x', ZBOSS = 'y' WHERE Z_PK = 3",
        "INSERT INTO Z_PRIMARYKEY VALUES (78, NULL, NULL, NULL)",
        // Names that are taken, and what else can be repaired then.
        "DROP TABLE ZCOVER; CREATE VIEW ZCOVER AS SELECT 1 AS Z_PK; DROP INDEX ZTHING_ZBOSS_INDEX",
        "DROP TABLE ZCOVER; CREATE INDEX ZCOVER ON ZTAG (Z_OPT); DROP TABLE Z_4TAGS; ALTER TABLE ZTHING DROP COLUMN ZI16",
        "DROP TABLE Z_4TAGS; CREATE VIEW Z_4TAGS AS SELECT 1; ALTER TABLE ZTHING DROP COLUMN ZI16",
        "DROP TABLE Z_4TAGS; CREATE TABLE Z_4TAGS (Z_4THINGS INTEGER); ALTER TABLE ZTHING DROP COLUMN ZI16",
        "DROP TABLE ATRANSACTION; CREATE VIEW ATRANSACTION AS SELECT 1; UPDATE ZTHING SET ZOWNER = 'x' WHERE Z_PK = 3",
        "DROP TABLE ATRANSACTIONSTRING; CREATE VIEW ATRANSACTIONSTRING AS SELECT 1; UPDATE ZTHING SET ZMUST = 'x' WHERE Z_PK = 3",
        "DROP TABLE ACHANGE; CREATE INDEX ACHANGE ON ZTAG (Z_OPT); UPDATE ZTHING SET ZMUST = 'x' WHERE Z_PK = 3",
        "DROP TABLE ATRANSACTIONSTRING; CREATE TABLE ATRANSACTIONSTRING (x); UPDATE ZTHING SET ZMUST = 'x' WHERE Z_PK = 3",
        // History that a repair writes to.
        "UPDATE ATRANSACTION SET ZTIMESTAMP = 'x'; UPDATE ZTHING SET ZMUST = 'x' WHERE Z_PK = 3",
        "UPDATE ATRANSACTIONSTRING SET ZNAME = NULL; UPDATE ZTHING SET ZMUST = 'x' WHERE Z_PK = 3",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 'x' WHERE Z_ENT = 16002; UPDATE ZTHING SET ZMUST = 'x' WHERE Z_PK = 3",
        "UPDATE Z_4TAGS SET Z_FOK_3TAGS = 'x'; UPDATE ZTHING SET ZMUST = 'x' WHERE Z_PK = 3",
    ]

    @Test(arguments: faults)
    func `a fault is found, and repaired or named`(sql: String) throws { try Self.expectAgreement(sql) }

    /// Core Data saves cycles.
    @Test(arguments: [
        "UPDATE ZTHING SET ZBOSS = 3, Z4_BOSS = 4 WHERE Z_PK = 3",
        "UPDATE ZTHING SET ZBOSS = 4 WHERE Z_PK = 3; UPDATE ZTHING SET ZBOSS = 3 WHERE Z_PK = 4",
    ])
    func `a cycle is no fault, but is found and repaired`(sql: String) throws {
        let store = try PlantedStore()
        func cycles() throws -> [String] {
            try StoreAudit(store.path, model: store.version.model, full: true).findings
                .filter { $0.code == "reference-cycle" }.map(\.place)
        }
        try store.plant(sql)
        #expect(try store.errors().isEmpty && cycles() == ["Thing.boss"])
        #expect(try store.repair().faults.isEmpty && cycles() == ["Thing.boss"])
        #expect(try store.repair([.cycles]).isWell)
        #expect(try cycles().isEmpty)
    }

    @Test func `a sound store of that kind is left alone`() throws {
        try Self.expectAgreement("SELECT 1", isFault: false)
    }

    // MARK: - Triggers of an app

    private static let tables = ["ZTHING", "ZTAG", "ZOWNER", "Z_4TAGS", "Z_PRIMARYKEY", "ATRANSACTION", "ACHANGE"]
    private static let triggers = tables.flatMap { table in
        ["INSERT", "UPDATE", "DELETE"].map { event in
            """
            CREATE TRIGGER app_\(table)_\(event) BEFORE \(event) ON \(table) BEGIN
                INSERT INTO app_log VALUES ('\(table)'); SELECT RAISE(IGNORE); END;
            """
        }
    }

    /// Tags share a word, a thing has neither what it needs nor its owner, a pair leads nowhere, a counter is lost, a
    /// table of history is gone.
    private static let many = """
        DROP INDEX Z_Tag_UNIQUE_word; UPDATE ZTAG SET ZWORD = 'one' WHERE Z_PK IN (6, 7);
        UPDATE ZTHING SET ZMUST = 'x' WHERE Z_PK = 3; UPDATE ZTHING SET ZOWNER = 'x' WHERE Z_PK = 4;
        INSERT INTO Z_4TAGS VALUES (NULL, 1, 1); UPDATE Z_PRIMARYKEY SET Z_MAX = 'x' WHERE Z_ENT = 4;
        DROP TABLE ATRANSACTIONSTRING
        """

    @Test func `a repair fires no trigger of an app, and leaves each where it was`() throws {
        let store = try PlantedStore()
        try store.plant("\(Self.many); CREATE TABLE app_log (name); \(Self.triggers.joined(separator: "\n"))")
        let kept = "SELECT name, sql FROM sqlite_master WHERE name LIKE 'app%' ORDER BY 1"
        let before = try store.line(kept)
        #expect(try store.repair().isWell)
        #expect(try store.errors().isEmpty && store.line(kept) == before)
        #expect(try store.line("SELECT count(*) FROM app_log") == "0")
    }

    @Test func `a search table that triggers keep is in step with the rows afterwards`() throws {
        let store = try PlantedStore()
        try store.plant(
            """
            CREATE VIRTUAL TABLE app_search USING fts5(ZSTR, content='ZTHING', content_rowid='Z_PK');
            INSERT INTO app_search (app_search) VALUES ('rebuild');
            CREATE TRIGGER app_gone AFTER DELETE ON ZTHING BEGIN
                INSERT INTO app_search (app_search, rowid, ZSTR) VALUES ('delete', OLD.Z_PK, OLD.ZSTR); END;
            UPDATE ZTHING SET ZMUST = 'x' WHERE Z_PK = 3
            """)
        #expect(try store.repair().isWell)
        #expect(try store.line("SELECT count(*) FROM app_search WHERE app_search MATCH 'text'") == "39")
    }

    // MARK: - What is said

    @Test func `what no rule is for stands in the remarks, before a repair and after it`() throws {
        let store = try PlantedStore()
        try store.plant(
            "UPDATE ZTHING SET ZSTR = NULL, ZDAY = 'x' WHERE Z_PK = 3; UPDATE ZTHING SET ZOWNER = 'x' WHERE Z_PK = 4")
        let codes: Set = ["required-missing", "value-unreadable"]
        let repair = try StoreRepair(store.path, at: store.version)
        #expect(Set(repair.found.remarks.map(\.code)) == codes)
        _ = try Migrator().run(try #require(repair.migration), on: store.path)
        #expect(Set(repair.report.remarks.map(\.code)) == codes && repair.report.left == 0)
        let again = try StoreRepair(store.path, at: store.version)
        #expect(again.migration == nil && Set(again.found.remarks.map(\.code)) == codes)
        // Who asks for one rule is told what that is about.
        #expect(try StoreRepair(store.path, at: store.version, rules: [.cycles]).found.isWell)
    }

    @Test func `beside a name that is taken the rest is repaired`() throws {
        let store = try PlantedStore()
        try store.plant(
            """
            DROP TABLE ZCOVER; CREATE VIEW ZCOVER AS SELECT 1 AS Z_PK; DROP TABLE Z_4FRIENDS;
            ALTER TABLE ZTHING DROP COLUMN ZI16; DROP INDEX ZTHING_ZBOSS_INDEX
            """)
        let report = try store.repair()
        #expect(report.remarks.contains { $0.code == "name-taken" && $0.place == "ZCOVER" })
        #expect(try store.line("SELECT type FROM sqlite_master WHERE name = 'Z_4FRIENDS'") == "table")
        #expect(try store.line("SELECT type FROM sqlite_master WHERE name = 'ZTHING_ZBOSS_INDEX'") == "index")
        #expect(try store.line("SELECT type FROM sqlite_master WHERE name = 'ZCOVER'") == "view")
        #expect(try store.line("SELECT count(*) FROM pragma_table_info('ZTHING') WHERE name = 'ZI16'") == "1")
    }
}
