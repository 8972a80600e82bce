import Foundation
import TestSupport
import Testing

@Suite("moult validate --rules and moult quarantine")
struct RuleVerbTests {  // tier: long
    /// A store of the forum's first version in which two threads have no forum and two forums are each other's parents.
    private static func besideBrokenStore() throws -> (Tool, String) {
        let moult = try StoreVerbTests.besideForumStore()
        let store = moult.folder.path + "/forum.sqlite"
        _ = try SQLiteShell.run(
            store,
            """
            UPDATE ZTHREAD SET ZFORUM = 1; UPDATE ZTHREAD SET ZFORUM = NULL WHERE Z_PK IN (4, 9);
            UPDATE ZFORUM SET ZPARENT = NULL; UPDATE ZFORUM SET ZPARENT = 3 - Z_PK WHERE Z_PK < 3
            """)
        try write(
            """
            {"format": 1, "rules": [
              {"name": "homeless", "entity": "Thread", "orphan": "forum", "sentence": "A thread is in no forum.",
               "fix": "quarantine"},
              {"name": "ring", "severity": "warning", "entity": "Forum", "noCycle": "parent",
               "fix": {"nullify": "parent"}}
            ]}
            """, moult)
        return (moult, store)
    }

    private static func write(_ rules: String, _ moult: Tool) throws {
        try Data(rules.utf8).write(to: URL(fileURLWithPath: moult.folder.path + "/rules.json"))
    }

    private static let validate = [
        "validate", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--rules", "rules.json",
    ]

