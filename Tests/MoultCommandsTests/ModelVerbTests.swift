import Foundation
import TestSupport
import Testing

@Suite("moult ddl and diff")
struct ModelVerbTests {
    @Test func `what ddl prints is SQL, one statement a line, and sqlite3 makes the tables of it`() throws {
        let moult = try Tool.besideForumModel()
        let result = try moult("ddl", "Forum.xcdatamodeld", "--version", "Forum 2", "--framework", "1344")
        #expect(result.exit == 0)
        #expect(result.errors.isEmpty)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { ($0.hasPrefix("CREATE ") || $0.hasPrefix("INSERT ")) && $0.hasSuffix(";") })
        let store = moult.folder.path + "/fresh.sqlite"
        _ = try SQLiteShell.run(store, result.output)
        let made = try SQLiteShell.run(store, "SELECT sql || ';' FROM sqlite_master WHERE sql NOT NULL ORDER BY rowid")
        #expect(made == lines.filter { $0.hasPrefix("CREATE ") }.map { $0 + "\n" }.joined())
        #expect(
            try SQLiteShell.run(store, "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY")
                == "1|Forum\n2|Post\n3|Thread\n4|User\n")
    }

    @Test func `ddl without a version takes the bundle's current one, and refuses a level nobody has seen`() throws {
        let moult = try Tool.besideForumModel()
        #expect(try moult("ddl", "Forum.xcdatamodeld").output.contains("CREATE TABLE ZTOPIC "))
        #expect(try moult("ddl", "Forum.xcdatamodeld", "--framework", "9999").exit == 3)
        let wrong = try moult("ddl", "Forum.xcdatamodeld", "--version", "Forum 4")
        #expect(wrong.exit == 2)
        #expect(wrong.errors.contains("Forum, Forum 2, Forum 3"))
    }

    @Test func `diff says each change in a sentence, and exits with 1 only under --check`() throws {
        let moult = try Tool.besideForumModel()
        let plain = try moult("diff", "Forum", "Forum 2", "--model", "Forum.xcdatamodeld")
        #expect(plain.exit == 0)
        #expect(plain.output.contains("The attribute Post.body is renamed from text."))
        #expect(!plain.output.contains("\u{1B}"))
        let document = try moult("diff", "Forum", "Forum 2", "--model", "Forum.xcdatamodeld", "--check", "--json")
        #expect(document.exit == 1)
        #expect(try document.document["equal"] as? Bool == false)
        #expect(try document.document["inferable"] as? Bool == true)
    }

    @Test func `equal models are equal with --check too, by path or by name`() throws {
        let moult = try Tool.besideForumModel()
        let same = try moult("diff", "Forum.xcdatamodeld", "Forum.xcdatamodeld", "--check")
        #expect(same.exit == 0)
        #expect(same.output == "Forum 3 and Forum 3 are equal.\n")
        let version = "Forum.xcdatamodeld/Forum.xcdatamodel"
        #expect(try moult("diff", version, version, "--check").exit == 0)
        #expect(try moult("diff", version, "Forum.xcdatamodeld", "--check").exit == 1)
    }

    @Test func `an answers file that is none is wrong usage`() throws {
        let moult = try Tool.besideForumModel()
        try Data("[]".utf8).write(to: URL(fileURLWithPath: moult.folder.path + "/answers.json"))
        let arguments = ["diff", "Forum", "Forum 2", "--model", "Forum.xcdatamodeld", "--answers"]
        #expect(try moult.run(Tool.path, arguments + ["answers.json"]).exit == 2)
        #expect(try moult.run(Tool.path, arguments + ["missing.json"]).exit == 4)
    }
}
