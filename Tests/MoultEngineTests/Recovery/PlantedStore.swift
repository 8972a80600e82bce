import Foundation
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
        let maker = try StoreMaker(version, history: true)
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
        let repair = try StoreRepair(path, at: version, rules: rules)
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
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Owner",
                attributes: [
                    .init(name: "name", type: .string),
                    .init(name: "thingCount", type: .integer64, derivation: .init(expression: "things.@count")),
                ],
                relationships: [
                    .init(
                        name: "things", destinationEntityName: "Thing", inverseName: "owner", maxCount: 0,
                        isOrdered: true),
                    .init(name: "needed", destinationEntityName: "Thing", inverseName: "must", maxCount: 0),
                ]),
            EntityDescription(
                name: "Thing",
                attributes: [
                    .init(name: "flag", type: .boolean), .init(name: "i16", type: .integer16),
                    .init(name: "i32", type: .integer32), .init(name: "i64", type: .integer64, isOptional: false),
                    .init(name: "day", type: .date), .init(name: "dbl", type: .double),
                    .init(name: "flt", type: .float), .init(name: "dec", type: .decimal),
                    .init(name: "str", type: .string, isOptional: false), .init(name: "link", type: .uri),
                    .init(name: "ident", type: .uuid), .init(name: "trans", type: .transformable),
                    .init(name: "bin", type: .binary),
                    .init(name: "ext", type: .binary, allowsExternalBinaryDataStorage: true),
                ],
                relationships: [
                    .init(name: "owner", destinationEntityName: "Owner", inverseName: "things"),
                    .init(name: "must", destinationEntityName: "Owner", inverseName: "needed", isOptional: false),
                    .init(name: "boss", destinationEntityName: "Thing", inverseName: "staff"),
                    .init(name: "staff", destinationEntityName: "Thing", inverseName: "boss", maxCount: 0),
                    .init(name: "cover", destinationEntityName: "Cover", inverseName: "thing"),
                    .init(
                        name: "tags", destinationEntityName: "Tag", inverseName: "things", maxCount: 0,
                        isOrdered: true),
                    .init(name: "friends", destinationEntityName: "Thing", inverseName: "friends", maxCount: 0),
                    .init(name: "loose", destinationEntityName: "Tag", maxCount: 0),
                ]),
            EntityDescription(
                name: "Special", superentityName: "Thing", attributes: [.init(name: "extra", type: .string)]),
            EntityDescription(
                name: "Cover",
                relationships: [.init(name: "thing", destinationEntityName: "Thing", inverseName: "cover")]),
            EntityDescription(
                name: "Tag", attributes: [.init(name: "word", type: .string)],
                relationships: [
                    .init(name: "things", destinationEntityName: "Thing", inverseName: "tags", maxCount: 0)
                ], uniquenessConstraints: [["word"]]),
        ])
    }
}
