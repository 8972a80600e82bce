import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Both ends of a relationship")
struct RelationshipTests {
    @Test func `a one-to-one takes its destination from another`() throws {
        let office = try Office()
        let (ada, bob) = (try office.person("Ada"), try office.person("Bob"))
        let badge = try office.insert("Badge", "1")
        try ada.setToOne("badge", badge)
        #expect(try badge.toOne("holder") === ada)
        try office.context.save()
        try bob.setToOne("badge", badge)
        #expect(try ada.toOne("badge") == nil && badge.toOne("holder") === bob)
        let second = try office.insert("Badge", "2")
        try second.setToOne("holder", bob)
        #expect(try bob.toOne("badge") === second && badge.toOne("holder") == nil)
        try office.context.save()
        #expect(
            try office.sql(
                "SELECT p.ZNAME, b.ZNAME FROM ZPERSON p JOIN ZBADGE b ON p.ZBADGE = b.Z_PK AND b.ZHOLDER = p.Z_PK")
                == "Bob|2")
        #expect(try office.sql("SELECT count(ZBADGE) FROM ZPERSON; SELECT count(ZHOLDER) FROM ZBADGE") == "1\n1")
    }

    @Test func `a relationship of an entity to itself keeps both ends`() throws {
        let office = try Office()
        let (a, b, c) = (try office.person("A"), try office.person("B"), try office.person("C"))
        try a.setToOne("spouse", b)
        try c.setToOne("spouse", a)
        #expect(try b.toOne("spouse") == nil && a.toOne("spouse") === c)
        try b.setToOne("spouse", b)
        #expect(try b.toOne("spouse") === b)
        try b.setToOne("spouse", nil)
        try a.add(b, to: "friends")
        try c.add(a, to: "friends")
        try c.add(c, to: "friends")
        #expect(try Set(names(a.toMany("friends"))) == ["B", "C"] && names(b.toMany("friends")) == ["A"])
        #expect(try Set(names(c.toMany("friends"))) == ["A", "C"])
        try office.context.save()
        #expect(try office.sql("SELECT count(*) FROM Z_3FRIENDS") == "5")
        try a.remove(c, from: "friends")
        try office.context.save()
        #expect(try office.sql("SELECT Z_3FRIENDS, REFLEXIVE FROM Z_3FRIENDS ORDER BY 1, 2") == "1|2\n2|1\n3|3")
    }

    @Test func `a one-to-many moves its member, without reading either list`() throws {
        let office = try Office()
        let (ada, bob) = (try office.person("Ada"), try office.person("Bob"))
        let tasks = try (1...3).map { try office.insert("Task", "T\($0)") }
        try ada.setToMany("tasks", tasks)
        #expect(try tasks.allSatisfy { try $0.toOne("owner") === ada })
        try office.context.save()
        let other = try office.elsewhere()
        let (ada2, bob2) = (try other.object(with: ada.id), try other.object(with: bob.id))
        try other.object(with: tasks[1].id).setToOne("owner", bob2)
        #expect(try names(ada2.toMany("tasks")) == ["T1", "T3"] && names(bob2.toMany("tasks")) == ["T2"])
        try bob2.add(try other.object(with: tasks[2].id), to: "tasks")
        try bob2.add(try other.object(with: tasks[2].id), to: "tasks")
        try ada2.remove(try other.object(with: tasks[0].id), from: "tasks")
        #expect(try ada2.toMany("tasks").isEmpty && names(bob2.toMany("tasks")) == ["T2", "T3"])
        try other.save()
        #expect(
            try office.sql("SELECT ZNAME, ZOWNER FROM ZTASK ORDER BY 1") == "T1|\nT2|\(bob.id.key)\nT3|\(bob.id.key)")
        #expect(try office.sql("SELECT ZNAME, ZTASKCOUNT FROM ZPERSON ORDER BY 1") == "Ada|0\nBob|2")
    }

    @Test func `a many-to-many is kept from either end, and a list may be replaced whole`() throws {
        let office = try Office()
        let tasks = try (1...3).map { try office.insert("Task", "T\($0)") }
        let labels = try ["red", "blue"].map { try office.insert("Label", $0) }
        try tasks[0].setToMany("labels", labels)
        try labels[0].add(tasks[1], to: "tasks")
        #expect(try names(labels[0].toMany("tasks")) == ["T1", "T2"])
        try office.context.save()
        let query = try office.labelsQuery()
        #expect(try office.sql(query) == "T1|blue\nT1|red\nT2|red")
        let other = try office.elsewhere()
        let red = try other.object(with: labels[0].id)
        try red.setToMany("tasks", [other.object(with: tasks[2].id), other.object(with: tasks[1].id)])
        #expect(try names(other.object(with: tasks[0].id).toMany("labels")) == ["blue"])
        try other.save()
        #expect(try office.sql(query) == "T1|blue\nT2|red\nT3|red")
    }

    @Test func `an ordered relationship keeps its order through every change`() throws {
        let office = try Office()
        let team = try office.insert("Team", "Blue")
        let people = try ["A", "B", "C", "D"].map { try office.person($0) }
        try team.setToMany("members", Array(people[0...2]))
        try office.context.save()
        let order =
            "SELECT group_concat(ZNAME, '') FROM (SELECT ZNAME FROM ZPERSON WHERE ZTEAM NOT NULL ORDER BY Z_FOK_TEAM)"
        #expect(try office.sql(order) == "ABC")
        try team.insert(people[3], in: "members", at: 1)
        #expect(try names(team.toMany("members")) == ["A", "D", "B", "C"] && people[3].toOne("team") === team)
        try office.context.save()
        #expect(try office.sql(order) == "ADBC")
        try team.move(in: "members", from: 3, to: 0)
        try people[0].setToOne("team", nil)
        try office.context.save()
        #expect(try office.sql(order) == "CDB")
        try people[0].setToOne("team", team)
        try office.context.save()
        #expect(try office.sql(order) == "CDBA")
        let other = try office.elsewhere()
        #expect(try names(other.object(with: team.id).toMany("members")) == ["C", "D", "B", "A"])
        #expect(throws: MigrationError.self) { try team.insert(people[0], in: "members", at: 9) }
        #expect(throws: MigrationError.self) { try team.move(in: "members", from: 4, to: 0) }
        #expect(throws: MigrationError.self) { try people[0].insert(people[1], in: "friends", at: 0) }
    }

    @Test func `relationships without inverse, to one and to many, know this end only`() throws {
        let office = try Office()
        let ada = try office.person("Ada")
        let labels = try ["x", "y", "z"].map { try office.insert("Label", $0) }
        try ada.setToMany("favourites", [labels[2], labels[0]])
        try ada.setToOne("mainLabel", labels[1])
        try office.context.save()
        let other = try office.elsewhere()
        let same = try other.object(with: ada.id)
        #expect(try names(same.toMany("favourites")) == ["z", "x"])
        try same.add(other.object(with: labels[1].id), to: "favourites")
        try same.add(other.object(with: labels[2].id), to: "favourites")
        try same.move(in: "favourites", from: 2, to: 0)
        try other.save()
        let third = try office.elsewhere()
        #expect(try names(third.object(with: ada.id).toMany("favourites")) == ["y", "z", "x"])
        #expect(try names([#require(try third.object(with: ada.id).toOne("mainLabel"))]) == ["y"])
    }

    @Test func `a sub-entity's relationship and its inverse are kept`() throws {
        let office = try Office()
        let boss = try office.person("Boss", entity: "Manager")
        let team = try office.insert("Team", "Blue")
        try team.setToOne("lead", boss)
        try team.add(boss, to: "members")
        #expect(try names(boss.toMany("leads")) == ["Blue"])
        let ada = try office.person("Ada")
        #expect { try team.setToOne("lead", ada) } throws: { ($0 as? MigrationError)?.code == .wrongType }
        try office.context.save()
        #expect(
            try office.sql("SELECT p.ZNAME FROM ZTEAM t JOIN ZPERSON p ON p.Z_PK = t.ZLEAD AND p.ZTEAM = t.Z_PK")
                == "Boss")
    }
}

extension Office {
    /// The names of tasks and labels that the store has as pairs.
    fileprivate func labelsQuery() throws -> String {
        let table = try sql(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND (name LIKE 'Z!_%LABELS' ESCAPE '!' "
                + "OR name LIKE 'Z!_%TASKS' ESCAPE '!')")
        let columns = try sql("SELECT name FROM pragma_table_info('\(table)')").split(separator: "\n").map(String.init)
        let task = columns.first { $0.hasSuffix("TASKS") } ?? ""
        let label = columns.first { $0.hasSuffix("LABELS") } ?? ""
        return "SELECT t.ZNAME, l.ZNAME FROM \(table) j JOIN ZTASK t ON t.Z_PK = j.\(task) "
            + "JOIN ZLABEL l ON l.Z_PK = j.\(label) ORDER BY 1, 2"
    }
}
