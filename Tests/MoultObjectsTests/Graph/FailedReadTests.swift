import MoultBasics
import MoultModel
import MoultStore
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

    @Test func `what a call has thrown is set after it was read, without a save`() throws {
        let team = try find("Team", "North")
        try failToRead(team)
        #expect(throws: MigrationError.self) { try team.setToMany("members", []) }
        try team.setToMany("members", try team.toMany("members").reversed())
        try context.save()
        #expect(try office.sql("SELECT ZNAME FROM ZPERSON ORDER BY Z_FOK_TEAM") == "Bo\nAda")
    }

    @Test func `a read in a child context is none in its parent`() throws {
        let (team, new) = (try find("Team", "North"), try office.person("Cy", context))
        try failToRead(team)
        #expect(throws: MigrationError.self) { try context.save() }
        let child = ObjectContext(parent: context)
        #expect(try child.object(with: team.id).toMany("members").count == 2)
        #expect(throws: MigrationError.self) { try team.setToMany("members", [new]) }
    }

    @Test func `an object that is gone has no failed read`() throws {
        let team = try find("Team", "North")
        try failToRead(team)
        try office.context.delete(office.context.object(with: team.id))
        try context.merge(office.context.save())
        #expect(team.isDetached && !context.hasFailedReads)
        try context.save()
        #expect(try office.sql("SELECT count(*) FROM ZTEAM") == "0")
    }

    @Test func `a deletion that cannot read a list changes no other end, and can be taken back`() throws {
        let first = try #require(try office.context.fetch(ObjectFetch(entityName: "Person")).first)
        try first.setToMany("friends", try (1...8).map { try office.person("Friend \($0)") })
        try office.context.save()
        let table = try office.sql("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%FRIENDS'")
        let before = try office.sql("SELECT * FROM \(table) ORDER BY 1, 2")
        let person = try context.object(with: first.id)
        for list in ["tasks", "friends", "favourites"] { _ = try person.toMany(list) }
        let badge = try #require(try person.toOne("badge"))
        let others = try person.toMany("friends") + [badge, #require(try person.toOne("team"))]
        for other in others { _ = try other.attribute("name") }
        try context.delete(person)
        // The list of the team, which is ordered, has not been read.
        disk.failing {
            #expect(throws: MigrationError.self) { try context.processPendingChanges() }
            #expect(others.count == 10 && others.allSatisfy { !$0.hasChanges })
        }
        #expect(try context.insertAgain(person))
        try context.save()
        #expect(try !before.isEmpty && office.sql("SELECT * FROM \(table) ORDER BY 1, 2") == before)
        #expect(try members() == "2")
        try context.delete(person)
        try context.save()
        #expect(try office.sql("SELECT count(*) FROM \(table)") == "0")
    }

    @Test func `a stored value that leads to no entity is replaced from the other end, and goes with it`() throws {
        let column = try office.sql(
            "SELECT name FROM pragma_table_info('ZBADGE') WHERE name LIKE 'Z%HOLDER' AND name <> 'ZHOLDER'")
        _ = try office.sql("UPDATE ZBADGE SET \(column) = 999 WHERE ZNAME = 'of Bo'")
        let badge = try find("Badge", "of Bo")
        #expect(throws: MigrationError.self) { try badge.toOne("holder") }
        let bo = try find("Person", "Bo")
        try context.delete(bo)
        try context.save()
        #expect(try office.sql("SELECT count(*) FROM ZPERSON") == "1")

        let ada = try find("Person", "Ada")
        try ada.setToOne("badge", badge)
        try context.save()
        let holders = "SELECT b.ZNAME FROM ZBADGE b JOIN ZPERSON p ON p.Z_PK = b.ZHOLDER AND p.ZBADGE = b.Z_PK"
        #expect(try office.sql(holders) == "of Bo")
    }

    @Test func `an attribute in a file is known by the names of its composite attribute and of its element`() throws {
        let element = AttributeDescription(name: "photo", type: .binary, allowsExternalBinaryDataStorage: true)
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Stay",
                attributes: [
                    .init(name: "note", type: .binary), .init(name: "place", type: .composite, elements: [element]),
                ])
        ])
        let path = office.folder.path + "/Stay.sqlite"
        try StoreCreator(ModelVersion(names: ["1"], model: model), experimental: true).make(at: path)
        let coordinator = ObjectCoordinator(model: model)
        try coordinator.add(try ObjectStore(path, model: model))
        let stays = ObjectContext(coordinator: coordinator)
        let stay = try stays.insert("Stay")
        #expect(["note", "place", "place.photo", "photo"].map(stay.isInFile) == [false, true, true, false])
    }
}
