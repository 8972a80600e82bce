import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Saving relationships")
struct RelationshipSaveTests {
    @Test func `a member put between two others takes a place in the gap, and no other row is written`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let dish = try fixture.new("Dish", ["title": .text("Pie")])
        let parts = try (0..<3).map {
            try fixture.new("Ingredient", ["name": .text("\($0)"), "dish": .toOne(dish.id)])
        }
        let ids = try fixture.insert(dish, parts[0], parts[1], parts[2])
        let order = "SELECT ZNAME, Z_FOK_DISH, Z_OPT FROM ZINGREDIENT WHERE ZDISH = 1 ORDER BY Z_FOK_DISH"
        #expect(try fixture.shell(order) == "0|2048|1\n1|3072|1\n2|4096|1\n")

        let late = try fixture.insert(try fixture.new("Ingredient", ["name": .text("late")]))
        try fixture.update(ids[0], ["ingredients": .toMany([ids[1], late[0], ids[2], ids[3]])])
        #expect(try fixture.shell(order) == "0|2048|1\nlate|2560|2\n1|3072|1\n2|4096|1\n")
        try fixture.update(ids[0], ["ingredients": .toMany([ids[2], ids[1], late[0], ids[3]])])
        #expect(try fixture.shell(order) == "1|1024|2\n0|2048|1\nlate|2560|2\n2|4096|1\n")
    }

    @Test func `a gap without room has all places given anew`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let dish = try fixture.insert(try fixture.new("Dish", ["title": .text("Pie")]))[0]
        var list: [ObjectID] = []
        for number in 0..<40 {
            list.insert(
                try fixture.insert(try fixture.new("Ingredient", ["name": .text("\(number)")]))[0],
                at: list.isEmpty ? 0 : 1)
            try fixture.update(dish, ["ingredients": .toMany(list)])
            #expect(try fixture.list("ingredients", of: dish) == list)
        }
        #expect(
            try fixture.shell(
                "SELECT count(DISTINCT Z_FOK_DISH), min(Z_FOK_DISH) > 0 FROM ZINGREDIENT WHERE ZDISH = 1") == "40|1\n")
    }

    @Test(arguments: 0..<200)
    func `places ascend, and as many stay as can`(seed: UInt64) {
        var generator = MoultObjects.SeededGenerator(seed: seed)
        let present = (0..<Int.random(in: 0..<9, using: &generator)).map { _ -> Int64? in
            Int.random(in: 0..<3, using: &generator) == 0 ? nil : Int64.random(in: -2...12, using: &generator)
        }
        let places = OrderKeyAllocator.places(for: present)
        #expect(places.count == present.count)
        #expect(zip(places, places.dropFirst()).allSatisfy { $0 < $1 })
        let fresh: [Int64] = places.indices.map { 2048 + 1024 * Int64($0) }
        let isFresh = places == fresh
        let kept = zip(places, present).filter { $0 == $1 }.count
        #expect(isFresh || kept == Self.longestAscent(present), "\(present) gave \(places)")
    }

    /// By trying every subset.
    private static func longestAscent(_ places: [Int64?]) -> Int {
        var longest = 0
        for subset in 0..<(1 << places.count) {
            let chosen: [Int64?] = places.indices.filter { subset & (1 << $0) != 0 }.map { places[$0] }
            let numbers: [Int64] = chosen.compactMap { $0 }
            guard numbers.count == chosen.count, numbers.allSatisfy({ $0 > 0 }) else { continue }
            if zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) { longest = max(longest, numbers.count) }
        }
        return longest
    }

    @Test func `a one to one leads to one object from each side, whoever is named`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let ids = try fixture.insert(
            try fixture.new("Cook", ["name": .text("a")]), try fixture.new("Cook", ["name": .text("b")]),
            try fixture.new("Kitchen"), try fixture.new("Kitchen"))
        let (a, b, k, l) = (ids[0], ids[1], ids[2], ids[3])
        let both =
            "SELECT group_concat(ifnull(ZKITCHEN, '-'), ' ') FROM (SELECT * FROM ZCOOK ORDER BY Z_PK); "
            + "SELECT group_concat(ifnull(ZCHIEF, '-'), ' ') FROM (SELECT * FROM ZKITCHEN ORDER BY Z_PK)"
        try fixture.update(a, ["kitchen": .toOne(k)])
        #expect(try fixture.shell(both) == "1 -\n1 -\n")
        let outcome = try fixture.update(b, ["kitchen": .toOne(k)])
        #expect(try fixture.shell(both) == "- 1\n2 -\n")
        // The first cook lost the kitchen without being named.
        #expect(outcome.versions[a] == 3 && outcome.recomputed.contains(a) && outcome.versions[k] == 3)
        try fixture.update(l, ["chief": .toOne(b)])
        #expect(try fixture.shell(both) == "- 2\n- 2\n")
        var swap = ObjectChanges()
        swap.updated = [
            .init(id: a, version: nil, values: ["kitchen": .toOne(l)]),
            .init(id: b, version: nil, values: ["kitchen": .toOne(k)]),
            .init(id: k, version: nil, values: ["chief": .toOne(b)]),
            .init(id: l, version: nil, values: ["chief": .toOne(a)]),
        ]
        _ = try fixture.store.save(swap)
        #expect(try fixture.shell(both) == "2 1\n2 1\n")
        try fixture.update(k, ["chief": .toOne(nil)])
        #expect(try fixture.shell(both) == "2 -\n- 1\n")
    }

    @Test func `a pair named from both ends is one row, and a reflexive one two`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        var dish = try fixture.new("Dish", ["title": .text("Pie")])
        let other = try fixture.new("Dish", ["title": .text("Tart")])
        let tags = try (0..<3).map { _ in try fixture.new("Tag", ["dishes": .toMany([dish.id, other.id])]) }
        dish = try StoreFixture.insertion(
            dish.id,
            [
                "title": .text("Pie"), "tags": .toMany([tags[2].id, tags[0].id, tags[1].id]),
                "goesWith": .toMany([other.id, dish.id]),
            ], fixture.store)
        let ids = try fixture.insert(dish, other, tags[0], tags[1], tags[2])
        #expect(
            try fixture.shell("SELECT Z_2DISHES, Z_6TAGS, Z_FOK_6TAGS FROM Z_2TAGS ORDER BY Z_2DISHES, Z_FOK_6TAGS")
                == "1|3|2048\n1|1|3072\n1|2|4096\n2|1|2048\n2|2|3072\n2|3|4096\n")
        #expect(try fixture.shell("SELECT * FROM Z_2GOESWITH ORDER BY 1, 2") == "1|1\n1|2\n2|1\n")
        try fixture.update(ids[1], ["goesWith": .toMany([])])
        #expect(try fixture.shell("SELECT * FROM Z_2GOESWITH ORDER BY 1, 2") == "1|1\n")
        let outcome = try fixture.delete(ids[3])
        #expect(try fixture.list("tags", of: ids[0]) == [ids[4], ids[2]])
        #expect(try fixture.value("tagCount", of: ids[0]) == .integer(2))
        #expect(outcome.recomputed == [ids[0], ids[1]])
    }

    @Test func `a list without inverse takes its members over and leaves them when its owner goes`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let ids = try fixture.insert(
            try fixture.new("Cook", ["name": .text("a")]), try fixture.new("Cook", ["name": .text("b")]),
            try fixture.new("Tag"), try fixture.new("Tag"))
        try fixture.update(ids[0], ["notes": .toMany([ids[3], ids[2]]), "favourite": .toOne(ids[2])])
        try fixture.update(ids[1], ["notes": .toMany([ids[2]])])
        #expect(
            try fixture.shell("SELECT Z1NOTES, Z_FOK_1NOTES, Z_OPT FROM ZTAG ORDER BY Z_PK") == "2|2048|1\n1|2048|1\n")
        try fixture.delete(ids[1], ids[2])
        #expect(try fixture.shell("SELECT ZFAVOURITE FROM ZCOOK; SELECT Z1NOTES FROM ZTAG") == "\n1\n")
    }

    @Test func `a relationship to what is not there is a conflict that names both, and nothing is written`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let ids = try fixture.insert(
            try fixture.new("Dish", ["title": .text("Pie")]), try fixture.new("Cook", ["name": .text("a")]))
        try fixture.delete(ids[1])
        do {
            try fixture.update(ids[0], ["title": .text("x"), "cook": .toOne(ids[1])])
            Issue.record("nothing was thrown")
        } catch let error as SaveConflicts {
            #expect(error.conflicts == [.missingDestination(of: ids[0], relationship: "cook", ids[1])])
        }
        let wrong: [[String: ObjectValue]] = [
            ["cook": .toOne(ids[0])], ["cook": .toMany([])], ["title": .toOne(nil)], ["title": .integer(1)],
            ["tags": .toMany([ObjectID(temporary: 99, entityName: "Tag")])], ["nothing": .text("")],
        ]
        for values in wrong { #expect(throws: MigrationError.self) { try fixture.update(ids[0], values) } }
        #expect(try fixture.shell("SELECT ZTITLE, Z_OPT FROM ZDISH") == "Pie|1\n")
    }
}
