import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

@Suite("History of saves")
struct HistorySaveTests {
    /// One entity whose slots are, in order: owner, owner's entity, owner's place, then the attributes, then one list.
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Base",
                attributes: [
                    AttributeDescription(name: "zeta", type: .string, preservesValueInHistoryOnDeletion: true)
                ],
                relationships: [
                    RelationshipDescription(
                        name: "items", destinationEntityName: "Item", inverseName: "owner", maxCount: 0, isOrdered: true
                    )
                ]),
            EntityDescription(
                name: "Derived", superentityName: "Base",
                attributes: [
                    AttributeDescription(name: "alpha", type: .integer64, preservesValueInHistoryOnDeletion: true)
                ]),
            EntityDescription("Item = a String, b String, t String transient, owner > Base.items"),
        ])
    }

    @Test func `each save is a transaction with a change for every object, as a real store's are`() throws {
        let fixture = try StoreFixture(Self.model(), history: true)
        fixture.store.history?.program = .init(bundleIdentifier: "org.example", processName: "tests")
        var changes = ObjectChanges()
        let owner = try fixture.new("Derived", ["zeta": .text("z"), "alpha": .integer(7)])
        let item = try fixture.new("Item", ["a": .text("1"), "owner": .toOne(owner.id)])
        changes.inserted = [owner, item]
        changes.author = "me"
        let ids = try fixture.store.save(changes).permanentIDs
        let (ownerID, itemID) = (try #require(ids[owner.id]), try #require(ids[item.id]))
        try fixture.update(itemID, ["b": .text("2"), "t": .text("transient")])
        try fixture.update(itemID, ["owner": .toOne(nil)])
        try fixture.update(ownerID, [:])
        try fixture.delete(ownerID)

        #expect(
            try fixture.shell(
                "SELECT Z_PK, Z_ENT, Z_OPT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZAUTHOR, typeof(ZTIMESTAMP) FROM ATRANSACTION"
            )
                == "1|16002||3|1||2||real\n".replacingOccurrences(of: "3|1||2", with: "1|2||3")
                + (2...4).map { "\($0)|16002|||2||3||real\n" }.joined())
        #expect(
            try fixture.shell("SELECT * FROM ATRANSACTIONSTRING")
                == "1|16003||me\n2|16003||org.example\n3|16003||tests\n")
        // Slots of an item: owner, its number, its place, a, b; of a base: zeta (and alpha), items.
        #expect(
            try fixture.shell(
                "SELECT ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK, hex(ZCOLUMNS), ZTOMBSTONE0, ZTOMBSTONE1, Z_OPT FROM ACHANGE"
            )
                == """
                1|0|2|1||||
                1|0|3|1||||
                2|1|3|1|08|||
                3|1|3|1|E0|||
                3|1|2|1|20|||
                4|2|2|1||z|7|

                """)
        #expect(
            try fixture.shell("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
                == "16001|6\n16002|4\n16003|3\n")
        #expect(try fixture.shell("SELECT max(Z_PK) FROM ACHANGE") == "6\n")
    }

    /// Rows of objects with keys in a row are written by one statement; what they say is what single ones say.
    @Test func `many objects have a change each, in their order, whatever keys follow each other`() throws {
        let fixture = try StoreFixture(Self.model(), history: true)
        var changes = ObjectChanges()
        changes.inserted = try ["Item", "Item", "Base", "Item", "Base", "Base", "Item", "Item"].map {
            try fixture.new($0)
        }
        let made = try fixture.store.save(changes).inserted.map(\.permanent)
        let items = made.filter { $0.entityName == "Item" }
        // The first two change in the same way, the third in another; then there is a gap, and the order goes back.
        let places: [(place: Int, property: String)] = [(0, "a"), (1, "a"), (2, "b"), (4, "b"), (3, "b")]
        changes = ObjectChanges()
        changes.updated = places.map { place, property in
            .init(id: items[place], version: nil, values: [property: .text("x")])
        }
        _ = try fixture.store.save(changes)
        #expect(
            try fixture.shell(
                "SELECT Z_PK, Z_ENT, ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK, hex(ZCOLUMNS), Z_OPT FROM ACHANGE"
            )
                == """
                1|16001|1|0|3|1||
                2|16001|1|0|3|2||
                3|16001|1|0|1|1||
                4|16001|1|0|3|3||
                5|16001|1|0|1|2||
                6|16001|1|0|1|3||
                7|16001|1|0|3|4||
                8|16001|1|0|3|5||
                9|16001|2|1|3|1|10|
                10|16001|2|1|3|2|10|
                11|16001|2|1|3|3|08|
                12|16001|2|1|3|5|08|
                13|16001|2|1|3|4|08|

                """)
        #expect(try fixture.shell("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16001") == "13\n")
    }

    @Test func `a stretch of keys grows by the key behind it only`() {
        #expect((1...3 as ClosedRange<Int64>).extended(by: 4) == 1...4)
        #expect([0, 1, 3, 5].allSatisfy { (1...3 as ClosedRange<Int64>).extended(by: $0) == nil })
        #expect((Int64.max...Int64.max).extended(by: .min) == nil)
        #expect((Int64.min...Int64.min).extended(by: .min + 1) == Int64.min...(.min + 1))
    }

    @Test func `a save that is taken back leaves no history, and a store without history none at all`() throws {
        let fixture = try StoreFixture(Self.model(), history: true)
        let id = try fixture.insert(try fixture.new("Item"))[0]
        #expect(throws: SaveConflicts.self) { try fixture.update(id, version: 9, ["a": .text("x")]) }
        #expect(throws: MigrationError.self) { try fixture.update(id, ["a": .integer(1)]) }
        #expect(try fixture.shell("SELECT count(*) FROM ATRANSACTION; SELECT count(*) FROM ACHANGE") == "1\n1\n")
        #expect(try StoreFixture(Self.model()).store.history == nil)
    }

    @Test(.enabled(if: Corpus.isAvailable))
    func `the rows have the shape of those in real stores`() throws {
        let path = try #require(Corpus.stores.first { $0.hasSuffix("SampleModel2_V2.sqlite") })
        let folder = try ScratchFolder()
        let copy = try folder.copyStore(path)
        let model = try ReadOnlyStore.read(copy) { try StoreSnapshot($0.connection).cachedModel }
        let store = try ObjectStore(copy, model: try #require(model))
        let shapes = """
            SELECT DISTINCT typeof(Z_PK), Z_ENT, typeof(Z_OPT), typeof(ZCHANGETYPE), typeof(ZENTITY), typeof(ZENTITYPK),
              typeof(ZTRANSACTIONID), typeof(ZCOLUMNS) FROM ACHANGE WHERE ZTRANSACTIONID = %;
            SELECT Z_ENT, typeof(Z_OPT), typeof(ZAUTHORTS), typeof(ZCONTEXTNAMETS), typeof(ZPROCESSIDTS),
              typeof(ZTIMESTAMP), typeof(ZAUTHOR), typeof(ZBUNDLEID), typeof(ZCONTEXTNAME), typeof(ZPROCESSID),
              typeof(ZQUERYGEN) FROM ATRANSACTION WHERE Z_PK = %
            """
        var changes = ObjectChanges()
        changes.inserted = [
            try StoreFixture.insertion(ObjectID(temporary: 1, entityName: "Author"), [:], store)
        ]
        _ = try store.save(changes)
        store.close()
        let theirs = try SQLiteShell.run(copy, shapes.replacingOccurrences(of: "%", with: "1"))
        let ours = try SQLiteShell.run(copy, shapes.replacingOccurrences(of: "%", with: "2"))
        #expect(theirs == ours && !ours.isEmpty)
        #expect(
            try SQLiteShell.run(
                copy, "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16001; SELECT count(*) FROM ACHANGE")
                == "127\n127\n")
    }
}
