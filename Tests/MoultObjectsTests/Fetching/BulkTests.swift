import MoultBasics
import MoultModel
import MoultModelFiles
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Bulk insert, update and delete")
struct BulkTests {
    private let folder: ScratchFolder
    private let path: String
    private let store: ObjectStore

    init() throws {
        folder = try ScratchFolder()
        path = folder.path + "/Bulk.sqlite"
        let model = try Self.model()
        try StoreCreator(ModelVersion(names: ["1"], model: model), history: true).make(at: path)
        store = try ObjectStore(path, model: model)
    }

    /// A list with items, which go with it; a keeper that forbids it; a cover that cannot be without it.
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            """
            List unique=name = name String required, rank Integer16 =7, photo Binary external,
                items >> Item.list cascade, keeper > Keeper.lists deny, cover > Cover.list, friends >> List.friends
            Item = price Decimal, list > List.items
            Keeper = lists >> List.keeper
            Cover = list > List.cover required
            """)
    }

    private func fetch(_ entity: String, _ predicate: String? = nil) throws -> ObjectFetch {
        ObjectFetch(entityName: entity, predicate: try predicate.map { try Predicate(parsing: $0) })
    }

    private func shell(_ sql: String) throws -> String { try SQLiteShell.run(path, sql) }

    private func insertLists(_ count: Int) throws -> [ObjectID] {
        try store.insertAll("List", (0..<count).map { ["name": .string("list \($0)")] })
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyObjectTrump, "a|5\nb|9\nc|1\n"), (.overwrite, "a|5\nb|9\nc|1\n"),
        (.mergeByPropertyStoreTrump, "a|1\nb|8\nc|1\n"), (.rollback, "a|1\nb|8\nc|1\n"),
    ])
    func `a row whose unique values are taken goes by policy`(policy: MergePolicy, rows: String) throws {
        let row = { (name: String, rank: Int64?) -> [String: ExpressionValue] in
            rank.map { ["name": .string(name), "rank": .integer($0)] } ?? ["name": .string(name)]
        }
        let old = try store.insertAll("List", [row("a", 1), row("c", 1)])
        let new = [row("a", 5), row("b", 8), row("b", 9), row("c", nil)]
        #expect(throws: SaveConflicts.self) { try store.insertAll("List", new) }
        let ids = try store.insertAll("List", new, policy: policy)
        #expect(try shell("SELECT ZNAME, ZRANK FROM ZLIST ORDER BY ZNAME") == rows)
        let key = try Int64(shell("SELECT Z_PK FROM ZLIST WHERE ZNAME = 'b'").dropLast())
        let isUpsert = policy == .mergeByPropertyObjectTrump || policy == .overwrite
        #expect(ids.map(\.key) == (isUpsert ? [old[0].key, key, old[1].key] : [key]))
    }

    @Test func `rows are inserted with keys, versions and defaults, thousands in one transaction`() throws {
        let ids = try insertLists(4_200)
        #expect(ids.map(\.key) == Array(1...4_200))
        #expect(
            try shell(
                "SELECT count(*), min(ZRANK), max(ZRANK), max(Z_OPT) FROM ZLIST; "
                    + "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'List'") == "4200|7|7|1\n4200\n")
        let item = try store.insertAll(
            "Item", [["list": .object(ids[4]), "price": .decimal("1.5")], ["list": .null, "price": .integer(2)]])
        #expect(try shell("SELECT Z_PK, ZLIST, ZPRICE FROM ZITEM") == "1|5|1.5\n2||2\n")
        #expect(try store.count(fetch("List", "ANY items.price > 1")) == 1 && item.count == 2)
    }

    @Test func `a bad row inserts nothing and says which it is`() throws {
        let bad: [([String: ExpressionValue], String)] = [
            (["nothing": .integer(1)], "List.nothing"), (["name": .integer(1)], "row 51"),
            (["name": .null], "row 51"),
            ([:], "row 51"), (["name": .string("x"), "items": .null], "List.items"),
            (["name": .string("x"), "rank": .integer(40_000)], "List.rank"),
        ]
        for (row, place) in bad {
            let rows = (0..<50).map { ["name": ExpressionValue.string("\($0)")] } + [row]
            #expect {
                try store.insertAll("List", rows)
            } throws: { error in
                (error as? MigrationError)?.place.contains(place) == true
            }
        }
        #expect(throws: SaveConflicts.self) {
            try store.insertAll("List", (0..<50).map { ["name": .string("\($0 % 49)")] })
        }
        #expect(
            try shell("SELECT count(*) FROM ZLIST; SELECT max(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_ENT < 100") == "0\n0\n")
    }

    @Test func `an update sets constants and expressions, and raises the version`() throws {
        let lists = try insertLists(6)
        let items = try store.insertAll("Item", lists.map { ["list": .object($0), "price": .integer(3)] })
        let changed = try store.updateAll(
            fetch("Item", "list.name > \"list 2\""),
            set: [
                "price": Expression(parsing: "price * 2 + list.rank"), "list": .constant(.object(lists[0])),
            ])
        #expect(changed == Array(items.suffix(3)))
        #expect(
            try shell("SELECT Z_OPT, ZLIST, ZPRICE FROM ZITEM") == "1|1|3\n1|2|3\n1|3|3\n2|1|13\n2|1|13\n2|1|13\n")
        let swapped = try store.updateAll(
            fetch("List", "name IN {\"list 0\", \"list 1\"}"),
            set: ["name": Expression(parsing: "TERNARY(name == \"list 0\", \"list 1\", \"list 0\")")])
        #expect(swapped.count == 2)
        #expect(try shell("SELECT ZNAME FROM ZLIST WHERE Z_PK < 3") == "list 1\nlist 0\n")
        #expect(throws: SaveConflicts.self) {
            try store.updateAll(fetch("List"), set: ["name": .constant(.string("same"))])
        }
        for (property, value) in [("rank", .string("a")), ("name", .null), ("items", .null), ("gone", .null)]
            as [(String, ExpressionValue)]
        {
            #expect(throws: MigrationError.self) {
                try store.updateAll(fetch("List"), set: [property: .constant(value)])
            }
        }
        #expect(try shell("SELECT count(*) FROM ZLIST WHERE ZNAME LIKE 'list _' AND ZRANK = 7") == "6\n")
    }

    @Test func `a deletion cascades, ends references, and removes the files of large values`() throws {
        let lists = try insertLists(4)
        let items = try store.insertAll("Item", lists.map { ["list": .object($0)] })
        let huge = ExpressionValue.data(Array(repeating: 7, count: 200_000))
        _ = try store.updateAll(fetch("List", "name == \"list 1\""), set: ["photo": .constant(huge)])
        var changes = ObjectChanges()
        changes.updated = [.init(id: lists[0], version: nil, values: ["friends": .toMany([lists[1], lists[2]])])]
        _ = try store.save(changes)
        #expect(try files() == 1)
        let gone = try store.deleteAll(fetch("List", "name == \"list 1\" OR name == \"list 3\""))
        #expect(gone == [lists[1], lists[3], items[1], items[3]])
        #expect(try files() == 0)
        #expect(
            try shell("SELECT Z_PK FROM ZLIST; SELECT Z_PK FROM ZITEM; SELECT count(*) FROM Z_4FRIENDS")
                == "1\n3\n1\n3\n2\n")
    }

    @Test func `deny and required references refuse a deletion whole`() throws {
        let lists = try insertLists(3)
        let keeper = try store.insertAll("Keeper", [[:]])
        _ = try store.updateAll(fetch("List", "name == \"list 1\""), set: ["keeper": .constant(.object(keeper[0]))])
        #expect(throws: MigrationError.self) { try store.deleteAll(fetch("List")) }
        _ = try store.updateAll(fetch("List"), set: ["keeper": .constant(.null)])
        _ = try store.insertAll("Cover", [["list": .object(lists[2])]])
        #expect {
            try store.deleteAll(fetch("List"))
        } throws: { error in
            (error as? MigrationError)?.message.contains("needs") == true
        }
        #expect(try shell("SELECT count(*) FROM ZLIST") == "3\n")
        #expect(try store.deleteAll(fetch("List", "cover == nil")).count == 2)
    }

    @Test func `each bulk operation is one transaction of the store's history`() throws {
        let lists = try insertLists(4_200)
        _ = try store.updateAll(
            fetch("List", "name == \"list 3\""), set: ["rank": .constant(.integer(1))], author: "me")
        _ = try store.deleteAll(fetch("List", "name == \"list 3\""))
        #expect(
            try shell(
                "SELECT ZTRANSACTIONID, ZCHANGETYPE, count(*), min(ZENTITYPK), max(ZENTITYPK) FROM ACHANGE "
                    + "GROUP BY 1, 2; SELECT count(*) FROM ATRANSACTION; "
                    + "SELECT s.ZNAME FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS")
                == "1|0|4200|1|4200\n2|1|1|4|4\n3|2|1|4|4\n3\nme\n")
        #expect(lists.count == 4_200)
    }

    private func files() throws -> Int {
        try store.system.list(folder.path + "/.Bulk_SUPPORT/_EXTERNAL_DATA").count
    }
}
