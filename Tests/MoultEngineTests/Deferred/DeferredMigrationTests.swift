import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

@Suite("Deferred migrations")
struct DeferredMigrationTests {
    let versions: ModelVersions

    init() throws { versions = try DeferrableVersions.make() }

    @Test func `the schema is right at once, no row is written, and nothing is lost yet`() throws {
        let store = try DeferredStore(versions.versions[0])
        let names = try store.shell("SELECT Z_PK, ZNAME FROM ZITEM ORDER BY 1")
        let rates = try store.shell("SELECT Z_PK, ZRATE FROM ZITEM ORDER BY 1")
        let words = try store.shell("SELECT Z_PK, ZWORD FROM ZTAG ORDER BY 1")
        let prepared = try store.migrate(versions)
        #expect(try #require(prepared.deferral).isPossible)
        #expect(try store.shell("SELECT Z_PK, ZTITLE FROM ZITEM ORDER BY 1") == names)
        #expect(try store.shell("SELECT DISTINCT ZSCORE FROM ZITEM; SELECT count(ZAGE) FROM ZAUTHOR") == "7\n0\n")
        #expect(try store.shell("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY ORDER BY 1") == "Author|40\nItem|40\nLink|40\n")
        #expect(try store.isPending)
        // What leaves is still there, under the name that it had, or one that nobody else can have.
        #expect(try store.shell("SELECT Z_PK, ZRATE FROM ZITEM ORDER BY 1") == rates)
        #expect(try store.shell("SELECT Z_PK, ZWORD FROM Z_DEFERRED_1_ZTAG ORDER BY 1") == words)
        #expect(try Migrator().backups(of: store.path).list().isEmpty)
    }

    @Test func `what waits is listed with its rows and bytes, in the plan and of the store`() throws {
        let store = try DeferredStore(versions.versions[0])
        let plan = try #require(try store.prepared(versions).deferral)
        try store.migrate(versions)
        let tasks = try store.tasks(versions)
        let names = [
            "dropTable Z_DEFERRED_1_ZTAG", "rebuildTable ZAUTHOR", "rebuildTable ZITEM", "makeIndex Z_Link_place",
        ]
        #expect(tasks.map { "\($0.kind) \($0.name)" } == names)
        #expect(Set(plan.tasks.map { "\($0.kind) \($0.name)" }) == Set(names))
        #expect(tasks.allSatisfy { $0.rows == 40 } && plan.tasks.allSatisfy { $0.rows == 40 })
        #expect(tasks.map(\.columns) == [[], [], ["ZRATE"], []])
        for task in tasks {
            let bytes = try store.shell("SELECT sum(pgsize) FROM dbstat WHERE name = '\(task.table)'")
            #expect(task.bytes.map { "\($0)\n" } == bytes)
        }
    }

    @Test(arguments: ["(none)", "it's (", "NULL", "SELECT 1", "?"])
    func `a default value that SQLite can add with its column waits, whatever characters it has`(text: String) throws {
        let first = versions.versions[0]
        var model = first.model
        try model.updateEntity("Author") {
            $0.attributes.append(.init(name: "note", type: .string, isOptional: false, defaultValue: .string(text)))
        }
        let both = ModelVersions(versions: [first, ModelVersion(names: ["2"], model: model)])
        let store = try DeferredStore(first)
        let other = try store.copy()
        try other.migrate(both, defers: false)
        let deferral = try #require(try store.migrate(both).deferral)
        #expect(deferral.isPossible, "\(deferral.reasons)")
        #expect(try store.shell("SELECT DISTINCT ZNOTE FROM ZAUTHOR") == text + "\n")
        try store.finish()
        #expect(try store.contents() == other.contents())
    }

    @Test(arguments: [false, true])
    func `finished, the store equals one that was migrated without putting anything off`(history: Bool) throws {
        let store = try DeferredStore(versions.versions[0], history: history)
        let other = try store.copy()
        try other.migrate(versions, defers: false)
        try store.migrate(versions)
        #expect(try store.contents() != other.contents())
        let outcome = try store.finish()
        #expect(outcome.isFinished && outcome.done.count == 4)
        #expect(try store.contents() == other.contents())
        #expect(try !store.isPending && store.tasks().isEmpty)
        #expect(try store.finish().done.isEmpty)
    }

    @Test
    func `one at a time: after each task the store is sound, and what is left is what is still to be done`() throws {
        let store = try DeferredStore(versions.versions[0])
        try store.migrate(versions)
        var left = try store.tasks()
        while let next = left.first {
            let outcome = try store.finish(.one)
            #expect(outcome.done == [next] && outcome.left == Array(left.dropFirst()))
            #expect(try store.shell("PRAGMA integrity_check") == "ok\n")
            left = try store.tasks()
            #expect(try store.isPending == !left.isEmpty)
        }
    }

