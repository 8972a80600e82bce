import Foundation
import TestSupport
import Testing

/// A run that is killed is ended as what it was: a migration at its own target and with its own options, and other work
/// without a migration.
@Suite("moult resume")
struct ResumeVerbTests {  // tier: long
    private static let model = ["--model", "Forum.xcdatamodeld"]

    private struct NeverKilled: Error { let arguments: [String] }

    /// Kills a command on the store once its journal is there; tries again if it was too fast.
    private func killed(_ arguments: [String], after before: [[String]] = [], sql: String? = nil) throws -> Tool {
        for _ in 0..<20 {
            let moult = try StoreVerbTests.besideForumStore()
            if let sql { _ = try SQLiteShell.run(moult.folder.path + "/forum.sqlite", sql) }
            for command in before { #expect(try moult.run(Tool.path, command).exit == 0, "\(command)") }
            let child = try ChildProcess(
                Tool.path, arguments, output: .files(output: "/dev/null", errors: "/dev/null"),
                folder: moult.folder.path)
            while child.isRunning, !isInterrupted(moult) { usleep(500) }
            child.kill()
            if isInterrupted(moult) { return moult }
        }
        throw NeverKilled(arguments: arguments)
    }

    private func journal(_ moult: Tool) -> URL {
        URL(fileURLWithPath: moult.folder.path + "/forum.sqlite.moult/journal.json")
    }

    private func isInterrupted(_ moult: Tool) -> Bool { FileManager.default.fileExists(atPath: journal(moult).path) }

    private func version(_ moult: Tool) throws -> String? {
        try moult.run(Tool.path, ["status", "forum.sqlite", "--json"] + Self.model).document["version"] as? String
    }

    private func rows(_ moult: Tool) throws -> String {
        try SQLiteShell.run(moult.folder.path + "/forum.sqlite", ".sha3sum")
    }

    /// The operations of the runs on the store, oldest first.
    private func operations(_ moult: Tool) throws -> [String] {
        let runs = try moult("runs", "forum.sqlite", "--json").document["runs"] as? [[String: any Sendable]]
        return try #require(runs).compactMap { $0["operation"] as? String }
    }

    private func backups(_ moult: Tool, _ folder: String) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "\(moult.folder.path)/\(folder)")
        return (names ?? []).filter { !$0.hasPrefix(".") }
    }

    @Test func `a migration ends at its own target and with its own backups, from another folder and without a model`()
        throws
    {
        let moult = try killed(["migrate", "forum.sqlite", "--to", "Forum 2", "--backups", "kept"] + Self.model)
        let advice = try moult.run(Tool.path, ["status", "forum.sqlite"] + Self.model).output
        #expect(advice.contains("`moult resume forum.sqlite` finishes the migration to Forum 2."), "\(advice)")
        let resumed = try moult.shell("cd / && moult resume '\(moult.folder.path)/forum.sqlite' --json")
        #expect(resumed.exit == 0, "\(resumed)")
        let document = try resumed.document
        #expect(document["to"] as? String == "Forum 2")
        #expect(["undone", "completed"].contains(document["recovery"] as? String ?? ""))
        #expect(try version(moult) == "Forum 2")
        #expect(backups(moult, "kept").count == 1 && backups(moult, "forum.sqlite.moult/backups").isEmpty)
        #expect(!isInterrupted(moult))
        // Nothing was begun that is not finished.
        let again = try moult.run(Tool.path, ["resume", "forum.sqlite"] + Self.model)
        #expect(again.exit == 0 && again.output == "No run was left unfinished.\n", "\(again)")
        #expect(try version(moult) == "Forum 2")
    }

    @Test func `a migration without a backup is finished without one, and an option that is typed replaces its own`()
        throws
    {
        let frugal = try killed(["migrate", "forum.sqlite", "--to", "Forum 2", "--frugal"] + Self.model)
        #expect(try frugal("resume", "forum.sqlite").exit == 0)
        #expect(try version(frugal) == "Forum 2")
        #expect(backups(frugal, "forum.sqlite.moult/backups").isEmpty)
        let further = try killed(["migrate", "forum.sqlite", "--to", "Forum 2"] + Self.model)
        let typed = try further.run(Tool.path, ["resume", "forum.sqlite", "--to", "Forum 3"] + Self.model)
        #expect(typed.exit == 0, "\(typed)")
        #expect(try version(further) == "Forum 3")
    }

    @Test func `a repair is named with its rules and not begun again, and nothing is migrated`() throws {
        let dangling = "UPDATE ZPOST SET ZAUTHOR = 999 WHERE Z_PK = 5"
        let moult = try killed(["repair", "forum.sqlite", "--only", "dangling"] + Self.model, sql: dangling)
        let doctor = try moult.run(Tool.path, ["doctor", "forum.sqlite", "--json"] + Self.model).document
        let findings = try #require(doctor["findings"] as? [[String: any Sendable]])
        let finding = try #require(findings.first { $0["code"] as? String == "run-unfinished" })
        #expect(finding["remedy"] as? String == "moult resume forum.sqlite")
        let resumed = try moult.run(Tool.path, ["resume", "forum.sqlite", "--json"] + Self.model)
        #expect(resumed.exit == 0, "\(resumed)")
        #expect(try version(moult) == "Forum")
        #expect(try operations(moult) == ["repair"])
        guard try resumed.document["recovery"] as? String == "undone" else { return }
        let next = try #require(try resumed.document["next"] as? String)
        #expect(next.hasPrefix("moult repair forum.sqlite --model ") && next.hasSuffix(" --only dangling"), "\(next)")
        #expect(try moult.shell(next).exit == 0, "\(next)")
        let left = "SELECT count(*) FROM ZPOST WHERE ZAUTHOR = 999"
        #expect(try SQLiteShell.run(moult.folder.path + "/forum.sqlite", left) == "0\n")
    }

    @Test func `a rollback is named with its backup and not begun again, and nothing is migrated`() throws {
        let before = [["migrate", "forum.sqlite", "--to", "Forum 2"] + Self.model]
        let moult = try killed(["rollback", "forum.sqlite"] + Self.model, after: before)
        let unchanged = try rows(moult)
        let resumed = try moult.run(Tool.path, ["resume", "forum.sqlite", "--json"] + Self.model)
        #expect(resumed.exit == 0, "\(resumed)")
        #expect(try rows(moult) == unchanged)
        #expect(try operations(moult) == ["migrate", "rollback"])
        guard try resumed.document["recovery"] as? String == "undone" else { return }
        let next = try #require(try resumed.document["next"] as? String)
        #expect(next.hasPrefix("moult rollback forum.sqlite ") && next.contains("--to "), "\(next)")
        #expect(try moult.shell(next).exit == 0, "\(next)")
    }

    @Test func `an unfinished backup is removed and named, and nothing is migrated`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let draft = moult.folder.path + "/forum.sqlite.moult/backups/.0123456789abcdef.part"
        try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: true)
        let resumed = try moult.run(Tool.path, ["resume", "forum.sqlite"] + Self.model)
        #expect(resumed.exit == 0, "\(resumed)")
        #expect(resumed.output.contains("\n  moult backup create forum.sqlite"), "\(resumed)")
        #expect(!FileManager.default.fileExists(atPath: draft))
        #expect(try version(moult) == "Forum")
    }

    @Test func `the journal of an earlier version leads to its target, and without a model to the command`() throws {
        for isNamed in [true, false] {
            let moult = try killed(["migrate", "forum.sqlite", "--to", "Forum 2"] + Self.model)
            let bytes = try Data(contentsOf: journal(moult))
            var members = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
            #expect(members.removeValue(forKey: "request") is [String: Any])
            try JSONSerialization.data(withJSONObject: members).write(to: journal(moult))
            let model = isNamed ? Self.model : []
            let resumed = try moult.run(Tool.path, ["resume", "forum.sqlite", "--json"] + model)
            #expect(resumed.exit == 0, "\(resumed)")
            let document = try resumed.document
            if isNamed {
                #expect(try version(moult) == "Forum 2")
            } else if document["recovery"] as? String == "undone" {
                let next = try #require(document["next"] as? String)
                #expect(next == "moult migrate forum.sqlite --to 'Forum 2'", "\(next)")
                #expect(try version(moult) == "Forum")
            }
            #expect(!isInterrupted(moult))
        }
    }

    @Test func `without an interrupted run nothing is migrated`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let before = try rows(moult)
        let resumed = try moult.run(Tool.path, ["resume", "forum.sqlite"] + Self.model)
        #expect(resumed.exit == 0 && resumed.output == "No run was left unfinished.\n", "\(resumed)")
        #expect(try rows(moult) == before)
    }
}
