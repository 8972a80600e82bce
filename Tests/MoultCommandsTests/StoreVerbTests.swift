import Foundation
import TestSupport
import Testing

@Suite("moult create, lock, backup, rollback, runs and log")
struct StoreVerbTests {
    /// A tool beside the forum model and `forum.sqlite`, a store of its first version.
    /// Made once and copied, which is faster than to make it each time.
    private static let forum = Result {
        let moult = try Tool.besideForumModel()
        let made = try moult(
            "create", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum", "--rows",
            "Forum=3,User=20,Thread=30,Post=200")
        try #require(made.exit == 0, "\(made.errors)")
        return moult
    }

    static func besideForumStore() throws -> Tool {
        let moult = try Tool.besideForumModel()
        _ = try moult.folder.copyStore(forum.get().folder.path + "/forum.sqlite")
        return moult
    }

    @Test func `create makes the tables that ddl prints, fills them, and refuses a path that is taken`() throws {
        let moult = try Self.besideForumStore()
        let store = moult.folder.path + "/forum.sqlite"
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM ZPOST; PRAGMA quick_check") == "200\nok\n")
        let tables = try SQLiteShell.run(
            store, "SELECT sql || ';' FROM sqlite_master WHERE sql NOT NULL ORDER BY rowid")
        let ddl = try moult("ddl", "Forum.xcdatamodeld", "--version", "Forum").output
        #expect(ddl.hasPrefix(tables))
        let again = try moult("create", "forum.sqlite", "--model", "Forum.xcdatamodeld")
        #expect(again.exit == 2)
        #expect(try moult("create", "x.sqlite", "--model", "Forum.xcdatamodeld", "--rows", "Nobody=1").exit == 2)
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/x.sqlite"))
    }

    @Test func `a locked version that changes is found, and not locked again unasked`() throws {
        let moult = try Tool.besideForumModel()
        #expect(try moult("lock", "Forum.xcdatamodeld", "--check").exit == 1)
        #expect(try moult("lock", "Forum.xcdatamodeld").exit == 0)
        #expect(try moult("lock", "Forum.xcdatamodeld", "--check").exit == 0)
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum.xcdatamodel/contents"
        let changed = try String(contentsOfFile: contents, encoding: .utf8)
            .replacingOccurrences(of: "name=\"email\" optional=\"YES\"", with: "name=\"mail\" optional=\"YES\"")
        try changed.write(toFile: contents, atomically: true, encoding: .utf8)
        let check = try moult("lock", "Forum.xcdatamodeld", "--check")
        #expect(check.exit == 1)
        #expect(check.output.contains("[released-version-changed]"))
        #expect(try moult("lock", "Forum.xcdatamodeld").exit == 3)
        #expect(try moult("lock", "Forum.xcdatamodeld", "--again").exit == 0)
        #expect(try moult("lock", "Forum.xcdatamodeld", "--check").exit == 0)
    }

    @Test func `a backup is listed, proven, and brings back what was there`() throws {
        let moult = try Self.besideForumStore()
        let store = moult.folder.path + "/forum.sqlite"
        #expect(try moult("backup", "create", "forum.sqlite", "--model", "Forum.xcdatamodeld").exit == 0)
        let backups = try #require(
            try moult("backup", "list", "forum.sqlite", "--json").document["backups"] as? [[String: any Sendable]])
        #expect(backups.count == 1)
        #expect(backups.first?["version"] as? String == "Forum")
        #expect(try moult("backup", "verify", "forum.sqlite").exit == 0)
        _ = try SQLiteShell.run(store, "DELETE FROM ZPOST")
        #expect(try moult("rollback", "forum.sqlite", "--to", "Forum").exit == 0)
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM ZPOST") == "200\n")
        let runs = try #require(
            try moult("runs", "forum.sqlite", "--json").document["runs"] as? [[String: any Sendable]])
        #expect(runs.map { $0["operation"] as? String } == ["rollback"])
        #expect(try moult("log", "forum.sqlite").output.contains("restored the backup"))
    }

    @Test func `a backup that was damaged is found, and not restored`() throws {
        let moult = try Self.besideForumStore()
        _ = try moult("backup", "create", "forum.sqlite")
        let list =
            try moult("backup", "list", "forum.sqlite", "--json").document["backups"] as? [[String: any Sendable]]
        let folder = try #require(list?.first?["folder"] as? String)
        let file = try #require(FileHandle(forUpdatingAtPath: folder + "/forum.sqlite"))
        try file.seek(toOffset: 5000)
        try file.write(contentsOf: Data([0xFF, 0xFE, 0xFD]))
        try file.close()
        #expect(try moult("backup", "verify", "forum.sqlite").exit == 1)
        #expect(try moult("rollback", "forum.sqlite", "--to", URL(fileURLWithPath: folder).lastPathComponent).exit == 4)
        #expect(try moult("rollback", "forum.sqlite", "--to", "nothing").exit == 3)
    }

    @Test func `a backup in a folder that an earlier run was given is found by its name`() throws {
        let moult = try Self.besideForumStore()
        let model = ["--model", "Forum.xcdatamodeld"]
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite", "--backups", "elsewhere"] + model).exit == 0)
        let listed = try moult("backup", "list", "forum.sqlite")
        #expect(listed.output.contains("elsewhere"))
        let all = try #require(
            try moult("backup", "list", "forum.sqlite", "--json").document["backups"] as? [[String: any Sendable]])
        let name = try #require(all.first?["name"] as? String)
        #expect(all.count == 1 && listed.output.contains(name))
        #expect(try moult("backup", "verify", "forum.sqlite", name).exit == 0)
        #expect(try moult("backup", "export", "forum.sqlite", name, "out.tar").exit == 0)
        #expect(try moult("backup", "restore", "forum.sqlite", name).exit == 0)
        let store = moult.folder.path + "/forum.sqlite"
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM ZTHREAD") == "30\n")
        let unknown = try moult("backup", "restore", "forum.sqlite", "none")
        #expect(unknown.exit == 3 && unknown.errors.contains(name), "\(unknown)")
    }
}
