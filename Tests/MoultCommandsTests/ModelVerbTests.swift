import Foundation
import MoultCoreData
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

    /// `App 2` has an index and another default value, which no version hash shows.
    private func besideEqualHashes() throws -> Tool {
        let moult = Tool(folder: try ScratchFolder())
        let index = """
            <fetchIndex name="byCode"><fetchIndexElement property="code" type="Binary" order="ascending"/>
            <fetchIndexElement property="count" type="Binary" order="ascending"/></fetchIndex>
            """
        let added = "<attribute name=\"more\" optional=\"YES\" attributeType=\"String\"/>"
        let versions = [("App", "1", ""), ("App 2", "2", index), ("App 3", "2", index + added)]
        for (name, value, more) in versions {
            let folder = "\(moult.folder.path)/App.xcdatamodeld/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try """
            <model><entity name="Order" representedClassName="\(name == "App" ? "Order" : "ShopOrder")">
            <attribute name="code" optional="YES" attributeType="String"/>
            <attribute name="count" attributeType="Integer 16" defaultValueString="\(value)"/>\(more)
            </entity></model>
            """.write(toFile: folder + "/contents", atomically: true, encoding: .utf8)
        }
        return moult
    }

    @Test func `versions of equal hashes are told apart by what they are`() throws {
        let moult = try besideEqualHashes()
        let paths = ["App", "App 2"].map { "App.xcdatamodeld/\($0).xcdatamodel" }
        let byPath = try moult("diff", paths[0], paths[1], "--check")
        let byName = try moult("diff", "App", "App 2", "--model", "App.xcdatamodeld", "--check")
        #expect(byName.exit == 1 && byName.output == byPath.output, "\(byName)")
        #expect(byName.output.contains("byCode") && byName.output.contains("A store of either opens with the other."))
        // Each has its own tables and values, in a new store, in SQL and as a file.
        for (name, count) in [("App", "0"), ("App 2", "1")] {
            let store = moult.folder.path + "/\(name).sqlite"
            #expect(try moult("create", store, "--model", "App.xcdatamodeld", "--version", name).exit == 0)
            let indexes = "SELECT count(*) FROM sqlite_master WHERE name = 'Z_Order_byCode'"
            #expect(try SQLiteShell.run(store, indexes) == count + "\n")
            let ddl = try moult("ddl", "App.xcdatamodeld", "--version", name).output
            #expect(ddl.contains("Z_Order_byCode") == (count == "1"))
        }
        #expect(try moult("schema", "export", "out", "--model", "App.xcdatamodeld").exit == 0)
        #expect(try moult.shell("grep -c byCode out/App.json").output == "0\n")
        #expect(try moult.shell("grep -c byCode 'out/App 2.json'").output != "0\n")
        let model = URL(fileURLWithPath: moult.folder.path + "/App.xcdatamodeld")
        let versions = try ModelVersions(contentsOf: model)
        #expect(["App", "App 2"].map { versions[$0]?.model.entities[0].fetchIndexes.count } == [0, 1])
        // No migration happens between them.
        let plan = try moult("plan", "App.sqlite", "--model", "App.xcdatamodeld", "--to", "App 2")
        #expect(plan.output.contains("There is nothing to do."), "\(plan)")
    }

    @Test func `the history of a model has each version of equal hashes, and lint looks at the step between them`()
        throws
    {
        let moult = try besideEqualHashes()
        let lines = try moult("changelog", "App.xcdatamodeld").output
        let headings = lines.split(separator: "\n").filter { $0.hasPrefix("## ") }
        #expect(headings == ["## App 3", "## App 2", "## App"])
        let second = try #require(lines.components(separatedBy: "## App 2").last)
        #expect(second.contains("Without a migration:") && second.contains("byCode"), "\(lines)")
        #expect(
            try moult("schema", "bump", "App.xcdatamodeld", "--from", "App", "--to", "App 2").output.contains("patch"))
        let found = "App to App 2: The class name of Order changes from Order to ShopOrder."
        #expect(try moult("lint", "App.xcdatamodeld").output.contains(found))
        // A release of the older one is none of the newer one.
        #expect(
            try moult.shell("mv 'App.xcdatamodeld/App 2.xcdatamodel' 'App.xcdatamodeld/App 3.xcdatamodel' .").exit == 0)
        #expect(try moult("lock", "App.xcdatamodeld").exit == 0)
        #expect(try moult.shell("mv 'App 2.xcdatamodel' 'App 3.xcdatamodel' App.xcdatamodeld").exit == 0)
        #expect(try moult("lint", "App.xcdatamodeld").output.contains(found))
        #expect(try moult("lock", "App.xcdatamodeld").exit == 0)
        #expect(try !moult("lint", "App.xcdatamodeld").output.contains(found))
    }

    @Test func `where the mark of the current version cannot be read, none is locked or opened`() throws {
        let moult = try Tool.besideForumModel()
        let model = moult.folder.path + "/Forum.xcdatamodeld"
        try "<plist".write(toFile: model + "/.xccurrentversion", atomically: true, encoding: .utf8)
        #expect(try moult("lock", "Forum.xcdatamodeld").exit == 4)
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/moult.lock"))
        let error = #expect(throws: MigrationError.self) {
            try ManagedObjectModel(contentsOf: URL(fileURLWithPath: model))
        }
        #expect(error?.code == .modelInvalid && error?.place.hasSuffix(".xccurrentversion") == true)
    }

    @Test func `an answers file that is none is wrong usage`() throws {
        let moult = try Tool.besideForumModel()
        try Data("[]".utf8).write(to: URL(fileURLWithPath: moult.folder.path + "/answers.json"))
        let arguments = ["diff", "Forum", "Forum 2", "--model", "Forum.xcdatamodeld", "--answers"]
        #expect(try moult.run(Tool.path, arguments + ["answers.json"]).exit == 2)
        #expect(try moult.run(Tool.path, arguments + ["missing.json"]).exit == 4)
    }
}
