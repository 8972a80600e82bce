import TestSupport
import Testing

@testable import MoultObjects

/// Two contexts change one list: it ends with what either added and without what either took away, and no object loses
/// the other end of a relationship because somebody else's list did not have it.
@Suite struct MergedListTests {
    private static let trumping: [MergePolicy] = [
        .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    /// A team of three that `theirs` and `ours` have both read.
    private struct Clash {
        let office: Office
        let ours: ObjectContext
        let team: Object
        let same: Object

        init(_ policy: MergePolicy) throws {
            office = try Office()
            team = try office.insert("Team", "Blue")
            for name in ["a", "b", "c"] { try team.add(office.person(name), to: "members") }
            try office.context.save()
            ours = try office.elsewhere()
            ours.mergePolicy = policy
            same = try ours.existingObject(with: team.id)
            _ = try names(same.toMany("members"))
        }

        func member(_ name: String, _ context: ObjectContext) throws -> Object {
            let fetch = ObjectFetch(entityName: "Person", predicate: try .init(parsing: "name == '\(name)'"))
            return try #require(try context.fetch(fetch).first)
        }

        /// Who is in the team, in its order, as the file has it.
        func row() throws -> String {
            try office.sql(
                "SELECT group_concat(ZNAME, '') FROM (SELECT ZNAME FROM ZPERSON WHERE ZTEAM = \(team.id.key) "
                    + "ORDER BY Z_FOK_TEAM)")
        }
    }

    @Test(arguments: trumping)
    func `new members of both contexts keep their team`(policy: MergePolicy) throws {
        let clash = try Clash(policy)
        try clash.office.person("x").setToOne("team", clash.team)
        try clash.office.context.save()
        try clash.office.person("y", clash.ours).setToOne("team", clash.same)
        try clash.ours.save()
        #expect(try Set(clash.row()) == Set("abcxy"), "\(policy)")
        #expect(try Set(names(clash.same.toMany("members")).joined()) == Set("abcxy"))
        #expect(!clash.ours.hasChanges)
    }

    @Test(arguments: trumping)
    func `a member that another context moved stays where it was moved to`(policy: MergePolicy) throws {
        let clash = try Clash(policy)
        let red = try clash.office.insert("Team", "Red")
        _ = try clash.member("b", clash.ours).toOneID("team")
        try clash.member("b", clash.office.context).setToOne("team", red)
        try clash.office.context.save()
        try clash.office.person("y", clash.ours).setToOne("team", clash.same)
        try clash.ours.save()
        #expect(try Set(clash.row()) == Set("acy"))
        #expect(try clash.office.sql("SELECT ZTEAM FROM ZPERSON WHERE ZNAME = 'b'") == "\(red.id.key)")
        #expect(try clash.member("b", clash.ours).toOneID("team") == red.id)
    }

    @Test(arguments: trumping)
    func `a member that this context moved or deleted is not taken back`(policy: MergePolicy) throws {
        let clash = try Clash(policy)
        try clash.office.person("x").setToOne("team", clash.team)
        try clash.office.context.save()
        try clash.ours.delete(clash.member("a", clash.ours))
        try clash.member("b", clash.ours).setToOne("team", nil)
        try clash.ours.save()
        #expect(try Set(clash.row()) == Set("cx"))
        #expect(try clash.office.sql("SELECT group_concat(ZNAME, '') FROM ZPERSON") == "bcx")
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, "cbaxy"), (.mergeByPropertyObjectTrump, "bacyx"),
        (.overwrite, "bacyx"), (.rollback, "cbaxy"),
    ])
    func `the order goes by policy`(policy: MergePolicy, order: String) throws {
        let clash = try Clash(policy)
        try clash.team.move(in: "members", from: 2, to: 0)
        try clash.team.move(in: "members", from: 1, to: 2)
        try clash.office.person("x").setToOne("team", clash.team)
        try clash.office.context.save()
        try #require(try clash.row() == "cbax")
        try clash.same.move(in: "members", from: 0, to: 1)
        try clash.office.person("y", clash.ours).setToOne("team", clash.same)
        try clash.ours.save()
        let row = try clash.row()
        #expect(Set(row) == Set(order) && row.filter("abc".contains) == order.filter("abc".contains), "\(row)")
        #expect(try names(clash.same.toMany("members")).joined() == row)
    }

    @Test func `an addition stands behind what it stands behind there, and a merge of changes keeps both`() throws {
        let clash = try Clash(.error)
        try clash.team.insert(clash.office.person("x"), in: "members", at: 1)
        try clash.office.context.save()
        try clash.same.add(clash.office.person("y", clash.ours), to: "members")
        #expect(throws: MergeConflictError.self) { try clash.ours.save() }
        try clash.ours.refresh(clash.same, mergingChanges: true)
        try clash.ours.save()
        #expect(try clash.row() == "axbcy")
    }

    @Test(arguments: trumping)
    func `links of many to many from both contexts stay`(policy: MergePolicy) throws {
        let office = try Office()
        let (label, task) = (try office.insert("Label", "red"), try office.insert("Task", "t"))
        try label.add(task, to: "tasks")
        try office.context.save()
        let ours = try office.elsewhere()
        ours.mergePolicy = policy
        let same = try ours.existingObject(with: label.id)
        _ = try names(same.toMany("tasks"))
        try label.remove(task, from: "tasks")
        try label.add(office.insert("Task", "x"), to: "tasks")
        try label.setAttribute("name", .string("blue"))
        try office.context.save()
        let task2 = try ours.insert("Task")
        try task2.setAttribute("name", .string("y"))
        try task2.add(same, to: "labels")
        try ours.save()
        let tables = try office.sql("SELECT name FROM sqlite_master WHERE name GLOB 'Z_[0-9]*' AND type = 'table'")
        let table = try #require(tables.split(separator: "\n").first { $0.contains("LABELS") || $0.contains("TASKS") })
        let columns = try office.sql("SELECT name FROM pragma_table_info('\(table)') WHERE name GLOB '*TASKS*'")
        let linked = "SELECT group_concat(ZNAME, '') FROM ZTASK WHERE Z_PK IN (SELECT \(columns) FROM \(table))"
        #expect(try Set(office.sql(linked)) == Set("xy"))
    }

    @Test func `a deletion that is rolled back shows what was saved meanwhile`() throws {
        let clash = try Clash(.error)
        try clash.ours.delete(clash.same)
        try clash.team.setAttribute("name", .string("Green"))
        try clash.ours.merge(clash.office.context.save())
        clash.ours.rollback()
        #expect(try clash.same.attribute("name") == .string("Green"))
        // Over the values that it shows, a save is no conflict, and takes none of them back.
        try clash.office.person("x", clash.ours).setToOne("team", clash.same)
        try clash.ours.save()
        #expect(try clash.office.sql("SELECT ZNAME FROM ZTEAM") == "Green" && Set(clash.row()) == Set("abcx"))
    }

    @Test func `a list that only the child has changed has the child's order`() throws {
        let clash = try Clash(.error)
        let child = ObjectContext(parent: clash.office.context)
        let team = try child.existingObject(with: clash.team.id)
        for (name, place) in [("x", 0), ("y", 1)] {
            let person = try clash.office.person(name, child)
            var members = try team.toMany("members")
            members.insert(person, at: place)
            try team.setToMany("members", members)
        }
        try child.save()
        #expect(try names(clash.team.toMany("members")).joined() == "xyabc")
        try clash.office.context.save()
        #expect(try clash.row() == "xyabc")
    }

    @Test func `a child context adds to the list that its parent has by now`() throws {
        let office = try Office()
        let team = try office.insert("Team", "Blue")
        for name in ["a", "b", "c"] { try team.add(office.person(name), to: "members") }
        try office.context.save()
        let child = ObjectContext(parent: office.context)
        let same = try child.existingObject(with: team.id)
        _ = try names(same.toMany("members"))
        try team.insert(office.person("x"), in: "members", at: 0)
        try team.remove(team.toMany("members")[3], from: "members")
        try same.move(in: "members", from: 0, to: 1)
        try office.person("y", child).setToOne("team", same)
        try child.save()
        #expect(try names(team.toMany("members")).joined() == "xbay")
        try office.context.save()
        let row = "SELECT group_concat(ZNAME, '') FROM (SELECT ZNAME FROM ZPERSON WHERE ZTEAM = 1 ORDER BY Z_FOK_TEAM)"
        #expect(try office.sql(row) == "xbay")
    }
}
