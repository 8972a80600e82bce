import Foundation
import Moult
import MoultEngine
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Random saves")
struct RandomSavesTests {  // tier: long
    /// One store and the world that it should hold.
    private final class Run {
        let fixture: StoreFixture
        var world = KitchenWorld()
        var ids: [Int: ObjectID] = [:]
        var versions: [ObjectID: Int64] = [:]
        var generator: MoultObjects.SeededGenerator
        private var next = 0

        init(seed: UInt64) throws {
            fixture = try StoreFixture(KitchenModel.make(), history: true)
            generator = MoultObjects.SeededGenerator(seed: seed)
        }

        /// Ends of relationships that a save may leave unnamed, because the other end says it all.
        private static let ends = [
            ["Ingredient.dish"], ["Tag.dishes"], ["Cook.dishes", "Dish.cook"], ["Kitchen.chief", "Cook.kitchen"],
            ["Ingredient.parts", "Ingredient.partOf"],
        ]

        func save() throws {
            var new = world
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                next += 1
                new.change(&generator, next: next)
            }
            let unnamed = Set(
                Self.ends.compactMap { Bool.random(using: &generator) ? $0.randomElement(using: &generator) : nil })
            var given = ids
            for object in new.kinds.keys where given[object] == nil {
                given[object] = ObjectID(temporary: Int64(object), entityName: new.kinds[object] ?? "")
            }
            var changes = ObjectChanges()
            for (object, id) in given.sorted(by: { $0.key < $1.key }) {
                guard new.kinds[object] != nil else {
                    changes.deleted.append(.init(id: id, version: versions[id]))
                    continue
                }
                let old = world.values(of: object)
                var changed = new.values(of: object).filter { name, value in
                    let kind = id.entityName == "Soup" ? "Dish" : id.entityName
                    return old[name] != value && !unnamed.contains("\(kind).\(name)")
                }.mapValues { Self.value($0, given) }
                if id.isTemporary {
                    if id.entityName == "Soup" { changed["isHot"] = .attribute(.boolean(true)) }
                    changes.inserted.append(try StoreFixture.insertion(id, changed, fixture.store))
                } else if !changed.isEmpty {
                    changes.updated.append(.init(id: id, version: versions[id], values: changed))
                }
            }
            let outcome = try fixture.store.save(changes)
            versions.merge(outcome.versions) { $1 }
            world = new
            ids = given.filter { new.kinds[$0.key] != nil }.mapValues { outcome.permanentIDs[$0] ?? $0 }
        }

        private static func value(_ value: KitchenWorld.Value, _ ids: [Int: ObjectID]) -> ObjectValue {
            switch value {
            case .text(let text): .attribute(text.map(AttributeValue.string))
            case .one(let object): .toOne(object.flatMap { ids[$0] })
            case .ordered(let objects): .toMany(objects.compactMap { ids[$0] })
            case .unordered(let objects): .toMany(objects.sorted().compactMap { ids[$0] })
            }
        }

