import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Deleting")
struct DeletingTests {
    @Test func `nullify takes the object out of its relationships, in memory and in the store`() throws {
        let office = try Office()
        let team = try office.insert("Team", "Blue")
        let people = try ["A", "B", "C"].map { try office.person($0) }
        try team.setToMany("members", people)
        try people[0].setToMany("friends", [people[1], people[2]])
        try office.context.save()
        try office.context.delete(people[1])
        #expect(try names(team.toMany("members")) == ["A", "C"] && names(people[0].toMany("friends")) == ["C"])
        #expect(people[1].isDeleted && office.context.deletedObjects.count == 1)
        try office.context.delete(team)
        #expect(try people[0].toOne("team") == nil && people[2].toOne("team") == nil)
        try office.context.save()
        #expect(try office.sql("SELECT ZNAME, ZTEAM FROM ZPERSON") == "A|\nC|")
        #expect(try office.sql("SELECT count(*) FROM Z_3FRIENDS; SELECT count(*) FROM ZTEAM") == "2\n0")
        #expect(people[1].context == nil && !people[1].isDeleted)
        #expect { try people[1].attribute("name") } throws: { ($0 as? MigrationError)?.coreData?.number == 133000 }
    }

    @Test func `cascade deletes what is below, also round a cycle`() throws {
        let office = try Office()
        let ada = try office.person("Ada")
        let tasks = try (1...4).map { try office.insert("Task", "T\($0)") }
        try ada.add(tasks[0], to: "tasks")
        try tasks[0].add(tasks[1], to: "parts")
        try tasks[1].add(tasks[2], to: "parts")
        let label = try office.insert("Label", "red")
        try label.setToMany("tasks", tasks)
        try office.context.save()
        let other = try office.elsewhere()
        try other.delete(try other.object(with: ada.id))
        #expect(other.deletedObjects.count == 4)
        #expect(try names(other.object(with: label.id).toMany("tasks")) == ["T4"])
        try other.save()
        #expect(try office.sql("SELECT ZNAME FROM ZTASK; SELECT count(*) FROM ZPERSON") == "T4\n0")
    }

    @Test func `cascade follows a to-one as well, from any place of the cycle`() throws {
        let office = try Office()
        let tasks = try (1...4).map { try office.insert("Task", "T\($0)") }
        try tasks[0].setToMany("parts", [tasks[1], tasks[3]])
        try tasks[1].add(tasks[2], to: "parts")
        try office.insert("Task", "alone")
        try office.context.save()
        try office.context.delete(tasks[2])
        #expect(tasks.allSatisfy { $0.isDeleted })
        try office.context.save()
        #expect(try office.sql("SELECT ZNAME FROM ZTASK") == "alone")
    }

