import Foundation
import TestSupport
import Testing

@Suite struct IntoVerbTests {
    private let migrate = ["migrate", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--into", "new.sqlite"]

    @Test func `a migration into another file keeps the old one, and replaces nothing`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let path = moult.folder.path
        let before = try Data(contentsOf: URL(fileURLWithPath: path + "/forum.sqlite"))
        let made = try moult.run(Tool.path, migrate + ["--json"])
        #expect(made.exit == 0, "\(made.errors)")
        let document = try made.document
        #expect(document["into"] as? String == "new.sqlite" && document["changed"] as? Bool == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/forum.sqlite")) == before)
        #expect(!FileManager.default.fileExists(atPath: path + "/forum.sqlite.moult"))
        let tables = "SELECT count(*) FROM sqlite_master WHERE name = 'ZTOPIC'"
        #expect(try SQLiteShell.run(path + "/new.sqlite", tables) == "1\n")
        #expect(try moult("runs", "new.sqlite").output.contains("Forum 3"))
        #expect(try moult.run(Tool.path, migrate).exit == 2)
    }

    @Test(arguments: [["--dry-run"], ["--deferred"], ["--frugal"], ["--backups", "b"], ["--budget", "9s"]])
    func `options that say how the store itself is changed are refused`(options: [String]) throws {
        let moult = try StoreVerbTests.besideForumStore()
        #expect(try moult.run(Tool.path, migrate + options).exit == 2)
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/new.sqlite"))
    }

    @Test func `resume removes what a dead process left of it`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let part = moult.folder.path + "/new.sqlite.99999-00000000-abcdefgh.part"
        try FileManager.default.createDirectory(atPath: part, withIntermediateDirectories: true)
        let resumed = try moult("resume", "new.sqlite")
        #expect(resumed.exit == 0 && resumed.output.contains("not finished"), "\(resumed.errors)")
        #expect(!FileManager.default.fileExists(atPath: part))
        #expect(try moult("resume", "new.sqlite").exit == 4)
    }
}
