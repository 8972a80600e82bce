import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Sample data")
struct SampleDataTests {
    private func filled(_ data: SampleData) throws -> (folder: ScratchFolder, path: String) {
        let folder = try ScratchFolder()
        let path = folder.path + "/Kitchen.sqlite"
        let maker = try StoreCreator(ModelVersion(names: ["1"], model: KitchenModel.make()))
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout)
        try data.fill(writer)
        try writer.finish()
        return (folder, path)
    }

    @Test func `every entity has its objects, and the shell finds the store sound`() throws {
        let (folder, path) = try filled(SampleData(seed: 7))
        defer { withExtendedLifetime(folder) {} }
        #expect(try SQLiteShell.run(path, "PRAGMA integrity_check; PRAGMA journal_mode") == "ok\nwal\n")
        #expect(
            try SQLiteShell.run(path, "SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
                == "Cook|16\nDish|32\nSoup|0\nIngredient|16\nKitchen|16\nTag|16\n")
        #expect(
            try SQLiteShell.run(path, "SELECT Z_ENT, count(*), max(Z_OPT) FROM ZDISH GROUP BY Z_ENT")
                == "2|16|1\n3|16|1\n")
    }

    @Test func `derived attributes are what a query over the rows counts`() throws {
        let (folder, path) = try filled(SampleData(seed: 8))
        defer { withExtendedLifetime(folder) {} }
        let wrong = """
            SELECT count(*) FROM ZDISH AS d WHERE
              ZINGREDIENTCOUNT IS NOT (SELECT count(*) FROM ZINGREDIENT WHERE ZDISH = d.Z_PK)
              OR ZTAGCOUNT IS NOT (SELECT count(*) FROM Z_2TAGS WHERE Z_2DISHES = d.Z_PK)
              OR ZCOOKNAME IS NOT (SELECT ZNAME FROM ZCOOK WHERE Z_PK = d.ZCOOK) OR ZTOUCHED IS NULL;
            SELECT sum(ZINGREDIENTCOUNT) > 5, sum(ZTAGCOUNT) > 5, count(ZCOOKNAME) > 5 FROM ZDISH
            """
        #expect(try SQLiteShell.run(path, wrong) == "0\n1|1|1\n")
    }

    @Test func `a required enum of SwiftData's has one case in every object, an optional one at most one`() throws {
        func kind(_ name: String, _ cases: [String], isOptional: Bool) -> AttributeDescription {
            .init(
                name: name, type: .composite, isOptional: isOptional,
                elements: cases.map { .init(name: $0, type: .string) },
                userInfo: ["EnumType": "Kind"].merging(cases == [name] ? [:] : ["enum": cases.joined(separator: ",")]) {
                    first, _ in first
                })
        }
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Boat",
                attributes: [
                    kind("rig", ["sloop", "ketch", "yawl"], isOptional: false),
                    kind("paint", ["paint"], isOptional: false),
                    kind("mood", ["calm", "wild"], isOptional: true),
                ])
        ])
        let folder = try ScratchFolder()
        let path = folder.path + "/Boats.sqlite"
        let maker = try StoreCreator(ModelVersion(names: ["1"], model: model))
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout)
        try SampleData(seed: 3, count: 40).fill(writer)
        try writer.finish()
        let used = "(ZSLOOP IS 'sloop') + (ZKETCH IS 'ketch') + (ZYAWL IS 'yawl')"
        let any = "(ZSLOOP NOT NULL) + (ZKETCH NOT NULL) + (ZYAWL NOT NULL)"
        let mood = "(ZCALM NOT NULL) + (ZWILD NOT NULL)"
        #expect(
            try SQLiteShell.run(
                path,
                """
                SELECT count(*), sum(\(used) = 1), sum(\(any) = 1), count(ZPAINT), max(\(mood)), min(\(mood)) FROM ZBOAT;
                SELECT count(ZSLOOP) > 9, count(ZKETCH) > 9, count(ZYAWL) > 9 FROM ZBOAT
                """) == "40|40|40|40|1|0\n1|1|1\n")
    }

    @Test func `both ends of every kind of relationship agree`() throws {
        let (folder, path) = try filled(SampleData(seed: 9))
        defer { withExtendedLifetime(folder) {} }
        let queries = [
            // One to one: both foreign keys name each other.
            "SELECT count(*) FROM ZCOOK c WHERE ZKITCHEN NOT NULL AND NOT EXISTS "
                + "(SELECT 1 FROM ZKITCHEN WHERE Z_PK = c.ZKITCHEN AND ZCHIEF = c.Z_PK)",
            // A to-one to an entity with sub-entities keeps its entity's number.
            "SELECT count(*) FROM ZINGREDIENT i WHERE ZDISH NOT NULL AND Z2_DISH IS NOT "
                + "(SELECT Z_ENT FROM ZDISH WHERE Z_PK = i.ZDISH)",
            // Ordered lists start at 2048 and go on by 1024 without gaps.
            "SELECT count(*) FROM (SELECT min(Z_FOK_DISH) AS a, max(Z_FOK_DISH) AS b, count(*) AS n FROM ZINGREDIENT "
                + "WHERE ZDISH NOT NULL GROUP BY ZDISH) WHERE a <> 2048 OR b <> 1024 + 1024 * n",
            "SELECT count(*) FROM (SELECT min(Z_FOK_6TAGS) AS a, max(Z_FOK_6TAGS) AS b, count(*) AS n FROM Z_2TAGS "
                + "GROUP BY Z_2DISHES) WHERE a <> 2048 OR b <> 1024 + 1024 * n",
            "SELECT count(*) FROM (SELECT min(Z_FOK_1NOTES) AS a, max(Z_FOK_1NOTES) AS b, count(*) AS n FROM ZTAG "
                + "WHERE Z1NOTES NOT NULL GROUP BY Z1NOTES) WHERE a <> 2048 OR b <> 1024 + 1024 * n",
            // A relationship that is its own inverse is stored in both directions.
            "SELECT count(*) FROM Z_2GOESWITH g WHERE NOT EXISTS "
                + "(SELECT 1 FROM Z_2GOESWITH WHERE Z_2GOESWITH = g.REFLEXIVE AND REFLEXIVE = g.Z_2GOESWITH)",
            // A hierarchy leads to objects made before.
            "SELECT count(*) FROM ZINGREDIENT WHERE ZPARTOF >= Z_PK",
        ]
        #expect(
            try SQLiteShell.run(path, queries.joined(separator: ";")) == String(repeating: "0\n", count: queries.count))
        let present =
            "SELECT count(ZKITCHEN) > 3, count(ZFAVOURITE) > 3 FROM ZCOOK; SELECT count(*) > 3 FROM Z_2GOESWITH; "
            + "SELECT count(Z1NOTES) > 3 FROM ZTAG; SELECT count(ZPARTOF) > 3 FROM ZINGREDIENT"
        #expect(try SQLiteShell.run(path, present) == "1|1\n1\n1\n1\n")
    }

    @Test func `large values lie in files, small ones behind a leading byte`() throws {
        let (folder, path) = try filled(SampleData(seed: 10))
        defer { withExtendedLifetime(folder) {} }
        let files = try SQLiteShell.run(
            path,
            "SELECT CAST(substr(ZPHOTO, 2, 36) AS TEXT) FROM ZDISH WHERE hex(substr(ZPHOTO, 1, 1)) = '02' "
                + "AND length(ZPHOTO) = 38 AND hex(substr(ZPHOTO, 38)) = '00'"
        ).split(separator: "\n").map(String.init)
        #expect(!files.isEmpty)
        let external = folder.path + "/.Kitchen_SUPPORT/_EXTERNAL_DATA"
        #expect(try FileManager.default.contentsOfDirectory(atPath: external).sorted() == files.sorted())
        for file in files { #expect(FileManager.default.contents(atPath: "\(external)/\(file)")?.count == 150_000) }
        #expect(
            try SQLiteShell.run(
                path,
                "SELECT count(*) FROM ZDISH WHERE hex(substr(ZPHOTO, 1, 1)) NOT IN ('01', '02') AND ZPHOTO NOT NULL")
                == "0\n")
    }

    @Test func `the same seed gives the same rows, another seed others`() throws {
        let query =
            "SELECT * FROM ZCOOK; SELECT * FROM ZINGREDIENT; SELECT * FROM Z_2TAGS; SELECT ZTITLE, hex(ABINARY) FROM "
            + "(SELECT ZTITLE, ZABINARY AS ABINARY FROM ZDISH)"
        let dumps = try [1, 1, 2].map { seed in
            let (folder, path) = try filled(SampleData(seed: UInt64(seed)))
            defer { withExtendedLifetime(folder) {} }
            return try SQLiteShell.run(path, query)
        }
        #expect(dumps[0] == dumps[1])
        #expect(dumps[0] != dumps[2])
    }

    @Test func `a writer can leave its rows in the log, as an app that was ended does`() throws {
        let (folder, path) = try filled(SampleData(seed: 1, count: 1))
        defer { withExtendedLifetime(folder) {} }
        let writer = try ObjectWriter(store: path, layout: StoreLayout(model: KitchenModel.make()))
        try writer.insert("Tag", ["label": .attribute(.string("late"))])
        try writer.finish(leavingLog: true)
        let log = FileManager.default.contents(atPath: path + "-wal")
        #expect((log?.count ?? 0) > 0)
        #expect(
            try SQLiteShell.run(path, "SELECT count(*) FROM ZTAG", immutable: true) == "1\n", "not in the file itself")
        #expect(try SQLiteShell.run(path, "SELECT count(*) FROM ZTAG") == "2\n")
    }

    @Test func `a value of the wrong type or a wrong object is refused, and nothing is written`() throws {
        let (folder, path) = try filled(SampleData(seed: 1, count: 1))
        defer { withExtendedLifetime(folder) {} }
        let layout = try StoreLayout(model: KitchenModel.make())
        do {
            let writer = try ObjectWriter(store: path, layout: layout)
            let dish = try writer.insert("Dish", ["title": .attribute(.string("kept by nobody"))])
            let mistakes: [() throws -> Void] = [
                { try writer.insert("Dish", ["title": .attribute(.integer(1))]) },
                { try writer.insert("Dish", ["aInteger16": .attribute(.integer(40_000))]) },
                { try writer.insert("Dish", ["cook": .toOne(dish)]) },
                { try writer.insert("Ingredient", ["name": .toOne(dish)]) },
                { try writer.insert("Dish", ["nothing": .attribute(nil)]) },
                { try writer.insert("Meal", [:]) },
                { try writer.link(dish, "cook", to: [dish]) },
            ]
            for mistake in mistakes { #expect(throws: MigrationError.self) { try mistake() } }
        }
        #expect(try SQLiteShell.run(path, "SELECT count(*) FROM ZDISH") == "2\n")
    }
}
