import Foundation
import TestSupport
import Testing

@Suite("What verbs say of runs, and where they look for backups")
struct UnfinishedRunVerbTests {  // tier: long
    private let model = ["--model", "Forum.xcdatamodeld"]

    @Test func `rollback finds the backup that a migration put elsewhere, and one made without a model`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let store = moult.folder.path + "/forum.sqlite"
        let before = try SQLiteShell.run(store, ".dump")
        #expect(try moult.run(Tool.path, ["backup", "create", "forum.sqlite"]).exit == 0)
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite", "--backups", "elsewhere"] + model).exit == 0)
        #expect(try SQLiteShell.run(store, ".dump") != before)
        let back = try moult("rollback", "forum.sqlite", "--json")
        #expect(back.exit == 0, "\(back.errors)")
        let restored = try back.document["restored"] as? [String: any Sendable]
        #expect((restored?["folder"] as? String)?.contains("/elsewhere/") == true)
        #expect(try SQLiteShell.run(store, ".dump") == before)
        // By the name of its version, whatever the backup itself is called.
        #expect(try moult.run(Tool.path, ["rollback", "forum.sqlite", "--to", "Forum"] + model).exit == 0)
        let list = try moult("backup", "list", "forum.sqlite", "--json").document["backups"]
        let backups = try #require(list as? [[String: any Sendable]])
        let names = try backups.map { try #require($0["version"] as? String) }
        #expect(names.sorted() == ["1.0", "3.0", "Forum", "Forum"])
        for name in names {
            #expect(try moult("rollback", "forum.sqlite", "--to", name).exit == 0)
            #expect(try (SQLiteShell.run(store, ".dump") == before) == (name != "3.0"), "\(name)")
        }
    }

    @Test func `rollback without a backup says so`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let result = try moult("rollback", "forum.sqlite", "--json")
        #expect(result.exit == 3)
        #expect(result.output.contains("backupNotFound") || result.errors.contains("backupNotFound"))
    }

    @Test
    func `runs name the verb, and a fix before a migration runs before it is asked whether the rows fit`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let store = moult.folder.path + "/forum.sqlite"
        _ = try SQLiteShell.run(
            store, "UPDATE ZTHREAD SET ZFORUM = 1; UPDATE ZTHREAD SET ZFORUM = NULL WHERE Z_PK IN (4, 9)")
        try Data(
            """
            {"format": 1, "rules": [{"name": "homeless", "entity": "Thread", "orphan": "forum", "fix": "quarantine",
              "sentence": "A thread is in no forum.", "when": ["before"]}]}
            """.utf8
        ).write(to: URL(fileURLWithPath: moult.folder.path + "/rules.json"))
        let fixed = try moult.run(
            Tool.path, ["validate", "forum.sqlite", "--rules", "rules.json", "--fix"] + model)
        #expect(fixed.exit == 0, "\(fixed.errors)")
        let runs = try moult("runs", "forum.sqlite").output
        #expect(runs.contains("validate --fix") && runs.contains("rows touched"), "\(runs)")
        #expect(try moult("log", "forum.sqlite").output.contains("applying the fixes of rules"))
        let back = try moult.run(Tool.path, ["quarantine", "restore", "forum.sqlite", "--all"] + model)
        #expect(back.exit == 0, "\(back.errors)")
        #expect(try moult("runs", "forum.sqlite").output.contains("quarantine restore"))
        let result = try moult.run(
            Tool.path, ["migrate", "forum.sqlite", "--rules", "rules.json", "--fix"] + model)
        #expect(result.exit == 0, "\(result.output)\(result.errors)")
        #expect(try moult("quarantine", "list", "forum.sqlite", "--json").document["count"] as? Int == 2)
    }

    @Test
    func `status says that a run is under way, and a command that has nothing to do heals what one has left`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let sidecar = moult.folder.path + "/forum.sqlite.moult"
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite"] + model).exit == 0)
        // What a run leaves that dies after its commit.
        try FileManager.default.createDirectory(atPath: sidecar + "/work-x", withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: sidecar + "/work-x/forum.sqlite"))
        try Data().write(to: URL(fileURLWithPath: sidecar + "/mirror.json.0123456789abcdef.part"))
        let doctor = try moult.run(Tool.path, ["doctor", "forum.sqlite"] + model)
        #expect(doctor.output.contains("work-x"))
        // A process that holds the lock of the sidecar, as a run does.
        let holder = try ChildProcess("flock", ["--no-fork", sidecar + "/lock", "sleep", "30"])
        defer { holder.kill() }
        var document = try moult.run(Tool.path, ["status", "forum.sqlite", "--json"] + model).document
        for _ in 0..<100 where (document["pendingWork"] as? [String])?.isEmpty != false {
            usleep(20_000)
            document = try moult.run(Tool.path, ["status", "forum.sqlite", "--json"] + model).document
        }
        #expect(document["pendingWork"] as? [String] == ["liveRun"])
        #expect(try moult.run(Tool.path, ["status", "forum.sqlite"] + model).output.contains("is changing this store"))
        // It is alive: nothing of it is removed.
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite"] + model).exit == 0)
        #expect(FileManager.default.fileExists(atPath: sidecar + "/work-x"))
        holder.kill()
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite"] + model).exit == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: sidecar)
        #expect(!names.contains { $0.hasPrefix("work-") || $0.hasSuffix(".part") }, "\(names)")
    }
}