        /// Compares everything that the store gives with the world.
        func compare() throws {
            for (object, id) in ids {
                let snapshot = try #require(try fixture.store.snapshots(of: [id]).first)
                #expect(snapshot.version == versions[id], "\(id)")
                let shape = try fixture.store.columns(of: id.entityName).shape
                for (name, value) in world.values(of: object) {
                    let expected = Self.value(value, ids)
                    switch (value, expected) {
                    case (.ordered, .toMany(let members)):
                        #expect(try fixture.list(name, of: id) == members, "\(id) \(name)")
                    case (.unordered, .toMany(let members)):
                        #expect(Set(try fixture.list(name, of: id)) == Set(members), "\(id) \(name)")
                    default:
                        #expect(shape.position(of: name).flatMap { snapshot.values[$0] } == expected, "\(id) \(name)")
                    }
                }
            }
        }
    }

    /// Each prints 0 where all is well.
    private static let laws = [
        "SELECT count(*) <> 1 OR max(integrity_check) <> 'ok' FROM pragma_integrity_check",
        // No key above the highest given.
        """
        SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_MAX < CASE Z_NAME
          WHEN 'Dish' THEN (SELECT max(Z_PK) FROM ZDISH) WHEN 'Ingredient' THEN (SELECT max(Z_PK) FROM ZINGREDIENT)
          WHEN 'Cook' THEN (SELECT max(Z_PK) FROM ZCOOK) WHEN 'Kitchen' THEN (SELECT max(Z_PK) FROM ZKITCHEN)
          WHEN 'Tag' THEN (SELECT max(Z_PK) FROM ZTAG) WHEN 'CHANGE' THEN (SELECT max(Z_PK) FROM ACHANGE)
          WHEN 'TRANSACTION' THEN (SELECT max(Z_PK) FROM ATRANSACTION) ELSE 0 END
        """,
        // Nothing leads to what is not there.
        "SELECT count(*) FROM ZINGREDIENT WHERE ZDISH NOT NULL AND ZDISH NOT IN (SELECT Z_PK FROM ZDISH)",
        "SELECT count(*) FROM ZINGREDIENT WHERE ZPARTOF NOT NULL AND ZPARTOF NOT IN (SELECT Z_PK FROM ZINGREDIENT)",
        "SELECT count(*) FROM ZCOOK WHERE ZFAVOURITE NOT NULL AND ZFAVOURITE NOT IN (SELECT Z_PK FROM ZTAG)",
        "SELECT count(*) FROM ZDISH WHERE ZCOOK NOT NULL AND ZCOOK NOT IN (SELECT Z_PK FROM ZCOOK)",
        "SELECT count(*) FROM ZTAG WHERE Z1NOTES NOT NULL AND Z1NOTES NOT IN (SELECT Z_PK FROM ZCOOK)",
        """
        SELECT count(*) FROM Z_2TAGS WHERE Z_2DISHES NOT IN (SELECT Z_PK FROM ZDISH)
          OR Z_6TAGS NOT IN (SELECT Z_PK FROM ZTAG)
        """,
        // Both ends of a one to one; both directions of a reflexive pair.
        "SELECT count(*) FROM ZCOOK c WHERE ZKITCHEN NOT NULL AND (SELECT ZCHIEF FROM ZKITCHEN WHERE Z_PK = ZKITCHEN) IS NOT c.Z_PK",
        "SELECT count(*) FROM ZKITCHEN k WHERE ZCHIEF NOT NULL AND (SELECT ZKITCHEN FROM ZCOOK WHERE Z_PK = ZCHIEF) IS NOT k.Z_PK",
        "SELECT count(*) FROM Z_2GOESWITH g WHERE NOT EXISTS (SELECT 1 FROM Z_2GOESWITH WHERE Z_2GOESWITH = g.REFLEXIVE AND REFLEXIVE = g.Z_2GOESWITH)",
        // The entity's number and the place go with the key.
        """
        SELECT count(*) FROM ZINGREDIENT i WHERE Z2_DISH IS NOT (SELECT Z_ENT FROM ZDISH WHERE Z_PK = i.ZDISH)
          OR (Z_FOK_DISH IS NULL) <> (ZDISH IS NULL)
        """,
        "SELECT count(*) FROM (SELECT 1 FROM ZINGREDIENT WHERE ZDISH NOT NULL GROUP BY ZDISH, Z_FOK_DISH HAVING count(*) > 1)",
        "SELECT count(*) FROM (SELECT 1 FROM Z_2TAGS GROUP BY Z_2DISHES, Z_FOK_6TAGS HAVING count(*) > 1)",
        "SELECT count(*) FROM Z_2TAGS WHERE Z_FOK_6TAGS IS NULL",
        // What is derived.
        """
        SELECT count(*) FROM ZDISH d WHERE ZINGREDIENTCOUNT IS NOT (SELECT count(*) FROM ZINGREDIENT WHERE ZDISH = d.Z_PK)
          OR ZTAGCOUNT IS NOT (SELECT count(*) FROM Z_2TAGS WHERE Z_2DISHES = d.Z_PK)
          OR ZCOOKNAME IS NOT (SELECT ZNAME FROM ZCOOK WHERE Z_PK = d.ZCOOK)
        """,
        // History: one insert, then updates as often as the object was saved, then at most one delete.
        """
        SELECT count(*) FROM ZDISH d WHERE Z_OPT <> (SELECT count(*) FROM ACHANGE
          WHERE ZENTITY = d.Z_ENT AND ZENTITYPK = d.Z_PK AND ZCHANGETYPE IN (0, 1))
        """,
        """
        SELECT count(*) FROM ZCOOK d WHERE Z_OPT <> (SELECT count(*) FROM ACHANGE
          WHERE ZENTITY = d.Z_ENT AND ZENTITYPK = d.Z_PK AND ZCHANGETYPE IN (0, 1))
        """,
        "SELECT count(*) FROM ACHANGE WHERE (ZCHANGETYPE = 1) <> (ZCOLUMNS NOT NULL) OR ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)",
        "SELECT count(*) FROM (SELECT 1 FROM ACHANGE WHERE ZCHANGETYPE <> 1 GROUP BY ZENTITY, ZENTITYPK, ZCHANGETYPE HAVING count(*) > 1)",
    ]

    fileprivate static func run(seed: UInt64, saves: Int) throws {
        let run = try Run(seed: seed)
        for number in 1...saves {
            try run.save()
            if number % 25 == 0 { try run.compare() }
        }
        try run.compare()
        run.fixture.store.close()
        let counts = try run.fixture.shell(
            "SELECT count(*) > 10 FROM Z_2TAGS; SELECT count(ZDISH) > 5 FROM ZINGREDIENT")
        #expect(saves < 100 || counts == "1\n1\n", "the run has something to check")
        for law in Self.laws { #expect(try run.fixture.shell(law) == "0\n", "\(law)") }
        let audit = try StoreAudit(run.fixture.path, model: run.fixture.model, full: true)
        #expect(audit.findings.filter { $0.severity > .note } == [])
        #expect(audit.isSound)
    }

    @Test(arguments: 1...4)
    func `the store holds what a plain model of it says, and keeps every law of its format`(seed: UInt64) throws {
        try Self.run(seed: seed, saves: 120)
    }
}

@Suite("Random saves at length", .enabled(if: Tier.matrix.isAsked))
struct RandomSavesMatrixTests {
    @Test(.timeLimit(.minutes(60)))
    func `thousands of saves keep every law`() throws {
        let end = Date().addingTimeInterval(min(Tier.matrix.seconds, 120))
        var seed: UInt64 = 100
        while Date() < end {
            try RandomSavesTests.run(seed: seed, saves: 1_000)
            seed += 1
        }
    }
}
