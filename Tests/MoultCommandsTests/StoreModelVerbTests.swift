import Foundation
import TestSupport
import Testing

@Suite("The model inside a store")
struct StoreModelVerbTests {  // tier: long
    /// The file of the version that `forum.sqlite` is of.
    private static let source = "Forum.xcdatamodeld/Forum.xcdatamodel"

    private func entities(_ result: Tool.Result) throws -> [String: String] {
        let versions = try #require(try result.document["versions"] as? [String: [String: any Sendable]])
        #expect(versions.count == 1)
        return try #require(versions.values.first?["entities"] as? [String: String])
    }

    @Test func `hash, ddl and diff read it as they read the source that it was compiled from`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let (inside, source) = try (
            moult("hash", "forum.sqlite", "--json"), moult("hash", Self.source, "--json")
        )
        #expect(try entities(inside) == entities(source))
        let tables = try SQLiteShell.run(
            moult.folder.path + "/forum.sqlite",
            "SELECT sql || ';' FROM sqlite_master WHERE sql NOT NULL ORDER BY rowid")
        #expect(try moult("ddl", "forum.sqlite").output.hasPrefix(tables))
        // A compiled model does not say which types the source's classes have.
        let diff = try moult("diff", Self.source, "forum.sqlite")
        #expect(diff.exit == 0 && diff.output.contains("A store of either opens with the other."))
        #expect(try moult("diff", "forum.sqlite", "Forum.xcdatamodeld", "--check").exit == 1)
    }

    @Test func `schema export writes it as files, which have its hashes`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        #expect(try moult("schema", "export", "schema", "--model", "forum.sqlite").exit == 0)
        let expected = try entities(moult("hash", Self.source, "--json"))
        #expect(try entities(moult("hash", "schema", "--json")) == expected)
        #expect(try entities(moult("hash", "schema/Model.xcdatamodeld", "--json")) == expected)
    }

    @Test(arguments: [
        ["status"], ["plan"], ["validate"], ["validate", "--full"], ["repair"], ["repair", "--dry-run"], ["doctor"],
        ["inspect"], ["dump"], ["finish"],
        ["backup", "create"], ["quarantine", "restore", "--all"],
    ])
    func `every verb that works on a store takes it where no model is named`(verb: [String]) throws {
        let moult = try StoreVerbTests.besideForumStore()
        let words = verb.prefix { !$0.hasPrefix("-") }
        let result = try moult.run(Tool.path, words + ["forum.sqlite"] + verb.dropFirst(words.count))
        #expect(result.exit == 0, "\(result)")
        let store = moult.folder.path + "/forum.sqlite"
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM ZPOST; PRAGMA quick_check") == "200\nok\n")
    }

    @Test(arguments: [
        ["migrate"], ["migrate", "--dry-run"], ["migrate", "--into", "new.sqlite"], ["migrate", "--budget", "10s"],
        ["downgrade"], ["mirror", "start", "--at", "new.sqlite"],
    ])
    func `a verb whose goal is a version names the model next to the store, and takes none by itself`(
        verb: [String]
    ) throws {
        let moult = try StoreVerbTests.besideForumStore()
        let words = verb.prefix { !$0.hasPrefix("-") }
        let options = verb.dropFirst(words.count)
        let result = try moult.run(Tool.path, words + ["forum.sqlite"] + options)
        #expect(result.exit == 2 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("forum.sqlite --model Forum.xcdatamodeld"), "\(result)")
        #expect(try SQLiteShell.run(moult.folder.path + "/forum.sqlite", "SELECT count(*) FROM ZTHREAD") != "")
        // The remedy, followed.
        let named = try moult.run(Tool.path, words + ["forum.sqlite", "--model", "Forum.xcdatamodeld"] + options)
        #expect(named.exit == 0 || verb == ["downgrade"], "\(named)")
        // In another folder too, and where there is no model or more than one.
        #expect(
            try moult.shell("mkdir a b && mv forum.sqlite a && cp -r Forum.xcdatamodeld a/Old.xcdatamodeld").exit == 0)
        let two = try moult.run(Tool.path, words + ["a/forum.sqlite"] + options)
        #expect(
            two.exit == 2 && two.errors.contains("--model Forum.xcdatamodeld or --model a/Old.xcdatamodeld"), "\(two)")
    }

    @Test func `inspect names its entities, with their rows, and does without a model where there is none`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        try FileManager.default.removeItem(atPath: moult.folder.path + "/Forum.xcdatamodeld")
        func rows() throws -> [String: Int] {
            let result = try moult("inspect", "forum.sqlite", "--json")
            #expect(result.exit == 0, "\(result)")
            let entities = try #require(try result.document["entities"] as? [[String: any Sendable]])
            return Dictionary(
                uniqueKeysWithValues: entities.compactMap { entity in
                    (entity["name"] as? String).flatMap { name in (entity["rows"] as? Int).map { (name, $0) } }
                })
        }
        let expected = ["Forum": 3, "User": 20, "Thread": 30, "Post": 200]
        #expect(try rows() == expected)
        let version = try moult("inspect", "forum.sqlite", "--json").document["version"] as? [String: any Sendable]
        #expect(version?["name"] as? String == "1.0")
        _ = try SQLiteShell.run(moult.folder.path + "/forum.sqlite", "DROP TABLE Z_MODELCACHE")
        let without = try moult("inspect", "forum.sqlite")
        #expect(without.exit == 0 && without.errors.contains("contains no model"), "\(without)")
    }

    @Test func `a damaged store whose metadata are gone is salvaged by it`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let store = moult.folder.path + "/forum.sqlite"
        _ = try SQLiteShell.run(store, "UPDATE Z_METADATA SET Z_PLIST = x'00'")
        // Without its metadata the new store has another UUID, which is noted.
        #expect(try moult("salvage", "forum.sqlite", "saved.sqlite").exit == 1)
        #expect(try SQLiteShell.run(moult.folder.path + "/saved.sqlite", "SELECT count(*) FROM ZPOST") == "200\n")
        #expect(try moult("validate", "saved.sqlite", "--model", Self.source).exit == 0)
    }

    @Test func `another store as the model is a version to go to, from the one inside the store itself`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        #expect(try moult("create", "new.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum 2").exit == 0)
        let status = try moult("status", "forum.sqlite", "--model", "new.sqlite", "--json").document
        #expect(status["state"] as? String == "behind")
        let (theirs, ours) = try (
            moult("plan", "forum.sqlite", "--model", "new.sqlite", "--json").document,
            moult("plan", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--to", "Forum 2", "--json").document
        )
        let sentences = { (plan: [String: any Sendable]) in
            (plan["edges"] as? [[String: any Sendable]])?.flatMap { $0["sentences"] as? [String] ?? [] }
        }
        #expect(sentences(theirs)?.isEmpty == false)
        #expect(sentences(theirs) == sentences(ours))
        #expect(try moult("migrate", "forum.sqlite", "--model", "new.sqlite").exit == 0)
        let now = try moult("status", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--json").document
        #expect(now["version"] as? String == "Forum 2")
        #expect(try moult("validate", "forum.sqlite").exit == 0)
    }

    /// What is done to the cache, and what every verb then says.
    private static let faults = [
        ("UPDATE Z_MODELCACHE SET Z_CONTENT = NULL", "modelNotFound", "contains no model"),
        ("DELETE FROM Z_MODELCACHE", "modelNotFound", "contains no model"),
        ("DROP TABLE Z_MODELCACHE", "modelNotFound", "contains no model"),
        ("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00FF00FF'", "modelInvalid", "cannot be read"),
        ("UPDATE Z_MODELCACHE SET Z_CONTENT = 'text'", "modelInvalid", "another kind of value"),
        (
            "ATTACH 'OTHER' AS o; UPDATE Z_MODELCACHE SET Z_CONTENT = (SELECT Z_CONTENT FROM o.Z_MODELCACHE)",
            "modelInvalid", "does not match its metadata"
        ),
    ]

    @Test
    func `where there is none, a damaged one or another one, that is said, and with a model everything works`() throws {
        for (sql, code, says) in Self.faults {
            let moult = try StoreVerbTests.besideForumStore()
            let folder = moult.folder.path
            #expect(try moult("create", "other.sqlite", "--model", "Forum.xcdatamodeld").exit == 0)
            _ = try SQLiteShell.run(
                folder + "/forum.sqlite", sql.replacingOccurrences(of: "OTHER", with: folder + "/other.sqlite"))
            // A model nearby would be used.
            try FileManager.default.createDirectory(atPath: folder + "/models", withIntermediateDirectories: true)
            try FileManager.default.moveItem(
                atPath: folder + "/Forum.xcdatamodeld", toPath: folder + "/models/Forum.xcdatamodeld")
            for verb in [
                ["status"], ["plan"], ["migrate"], ["validate"], ["repair"], ["hash"], ["ddl"],
                ["schema", "export", "schema", "--model"], ["status", "other.sqlite", "--model"],
            ] {
                let result = try moult.run(Tool.path, verb + ["forum.sqlite", "--json"])
                // A verb that writes needs a model to be named: that is wrong usage.
                let needsModel = verb == ["migrate"]
                #expect(result.exit == (needsModel ? 2 : 4), "\(sql) \(verb): \(result)")
                let error = try #require(try result.document["error"] as? [String: any Sendable], "\(result)")
                #expect(error["code"] as? String == (needsModel ? "usage" : code), "\(sql) \(verb): \(error)")
                #expect((error["message"] as? String)?.contains(says) == true, "\(sql) \(verb): \(error)")
                #expect((error["place"] as? String) == "forum.sqlite", "\(sql) \(verb): \(error)")
                #expect((error["remedy"] as? String)?.contains("--model PATH") == true, "\(error)")
            }
            let salvaged = try moult("salvage", "forum.sqlite", "saved.sqlite", "--json")
            #expect(salvaged.exit == 4 && !FileManager.default.fileExists(atPath: folder + "/saved.sqlite"))
            #expect(try moult("validate", "forum.sqlite", "--model", "models/" + Self.source, "--json").exit < 2)
            #expect(try moult("plan", "forum.sqlite", "--model", "models/Forum.xcdatamodeld").exit == 0)
            #expect(try moult("salvage", "forum.sqlite", "saved.sqlite", "--model", "models/" + Self.source).exit == 0)
        }
    }

    @Test func `what no verb can do without a model is still wrong usage`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        #expect(try moult("create", "fresh.sqlite").exit == 2)
        #expect(try moult("salvage", "forum.sqlite", "saved.sqlite", "--version", "Forum").exit == 2)
        #expect(try moult("hash", "forum.sqlite", "--order", "A,B").exit == 2)
        #expect(try moult("status", "nothing.sqlite").exit == 4)
    }
}
