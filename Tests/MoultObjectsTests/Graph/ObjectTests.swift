import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Objects in a context")
struct ObjectTests {
    @Test func `a new object has its defaults, and a save writes it as Core Data would`() throws {
        let office = try Office()
        let ada = try office.person("Ada")
        #expect(ada.isInserted && ada.id.isTemporary && office.context.hasChanges)
        #expect(try ada.attribute("age") == .integer(18))
        #expect(try ada.attribute("height") == nil)
        #expect(try ada.toMany("tasks").isEmpty && ada.toOne("team") == nil)
        try ada.setAttribute("height", .double(1.7))
        #expect(try ada.attribute("height") == .double(Double(Float(1.7))), "a float keeps what a float can")
        try office.context.save()
        #expect(!ada.id.isTemporary && ada.id.key == 1 && !ada.hasChanges && !office.context.hasChanges)
        #expect(
            try office.sql("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME, ZAGE FROM ZPERSON")
                == "1|\(office.sql("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'"))|1|Ada|18")
        #expect(try office.context.object(with: ada.id) === ada)
    }

    @Test func `what is read again is what was saved, of every sub-entity`() throws {
        let office = try Office()
        let boss = try office.person("Boss", entity: "Manager")
        try boss.setAttribute("budget", .decimal("12.5"))
        try office.context.save()
        let other = try office.elsewhere()
        let same = try #require(try other.fetch(ObjectFetch(entityName: "Person")).first)
        #expect(same.entityName == "Manager" && same.id == boss.id)
        #expect(try same.attribute("budget") == .decimal("12.5") && names([same]) == ["Boss"])
    }

