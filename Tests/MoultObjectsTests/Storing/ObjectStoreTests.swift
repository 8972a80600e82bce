import Foundation
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Object store")
struct ObjectStoreTests {
    @Test func `what is saved is in the rows and comes back`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let cook = try fixture.new("Cook", ["name": .text("Ada")])
        let soup = try fixture.new(
            "Soup",
            [
                "title": .text("Leek"), "isHot": .attribute(.boolean(true)), "aDecimal": .attribute(.decimal("1.5")),
                "aDate": .attribute(.date(12)), "cook": .toOne(cook.id),
            ])
        let tag = try fixture.new("Tag", ["label": .text("green"), "dishes": .toMany([soup.id])])
        let ids = try fixture.insert(cook, soup, tag)
        #expect(
            try fixture.shell(
                """
                SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, ZISHOT, ZADATE, ZCOOK FROM ZDISH; SELECT * FROM Z_2TAGS;
                SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_SUPER = 0 ORDER BY Z_ENT
                """) == "1|3|1|Leek|1|12|1\n1|1|2048\nCook|1\nDish|1\nIngredient|0\nKitchen|0\nTag|1\n")
        #expect(try fixture.value("title", of: ids[1]) == .text("Leek"))
        #expect(try fixture.value("aDecimal", of: ids[1]) == .attribute(.decimal("1.5")))
        #expect(try fixture.value("cook", of: ids[1]) == .toOne(ids[0]))
        #expect(try fixture.list("dishes", of: ids[0]) == [ids[1]])
        #expect(try fixture.list("tags", of: ids[1]) == [ids[2]])
        #expect(try fixture.value("tagCount", of: ids[1]) == .integer(1))
        #expect(try fixture.value("cookName", of: ids[1]) == .text("Ada"))
    }

    @Test func `a store in memory holds what a store in a file does`() throws {
        let store = try ObjectStore(inMemory: KitchenModel.make())
        var changes = ObjectChanges()
        changes.inserted = [
            try StoreFixture.insertion(
                ObjectID(temporary: 1, entityName: "Dish"),
                ["title": .text("Pie"), "photo": .attribute(.binary([UInt8](repeating: 7, count: 300_000)))], store)
        ]
        let id = try #require(try store.save(changes).permanentIDs.values.first)
        let snapshot = try #require(try store.snapshots(of: [id]).first)
        let position = try #require(store.shape(of: "Dish")?.position(of: "photo"))
        #expect(snapshot.values[position] == .attribute(.binary([UInt8](repeating: 7, count: 300_000))))
        #expect(!FileManager.default.fileExists(atPath: ":memory:"))
    }

    @Test func `an update writes what changed and counts; a delete leaves nothing behind`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let dish = try fixture.new("Dish", ["title": .text("Pie")])
        let parts = try (0..<3).map {
            try fixture.new("Ingredient", ["name": .text("\($0)"), "dish": .toOne(dish.id)])
        }
        let ids = try fixture.insert(dish, parts[0], parts[1], parts[2])
        #expect(try fixture.list("ingredients", of: ids[0]) == Array(ids[1...]))
        try fixture.update(ids[0], version: 1, ["title": .text("Tart"), "ingredients": .toMany([ids[3], ids[1]])])
        #expect(
            try fixture.shell(
                "SELECT ZTITLE, Z_OPT, ZINGREDIENTCOUNT FROM ZDISH; SELECT ZNAME, ZDISH, Z2_DISH, Z_FOK_DISH FROM "
                    + "ZINGREDIENT ORDER BY Z_PK") == "Tart|2|2\n0|1|2|2048\n1|||\n2|1|2|1024\n")
        #expect(throws: SaveConflicts.self) { try fixture.update(ids[0], version: 1, ["title": .text("x")]) }
        try fixture.delete(ids[0])
        #expect(
            try fixture.shell("SELECT count(*) FROM ZDISH; SELECT count(ZDISH), count(Z_FOK_DISH) FROM ZINGREDIENT")
                == "0\n0|0\n")
    }
}