    @Test func `deny keeps an object while another stays, and lets it go with it`() throws {
        let office = try Office()
        let boss = try office.person("Boss", entity: "Manager")
        let team = try office.insert("Team", "Blue")
        try team.setToOne("lead", boss)
        try office.context.save()
        try office.context.delete(boss)
        #expect { try office.context.save() } throws: { error in
            guard let error = error as? ValidationErrors else { return false }
            return error.coreData.number == 1600 && error.violations.map { $0.property } == ["leads"]
        }
        #expect(try office.sql("SELECT count(*) FROM ZPERSON") == "1")
        try office.context.delete(team)
        try office.context.save()
        #expect(try office.sql("SELECT count(*) FROM ZPERSON; SELECT count(*) FROM ZTEAM") == "0\n0")
    }

    @Test func `no action leaves the other end alone`() throws {
        let office = try Office()
        let ada = try office.person("Ada")
        let badge = try office.insert("Badge", "1")
        try ada.setToOne("badge", badge)
        try office.context.save()
        try office.context.delete(badge)
        #expect(try ada.toOneID("badge") == badge.id && !ada.hasChanges)
        try office.context.save()
        #expect(try office.sql("SELECT count(*) FROM ZBADGE") == "0")
    }

    @Test func `an object that was never saved is gone at once`() throws {
        let office = try Office()
        let (ada, bob) = (try office.person("Ada"), try office.person("Bob"))
        try ada.setToOne("spouse", bob)
        try office.context.delete(bob)
        #expect(try ada.toOne("spouse") == nil)
        #expect(!bob.isInserted && !bob.isDeleted && office.context.insertedObjects.count == 1)
        try office.context.save()
        #expect(try office.sql("SELECT ZNAME FROM ZPERSON") == "Ada")
    }

    @Test func `a relationship without an inverse to an object that is deleted later is saved without it`() throws {
        let office = try Office()
        let (ada, bob) = (try office.person("Ada"), try office.person("Bob"))
        let label = try office.insert("Label", "saved")
        try office.context.save()
        let new = try office.insert("Label", "new")
        try ada.setToOne("mainLabel", label)
        try bob.setToMany("favourites", [label, new])
        try office.context.delete(label)
        try office.context.delete(new)
        try office.context.save()
        #expect(try ada.toOneID("mainLabel") == nil && bob.toManyIDs("favourites").isEmpty)
        let rows = "SELECT ZNAME, ZMAINLABEL FROM ZPERSON ORDER BY 1; SELECT count(*) FROM ZLABEL"
        #expect(try office.sql(rows) == "Ada|\nBob|\n0")
    }

    @Test func `a save that fails leaves a relationship to a deleted object as it was set`() throws {
        let office = try Office()
        let (ada, label) = (try office.person("Ada"), try office.insert("Label", "red"))
        try office.context.save()
        try ada.setToOne("mainLabel", label)
        try office.context.delete(label)
        let nameless = try office.context.insert("Person")
        #expect(throws: ValidationErrors.self) { try office.context.save() }
        #expect(try office.context.insertAgain(label) && ada.toOneID("mainLabel") == label.id)
        try nameless.setAttribute("name", .string("Bob"))
        try office.context.save()
        #expect(try office.sql("SELECT ZNAME, ZMAINLABEL FROM ZPERSON ORDER BY 1") == "Ada|\(label.id.key)\nBob|")
    }

    @Test func `a refresh that takes a deletion back restores the other ends too, in their order`() throws {
        let office = try Office()
        let team = try office.insert("Team", "Blue")
        let people = try ["A", "B", "C"].map { try office.person($0) }
        try team.setToMany("members", people)
        try people[0].setToMany("friends", [people[1]])
        try office.context.save()
        try office.context.delete(people[1])
        #expect(try names(team.toMany("members")) == ["A", "C"] && people[0].toMany("friends").isEmpty)
        try office.context.refresh(people[1], mergingChanges: false)
        #expect(try !people[1].isDeleted && people[1].toOneID("team") == team.id)
        #expect(try names(team.toMany("members")) == ["A", "B", "C"] && names(people[0].toMany("friends")) == ["B"])
        try office.context.save()
        let rows = "SELECT ZNAME FROM ZPERSON WHERE ZTEAM IS NOT NULL ORDER BY Z_FOK_TEAM"
        #expect(try office.sql("\(rows); SELECT count(*) FROM Z_3FRIENDS") == "A\nB\nC\n2")
    }

    @Test func `a rollback brings back what was deleted, with its relationships`() throws {
        let office = try Office()
        let ada = try office.person("Ada")
        let task = try office.insert("Task", "wash")
        try ada.add(task, to: "tasks")
        try office.context.save()
        try office.context.delete(ada)
        #expect(task.isDeleted)
        office.context.rollback()
        #expect(!task.isDeleted && !office.context.hasChanges)
        #expect(try names(ada.toMany("tasks")) == ["wash"] && task.toOne("owner") === ada)
        try office.context.save()
        #expect(try office.sql("SELECT count(*) FROM ZPERSON; SELECT count(*) FROM ZTASK") == "1\n1")
    }

    @Test func `new objects that are deleted leave the changed ones, and those inserted again are saved once`() throws {
        let office = try Office()
        let people = try (0..<100).map { try office.person("P\($0)") }
        for person in people.dropFirst(2) {
            try office.context.delete(person)
            #expect(!person.isInserted)
        }
        #expect(office.context.changed.count < 8 && office.context.insertedObjects.count == 2)
        try office.context.delete(people[1])
        #expect(!people[1].isInserted)
        for person in people[1...3] { #expect(try office.context.insertAgain(person)) }
        for _ in 0..<2 {
            try office.context.delete(people[3])
            #expect(try !people[3].isInserted && office.context.insertAgain(people[3]))
        }
        try office.context.delete(people[3])
        try office.context.save()
        #expect(try office.sql("SELECT ZNAME FROM ZPERSON ORDER BY 1") == "P0\nP1\nP2")
        #expect(!office.context.hasChanges && office.context.changed.isEmpty)
        let late = try (0..<3).map { try office.person("L\($0)") }
        try office.context.delete(late[0])
        #expect(!late[0].isInserted)
        office.context.rollback()
        #expect(try late[1].isDetached && office.context.insertAgain(late[0]))
        try office.context.save()
        #expect(try office.sql("SELECT ZNAME FROM ZPERSON ORDER BY 1") == "L0\nP0\nP1\nP2")
    }

    @Test func `many deletions at once are followed together`() throws {
        let office = try Office()
        let team = try office.insert("Team", "Big")
        let people = try (0..<2000).map { try office.person("P\($0)") }
        try team.setToMany("members", people)
        try office.context.save()
        for person in people.dropFirst(3) { try office.context.delete(person) }
        #expect(try names(team.toMany("members")) == ["P0", "P1", "P2"])
        try office.context.save()
        #expect(try office.sql("SELECT count(*), count(ZTEAM) FROM ZPERSON") == "3|3")
    }
}
