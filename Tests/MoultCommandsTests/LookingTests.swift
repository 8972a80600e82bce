import Foundation
import TestSupport
import Testing

@Suite("moult status, inspect, dump and answer")
struct LookingTests {  // tier: long
    private func status(_ moult: Tool, _ arguments: String...) throws -> (Int32, [String: any Sendable]) {
        let result = try moult.run(
            Tool.path, ["status", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--json"] + arguments)
        return (result.exit, try result.document)
    }

    @Test func `status tells behind, current, ahead, unknown and no store apart, by exit code too`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let before = try moult.listing()
        var (exit, document) = try status(moult)
        #expect(exit == 0)
        #expect(document["state"] as? String == "behind")
        #expect(document["version"] as? String == "Forum")
        #expect(document["latest"] as? String == "Forum 3")
        #expect(document["behind"] as? Int == 2)
        #expect(try status(moult, "--check").0 == 1)
        #expect(try moult.listing() == before)
        #expect(try status(moult, "--to", "Forum").1["state"] as? String == "current")

        let migrated = try moult("migrate", "forum.sqlite", "--model", "Forum.xcdatamodeld")
        #expect(migrated.exit == 0)
        (exit, document) = try status(moult, "--check")
        #expect(exit == 0)
        #expect(document["state"] as? String == "current")
        (exit, document) = try status(moult, "--to", "Forum 2")
        #expect(exit == 3)
        #expect(document["state"] as? String == "ahead")

        let unknown = try moult("status", "forum.sqlite", "--model", "Forum.xcdatamodeld/Forum 2.xcdatamodel", "--json")
        #expect(unknown.exit == 3)
        #expect(try unknown.document["state"] as? String == "unknown")
        #expect(try unknown.document["nearest"] as? String == "Forum 2")

        try Data(repeating: 7, count: 5000).write(to: URL(fileURLWithPath: moult.folder.path + "/forum.sqlite"))
        (exit, document) = try status(moult)
        #expect(exit == 4)
        #expect(document["state"] as? String == "notCoreData")
        #expect(Set(document.keys).isSuperset(of: ["candidates", "nearest", "pendingWork"]))
    }

    @Test func `inspect refuses an empty mapping model`() throws {
        let moult = Tool(folder: try ScratchFolder())
        let empty = moult.folder.path + "/Empty.xcmappingmodel"
        try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: empty + "/xcmapping.xml"))
        let refused = try moult("inspect", "Empty.xcmappingmodel")
        #expect(refused.exit == 4)
        #expect(refused.errors.contains("The mapping model is an empty file."))
    }

    @Test(.enabled(if: Corpus.has("/Moody 4-Moody 5.xcmappingmodel")))
    func `inspect shows a mapping model of Apple's compiler`() throws {
        let moult = Tool(folder: try ScratchFolder())
        let path = try #require(Corpus.paths { $0.hasSuffix("/Moody 4-Moody 5.xcmappingmodel") }.first)
        let shown = try moult("inspect", path)
        #expect(shown.exit == 0)
        #expect(shown.output.contains("Moody 4-Moody 5: Moody 4 → Moody 5\n"))
        #expect(shown.output.contains("transform, Country → Country\n"))
        #expect(shown.output.contains(" = $source.continent.numericISO3166Code\n"))
        #expect(shown.output.contains("No mapping takes the objects of Continent"))
        #expect(try moult("inspect", path, "--json").document["to"] as? String == "Moody 5")
    }

    @Test
    func `inspect says version, rows, framework, uuid and metadata, without a model too, and changes nothing`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let before = try moult.listing()
        let document = try moult("inspect", "forum.sqlite", "--json").document
        let entities = try #require(document["entities"] as? [[String: any Sendable]])
        #expect(entities.map { $0["name"] as? String } == ["Forum", "Post", "Thread", "User"])
        #expect(entities.map { $0["rows"] as? Int } == [3, 200, 30, 20])
        #expect(document["framework"] as? Int == 1526)
        let uuid = try SQLiteShell.run(
            moult.folder.path + "/forum.sqlite", "SELECT Z_UUID FROM Z_METADATA", immutable: true)
        #expect((document["uuid"] as? String).map { $0 + "\n" } == uuid)
        #expect((document["metadata"] as? [String: any Sendable])?["NSStoreType"] as? String == "SQLite")
        #expect((document["file"] as? [String: any Sendable])?["journalMode"] as? String == "wal")
        let named = try moult("inspect", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--json").document
        #expect((named["version"] as? [String: any Sendable])?["name"] as? String == "Forum")
        #expect(try moult("inspect", "forum.sqlite").output.contains("Post     200\n"))
        #expect(try moult.listing() == before)
    }

    @Test func `dump prints one object a line, by entity and key, as sqlite3 sees the values`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let lines = try moult("dump", "forum.sqlite", "--json").output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: any Sendable])
        }
        #expect(lines.count == 253)
        let places = lines.map { [$0["entity"] as? String ?? "", String(format: "%06d", $0["pk"] as? Int ?? 0)] }
        #expect(places == places.sorted { $0.lexicographicallyPrecedes($1) })
        let posts = lines.filter { $0["entity"] as? String == "Post" }.compactMap {
            $0["values"] as? [String: any Sendable]
        }
        let texts = try SQLiteShell.run(moult.folder.path + "/forum.sqlite", "SELECT ZTEXT FROM ZPOST ORDER BY Z_PK")
        #expect(posts.compactMap { $0["text"] as? String }.map { $0 + "\n" }.joined() == texts)
        let one = try moult("dump", "forum.sqlite", "--entity", "User", "--model", "Forum.xcdatamodeld", "--json")
        #expect(one.output.split(separator: "\n").count == 20)
        #expect(try moult("dump", "forum.sqlite", "--entity", "Usre").errors.contains("Did you mean User?"))
    }

    @Test func `a reader that goes away ends dump without a complaint`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let result = try moult.run("/bin/bash", ["-c", "'\(Tool.path)' dump forum.sqlite --json | head -1"])
        #expect(result.exit == 0)
        #expect(result.errors.isEmpty)
    }

    @Test func `answer shows what is open, records what is said, and the plan takes it`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum 2.xcdatamodel/contents"
        let undeclared = try String(contentsOfFile: contents, encoding: .utf8)
            .replacingOccurrences(of: " elementID=\"text\"", with: "")
        try undeclared.write(toFile: contents, atomically: true, encoding: .utf8)
        let arguments = ["Forum.xcdatamodeld", "--to", "Forum 2", "--answers", "answers.json"]
        let open = try moult.run(Tool.path, ["answer"] + arguments)
        #expect(open.exit == 3)
        #expect(open.output.contains("Is Post.body new, or was it renamed?"))
        let plan = ["plan", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--to", "Forum 2"]
        #expect(try moult.run(Tool.path, plan).exit == 3)
        #expect(try moult.run(Tool.path, ["answer"] + arguments + ["--set", "Post.body=maybe"]).exit == 2)
        #expect(try moult.run(Tool.path, ["answer"] + arguments + ["--set", "Post.body=rename:text"]).exit == 0)
        let answered = try moult.run(Tool.path, plan + ["--answers", "answers.json"])
        #expect(answered.exit == 0)
        #expect(answered.output.contains("The attribute Post.body is renamed from text."))
    }
}

@Suite("Examples of the help")
struct ExampleTests {  // tier: long
    @Test(arguments: VerbExample.all)
    func `every example runs as it stands, and its piped output has no escapes`(example: VerbExample) throws {
        let result = try example.fixture().shell(example.command)
        #expect(result.exit == 0, "\(result.errors)")
        #expect(!(result.output + result.errors).contains("\u{1B}"))
    }
}
