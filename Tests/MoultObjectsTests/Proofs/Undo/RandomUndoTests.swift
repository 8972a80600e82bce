import MoultModel
import TestSupport
import Testing

@testable import MoultObjects

/// What is undone and redone ends as the reference was, whatever was done and saved in between.
struct RandomUndoTests {  // tier: long
    @Test(arguments: UInt64(1)...8)
    func `undo and redo end as the reference was`(seed: UInt64) throws {
        let run = try UndoRun(seed: seed, count: 250)
        try run.start()
        #expect(run.undone > 40)
    }
}

@Suite(.enabled(if: Tier.matrix.isAsked))
struct RandomUndoMatrixTests {
    @Test func `undo and redo of 15,000 random operations end as the reference was`() throws {
        var undone = 0
        for round in Tier.matrix.rounds(quick: 0, full: 30) {
            let run = try UndoRun(seed: UInt64(5000 + round), count: 500)
            try run.start()
            undone += run.undone
        }
        print("RandomUndo: \(undone) steps taken back")
    }
}

/// What random operations seldom meet.
struct UndoTests {
    @Test func `a list that was read after its object had changed is put back`() throws {
        let office = try Office()
        let (ada, bob) = (try office.person("Ada"), try office.person("Bob"))
        try ada.add(try office.insert("Task", "one"), to: "tasks")
        let two = try office.insert("Task", "two")
        try bob.add(two, to: "tasks")
        try office.context.save()

        let context = ObjectContext(coordinator: office.coordinator)
        let again = try context.object(with: ada.id)
        var steps: [ChangeStep] = []
        context.recordChanges { steps.append($0) }
        try again.setAttribute("name", .string("Eve"))
        try again.add(context.object(with: two.id), to: "tasks")
        try context.processPendingChanges()
        #expect(try steps.count == 1 && names(again.toMany("tasks")) == ["one", "two"])
        _ = try context.takeBack(try #require(steps.first))
        #expect(try names([again]) == ["Ada"] && names(again.toMany("tasks")) == ["one"] && !context.hasChanges)
        #expect(try names(context.object(with: bob.id).toMany("tasks")) == ["two"])
        _ = try context.takeBack(try #require(steps.last))
        try context.save()
        #expect(try office.sql("SELECT ZNAME FROM ZTASK WHERE ZOWNER = \(ada.id.key) ORDER BY 1") == "one\ntwo")
    }

    @Test func `an object keeps what others changed of it in the meantime`() throws {
        let office = try Office()
        let ada = try office.person("Ada")
        try office.context.save()
        let other = ObjectContext(coordinator: office.coordinator)
        var steps: [ChangeStep] = []
        office.context.recordChanges { steps.append($0) }
        office.context.automaticallyMergesChangesFromParent = true
        try ada.setAttribute("name", .string("Eve"))
        try office.context.save()
        try other.object(with: ada.id).setAttribute("age", .integer(40))
        try other.save()
        #expect(try steps.count == 1 && ada.attribute("age") == .integer(40))
        _ = try office.context.takeBack(try #require(steps.first))
        try office.context.save()
        #expect(try office.sql("SELECT ZNAME, ZAGE FROM ZPERSON") == "Ada|40")
    }

    @Test func `a walk reads a destination once, until the next fetch`() throws {
        let office = try Office()
        let (ada, team) = (try office.person("Ada"), try office.insert("Team", "red"))
        try ada.setToOne("team", team)
        try office.context.save()
        let context = try office.elsewhere()
        let again = try #require(try context.fetch(ObjectFetch(entityName: "Person")).first)
        #expect(try names([try #require(try again.toOne("team"))]) == ["red"])
        try team.setAttribute("name", .string("blue"))
        try office.context.save()
        #expect(try names([try #require(try again.toOne("team"))]) == ["red"])
        #expect(try names(context.fetch(ObjectFetch(entityName: "Team"))) == ["blue"])
        #expect(try names([try #require(try again.toOne("team"))]) == ["blue"])
    }
}
