import Foundation
import TestSupport
import Testing

@Suite("moult plan, migrate, validate and resume")
struct MigrationTests {  // tier: long
    let model = ["--model", "Forum.xcdatamodeld"]

    @Test func `plan says each change and touches nothing; --sql shows statements`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let before = try moult.listing()
        let plan = try moult.run(Tool.path, ["plan", "forum.sqlite"] + model)
        #expect(plan.exit == 0)
        #expect(plan.output.contains("Forum → Forum 2 → Forum 3"))
        #expect(plan.output.contains("The entity Topic is renamed from Thread."))
        #expect(!plan.output.contains("CREATE TABLE"))
        #expect(
            try moult.run(Tool.path, ["plan", "forum.sqlite", "--sql"] + model).output.contains("CREATE TABLE ZTOPIC"))
        #expect(try moult.listing() == before)
    }

    @Test(arguments: [
        ["--in-place"], ["--in-place", "--to", "Forum 2"], ["--in-place", "--to", "Forum"], ["--deferred"],
        ["--deferred", "--in-place"], ["--deferred", "--to", "Forum 2"], ["--in-place", "--stop-at-each-version"],
        ["--stop-at-each-version"], ["--deferred", "--stop-at-each-version"],
    ])
    func `plan ends as migrate does, with the same error`(options: [String]) throws {
        let moult = try StoreVerbTests.besideForumStore()
        func run(_ verb: String) throws -> Tool.Result {
            try moult.run(Tool.path, [verb, "forum.sqlite", "--json"] + model + options)
        }
        let (plan, migrated) = (try run("plan"), try run("migrate"))
        #expect(plan.exit == migrated.exit, "\(plan.output) \(migrated.output)")
        let errors = try [plan, migrated].map { try $0.document["error"] as? [String: any Sendable] }
        #expect(errors[0]?["code"] as? String == errors[1]?["code"] as? String)
        #expect(errors[0]?["message"] as? String == errors[1]?["message"] as? String)
        #expect((errors[0] == nil) == (plan.exit == 0))
    }

    @Test func `a migration that stops at each version names the backups, and rollback restores the last`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let done = try moult.run(Tool.path, ["migrate", "forum.sqlite", "--stop-at-each-version"] + model)
        let listed = try moult.run(Tool.path, ["backup", "list", "forum.sqlite", "--json"]).document
        let names = (listed["backups"] as? [[String: any Sendable]] ?? []).compactMap { $0["name"] as? String }.sorted()
        #expect(done.exit == 0 && names.count == 2, "\(done) \(listed)")
        #expect(done.output.contains("The old store is kept as the backup \(names[0])."), "\(done)")
        #expect(done.output.contains("The versions on the way are kept as \(names[1]). `moult rollback"), "\(done)")
        let back = try moult.run(Tool.path, ["rollback", "forum.sqlite"])
        #expect(back.exit == 0 && back.output.contains("Restored \(names[1])"), "\(back)")
    }

    @Test func `in place, plan prints what it can do and refuses what it cannot, in words too`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let plan = try moult.run(Tool.path, ["plan", "forum.sqlite", "--in-place", "--sql"] + model)
        #expect(plan.exit == 3 && plan.output.contains("Forum → Forum 2 → Forum 3"), "\(plan)")
        #expect(plan.errors.contains("cannot run in place") && !plan.output.contains("CREATE TABLE"), "\(plan)")
    }

    @Test func `plan says the way of each table, and normalised every changed one is rebuilt`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        func ways(_ options: [String]) throws -> [String] {
            let plan = try moult.run(Tool.path, ["plan", "forum.sqlite", "--json"] + options + model)
            let tables = try plan.document["tables"] as? [[String: any Sendable]] ?? []
            return tables.map { "\($0["name"] as? String ?? "") \($0["way"] as? String ?? "")" }.sorted()
        }
        #expect(
            try ways([]) == [
                "ZFORUM unchanged", "ZPOST updated", "ZTAG made", "ZTOPIC rebuilt", "ZUSER updated", "Z_3TOPICS made",
            ])
        #expect(
            try ways(["--normalise"]) == [
                "ZFORUM unchanged", "ZPOST rebuilt", "ZTAG made", "ZTOPIC rebuilt", "ZUSER rebuilt", "Z_3TOPICS made",
            ])
        let both = try moult.run(Tool.path, ["plan", "forum.sqlite", "--in-place", "--normalise"] + model)
        #expect(both.exit == 2 && both.errors.contains("exclude each other"), "\(both)")
    }

    @Test
    func `migrate ends at the current version, with a backup, a run and every row; then nothing is left`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let store = moult.folder.path + "/forum.sqlite"
        let texts = try SQLiteShell.run(store, "SELECT Z_PK, ZTEXT FROM ZPOST ORDER BY 1")
        let result = try moult.run(Tool.path, ["migrate", "forum.sqlite", "--json"] + model)
        #expect(result.exit == 0)
        #expect(try result.document["to"] as? String == "Forum 3")
        #expect(!result.errors.contains("\u{1B}"))
        #expect(try SQLiteShell.run(store, "SELECT Z_PK, ZBODY FROM ZPOST ORDER BY 1") == texts)
        #expect(try moult.run(Tool.path, ["validate", "forum.sqlite"] + model).exit == 0)
        let again = try moult.run(Tool.path, ["migrate", "forum.sqlite"] + model)
        #expect(again.exit == 0)
        #expect(again.output.contains("nothing to do"))
        #expect(try moult("rollback", "forum.sqlite").exit == 0)
        #expect(try SQLiteShell.run(store, "SELECT Z_PK, ZTEXT FROM ZPOST ORDER BY 1") == texts)
        #expect(try moult("resume", "forum.sqlite").output.contains("No run"))
    }

    @Test func `what is lost is counted by plan, a rehearsal, migrate, runs and log`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum 2.xcdatamodel/contents"
        let lines = try String(contentsOfFile: contents, encoding: .utf8).split(separator: "\n")
        let kept = lines.filter { !$0.contains("attribute name=\"position\"") }
        #expect(kept.count == lines.count - 1)
        try kept.joined(separator: "\n").write(toFile: contents, atomically: true, encoding: .utf8)
        let counted = try SQLiteShell.run(moult.folder.path + "/forum.sqlite", "SELECT count(ZPOSITION) FROM ZFORUM")
        let count = try #require(Int(counted.trimmingCharacters(in: .newlines)))
        #expect(count > 0)
        let sentence = "\(count) values of Forum.position are deleted: Forum 2 does not store the attribute."

        func expectLoss(_ arguments: [String], _ key: (([String: any Sendable]) -> Any?)? = nil) throws {
            let result = try moult.run(Tool.path, arguments + ["--json"])
            #expect(result.exit == 0, "\(result.errors)")
            let document = try result.document
            let losses: Any? = if let key { key(document) } else { document["losses"] as Any? }
            let list = try #require(losses as? [[String: Any]])
            let loss = try #require(list.first { $0["member"] as? String == "position" })
            #expect(loss["count"] as? Int == count && loss["kind"] as? String == "values")
            #expect(loss["entity"] as? String == "Forum" && loss["reason"] as? String == "removed")
            #expect(loss["sentence"] as? String == sentence)
        }
        let way = ["forum.sqlite", "--to", "Forum 2"] + model
        try expectLoss(["plan", "--accept-losses"] + way)
        #expect(try moult.run(Tool.path, ["plan"] + way).output.contains(sentence))
        try expectLoss(["migrate", "--dry-run"] + way)
        #expect(try moult.run(Tool.path, ["migrate", "--dry-run"] + way).output.contains(sentence))
        try expectLoss(["migrate", "--accept-losses"] + way)
        try expectLoss(["runs", "forum.sqlite"]) { ($0["runs"] as? [[String: Any]])?.last?["losses"] }
        #expect(try moult("runs", "forum.sqlite").output.contains(sentence))
        #expect(try moult("log", "forum.sqlite").output.contains(sentence))
    }

    @Test func `a dry run leaves every file of the folder as it was`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let before = try moult.listing()
        let result = try moult.run(Tool.path, ["migrate", "forum.sqlite", "--dry-run", "--json"] + model)
        #expect((try result.document["findings"] as? [any Sendable])?.isEmpty == true)
        #expect(result.exit == 0)
        #expect(try result.document["dryRun"] as? Bool == true)
        #expect(try moult.listing() == before)
    }

    @Test func `with --events every report is a JSON object on standard error, and the last one says done`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let result = try moult.run(Tool.path, ["migrate", "forum.sqlite", "--events", "--json"] + model)
        #expect(try result.document["to"] as? String == "Forum 3")
        let events = try result.errors.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        let fractions = events.compactMap { $0["fraction"] as? Double }
        #expect(fractions.count == events.count && fractions == fractions.sorted() && fractions.last == 1)
        #expect(events.allSatisfy { $0["event"] as? String == "progress" && $0["format"] as? Int == 1 })
        #expect(events.first?["phase"] as? String == "lock" && events.last?["phase"] as? String == "done")
        #expect(events.first?["estimatedTimeRemaining"] is NSNull)
        #expect(events.last?["estimatedTimeRemaining"] as? Double == 0)
        #expect(events.contains { ($0["message"] as? String)?.hasPrefix("Made the backup ") == true })
    }

    @Test func `a kept plan runs on the store it was made for, and on no other`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let plan = try moult.run(Tool.path, ["plan", "forum.sqlite", "--json"] + model)
        try plan.output.write(toFile: moult.folder.path + "/plan.json", atomically: true, encoding: .utf8)
        #expect(try moult("create", "other.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum").exit == 0)
        let arguments = ["--plan", "plan.json"] + model
        let stale = try moult.run(Tool.path, ["migrate", "other.sqlite", "--json"] + arguments)
        #expect(stale.exit == 3)
        #expect((try stale.document["error"] as? [String: any Sendable])?["code"] as? String == "planStale")
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite"] + arguments).exit == 0)
    }

    @Test(arguments: [("--stop-at-each-version", "passes"), ("--deferred", "deferral")])
    func `a kept plan is not followed by another migration`(option: String, part: String) throws {
        let moult = try StoreVerbTests.besideForumStore()
        let before = try SQLiteShell.run(moult.folder.path + "/forum.sqlite", ".dump")
        let plan = try moult.run(Tool.path, ["plan", "forum.sqlite", "--json", option] + model)
        try plan.output.write(toFile: moult.folder.path + "/plan.json", atomically: true, encoding: .utf8)
        let arguments = ["migrate", "forum.sqlite", "--json", "--plan", "plan.json"] + model
        let stale = try moult.run(Tool.path, arguments)
        let error = try stale.document["error"] as? [String: any Sendable]
        #expect(error?["code"] as? String == "planStale" && stale.exit == 3)
        #expect((error?["message"] as? String)?.contains("its \(part) differs") == true)
        #expect(try SQLiteShell.run(moult.folder.path + "/forum.sqlite", ".dump") == before)
        #expect(try moult.run(Tool.path, arguments + [option]).exit == 0)
    }

    @Test func `Core Data's debug argument and the variable print the lines that people know`() throws {
        var moult = try StoreVerbTests.besideForumStore()
        let flag = ["-com.apple.CoreData.MigrationDebug", "1"]
        let dry = ["migrate", "forum.sqlite", "--dry-run"] + model
        let expected = [
            "[Migration Debug] Migrating from version Forum to version Forum 3",
            "[Migration Debug] Inferred mapping model", "[Migration Debug] Completed successfully",
        ]
        let flagged = try moult.run(Tool.path, flag + dry)
        #expect(flagged.exit == 0)
        for line in expected { #expect(flagged.errors.contains(line + "\n")) }
        #expect(try !moult.run(Tool.path, dry).errors.contains("Inferred"))
        moult.environment = ["MOULT_MIGRATION_DEBUG": "1"]
        for line in expected { #expect(try moult.run(Tool.path, dry).errors.contains(line + "\n")) }
    }

    @Test func `a model whose released version has changed is refused`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        #expect(try moult("lock", "Forum.xcdatamodeld").exit == 0)
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum 2.xcdatamodel/contents"
        let changed = try String(contentsOfFile: contents, encoding: .utf8)
            .replacingOccurrences(of: "attributeType=\"Integer 64\"", with: "attributeType=\"Integer 32\"")
        try changed.write(toFile: contents, atomically: true, encoding: .utf8)
        for verb in ["plan", "migrate"] {
            let result = try moult.run(Tool.path, [verb, "forum.sqlite", "--json"] + model)
            #expect(result.exit == 3)
            #expect((try result.document["error"] as? [String: any Sendable])?["code"] as? String == "lockFileMismatch")
        }
    }

    @Test func `a store ahead of the version aimed at is refused, and so is one of no version`() throws {
        let moult = try Tool.besideForumModel()
        #expect(try moult("create", "forum.sqlite", "--model", "Forum.xcdatamodeld").exit == 0)
        func code(_ arguments: String...) throws -> String? {
            let result = try moult.run(Tool.path, ["migrate", "forum.sqlite", "--json"] + arguments)
            #expect(result.exit == 3)
            return (try result.document["error"] as? [String: any Sendable])?["code"] as? String
        }
        #expect(try code("--model", "Forum.xcdatamodeld", "--to", "Forum 2") == "storeAhead")
        #expect(try code("--model", "Forum.xcdatamodeld/Forum.xcdatamodel") == "storeUnknown")
    }

    @Test func `damage is found, with exit code 1, and what is no store with 4`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let store = moult.folder.path + "/forum.sqlite"
        _ = try SQLiteShell.run(store, "UPDATE ZPOST SET ZAUTHOR = 999999 WHERE Z_PK = 1")
        let result = try moult.run(Tool.path, ["validate", "forum.sqlite", "--json"] + model)
        #expect(result.exit == 1)
        #expect(result.output.contains("\"dangling-reference\""))
        try Data("no store".utf8).write(to: URL(fileURLWithPath: store))
        #expect(try moult.run(Tool.path, ["validate", "forum.sqlite"] + model).exit == 4)
    }
}

extension Tool {
    /// Every file below the tool's folder with its size, time and contents, as other tools see them.
    func listing() throws -> String {
        try run("/bin/sh", ["-c", "find . -printf '%p %s %T@\\n' | sort; find . -type f -exec sha256sum {} + | sort"])
            .output
    }
}
