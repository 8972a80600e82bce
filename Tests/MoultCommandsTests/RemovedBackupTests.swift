import Foundation
import MoultBasics
import MoultEngine
import TestSupport
import Testing

/// A backup that is removed because of its age is named by the verb that removed it, in words and in JSON, in the log and
/// in the history of runs.
struct RemovedBackupTests {
    private struct OldClock: ForwardingSystem { let now: Timestamp }

    private let moult: Tool
    private let store: String

    /// A store of the first of two versions, with forty objects of which one breaks a rule.
    init() throws {
        moult = Tool(folder: try ScratchFolder())
        store = moult.folder.path + "/a.sqlite"
        for (version, more) in [
            ("App", ""), ("App 2", "<attribute name=\"note\" attributeType=\"String\" optional=\"YES\"/>"),
        ] {
            let folder = "\(moult.folder.path)/App.xcdatamodeld/\(version).xcdatamodel"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let name = "<attribute name=\"name\" attributeType=\"String\" optional=\"YES\"/>"
            try "<model><entity name=\"Item\">\(name)\(more)</entity></model>".write(
                toFile: folder + "/contents", atomically: true, encoding: .utf8)
        }
        try """
        {"format": 1, "rules": [
          {"name": "named", "entity": "Item", "predicate": "name != 'x'", "fix": "quarantine"}
        ]}
        """.write(toFile: moult.folder.path + "/rules.json", atomically: true, encoding: .utf8)
        let made = try run("create", "a.sqlite", "--version", "App", "--rows", "Item=40")
        try #require(made.exit == 0, "\(made)")
        _ = try SQLiteShell.run(store, "UPDATE ZITEM SET ZNAME = CASE Z_PK WHEN 7 THEN 'x' ELSE 'n' || Z_PK END")
    }

    private func run(_ arguments: String...) throws -> Tool.Result {
        try moult.run(Tool.path, arguments + ["--model", "App.xcdatamodeld"])
    }

    /// Makes backups of the last spring; the names of all, the oldest first.
    private func makeOldBackups() throws -> [String] {
        try (0..<6).map { day in
            let now = Timestamp(seconds: POSIXSystem().now.seconds - Int64(120 - day) * 86_400)
            return try Migrator(system: OldClock(now: now)).backUp(store, version: "App").name
        }
    }

    @Test(arguments: ["migrate", "repair", "validate", "downgrade", "quarantine"], [false, true])
    func `every verb that removes a backup says which`(verb: String, inJSON: Bool) throws {
        var arguments = [verb, "a.sqlite"]
        switch verb {
        case "repair": _ = try SQLiteShell.run(store, "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Item'")
        case "validate": arguments += ["--rules", "rules.json", "--fix"]
        case "downgrade":
            try #require(try run("migrate", "a.sqlite").exit == 0)
            arguments += ["--to", "App"]
        case "quarantine":
            try #require(try run("validate", "a.sqlite", "--rules", "rules.json", "--fix").exit == 0)
            arguments = ["quarantine", "restore", "a.sqlite", "--all"]
        default: break
        }
        let old = try makeOldBackups()
        let result = try moult.run(
            Tool.path, arguments + ["--model", "App.xcdatamodeld"] + (inJSON ? ["--json"] : []))
        #expect(result.exit == 0, "\(result)")
        let folder = store + ".moult"
        let left = Set(try FileManager.default.contentsOfDirectory(atPath: folder + "/backups"))
        let gone = old.filter { !left.contains($0) }
        #expect(!gone.isEmpty)
        let log = try String(contentsOfFile: folder + "/log.txt", encoding: .utf8)
        let history = try moult("runs", "a.sqlite")
        for name in gone {
            #expect(inJSON || result.output.contains("Removed the backup \(name)"), "\(result)")
            #expect(log.contains("Removed the backup \(name)"))
            #expect(history.output.contains("Removed the backup \(name)"), "\(history)")
        }
        if inJSON {
            let document = try result.document
            let told = document["prunedBackups"] ?? (document["outcome"] as? [String: any Sendable])?["prunedBackups"]
            #expect(told as? [String] == gone, "\(result.output)")
        }
        let runs = try moult("runs", "a.sqlite", "--json").document["runs"] as? [[String: any Sendable]]
        #expect(runs?.last?["removedBackups"] as? [String] == gone)
    }

    @Test func `the newest backup of a version stays when newer ones of another go`() throws {
        let old = try makeOldBackups()
        try #require(try run("migrate", "a.sqlite", "--frugal").exit == 0)
        for _ in 0..<3 { try #require(try run("backup", "create", "a.sqlite").exit == 0) }
        let pruned = try moult("backup", "prune", "a.sqlite")
        // The migration has removed the three oldest.
        #expect(old[3...].map(pruned.output.contains) == [true, true, false], "\(pruned)")
        let own = try moult("backup", "prune", "a.sqlite", "--minimum", "1", "--json")
        #expect(try own.document["removed"] as? [String] == [old[5]])
    }

    @Test func `a record or a backup that cannot be read is named by each verb that looks for it`() throws {
        let plan = try run("plan", "a.sqlite", "--json").document
        #expect(plan["seconds"] as? Double ?? 0 > 0 && (plan["space"] as? [Any])?.isEmpty == false)
        try #require(try run("migrate", "a.sqlite").exit == 0)
        #expect(try moult("runs", "a.sqlite").exit == 0)
        let folder = store + ".moult"
        let backup = try #require(try FileManager.default.contentsOfDirectory(atPath: folder + "/backups").first)
        try Data([1]).write(to: URL(fileURLWithPath: "\(folder)/backups/\(backup)/manifest.json"))
        // What only the newer version has stands in the way back.
        _ = try SQLiteShell.run(store, "UPDATE ZITEM SET ZNOTE = 'new'")
        let back = try run("downgrade", "a.sqlite", "--to", "App")
        let unread = "There is no backup of App that can be read. Of \(backup) the manifest cannot be read"
        #expect(back.exit == 3 && back.output.contains(unread), "\(back)")
        let checklist = try moult("checklist", "App.xcdatamodeld", "--for", "a.sqlite")
        #expect(checklist.output.contains("Of 1 backup the manifest cannot be read."), "\(checklist)")
        try Data([1]).write(to: URL(fileURLWithPath: folder + "/journal.json.unreadable"))
        #expect(try run("doctor", "a.sqlite").output.contains("journal-unreadable"))
        let history = try FileHandle(forWritingTo: URL(fileURLWithPath: folder + "/runs.jsonl"))
        try history.seekToEnd()
        try history.write(contentsOf: Data("{\n".utf8))
        try history.close()
        let runs = try moult("runs", "a.sqlite")
        #expect(runs.exit == 1 && runs.output.contains("cannot be read"), "\(runs)")
    }
}
