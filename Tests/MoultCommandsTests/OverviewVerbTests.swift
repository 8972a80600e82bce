import Foundation
import TestSupport
import Testing

@Suite("A path in place of a verb")
struct OverviewVerbTests {  // tier: long
    private func entities(_ document: [String: any Sendable]) throws -> [String: Int] {
        let list = try #require(document["entities"] as? [[String: any Sendable]])
        return Dictionary(
            uniqueKeysWithValues: list.compactMap { entity in
                (entity["name"] as? String).flatMap { name in (entity["rows"] as? Int).map { (name, $0) } }
            })
    }

    @Test func `it shows version, entities, plan and room with the model beside the store, and changes nothing`() throws
    {
        let moult = try StoreVerbTests.besideForumStore()
        let before = try moult.listing()
        let shown = try moult("forum.sqlite")
        #expect(shown.exit == 0, "\(shown)")
        for text in [
            "2 behind Forum 3", "model: Forum.xcdatamodeld", "Post     200", "Forum → Forum 2 → Forum 3",
            "The attribute Post.body is renamed from text.", "of free space", "Nothing is wrong with this store.",
            "moult migrate forum.sqlite --model Forum.xcdatamodeld",
        ] {
            #expect(shown.output.contains(text), "\(text): \(shown.output)")
        }
        #expect(shown.errors.isEmpty)
        // One screen.
        #expect(shown.output.split(separator: "\n", omittingEmptySubsequences: false).count <= 40)
        let document = try moult("--json", "forum.sqlite").document
        #expect(try moult.listing() == before)
        let store = moult.folder.path + "/forum.sqlite"
        for (entity, rows) in try entities(document) {
            let counted = try SQLiteShell.run(store, "SELECT count(*) FROM Z\(entity.uppercased())")
            #expect(counted == "\(rows)\n", "\(entity)")
        }
        #expect(try entities(document).count == 4)
        let status = try moult("status", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--json").document
        #expect((document["status"] as? [String: any Sendable])?["behind"] as? Int == status["behind"] as? Int)
        #expect(document["bytes"] as? Int == (try FileManager.default.attributesOfItem(atPath: store)[.size] as? Int))
    }

    @Test func `the size of an entity is that of its table and its indexes, as sqlite3 sees them`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let list = try #require(try moult("forum.sqlite", "--json").document["entities"] as? [[String: any Sendable]])
        let post = try #require(list.first { $0["name"] as? String == "Post" })
        let pages = try SQLiteShell.run(
            moult.folder.path + "/forum.sqlite",
            "SELECT sum(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_master WHERE tbl_name = 'ZPOST')")
        #expect(post["bytes"] as? Int == Int(pages.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    @Test func `the three commands work as printed, one after the other`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        for version in ["Forum", "Forum 3"] {
            let document = try moult("forum.sqlite", "--json").document
            #expect((document["status"] as? [String: any Sendable])?["version"] as? String == version)
            let next = try #require(document["next"] as? [String])
            #expect(next.count == 3)
            for command in next {
                let done = try moult.shell(command)
                #expect(done.exit == 0, "\(command): \(done.errors)")
            }
        }
    }

    @Test func `a damaged store gets what is wrong and how to save it`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let store = moult.folder.path + "/forum.sqlite"
        let file = try #require(FileHandle(forUpdatingAtPath: store))
        let size = try file.seekToEnd()
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0xAA, count: Int(size) - 4096))
        try file.close()
        let shown = try moult("forum.sqlite")
        #expect(shown.exit != 0)
        #expect((shown.output + shown.errors).contains("moult salvage forum.sqlite"), "\(shown)")
    }

    @Test(arguments: ["missing.sqlite", "./missing", ".", "Forum.xcdatamodeld", "text.sqlite"])
    func `what is no store is said as status says it`(path: String) throws {
        let moult = try Tool.besideForumModel()
        try "not a database".write(toFile: moult.folder.path + "/text.sqlite", atomically: true, encoding: .utf8)
        let shown = try moult.run(Tool.path, [path])
        #expect(shown.exit == 4, "\(shown)")
        #expect(shown.errors.contains("  → "), "\(shown)")
    }

    @Test func `a verb after the path is put in front`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let refused = try moult("forum.sqlite", "inspect")
        #expect(refused.exit == 2)
        let command = try #require(refused.errors.split(separator: "\n").last { $0.contains("moult inspect") })
        let typed = try #require(command.split(separator: "`").first { $0.hasPrefix("moult inspect") })
        #expect(try moult.shell(String(typed)).exit == 0)
        #expect(try moult("forum.sqlite", "--help").output.contains("Usage: moult STORE [options]"))
    }

    @Test func `a verb is never taken for a file of its name`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        try FileManager.default.copyItem(
            atPath: moult.folder.path + "/forum.sqlite", toPath: moult.folder.path + "/status")
        #expect(try moult("status").errors.contains("needs STORE"))
        #expect(try moult("./status").output.contains("Post     200"))
    }
}

@Suite("The model nearby")
struct NearbyModelTests {  // tier: long
    private func copy(_ name: String, to other: String, _ moult: Tool) throws {
        try FileManager.default.copyItem(
            atPath: moult.folder.path + "/" + name, toPath: moult.folder.path + "/" + other)
    }

