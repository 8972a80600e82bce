import MoultBasics
import MoultModel
import MoultModelFiles
import MoultStore
import Synchronization
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Several contexts")
struct ContextTests {
    @Test func `a child sees what the parent has not saved, and saves into it`() throws {
        let office = try Office()
        let ada = try office.person("Ada")
        let child = ObjectContext(parent: office.context)
        let seen = try #require(try child.fetch(ObjectFetch(entityName: "Person")).first)
        #expect(try names([seen]) == ["Ada"] && seen.id == ada.id && seen !== ada)
        try seen.setAttribute("name", .string("Ada L"))
        let task = try child.insert("Task")
        try task.setAttribute("name", .string("wash"))
        try seen.add(task, to: "tasks")
        #expect(try names([ada]) == ["Ada"])
        try child.save()
        #expect(!child.hasChanges && task.id.isTemporary)
        #expect(try names([ada]) == ["Ada L"] && names(ada.toMany("tasks")) == ["wash"])
        #expect(try office.sql("SELECT count(*) FROM ZPERSON") == "0", "nothing is in the store yet")
        try office.context.save()
        #expect(!seen.id.isTemporary && seen.id == ada.id && !task.id.isTemporary)
        #expect(try task.toOneID("owner") == ada.id && seen.toManyIDs("tasks") == [task.id])
        #expect(try office.sql("SELECT ZNAME, ZTASKCOUNT FROM ZPERSON") == "Ada L|1")
        try child.delete(seen)
        try child.save()
        #expect(ada.isDeleted)
        try office.context.save()
        #expect(try office.sql("SELECT count(*) FROM ZPERSON; SELECT count(*) FROM ZTASK") == "0\n0")
    }

