import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// One fault of a table must not take a store apart, object by object.
struct QuarantineLimitTests {  // tier: long
    @Test func `a repair that would put most of an entity aside is refused, and runs when it is told to`() throws {
        let library = try LibraryStore()
        // The numbers of thirty books are lost, as by a tool that rewrote the column.
        try library.shell("UPDATE ZBOOK SET Z_ENT = 77 WHERE Z_PK <= 30")
        let hash = try library.hash()
        let repair = try StoreRepair(library.path, at: library.version)
        let error = #expect(throws: MigrationError.self) {
            try Migrator().run(try #require(repair.migration), on: library.path)
        }
        #expect(error?.code == .quarantineTooLarge)
        #expect(error?.message.contains("objects of Book") == true, "\(String(describing: error))")
        #expect(error?.remedy.contains("RunOptions.allowsLargeQuarantine") == true)
        #expect(try library.hash() == hash)
        #expect(throws: MigrationError.self) {
            try Migrator().rehearse(try #require(repair.migration), on: library.path)
        }
        var told = try #require(try StoreRepair(library.path, at: library.version).migration)
        told.allowsLargeQuarantine = true
        let outcome = try Migrator().run(told, on: library.path)
        #expect(outcome.quarantined >= 30)
    }

    @Test func `a handful is never refused, and a part of many objects neither`() throws {
        let library = try LibraryStore()
        // Nine of ten tags, and a fifth of the books.
        try library.shell("UPDATE ZTAG SET Z_ENT = 77 WHERE Z_PK < 10; UPDATE ZBOOK SET Z_ENT = 77 WHERE Z_PK > 80")
        let repair = try StoreRepair(library.path, at: library.version)
        let outcome = try Migrator().run(try #require(repair.migration), on: library.path)
        #expect(outcome.quarantined >= 9)
    }

    @Test(arguments: [
        ("DELETE FROM ZCOVER WHERE Z_PK <= 60", "Book.cover", "SELECT count(ZCOVER) FROM ZBOOK"),
        ("DELETE FROM ZTAG WHERE Z_PK > 4", "Book.tags", "SELECT count(*) FROM Z_1TAGS"),
    ])
    func `a repair that would clear most references of a relationship is refused, and runs when it is told to`(
        sql: String, place: String, references: String
    ) throws {
        let library = try LibraryStore()
        try library.shell(sql)
        let hash = try library.hash()
        let repair = try StoreRepair(library.path, at: library.version)
        let error = #expect(throws: MigrationError.self) {
            try Migrator().run(try #require(repair.migration), on: library.path)
        }
        #expect(error?.code == .lossNotAccepted && error?.place == place, "\(String(describing: error))")
        #expect(error?.message.contains("clear 60 of 100 references of \(place), more than half.") == true)
        #expect(error?.remedy.contains("acceptedLosses = [\"\(place)\"]") == true, "\(error?.remedy ?? "")")
        #expect(throws: MigrationError.self) {
            try Migrator().rehearse(try #require(repair.migration), on: library.path)
        }
        #expect(try library.hash() == hash)
        let told = try StoreRepair(library.path, at: library.version, accepting: [place])
        _ = try Migrator().run(try #require(told.migration), on: library.path)
        #expect(try library.line(references) == "40")
    }

    @Test func `a refusal names every relationship, and accepting them lets it run`() throws {
        let library = try LibraryStore()
        try library.shell("DELETE FROM ZCOVER WHERE Z_PK <= 60; DELETE FROM ZTAG WHERE Z_PK > 4")
        let repair = try StoreRepair(library.path, at: library.version)
        let error = try #require(throws: MigrationError.self) {
            try Migrator().run(try #require(repair.migration), on: library.path)
        }
        for place in ["Book.cover", "Book.tags"] {
            #expect(error.message.contains("60 of 100 references of \(place)"), "\(error.message)")
        }
        let accepted = try StoreRepair(library.path, at: library.version, accepting: ["Book.cover", "Book.tags"])
        _ = try Migrator().run(try #require(accepted.migration), on: library.path)
        #expect(try library.line("SELECT count(ZCOVER) FROM ZBOOK") == "40")
    }

    @Test func `half of the references, and all of a few, are cleared without being asked for`() throws {
        let library = try LibraryStore()
        try library.shell("DELETE FROM ZCOVER WHERE Z_PK <= 50; UPDATE ZSHELF SET ZPARENT = 77 WHERE ZPARENT NOT NULL")
        let repair = try StoreRepair(library.path, at: library.version)
        _ = try Migrator().run(try #require(repair.migration), on: library.path)
        #expect(try library.line("SELECT count(ZCOVER) FROM ZBOOK") == "50")
        #expect(try library.line("SELECT count(ZPARENT) FROM ZSHELF") == "0")
    }

    @Test func `the fixes of rules have the same limit`() throws {
        let forum = try BrokenForum.closed()
        _ = try forum.shell("UPDATE ZTOPIC SET ZFORUM = NULL WHERE Z_PK > 50")
        let audit = try RuleAudit(forum.path, [ForumRules.homeless()], version: ForumRules.version)
        let error = #expect(throws: MigrationError.self) {
            try Migrator().run(try #require(try audit.mending()), on: forum.path)
        }
        #expect(error?.code == .quarantineTooLarge)
        #expect(try forum.shell("SELECT count(*) FROM ZTOPIC") == "100")
        var told = try #require(try audit.mending())
        told.allowsLargeQuarantine = true
        #expect(try Migrator().run(told, on: forum.path).quarantined == 55)
    }
}