    @Test(arguments: [
        ["status"], ["plan"], ["inspect"], ["doctor"], ["validate"], ["dump"], ["views"], ["query", "SELECT 1"],
    ])
    func `a verb that reads uses the one model nearby`(verb: [String]) throws {
        let moult = try StoreVerbTests.besideForumStore()
        let arguments = [verb[0], "forum.sqlite"] + verb.dropFirst() + ["--json"]
        let found = try moult.run(Tool.path, arguments)
        let named = try moult.run(Tool.path, arguments + ["--model", "Forum.xcdatamodeld"])
        #expect(found.exit == named.exit && found.exit == 0, "\(found)")
        #expect(found.output == named.output)
    }

    @Test func `the model is found next to the store from another folder too`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        var outside = Tool(folder: try ScratchFolder())
        outside.environment = moult.environment
        let store = moult.folder.path + "/forum.sqlite"
        #expect(try outside("status", store, "--json").document["behind"] as? Int == 2)
        // And in the working folder, if the store is elsewhere.
        try copy("forum.sqlite", to: "../elsewhere-\(moult.folder.path.hash).sqlite", moult)
        let elsewhere = "../elsewhere-\(moult.folder.path.hash).sqlite"
        defer { try? FileManager.default.removeItem(atPath: moult.folder.path + "/" + elsewhere) }
        #expect(try moult("status", elsewhere, "--json").document["behind"] as? Int == 2)
    }

    @Test func `of several models with the version of the store none is guessed, and all are named`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        try copy("Forum.xcdatamodeld", to: "Copy.xcdatamodeld", moult)
        for arguments in [["status", "forum.sqlite"], ["forum.sqlite"], ["dump", "forum.sqlite"]] {
            let result = try moult.run(Tool.path, arguments)
            #expect(result.exit == 0)
            #expect(result.errors.contains("Copy.xcdatamodeld, Forum.xcdatamodeld"), "\(arguments): \(result.errors)")
        }
        #expect(try moult("status", "forum.sqlite", "--json").document["behind"] as? Int == 0)
        let refused = try moult("migrate", "forum.sqlite")
        #expect(refused.exit == 2)
        #expect(refused.errors.contains("--model Copy.xcdatamodeld or --model Forum.xcdatamodeld"), "\(refused)")
    }

    @Test func `the model of another app is not taken`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        try FileManager.default.removeItem(atPath: moult.folder.path + "/Forum.xcdatamodeld")
        let other = moult.folder.path + "/Other.xcdatamodeld/Other.xcdatamodel"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        let contents = """
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Invoice">\
            <attribute name="number" optional="YES" attributeType="String"/></entity></model>
            """
        try contents.write(toFile: other + "/contents", atomically: true, encoding: .utf8)
        let status = try moult("status", "forum.sqlite")
        #expect(status.exit == 0 && status.output.contains("that of the model inside it."))
        #expect(status.errors.contains("Other.xcdatamodeld, has no version of this store"), "\(status)")
        #expect(try moult("dump", "forum.sqlite").errors.isEmpty)
    }

    @Test(arguments: [
        ["migrate", "forum.sqlite", "--dry-run"], ["downgrade", "forum.sqlite", "--to", "Forum", "--dry-run"],
        ["mirror", "start", "forum.sqlite", "--at", "new store.sqlite"], ["create", "new store.sqlite"],
        ["schema", "export", "S"], ["fleet", "plan", ".", "-o", "fleet.jsonl"], ["lock"], ["hash"],
    ])
    func `a verb that needs a model and names none ends with 2, and what it says to type works`(
        arguments: [String]
    ) throws {
        let moult = try StoreVerbTests.besideForumStore()
        let before = try moult.listing()
        let refused = try moult.run(Tool.path, arguments)
        #expect(refused.exit == 2, "\(refused)")
        #expect(try moult.listing() == before)
        let line = try #require(refused.errors.split(separator: "\n").last)
        let start = try #require(line.range(of: "moult \(arguments[0])", options: .backwards)).lowerBound
        let command = line[start...].prefix { $0 != "`" }
        let done = try moult.shell(String(command))
        #expect(done.exit == 0, "\(command): \(done.errors)")
    }

    @Test func `a store without a model inside is not changed by a guess`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let store = moult.folder.path + "/forum.sqlite"
        _ = try SQLiteShell.run(store, "DROP TABLE Z_MODELCACHE")
        #expect(try moult("inspect", "forum.sqlite", "--json").exit == 0)
        let refused = try moult("repair", "forum.sqlite")
        #expect(refused.exit == 2)
        #expect(refused.errors.contains("moult repair forum.sqlite --model Forum.xcdatamodeld"), "\(refused)")
        #expect(try moult("repair", "forum.sqlite", "--model", "Forum.xcdatamodeld").exit == 0)
    }

    @Test func `names of versions need no model's path where there is one model`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let found = try moult("diff", "Forum", "Forum 3")
        #expect(found.exit == 0, "\(found)")
        #expect(found.output == (try moult("diff", "Forum", "Forum 3", "--model", "Forum.xcdatamodeld").output))
        let picture = try moult("diagram", "forum.sqlite", "--plan")
        #expect(picture.exit == 0 && picture.output.contains("Forum 3"), "\(picture)")
    }
}