    @Test func `findings are told by rule with their objects, and severity decides how it exits`() throws {
        let (moult, _) = try Self.besideBrokenStore()
        let result = try moult.run(Tool.path, Self.validate)
        #expect(result.exit == 1)
        #expect(
            result.output.contains("error [homeless] Thread: 2 × A thread is in no forum.\n  Thread 4\n  Thread 9\n"))
        #expect(result.output.contains("  Forum 1: 1 → 2 → 1\n"))
        let document = try moult.run(Tool.path, Self.validate + ["--json"]).document
        let rules = try #require(document["rules"] as? [[String: any Sendable]])
        #expect(rules.map { $0["count"] as? Int } == [2, 2])
        #expect(rules.map { $0["severity"] as? String } == ["error", "warning"])
        try Self.write(
            """
            {"format": 1, "rules": [{"name": "ring", "severity": "warning", "entity": "Forum", "noCycle": "parent"}]}
            """, moult)
        #expect(try moult.run(Tool.path, Self.validate).exit == 0)
    }

    @Test
    func `a dry run leaves every file as it was; the fix then does what it said, and the quarantine shows it`() throws {
        let (moult, store) = try Self.besideBrokenStore()
        let before = try FileManager.default.contentsOfDirectory(atPath: moult.folder.path).sorted()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        let dry = try moult.run(Tool.path, Self.validate + ["--fix", "--dry-run", "--json"])
        #expect(dry.exit == 1)
        let said = try dry.document
        #expect(said["quarantined"] as? Int == 2 && said["dryRun"] as? Bool == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: moult.folder.path).sorted() == before)

        let fixed = try moult.run(Tool.path, Self.validate + ["--fix", "--values"])
        #expect(fixed.exit == 0, "\(fixed.output)\(fixed.errors)")
        #expect(fixed.output.contains("fixed: [homeless] 2 objects quarantined"))
        #expect(fixed.output.contains("  Forum 1: parent: Forum 2 → nil"))
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM ZTHREAD WHERE Z_PK IN (4, 9)") == "0\n")
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM ZTHREAD") == "28\n")
        #expect(try SQLiteShell.run(store, "SELECT ifnull(ZPARENT, '-') FROM ZFORUM ORDER BY Z_PK") == "-\n1\n-\n")

        let list = try moult("quarantine", "list", "forum.sqlite", "--json").document
        let kept = try #require(list["quarantined"] as? [[String: any Sendable]])
        #expect(kept.map { $0["pk"] as? Int } == [4, 9])
        #expect(kept.allSatisfy { $0["by"] as? String == "homeless" })
        let shown = try moult("quarantine", "show", "forum.sqlite", "1", "--json").document
        let object = try #require(shown["object"] as? [String: any Sendable])
        let subject = try SQLiteShell.run(
            #require(try Self.backup(moult)) + "/forum.sqlite", "SELECT ZSUBJECT FROM ZTHREAD WHERE Z_PK = 4")
        #expect((object["subject"] as? [String: any Sendable])?["value"] as? String == String(subject.dropLast()))
        #expect(try moult("quarantine", "show", "forum.sqlite", "99").exit == 2)
        let runs = try #require(
            try moult("runs", "forum.sqlite", "--json").document["runs"] as? [[String: any Sendable]])
        #expect(runs.map { $0["quarantined"] as? Int } == [2])
        #expect(try moult.run(Tool.path, Self.validate + ["--fix"]).exit == 0)
        #expect(try moult("runs", "forum.sqlite").output.split(separator: "\n").count == 2)
    }

    @Test func `a fault of the store that a fix has ended does not count any more, and what is left does`() throws {
        let (moult, store) = try Self.besideBrokenStore()
        _ = try SQLiteShell.run(store, "UPDATE ZUSER SET ZNAME = NULL WHERE Z_PK IN (2, 5)")
        try Self.write(
            """
            {"format": 1, "rules": [
              {"name": "named", "entity": "User", "predicate": "name != nil", "fix": {"set": {"name": "'(unknown)'"}}}
            ]}
            """, moult)
        let found = try moult.run(Tool.path, Self.validate)
        #expect(found.exit == 1 && found.output.contains("User.name"), "\(found)")
        // The store itself is as it was.
        #expect(try moult.run(Tool.path, Self.validate + ["--fix", "--dry-run"]).exit == 1)
        let fixed = try moult.run(Tool.path, Self.validate + ["--fix"])
        #expect(fixed.exit == 0, "\(fixed)")
        #expect(fixed.output.contains("fixed: [named] 2 objects changed"), "\(fixed.output)")
        #expect(fixed.output.contains("The store is sound"), "\(fixed.output)")
        #expect(fixed.output.contains("All hold after the fixes: 1 rule."), "\(fixed.output)")
        #expect(!fixed.output.contains("User.name"), "\(fixed.output)")
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM ZUSER WHERE ZNAME = '(unknown)'") == "2\n")
        _ = try SQLiteShell.run(
            store, "UPDATE ZUSER SET ZNAME = NULL WHERE Z_PK = 2; UPDATE ZTHREAD SET ZSUBJECT = NULL WHERE Z_PK = 3")
        let rest = try moult.run(Tool.path, Self.validate + ["--fix"])
        #expect(rest.exit == 1 && rest.output.contains("Thread.subject"), "\(rest)")
        #expect(rest.output.contains("fixed: [named] 1 object changed") && rest.output.contains("not sound"))
    }

    private static func backup(_ moult: Tool) throws -> String? {
        let folder = moult.folder.path + "/forum.sqlite.moult/backups"
        return try FileManager.default.contentsOfDirectory(atPath: folder).first.map { "\(folder)/\($0)" }
    }

    @Test func `quarantine restore puts objects back as it says, with a backup, and tells what has to stay`() throws {
        let (moult, store) = try Self.besideBrokenStore()
        let before = try SQLiteShell.run(store, "SELECT * FROM ZTHREAD ORDER BY 1; SELECT Z_PK, ZTHREAD FROM ZPOST")
        #expect(try moult.run(Tool.path, Self.validate + ["--fix"]).exit == 0)
        let model = ["--model", "Forum.xcdatamodeld"]
        let restore = ["quarantine", "restore", "forum.sqlite"]
        for wrong in [[], ["x"], ["1", "--all"], ["77"], ["--run", "none"]] {
            #expect(try moult.run(Tool.path, restore + wrong + model).exit == 2, "\(wrong)")
        }
        let fixed = try SQLiteShell.run(store, ".sha3sum")
        let dry = try moult.run(Tool.path, restore + ["--all", "--dry-run"] + model)
        #expect(dry.exit == 0 && dry.output.contains("2 objects would be put back."), "\(dry)")
        #expect(try SQLiteShell.run(store, ".sha3sum") == fixed)

        // One by its number; then another object has the other's place.
        let one = try moult.run(Tool.path, restore + ["1", "--json"] + model).document
        let restored = try #require(one["restored"] as? [[String: any Sendable]])
        #expect(restored.map { $0["pk"] as? Int } == [4] && one["backup"] is String)
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM ZTHREAD WHERE Z_PK IN (4, 9)") == "1\n")
        let list = try moult("quarantine", "list", "forum.sqlite", "--json").document
        #expect(list["count"] as? Int == 1)
        #expect(try moult.run(Tool.path, restore + ["1"] + model).exit == 2)
        _ = try SQLiteShell.run(
            store + ".moult/quarantine.sqlite", "UPDATE quarantine SET object = replace(object, 'subject', 'caption')")
        let refused = try moult.run(Tool.path, restore + ["--all"] + model)
        #expect(refused.exit == 5)
        #expect(refused.errors.contains("this version of Thread has no property caption"), "\(refused.errors)")
        _ = try SQLiteShell.run(
            store + ".moult/quarantine.sqlite", "UPDATE quarantine SET object = replace(object, 'caption', 'subject')")
        #expect(try moult.run(Tool.path, restore + ["--all"] + model).exit == 0)
        #expect(
            try SQLiteShell.run(store, "SELECT * FROM ZTHREAD ORDER BY 1; SELECT Z_PK, ZTHREAD FROM ZPOST") == before)
    }

    @Test func `an app's file of rules that does not fit the model is refused with every fault in it`() throws {
        let (moult, _) = try Self.besideBrokenStore()
        try Self.write(
            """
            {"format": 1, "rules": [
              {"name": "a", "entity": "Topic", "minimum": 1}, {"name": "b", "entity": "Thread", "orphan": "board"}
            ]}
            """, moult)
        let result = try moult.run(Tool.path, Self.validate)
        #expect(result.exit == 2)
        #expect(result.errors.contains("a: The model has no entity Topic."))
        #expect(result.errors.contains("b: Thread has no relationship board."))
        #expect(result.errors.contains("rules.json"))
        #expect(try moult("validate", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--fix").exit == 2)
        #expect(try moult.run(Tool.path, Self.validate + ["--dry-run"]).exit == 2)
    }

    @Test func `numbers are compared with a backup, and rules go with a migration`() throws {
        let (moult, store) = try Self.besideBrokenStore()
        #expect(try moult("backup", "create", "forum.sqlite", "--model", "Forum.xcdatamodeld").exit == 0)
        try Self.write(
            """
            {"format": 1, "rules": [{"name": "kept", "entity": "User", "minimum": {"ofSource": 0.9}}]}
            """, moult)
        let source = ["--source", try #require(try Self.backup(moult)) + "/forum.sqlite"]
        #expect(try moult.run(Tool.path, Self.validate + source).exit == 0)
        _ = try SQLiteShell.run(store, "DELETE FROM ZUSER WHERE Z_PK > 10; UPDATE ZPOST SET ZAUTHOR = NULL")
        let lost = try moult.run(Tool.path, Self.validate + source)
        #expect(lost.exit == 1)
        #expect(lost.output.contains("error [kept] User: 8 ×"))
        let migrate = ["migrate", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--to", "Forum 2", "--rules"]
        try Self.write(
            """
            {"format": 1, "rules": [{"name": "views", "entity": "Thread", "predicate": "viewCount > 0"}]}
            """, moult)
        let refused = try moult.run(Tool.path, migrate + ["rules.json"])
        #expect(refused.exit == 5)
        #expect(refused.errors.contains("views:"))
        #expect(
            try SQLiteShell.run(store, "SELECT count(*) FROM pragma_table_info('ZTHREAD') WHERE name = 'ZVIEWCOUNT'")
                == "0\n")
    }
}