    @Test func `an unknown key, a wrong type and a derived attribute are refused by name`() throws {
        let office = try Office()
        let ada = try office.person("Ada")
        let label = try office.insert("Label", "red")
        func refused(_ code: MigrationError.Code, _ place: String, _ body: () throws -> Void) {
            #expect { try body() } throws: { error in
                (error as? MigrationError)?.code == code && (error as? MigrationError)?.place == place
            }
        }
        refused(.unknownKey, "Person.nothing") { _ = try ada.attribute("nothing") }
        refused(.unknownKey, "Person.tasks") { _ = try ada.attribute("tasks") }
        refused(.unknownKey, "Person.name") { _ = try ada.toOne("name") }
        refused(.unknownKey, "Person.tasks") { _ = try ada.toOne("tasks") }
        refused(.wrongType, "Person.name") { try ada.setAttribute("name", .integer(1)) }
        refused(.wrongType, "Person.age") { try ada.setAttribute("age", .integer(40_000)) }
        refused(.wrongType, "Person.tasks") { try ada.setAttribute("tasks", .integer(1)) }
        refused(.wrongType, "Person.team") { try ada.setToOne("team", label) }
        refused(.usage, "Person.taskCount") { try ada.setAttribute("taskCount", .integer(1)) }
        refused(.unknownKey, "Nobody") { _ = try office.context.insert("Nobody") }
        #expect(try names([ada]) == ["Ada"])
    }

    @Test func `derived attributes are right after a save, transient ones are kept in memory only`() throws {
        let office = try Office()
        let ada = try office.person("Ada")
        try ada.setAttribute("mood", .string("cheerful"))
        try office.context.save()
        #expect(try ada.attribute("taskCount") == .integer(0))
        let version = try office.sql("SELECT Z_OPT FROM ZPERSON")
        try ada.setAttribute("mood", .string("tired"))
        #expect(ada.isUpdated)
        try office.context.save()
        #expect(try office.sql("SELECT Z_OPT FROM ZPERSON") == version, "a transient change writes nothing")
        #expect(try ada.attribute("mood") == .string("tired"))
        try office.insert("Task", "wash").setToOne("owner", ada)
        try office.context.save()
        #expect(try ada.attribute("taskCount") == .integer(1))
        #expect(try ada.attribute("mood") == .string("tired"))
        #expect(try office.sql("SELECT ZTASKCOUNT FROM ZPERSON") == "1")
    }

    @Test func `changed and committed values say what differs from the store`() throws {
        let office = try Office()
        let ada = try office.person("Ada")
        #expect(try ada.changedValues() == ["name": .attribute(.string("Ada"))])
        #expect(try ada.committedValues().isEmpty)
        try office.context.save()
        let task = try office.insert("Task", "wash")
        try ada.add(task, to: "tasks")
        try ada.setAttribute("age", .integer(30))
        try ada.setAttribute("name", .string("Ada"))
        #expect(try ada.changedValues() == ["age": .attribute(.integer(30)), "tasks": .toMany([task.id])])
        #expect(try ada.committedValues(["age", "tasks"]) == ["age": .attribute(.integer(18)), "tasks": .toMany([])])
        try ada.setAttribute("age", .integer(18))
        #expect(try ada.changedValues() == ["tasks": .toMany([task.id])])
    }

    @Test func `a value that the store should not have raises when it is read, and a save leaves it there`() throws {
        let office = try Office()
        try office.person("Ada")
        try office.context.save()
        _ = try office.sql("UPDATE ZPERSON SET ZAGE = 'many'")
        let context = try office.elsewhere()
        let ada = try #require(try context.fetch(ObjectFetch(entityName: "Person")).first)
        #expect(try names([ada]) == ["Ada"])
        #expect(throws: MigrationError.self) { try ada.attribute("age") }
        try ada.setAttribute("name", .string("Ada L"))
        try context.save()
        #expect(try office.sql("SELECT ZNAME, ZAGE FROM ZPERSON") == "Ada L|many")
        try ada.setAttribute("age", .integer(36))
        try context.save()
        #expect(try office.sql("SELECT ZNAME, ZAGE, Z_OPT FROM ZPERSON") == "Ada L|36|3")
    }

    @Test func `one object for one identity as long as it is held or changed, and none longer`() throws {
        let office = try Office()
        for number in 1...300 { try office.person("P\(number)") }
        try office.context.save()
        #expect(office.context.registeredObjects.isEmpty, "nobody holds what is saved")
        let fetch = ObjectFetch(entityName: "Person", sort: [.init("name")])
        let objects = try office.context.fetch(fetch)
        let again = try office.context.fetch(fetch)
        #expect(objects.count == 300 && zip(objects, again).allSatisfy { $0 === $1 })
        try objects[7].setAttribute("age", .integer(1))
        let id = objects[7].id
        #expect(again.count == 300)
        withExtendedLifetime(objects) {}
        func registered() -> Int { office.context.registeredObjects.count }
        do {
            let some = try office.context.object(with: id)
            #expect(some.isUpdated)
        }
        var most = 0
        var count = 0
        var batched = fetch
        batched.batchSize = 20
        let fresh = ObjectContext(coordinator: office.coordinator)
        try fresh.forEachObject(batched) { _ in
            count += 1
            most = max(most, fresh.registeredObjects.count)
        }
        #expect(count == 300 && most == 20 && fresh.registeredObjects.isEmpty)
    }

    @Test func `a fault is filled when it is touched, with its neighbours; one whose row is gone says so`() throws {
        let office = try Office()
        for number in 1...10 { try office.person("P\(number)") }
        try office.context.save()
        var fetch = ObjectFetch(entityName: "Person", sort: [.init("age"), .init("name")])
        fetch.batchSize = 4
        let objects = try office.context.fetch(fetch)
        #expect(objects.allSatisfy { $0.isFault })
        _ = try objects[5].attribute("name")
        #expect(objects.map { $0.isFault } == [1, 1, 1, 1, 0, 0, 0, 0, 1, 1].map { $0 == 1 })
        let gone = objects[9]
        _ = try office.sql("DELETE FROM ZPERSON WHERE Z_PK = \(gone.id.key)")
        #expect { try gone.attribute("name") } throws: { ($0 as? MigrationError)?.coreData?.number == 133000 }
        #expect { try office.context.existingObject(with: gone.id) } throws: {
            ($0 as? MigrationError)?.code == .objectGone
        }
        #expect(try names([objects[8]]).count == 1, "its neighbour is there")
        let foreign = ObjectID(store: .init(), entityName: "Person", key: 1)
        #expect { try office.context.object(with: foreign) } throws: { ($0 as? MigrationError)?.code == .objectGone }
    }

    @Test func `objects of another context are refused`() throws {
        let office = try Office()
        let other = ObjectContext(coordinator: office.coordinator)
        let ada = try office.person("Ada")
        let stranger = try office.person("Bob", other)
        #expect { try ada.setToOne("spouse", stranger) } throws: { ($0 as? MigrationError)?.code == .usage }
        #expect { try ada.add(stranger, to: "friends") } throws: { ($0 as? MigrationError)?.code == .usage }
        #expect { try office.context.delete(stranger) } throws: { ($0 as? MigrationError)?.code == .usage }
        #expect { try office.context.object(with: stranger.id) } throws: {
            ($0 as? MigrationError)?.code == .objectGone
        }
    }

    @Test func `permanent identities can be had before the save, and relationships follow`() throws {
        let office = try Office()
        let (ada, bob) = (try office.person("Ada"), try office.person("Bob"))
        try ada.setToOne("spouse", bob)
        try office.context.obtainPermanentIDs(for: [bob])
        let id = bob.id
        #expect(!id.isTemporary && bob.isInserted)
        #expect(try ada.toOneID("spouse") == id)
        try office.context.save()
        #expect(bob.id == id)
        #expect(try office.sql("SELECT ZNAME FROM ZPERSON WHERE Z_PK = \(id.key)") == "Bob")
        #expect(
            try office.sql("SELECT count(*) FROM ZPERSON a JOIN ZPERSON b ON a.ZSPOUSE = b.Z_PK AND b.ZSPOUSE = a.Z_PK")
                == "2")
    }
}