    @Test func `before values go for good there is one backup, which has them`() throws {
        let store = try DeferredStore(versions.versions[0])
        let rates = try store.shell("SELECT sum(ZRATE) FROM ZITEM")
        try store.migrate(versions)
        var backups: [StoreBackup] = []
        while try store.isPending {
            if let backup = try store.finish(.one, isFrugal: false).backup { backups.append(backup) }
        }
        #expect(backups.count == 1)
        #expect(try SQLiteShell.run(#require(backups.first).store, "SELECT sum(ZRATE) FROM ZITEM") == rates)
    }

    @Test func `an app reads and writes while work is pending, and what it wrote is there afterwards`() throws {
        let store = try DeferredStore(versions.versions[0])
        try store.migrate(versions)
        let model = versions.versions[1].model
        let objects = try ObjectStore(store.path, model: model)
        let coordinator = ObjectCoordinator(model: model)
        try coordinator.add(objects)
        let context = ObjectContext(coordinator: coordinator)
        let item = try context.insert("Item")
        try item.setAttribute("title", .string("new"))
        try item.setAttribute("score", .integer(9))
        let old = try #require(try context.fetch(ObjectFetch(entityName: "Item")).first { $0 !== item })
        try old.setAttribute("title", .string("changed"))
        try context.save()
        objects.close()
        try store.finish()
        #expect(
            try store.shell("SELECT ZTITLE, ZSCORE FROM ZITEM WHERE ZTITLE IN ('new', 'changed') ORDER BY 1")
                == "changed|7\nnew|9\n")
        #expect(try StoreAudit(store.path, model: model).isSound)
    }

    @Test func `an order that leaves is named, and refused unless declared, as where nothing waits`() throws {
        let both = try ModelVersions(
            """
            Book = title String, shelf > Shelf.books
            Shelf = name String, books >> Book.shelf ordered, tags >> Tag.shelves ordered
            Tag = word String, shelves >> Shelf.tags
            """,
            """
            Book = title String, shelf > Shelf.books
            Shelf = name String, books >> Book.shelf, tags >> Tag.shelves
            Tag = word String, shelves >> Shelf.tags
            """)
        let store = try DeferredStore(both.versions[0])
        let other = try store.copy()
        let links = try store.shell("SELECT count(ZSHELF) FROM ZBOOK")
        var options = PreparedMigration.Options(losses: .refuseUndeclared)
        options.defersWork = true
        let prepared = try PreparedMigration(store.path, versions: both, options: options)
        #expect(try prepared.undeclaredFirstLosses()?.code == .lossNotAccepted)
        func losses(of store: DeferredStore, defers: Bool) throws -> [MigrationLoss] {
            let migration = try store.prepared(both, defers: defers).migration()
            return try Migrator().run(#require(migration), on: store.path).losses.sorted { $0.place < $1.place }
        }
        let (deferred, counted) = (try losses(of: store, defers: true), try losses(of: other, defers: false))
        #expect(deferred.map(\.place) == ["Shelf.books", "Shelf.tags"] && deferred.map(\.count) == [nil, nil])
        #expect(counted.map(\.place) == deferred.map(\.place) && counted[0].count.map { "\($0)\n" } == links)
        #expect((deferred + counted).allSatisfy { $0.kind == .order && $0.count != 0 })
        try store.finish()
        #expect(try store.contents() == other.contents())
    }

    @Test func `a store with pending work is sound, and is recognised`() throws {
        let store = try DeferredStore(versions.versions[0])
        try store.migrate(versions)
        let audit = try StoreAudit(store.path, model: versions.versions[1].model)
        #expect(audit.isSound, "\(audit.findings)")
        #expect(try store.prepared(versions).bound == nil)
    }

    @Test
    func `rows that have to be written keep the whole migration from being deferred, and the plan says why`() throws {
        let first = versions.versions[0]
        var model = first.model
        try model.updateEntity("Item") { $0.attributes.removeAll { $0.name == "rate" } }
        let aardvark = EntityDescription(name: "Aardvark", attributes: [.init(name: "name", type: .string)])
        let second = ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: model.entities + [aardvark]))
        let both = ModelVersions(versions: [first, second])
        let store = try DeferredStore(first)
        let other = try store.copy()
        try other.migrate(both, defers: false)
        let deferral = try #require(try store.migrate(both).deferral)
        #expect(!deferral.isPossible && deferral.reasons.contains { $0.contains("gets another entity number") })
        #expect(try store.contents() == other.contents())
        #expect(try !store.isPending)
    }
}
