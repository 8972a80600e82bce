import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultObjects

/// Reads that fail where the app is shown an empty value, or in the middle of a change. The sqlite3 shell tells what is
/// stored.
@Suite struct FailedReadTests {
    private let office: Office
    private let disk: UnreadableDisk
    private let context: ObjectContext

    init() throws {
        office = try Office()
        let team = try office.insert("Team", "North")
        for name in ["Ada", "Bo"] {
            let person = try office.person(name)
            try team.add(person, to: "members")
            try office.insert("Badge", "of \(name)").setToOne("holder", person)
        }
        try office.context.save()
        disk = try UnreadableDisk(office.folder.path)
        context = try office.elsewhere()
    }

    private func find(_ entity: String, _ name: String) throws -> Object {
        let fetch = ObjectFetch(entityName: entity, predicate: try .init(parsing: "name == '\(name)'"))
        return try #require(try context.fetch(fetch).first)
    }

    /// Reads the members of the team in vain, as an app that cannot be told.
    private func failToRead(_ team: Object) throws {
        let error = try disk.failing { try #require(throws: MigrationError.self) { try team.toMany("members") } }
        #expect(team.noteFailedRead("members", error))
    }

    private func members() throws -> String { try office.sql("SELECT count(*) FROM ZPERSON WHERE ZTEAM IS NOT NULL") }

    @Test func `what could not be read is not replaced until a save has said so and it was read`() throws {
        let team = try find("Team", "North")
        let new = try office.person("Cy", context)
        try failToRead(team)
        _ = try team.toMany("members")
        for _ in 0..<2 {
            #expect(throws: MigrationError.self) { try team.setToMany("members", [new]) }
            let error = try #require(throws: MigrationError.self) { try context.save() }
            #expect(error.code == .inputOutput && error.message.hasPrefix("Team.members of "))
        }
        #expect(try office.sql("SELECT count(*) FROM ZPERSON") == "2")
        try team.setToMany("members", try team.toMany("members") + [new])
        try context.save()
        #expect(try members() == "3")
    }

    @Test func `a member is added to what the store holds`() throws {
        let (team, new) = (try find("Team", "North"), try office.person("Cy", context))
        try failToRead(team)
        try team.add(new, to: "members")
        #expect(throws: MigrationError.self) { try context.save() }
        #expect(try names(team.toMany("members")) == ["Ada", "Bo", "Cy"])
        try context.save()
        #expect(try members() == "3")
    }

    @Test func `a rollback forgets what could not be read`() throws {
        let team = try find("Team", "North")
        try failToRead(team)
        #expect(context.hasFailedReads)
        context.rollback()
        #expect(!context.hasFailedReads)
        try team.setToMany("members", [])
        try context.save()
        #expect(try members() == "0")
    }

    @Test func `an error about the value is no failed read`() throws {
        let team = try find("Team", "North")
        let error = try #require(throws: MigrationError.self) { try team.toMany("colour") }
        #expect(!team.noteFailedRead("members", error) && !team.noteFailedRead("colour", error))
        try context.save()
    }

    @Test func `a change that cannot read an other end changes neither`() throws {
        let (badge, bo) = (try find("Badge", "of Ada"), try find("Person", "Bo"))
        let rows = "SELECT ZHOLDER FROM ZBADGE; SELECT ZBADGE FROM ZPERSON"
        let before = try office.sql(rows)
        disk.failing { #expect(throws: MigrationError.self) { try badge.setToOne("holder", bo) } }
        #expect(!badge.hasChanges && !bo.hasChanges)
        try context.save()
        #expect(try office.sql(rows) == before)
        try badge.setToOne("holder", bo)
        try context.save()
        #expect(try office.sql("SELECT count(ZHOLDER) FROM ZBADGE; SELECT count(ZBADGE) FROM ZPERSON") == "1\n1")
    }

    @Test func `a list that cannot read an other end stays as it is`() throws {
        let (team, bo) = (try context.insert("Team"), try find("Person", "Bo"))
        try team.setAttribute("name", .string("South"))
        disk.failing { #expect(throws: MigrationError.self) { try team.setToMany("members", [bo]) } }
        #expect(!bo.hasChanges)
        #expect(try team.toMany("members").isEmpty)
        try team.setToMany("members", [bo])
        try context.save()
        #expect(try names(find("Team", "North").toMany("members")) == ["Ada"])
    }

    @Test func `a deletion whose other ends cannot be read takes effect when they can`() throws {
        let (team, ada) = (try find("Team", "North"), try find("Person", "Ada"))
        #expect(try names(team.toMany("members")) == ["Ada", "Bo"])
        for list in ["tasks", "friends", "favourites"] { _ = try ada.toMany(list) }
        try context.delete(ada)
        disk.failing { #expect(throws: MigrationError.self) { try context.processPendingChanges() } }
        try context.save()
        #expect(try names(team.toMany("members")) == ["Bo"])
        #expect(try office.sql("SELECT count(*) FROM ZPERSON") == "1")
    }
}