    @Test func `a child's moves of list members are moves in the parent; ordered lists keep their order`() throws {
        let office = try Office()
        let team = try office.insert("Team", "Blue")
        let (ada, bob) = (try office.person("Ada"), try office.person("Bob"))
        let tasks = try (1...3).map { try office.insert("Task", "T\($0)") }
        try ada.setToMany("tasks", tasks)
        try team.setToMany("members", [ada, bob])
        try office.context.save()
        let child = ObjectContext(parent: office.context)
        let childBob = try child.object(with: bob.id)
        try childBob.add(child.object(with: tasks[1].id), to: "tasks")
        try child.object(with: team.id).move(in: "members", from: 1, to: 0)
        // Unsaved work of the parent meanwhile.
        try tasks[0].setToOne("owner", nil)
        try child.save()
        #expect(try names(ada.toMany("tasks")) == ["T3"] && names(bob.toMany("tasks")) == ["T2"])
        #expect(try names(team.toMany("members")) == ["Bob", "Ada"])
        try office.context.save()
        #expect(try office.sql("SELECT ZNAME FROM ZPERSON ORDER BY Z_FOK_TEAM") == "Bob\nAda")
        #expect(
            try office.sql("SELECT ZNAME, ZOWNER FROM ZTASK ORDER BY 1") == "T1|\nT2|\(bob.id.key)\nT3|\(ada.id.key)")
    }

    @Test func `a child leaves out what its parent has deleted, and saves its own objects once`() throws {
        let office = try Office()
        let people = try ["Ada", "Bob"].map { try office.person($0) }
        try office.context.save()
        let child = ObjectContext(parent: office.context)
        let seen = try people.map { try child.existingObject(with: $0.id) }
        // One deletion is saved, the other is pending.
        try office.context.delete(people[0])
        try office.context.save()
        try office.context.delete(people[1])
        let tasks = try seen.enumerated().map { number, owner in
            let task = try child.insert("Task")
            try task.setAttribute("name", .string("T\(number)"))
            try task.setToOne("owner", owner)
            return task
        }
        try child.save()
        #expect(office.context.insertedObjects.count == 2)
        #expect(try tasks.map { try $0.toOneID("owner") } == [nil, nil])
        try office.context.save()
        let rows = "SELECT ZNAME, ZOWNER FROM ZTASK ORDER BY 1; SELECT count(*) FROM ZPERSON"
        #expect(try office.sql(rows) == "T0|\nT1|\n0")
    }

    @Test func `a child's save that fails leaves nothing in its parent`() throws {
        let office = try Office()
        let labels = try ["old", "new"].map { try office.insert("Label", $0) }
        try office.context.save()
        let child = ObjectContext(parent: office.context)
        let seen = try labels.map { try child.existingObject(with: $0.id) }
        let ruled = try child.insert("Ruled")
        try ruled.setAttribute("required", .string("x"))
        try ruled.setToMany("few", [seen[1]])
        try ruled.setToOne("one", seen[0])
        try office.context.delete(labels[0])
        #expect(throws: ValidationErrors.self) { try child.save() }
        #expect(office.context.insertedObjects.isEmpty && ruled.isInserted)
        try ruled.setToOne("one", seen[1])
        try child.save()
        try office.context.save()
        #expect(try office.sql("SELECT count(*), max(ZONE) FROM ZRULED") == "1|\(labels[1].id.key)")
    }

    @Test func `saves are told to observers and merged where that is asked for`() throws {
        let office = try Office()
        let (ada, bob) = (try office.person("Ada"), try office.person("Bob"))
        try office.context.save()
        let other = ObjectContext(coordinator: office.coordinator)
        other.automaticallyMergesChangesFromParent = true
        let stale = ObjectContext(coordinator: office.coordinator)
        let (seen, unseen) = (try other.existingObject(with: ada.id), try stale.existingObject(with: ada.id))
        let goner = try other.existingObject(with: bob.id)
        try seen.setAttribute("age", .integer(77))
        let told = Mutex<[SavedChanges]>([])
        let number = office.context.observeSaves { saved in told.withLock { $0.append(saved) } }
        try ada.setAttribute("name", .string("Ada L"))
        try ada.setAttribute("age", .integer(5))
        let bobID = bob.id
        try office.context.delete(bob)
        let eve = try office.person("Eve")
        try office.context.save()
        #expect(told.withLock { $0 } == [SavedChanges(inserted: [eve.id], updated: [ada.id], deleted: [bobID])])
        #expect(try names([seen]) == ["Ada L"] && seen.attribute("age") == .integer(77), "our change stays")
        #expect(goner.context == nil)
        #expect(try names([unseen]) == ["Ada"])
        try stale.merge(told.withLock { $0[0] })
        #expect(try names([unseen]) == ["Ada L"])
        try other.save()
        #expect(try office.sql("SELECT ZNAME, ZAGE FROM ZPERSON ORDER BY 1") == "Ada L|77\nEve|18")
        office.context.stopObserving(number)
        try eve.setAttribute("age", .integer(1))
        try office.context.save()
        #expect(told.withLock { $0.count } == 1)
    }

    @Test func `refresh takes the store's values, with or without what was changed here`() throws {
        let office = try Office()
        let (ada, bob) = (try office.person("Ada"), try office.person("Bob"))
        try office.context.save()
        _ = try office.sql("UPDATE ZPERSON SET ZAGE = 99, Z_OPT = 2 WHERE ZNAME = 'Ada'")
        try ada.setAttribute("name", .string("X"))
        try ada.setToOne("spouse", bob)
        try office.context.refresh(ada, mergingChanges: true)
        #expect(try names([ada]) == ["X"] && ada.attribute("age") == .integer(99) && bob.toOne("spouse") === ada)
        try office.context.refresh(ada, mergingChanges: false)
        #expect(ada.isFault && !ada.hasChanges)
        #expect(try names([ada]) == ["Ada"] && bob.toOne("spouse") == nil)
        try office.context.save()
        try ada.setAttribute("age", .integer(98))
        try office.context.save()
        #expect(try office.sql("SELECT ZAGE FROM ZPERSON WHERE ZNAME = 'Ada'") == "98", "refreshed and changed again")
        try bob.setAttribute("age", .integer(3))
        try office.context.refreshAll()
        #expect(try ada.isFault && bob.attribute("age") == .integer(3))
        office.context.rollback()
        #expect(try bob.attribute("age") == .integer(18))
        let new = try office.person("New")
        office.context.rollback()
        #expect(new.context == nil && !office.context.hasChanges)
        office.context.reset()
        #expect(ada.context == nil && office.context.registeredObjects.isEmpty)
        #expect { try ada.attribute("name") } throws: { ($0 as? MigrationError)?.code == .objectGone }
        #expect(try office.sql("SELECT count(*) FROM ZPERSON") == "2")
    }

    @Test
    func `objects go into the store that holds their entity, or the one assigned; none leads into another`() throws {
        let folder = try ScratchFolder()
        let model = try ManagedObjectModel(
            entities: ["A", "B"].map { name in
                EntityDescription(
                    name: name, attributes: [AttributeDescription(name: "name", type: .string)],
                    relationships: [
                        RelationshipDescription(
                            name: "others", destinationEntityName: name, inverseName: "others", maxCount: 0)
                    ])
            }, configurations: [.init(name: "OnlyA", entityNames: ["A"]), .init(name: "OnlyB", entityNames: ["B"])])
        let coordinator = ObjectCoordinator(model: model)
        let version = ModelVersion(names: ["1"], model: model)
        var stores: [ObjectStore] = []
        for (file, configuration) in [("a", "OnlyA"), ("b", "OnlyB"), ("second", "OnlyA")] {
            let path = "\(folder.path)/\(file).sqlite"
            try StoreCreator(version.restricted(to: configuration)).make(at: path)
            stores.append(try ObjectStore(path, model: model, configuration: configuration))
            try coordinator.add(stores[stores.count - 1])
        }
        let context = ObjectContext(coordinator: coordinator)
        func insert(_ entity: String, _ name: String, into store: ObjectStore? = nil) throws -> Object {
            let object = try context.insert(entity, into: store)
            try object.setAttribute("name", .string(name))
            return object
        }
        let (a, b) = (try insert("A", "a"), try insert("B", "b"))
        let far = try insert("A", "far", into: stores[2])
        try a.add(far, to: "others")
        #expect { try context.save() } throws: { ($0 as? MigrationError)?.coreData?.number == 133010 }
        try a.remove(far, from: "others")
        try context.save()
        let rows = try ["a", "b", "second"].map { file in
            try SQLiteShell.run(
                "\(folder.path)/\(file).sqlite", "SELECT ZNAME FROM \(file == "b" ? "ZB" : "ZA")")
        }
        #expect(rows == ["a\n", "b\n", "far\n"])
        #expect(a.id.store == stores[0].identifier && b.id.store == stores[1].identifier)
        #expect { try a.add(far, to: "others") } throws: { ($0 as? MigrationError)?.coreData?.number == 133010 }
        let fetch = ObjectFetch(entityName: "A", sort: [.init("name", isAscending: false)])
        #expect(try names(context.fetch(fetch)) == ["far", "a"])
        #expect(try context.count(fetch) == 2)
        #expect(throws: MigrationError.self) { try context.insert("B", into: stores[0]) }
        #expect(throws: MigrationError.self) { try coordinator.add(stores[0]) }
        try coordinator.remove(stores[2])
        #expect(try names(context.fetch(fetch)) == ["a"])
    }

    @Test func `of many temporary identities, only those of objects in memory are kept`() throws {
        let office = try Office()
        let kept = try office.person("kept")
        let temporary = kept.seenID
        try office.context.save()
        for _ in 0...ObjectContext.leastSeen { _ = try office.context.insert("Label").seenID }
        office.context.rollback()
        #expect(try office.context.fetch(ObjectFetch(entityName: "Person")).count == 1)
        #expect(office.context.seenIDs == [temporary: kept.id])
        #expect(try office.context.object(with: temporary) === kept)
    }

    @Test func `contexts may be used from several threads`() async throws {
        let office = try Office()
        let coordinator = office.coordinator
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    let context = ObjectContext(coordinator: coordinator)
                    for number in 0..<25 {
                        try context.perform {
                            let person = try context.insert("Person")
                            try person.setAttribute("name", .string("\(worker)-\(number)"))
                            try context.save()
                        }
                        _ = try context.count(ObjectFetch(entityName: "Person"))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try office.sql("SELECT count(*), count(DISTINCT Z_PK), max(Z_PK) FROM ZPERSON") == "100|100|100")
    }
}
