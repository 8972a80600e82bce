import MoultBasics
import MoultModel
import MoultModelFiles
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Fetching from an object store")
struct ObjectStoreFetchTests {
    private let world: FetchWorld
    private let store: ObjectStore
    private let path: String

    init() throws {
        world = try FetchWorld(seed: 5, model: FetchModel.make(), count: 20)
        path = world.folder.path + "/World.sqlite"
        store = try ObjectStore(path, model: world.model)
    }

    private func fetch(_ entity: String, _ predicate: String? = nil) throws -> ObjectFetch {
        ObjectFetch(entityName: entity, predicate: try predicate.map { try Predicate(parsing: $0) })
    }

    @Test func `identities, snapshots and counts agree with the rows`() throws {
        var fetch = try fetch("Writer", "age > 0 AND books.@count > 0")
        fetch.sort = [.init("age", isAscending: false)]
        let ids = try store.fetchIDs(fetch)
        #expect(
            try SQLiteShell.run(
                path,
                "SELECT Z_PK FROM ZWRITER w WHERE ZAGE > 0 AND EXISTS (SELECT 1 FROM ZBOOK WHERE ZAUTHOR = w.Z_PK) "
                    + "ORDER BY ZAGE DESC, Z_PK") == ids.map { "\($0.key)\n" }.joined())
        #expect(!ids.isEmpty)
        #expect(try store.count(fetch) == ids.count)
        let snapshots = try store.fetchSnapshots(fetch)
        #expect(snapshots.map(\.id) == ids)
        #expect(try store.snapshots(of: ids) == snapshots)
        fetch.limit = 2
        fetch.offset = 1
        #expect(try store.fetchIDs(fetch) == Array(ids.dropFirst().prefix(2)))
        #expect(try store.count(fetch) == 2)
    }

    @Test func `rows of properties, key paths and computed values`() throws {
        var fetch = try fetch("Book", "author != nil")
        fetch.columns = [
            .init("title", .keyPath("title")), .init("by", .keyPath("author.name")),
            .init("author", .keyPath("author")),
            .init("tags", .function("count:", [.keyPath("tags")])),
            .init("next", .function("add:to:", [.keyPath("year"), .constant(.integer(1))])),
        ]
        fetch.sort = [.init("title", isAscending: false)]
        let rows = try store.fetchRows(fetch)
        let expected = try world.expected(fetch)
        #expect(rows.count == expected.count && !rows.isEmpty)
        for (row, object) in zip(rows, expected) {
            for column in fetch.columns {
                #expect(try row[column.name] == column.expression.value(for: .object(object), in: world))
            }
        }
        let everything = try store.fetchRows(try self.fetch("House"))
        #expect(Set(everything.first.map { Array($0.places.keys) } ?? []) == ["number", "street", "owner"])
    }

    @Test func `aggregates over all rows and over groups are what the shell counts`() throws {
        var fetch = try fetch("Writer")
        fetch.columns = [
            .init("active", .keyPath("isActive")), .init("n", .function("count:", [.evaluatedObject])),
            .init("named", .function("count:", [.keyPath("name")])), .init("sum", .function("sum:", [.keyPath("age")])),
            .init("least", .function("min:", [.keyPath("name")])),
            .init("mean", .function("average:", [.keyPath("age")])),
        ]
        let whole = "count(*), count(ZNAME), ifnull(sum(ZAGE), 0), quote(min(ZNAME)), avg(ZAGE) FROM ZWRITER"
        let total = try store.fetchRows(fetch)
        #expect(total.count == 1)
        #expect(try text(total, without: "active") == SQLiteShell.run(path, "SELECT \(whole)"))
        fetch.groupBy = ["isActive"]
        fetch.having = try Predicate(parsing: "n > 5")
        fetch.sort = [.init("isActive")]
        let groups = try store.fetchRows(fetch)
        let sql = "SELECT \(whole) GROUP BY ZISACTIVE HAVING count(*) > 5 ORDER BY ZISACTIVE"
        #expect(groups.count > 1)
        #expect(try text(groups, without: "active") == SQLiteShell.run(path, sql))
        fetch.columns = [.init("home", .keyPath("address.city"))]
        (fetch.groupBy, fetch.having, fetch.sort, fetch.returnsDistinct) = ([], nil, [], true)
        let distinct = try store.fetchRows(fetch).map { $0["home"] }
        #expect(
            try SQLiteShell.run(path, "SELECT count(*) FROM (SELECT DISTINCT ZCITY FROM ZWRITER)")
                == "\(distinct.count)\n")
        #expect(Set(distinct).count == distinct.count)
    }

    /// Rows as the shell prints them, by the order of the test's columns.
    private func text(_ rows: [FetchedRow], without: String) throws -> String {
        try rows.map { row in
            try ["n", "named", "sum", "least", "mean"].map { name in
                switch row[name] {
                case .integer(let number): "\(number)"
                case .real(let number):
                    String(try SQLiteShell.run(":memory:", "SELECT \(number)").dropLast())
                case .string(let text): text.quotedLiteral
                case .null, nil: "NULL"
                case let other?: "\(other)"
                }
            }.joined(separator: "|") + "\n"
        }.joined()
    }

    @Test func `what only memory can answer is refused by its part`() throws {
        let refused = [
            ("Writer", "passing == \"a\"", "passing is transient"), ("Writer", "memo == photo", "transformable"),
            ("Writer", "books == nil", "ANY, ALL or IN"), ("Writer", "name < 1", "different kinds"),
            ("Writer", "age BEGINSWITH \"1\"", "different kinds"), ("Writer", "address == 1", "composite"),
            ("Writer", "ANY books.published < 3 OR random() < 1", "random"),
        ]
        for (entity, predicate, part) in refused {
            #expect {
                try store.fetchIDs(try fetch(entity, predicate))
            } throws: { error in
                guard let error = error as? MigrationError else { return false }
                return error.code == .fetchUnsupported && error.message.contains(part)
                    && error.coreData?.number == 134091
            }
        }
        for predicate in [
            "nothing == 1", "cook.name == 1", "address.street == \"a\"", "$a == 1", "frobnicate(age) == 1",
        ] {
            #expect {
                try store.fetchIDs(try fetch("Writer", predicate))
            } throws: {
                ($0 as? MigrationError)?.code == .invalidPredicate
            }
        }
        #expect { try store.count(ObjectFetch(entityName: "Meal")) } throws: { ($0 as? MigrationError)?.code == .usage }
    }

    @Test func `a search for a beginning, and for one of thousands, goes through the index`() throws {
        let version = ModelVersion(names: ["1"], model: try FetchModel.make(indexing: "name"))
        let path = world.folder.path + "/Indexed.sqlite"
        try StoreCreator(version, experimental: true).make(at: path)
        let store = try ObjectStore(path, model: version.model)
        let many = ExpressionValue.collection((0..<5_000).map { .string("name \($0)") })
        let keyPath = Expression.keyPath("name")
        for (comparison, value) in [
            (Predicate.Operator.beginsWith, .string("ab")), (.equal, .string("ab")), (.in, many),
            (.lessThan, .string("a")),
        ] as [(Predicate.Operator, ExpressionValue)] {
            let predicate = Predicate.comparison(.init(keyPath, comparison, .constant(value)))
            let sql = try store.lowered(ObjectFetch(entityName: "Writer", predicate: predicate)).selectCount()
            let plan = try store.connection.rows("EXPLAIN QUERY PLAN \(sql.text)", sql.values) { $0.text(3) ?? "" }
            #expect(plan.joined().contains("USING COVERING INDEX Z_Writer_byName (ZNAME"), "\(comparison): \(plan)")
        }
    }
}
