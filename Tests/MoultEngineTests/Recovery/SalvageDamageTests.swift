import Foundation
import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Damages of five kinds, each with a seed, to stores of which a witness knows the pages. Every row whose own pages are
/// undamaged is read, every other one is read or named lost, and no more is named lost than one page holds.
struct SalvageDamageTests {  // tier: long
    private static let kinds = ["page", "root", "header", "freelist", "truncation"]
    /// 75 of each shape in the tier, a tenth of them otherwise.
    private static let seeds = Tier.faults.isAsked ? 15 : 2

    /// How a store differs from the others.
    enum Shape: String, CaseIterable {
        /// With a pointer map, as Core Data makes stores.
        case mapped
        /// Without one, with small pages.
        case plain
        /// With free pages and without the index that lists all loans.
        case deleted
        /// With free pages and a pointer map.
        case mappedDeleted
        /// With tables of an app's own, one of them `WITHOUT ROWID`, one with generated columns, and full-text search.
        case own
    }

    @Test(arguments: Shape.allCases)
    func `every row on undamaged pages is read, and every other one is accounted for`(shape: Shape) throws {
        let library = try Self.store(shape)
        let witness = try SalvageWitness(library.path)
        var (read, lost, aside, surplus, trials) = (0, 0, 0, 0.0, 0)
        for kind in Self.kinds {
            let offset = Tier.faults.isAsked ? 0 : shape == .mapped || shape == .deleted ? 0 : 7
            for seed in offset..<(offset + Self.seeds) {
                let damaged = library.folder.path + "/\(kind)-\(seed).sqlite"
                let new = library.folder.path + "/\(kind)-\(seed)-new.sqlite"
                let done = try witness.damage(kind, seed: seed, to: damaged)
                let before = try POSIXSystem().digest(of: damaged)
                let report = try StoreSalvage(library.version).run(damaged, into: new)
                let judgement = try witness.judge(report)
                let faults = judgement.faults.prefix(5).joined(separator: "; ")
                #expect(
                    judgement.faults.isEmpty, "\(shape) \(kind) \(seed) (\(done)): \(judgement.faults.count) \(faults)")
                #expect(
                    judgement.read + judgement.lost + judgement.aside == judgement.rows || !judgement.faults.isEmpty,
                    "\(shape) \(kind) \(seed): \(judgement)")
                #expect(report.pages.reads <= 12 * report.pages.count + 400, "\(kind) \(seed): \(report.pages.reads)")
                #expect(try POSIXSystem().digest(of: damaged) == before)
                (read, lost, trials) = (read + judgement.read, lost + judgement.lost, trials + 1)
                aside += judgement.aside
                surplus = max(surplus, judgement.surplus)
                for path in [damaged, new, StoreRecords.aside(of: new)] { try POSIXSystem().remove(path) }
            }
        }
        print(
            "salvage, \(shape): \(trials) damages, \(read) rows read, \(lost) named lost, \(aside) aside, surplus \(surplus) pages"
        )
        #expect(lost > 0)
    }

    @Test(arguments: Shape.allCases.filter { $0 != .own })
    func `of an undamaged store everything is read, and nothing is kept beside it`(shape: Shape) throws {
        let library = try Self.store(shape)
        let path = library.folder.path + "/new.sqlite"
        let report = try StoreSalvage(library.version).run(library.path, into: path)
        #expect(report.isWhole && report.unplaced.isEmpty && report.aside == nil, "\(report)")
        #expect(report.pages.damaged.isEmpty && report.pages.unexplained == 0, "\(report.pages)")
        #expect(report.remarks.isEmpty, "\(report.remarks)")
    }

    @Test func `of an app's own tables every row is kept beside the new store, with what they were made by`() throws {
        let library = try Self.store(.own)
        let report = try StoreSalvage(library.version).run(library.path, into: library.folder.path + "/new.sqlite")
        #expect(report.isEverythingRead && report.pages.unexplained == 0, "\(report)")
        let aside = try #require(report.aside)
        for table in ["appnotes", "appwords", "appsums", "search_content", "search_idx", "places_node"] {
            let columns = try library.line(
                "SELECT group_concat('\"' || name || '\"') FROM pragma_table_xinfo('\(table)') WHERE hidden IN (0, 3)")
            let sql = "SELECT \(columns) FROM \(table) ORDER BY 1"
            #expect(try SQLiteShell.run(aside, sql) == SQLiteShell.run(library.path, sql), "\(table)")
        }
        let definitions = "WHERE type <> 'table' AND name LIKE 'app%' OR sql LIKE 'CREATE VIRTUAL%' ORDER BY 1"
        #expect(
            try SQLiteShell.run(aside, "SELECT sql FROM moult_schema \(definitions)")
                == SQLiteShell.run(library.path, "SELECT sql FROM sqlite_master \(definitions)"))
        let names = ["virtual table search", "virtual table places", "view applist", "index appsize", "trigger appnew"]
        for name in names { #expect(report.remarks.contains { $0.contains(name) }, "\(name): \(report.remarks)") }
    }

    private static func addOwnTables(to library: LibraryStore) throws {
        try library.shell(
            """
            CREATE TABLE appnotes (body TEXT, id TEXT, size INTEGER, PRIMARY KEY (id)) WITHOUT ROWID;
            INSERT INTO appnotes SELECT hex(zeroblob(iif(value % 50 = 0, 2000, 40))), 'note ' || value, value
                FROM generate_series(1, 900);
            CREATE INDEX appsize ON appnotes (size);
            CREATE TABLE appwords (word, size);
            INSERT INTO appwords SELECT 'word ' || value || hex(zeroblob(30)), value FROM generate_series(1, 600);
            CREATE TABLE appsums (a INTEGER, text TEXT AS ('t' || a) VIRTUAL, b INTEGER, sum INTEGER AS (a + b) STORED);
            INSERT INTO appsums (a, b) SELECT value, 1000 + value FROM generate_series(1, 700);
            CREATE VIRTUAL TABLE search USING fts5(body);
            INSERT INTO search SELECT 'some words ' || value FROM generate_series(1, 200);
            CREATE VIRTUAL TABLE places USING rtree(id, low, high);
            INSERT INTO places SELECT value, value, value + 1 FROM generate_series(1, 200);
            CREATE VIEW applist AS SELECT word FROM appwords;
            CREATE TRIGGER appnew AFTER INSERT ON appwords BEGIN UPDATE appnotes SET size = 0 WHERE 0; END;
            """)
    }

    static func store(_ shape: Shape) throws -> LibraryStore {
        let library = try LibraryStore()
        let isMapped = shape == .mapped || shape == .mappedDeleted
        try library.shell(
            """
            DROP INDEX \(shape == .deleted ? "ZLOAN_ZBOOK_INDEX" : "IF EXISTS ZNONE");
            INSERT INTO ZLOAN (Z_PK, Z_ENT, Z_OPT, ZREADER, ZBOOK, Z1_BOOK)
                SELECT value, 4, 1, 'reader ' || value || iif(value % 40 = 0, hex(zeroblob(value * 3)), hex(zeroblob(30))),
                value % 100 + 1, iif((value % 100 + 1) % 5 = 0, 2, 1) FROM generate_series(51, 1500);
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT value, 6, 1, 'tag ' || value FROM generate_series(11, 400);
            INSERT INTO Z_1TAGS SELECT value % 100 + 1, value / 100 + 20 FROM generate_series(1, 900);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 1500 WHERE Z_NAME = 'Loan'; UPDATE Z_PRIMARYKEY SET Z_MAX = 400 WHERE Z_NAME = 'Tag';
            UPDATE Z_PRIMARYKEY SET Z_MAX = 10 WHERE Z_NAME = 'Shelf';
            PRAGMA journal_mode = DELETE; PRAGMA page_size = \(shape == .mapped ? 4096 : 1024);
            PRAGMA auto_vacuum = \(isMapped ? "INCREMENTAL" : "NONE"); VACUUM;
            """)
        if shape == .own { try addOwnTables(to: library) }
        if shape == .deleted || shape == .mappedDeleted {
            try library.shell("DELETE FROM ZLOAN WHERE Z_PK BETWEEN 300 AND 420 OR Z_PK BETWEEN 900 AND 1100")
        }
        return library
    }
}
