import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport

@testable import MoultEngine

/// A store with a column of every kind, in which the sqlite3 shell plants faults.
///
/// `Z_ENT`: Cover 1, Owner 2, Tag 3, Thing 4, Special 5. Every row of a table has the key of those it leads to.
final class PlantedStore {
    let path: String
    let version: ModelVersion
    private let folder: ScratchFolder
    private let layout: StoreLayout

    init() throws {
        folder = try ScratchFolder()
        path = folder.path + "/Planted.sqlite"
        version = ModelVersion(names: ["1"], model: try Self.model())
        let maker = try StoreCreator(version, history: true)
        layout = maker.layout
        try maker.make(at: path)
        try plant(Self.rows)
    }

    /// Runs SQL without the triggers, whose functions the shell has not.
    func plant(_ sql: String) throws {
        let drops = layout.triggers.map { "DROP TRIGGER \"\($0.name)\";" }.joined()
        _ = try SharedSQLiteShell.run(path, "\(drops)\n\(sql);\n\(layout.triggers.map { $0.sql + ";\n" }.joined())")
    }

    /// What the shell prints of the store, on one line.
    func line(_ sql: String) throws -> String {
        String(try SharedSQLiteShell.run(path, sql + ";").split(separator: "\n").joined(separator: " "))
    }

    func errors() throws -> [Finding] {
        try StoreAudit(path, model: version.model, full: true).findings.filter { $0.severity > .note }
    }

    /// Until the rows have been looked at.
    func repair(_ rules: Set<RepairRule> = RepairRule.byDefault) throws -> RepairReport {
        let repair = try StoreRepair(path, at: version, rules: rules, accepting: .all)
        guard let migration = repair.migration else { return repair.found }
        _ = try Migrator().run(migration, on: path)
        return repair.leavesRows ? try self.repair() : repair.report
    }

    static let rows = """
        INSERT INTO ZCOVER (Z_PK, Z_ENT, Z_OPT, ZTHING, Z4_THING)
            SELECT value, 1, 1, value, iif(value % 5 = 0, 5, 4) FROM generate_series(1, 40);
        INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT, ZNAME, ZTHINGCOUNT)
            SELECT value, 2, 1, 'owner', 1 FROM generate_series(1, 40);
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZWORD, Z4LOOSE)
            SELECT value, 3, 1, 'tag ' || value, value FROM generate_series(1, 40);
        INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZFLAG, ZI16, ZI32, ZI64, ZDAY, ZDBL, ZFLT, ZDEC, ZSTR, ZLINK, ZIDENT, ZTRANS,
            ZBIN, ZEXT, ZBOSS, Z4_BOSS, ZCOVER, ZMUST, ZOWNER, Z_FOK_OWNER)
            SELECT value, iif(value % 5 = 0, 5, 4), 1, 1, 2, 3, 4, 5.5, 6.5, 7.5, 8.5, 'text', 'https://example.org',
                x'00112233445566778899aabbccddeeff', x'01', x'02', x'0103', iif(value = 1, NULL, 1), iif(value = 1, NULL, 4),
                value, value, value, 1024 FROM generate_series(1, 40);
        UPDATE ZTHING SET ZEXTRA = 'special' WHERE Z_ENT = 5;
        INSERT INTO Z_4TAGS SELECT value, value, 1024 FROM generate_series(1, 40);
        INSERT INTO Z_4FRIENDS VALUES (1, 2), (2, 1);
        INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (3, 16003, 'app');
        INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, ZTIMESTAMP) VALUES (7, 16002, 3, 5.5), (8, 16002, 3, 6.5);
        INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) VALUES (9, 16001, 0, 3, 3, 7);
        UPDATE Z_PRIMARYKEY SET Z_MAX = 40 WHERE Z_ENT < 5;
        UPDATE Z_PRIMARYKEY SET Z_MAX = 9 WHERE Z_ENT > 16000
        """

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            """
            Owner = name String, thingCount Integer64 derived=things.@count, things >> Thing.owner ordered,
                needed >> Thing.must
            Thing = flag Boolean, i16 Integer16, i32 Integer32, i64 Integer64 required, day Date, dbl Double, flt Float,
                dec Decimal, str String required, link URI, ident UUID, trans Transformable, bin Binary,
                ext Binary external, owner > Owner.things, must > Owner.needed required, boss > Thing.staff,
                staff >> Thing.boss, cover > Cover.thing, tags >> Tag.things ordered, friends >> Thing.friends,
                loose >> Tag
            Special (Thing) = extra String
            Cover = thing > Thing.cover
            Tag unique=word = word String, things >> Thing.tags
            """)
    }
}
