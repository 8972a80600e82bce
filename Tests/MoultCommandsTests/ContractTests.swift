import Foundation
import TestSupport
import Testing

@testable import Moult

/// What Documentation/CommandLine.md promises to scripts.
@Suite("The command line's contract")
struct ContractTests {  // tier: long
    private let model = ["--model", "Forum.xcdatamodeld"]

    private func error(_ result: Tool.Result) throws -> [String: any Sendable] {
        try #require(try result.document["error"] as? [String: any Sendable], "\(result)")
    }

    /// Whether every line is a JSON object with an event.
    private func events(_ text: String) throws -> [String] {
        try text.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: any Sendable]
            return try #require(object?["event"] as? String, "\(line)")
        }
    }

    /// Has Forum 2 ask for users of different names.
    private func makeNamesUnique(_ moult: Tool) throws {
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum 2.xcdatamodel/contents"
        let text = try String(contentsOfFile: contents, encoding: .utf8)
        let entity = try #require(text.range(of: "<entity name=\"User\""))
        let end = try #require(text.range(of: "</entity>", range: entity.upperBound..<text.endIndex))
        let constraint =
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"name\"/></uniquenessConstraint>"
            + "</uniquenessConstraints>"
        try text.replacingCharacters(in: end.lowerBound..<end.lowerBound, with: constraint)
            .write(toFile: contents, atomically: true, encoding: .utf8)
    }

    @Test func `a plan that rows stand in the way of has the error that migrate ends with`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        try makeNamesUnique(moult)
        _ = try SQLiteShell.run(moult.folder.path + "/forum.sqlite", "UPDATE ZUSER SET ZNAME = 'one'")
        let arguments = ["forum.sqlite", "--to", "Forum 2", "--json"] + model
        let (plan, migrate) = try (
            moult.run(Tool.path, ["plan"] + arguments), moult.run(Tool.path, ["migrate"] + arguments)
        )
        #expect(plan.exit == 3 && migrate.exit == 3, "\(plan) \(migrate)")
        let (foreseen, met) = try (error(plan), error(migrate))
        #expect(foreseen["code"] as? String == "dataConflict")
        #expect(foreseen["message"] as? String == met["message"] as? String)
        #expect(try plan.document["edges"] != nil)
    }

    @Test
    func `standard error is JSON alone with --events, also where there are messages, findings and errors`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let store = moult.folder.path + "/forum.sqlite"
        let unnamed = try moult("migrate", "forum.sqlite", "--events")
        #expect(unnamed.exit == 2)
        #expect(try events(unnamed.errors) == ["error"], "\(unnamed)")
        let failed = try moult("migrate", "nothing.sqlite", "--events", "--model", "Forum.xcdatamodeld")
        #expect(failed.exit == 4)
        #expect(try events(failed.errors).last == "error")
        let json = try moult("migrate", "nothing.sqlite", "--events", "--json", "--model", "Forum.xcdatamodeld")
        #expect(json.errors.isEmpty)
        #expect(try error(json)["code"] as? String == "fileNotFound")
        let paced = try moult.run(Tool.path, ["migrate", "forum.sqlite", "--events", "--budget", "1min"] + model)
        #expect(paced.exit == 0, "\(paced)")
        #expect(try Set(events(paced.errors)) == ["progress"], "\(paced.errors)")
        let current = try moult.run(Tool.path, ["migrate", "forum.sqlite", "--events"] + model)
        #expect(current.exit == 0 && current.errors.isEmpty, "\(current)")
        #expect(try SQLiteShell.run(store, "PRAGMA quick_check") == "ok\n")
    }

    @Test func `what has no store or backup ends with a code`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        for verb in [["backup", "verify"], ["backup", "list"], ["backup", "prune"], ["rollback"]] {
            let result = try moult.run(Tool.path, verb + ["nothing.sqlite", "--json"])
            #expect(result.exit == 4, "\(verb): \(result)")
            #expect(try error(result)["code"] as? String == "fileNotFound")
        }
        let rollback = try moult("rollback", "forum.sqlite", "--json")
        #expect(rollback.exit == 3)
        #expect(try error(rollback)["code"] as? String == "backupNotFound")
        // Where the store is gone and its backups are there, they are still found.
        #expect(try moult("backup", "create", "forum.sqlite").exit == 0)
        try FileManager.default.removeItem(atPath: moult.folder.path + "/forum.sqlite")
        #expect(try moult("backup", "verify", "forum.sqlite").output.contains("sound"))
    }

    @Test func `the sentence about a uniqueness constraint is right`() throws {
        let moult = try Tool.besideForumModel()
        try makeNamesUnique(moult)
        let diff = try moult.run(Tool.path, ["diff", "Forum", "Forum 2"] + model)
        #expect(diff.output.contains("A uniqueness constraint"), "\(diff)")
        #expect(!diff.output.contains("An uni") && !diff.output.contains("an uni"))
    }

    @Test func `completions are one document with --json`() throws {
        let moult = try Tool.besideForumModel()
        let document = try moult("completions", "bash", "--json").document
        #expect(document["script"] as? String == (try moult("completions", "bash").output))
    }

    /// Stops a migration by Control-C at its first word of progress, and prints how it ended.
    private static let interrupting = """
        import subprocess, signal, sys
        child = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        for line in child.stderr:
            if b'"progress"' in line:
                child.send_signal(signal.SIGINT)
                break
        rest = child.stderr.read().decode()
        print(child.wait())
        print(rest)
        """

    /// Stops a migration by two signals at once, while it changes its copy, and prints how it ended.
    private static let interruptingTwice = """
        import os, signal, subprocess, sys
        child = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        for line in child.stderr:
            if b'"phase":"change"' in line:
                child.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
                child.send_signal(signal.SIGINT)
                child.send_signal(signal.SIGTERM)
                child.send_signal(signal.SIGCONT)
                break
        child.stderr.read()
        print(child.wait())
        """

    /// A store whose migration takes long enough to be interrupted, and the command that migrates it.
    private func besideLargeStore() throws -> (moult: Tool, command: [String]) {
        let moult = try Tool.besideForumModel()
        let made = try moult.run(
            Tool.path,
            ["create", "forum.sqlite", "--version", "Forum", "--rows", "Forum=3,User=20,Thread=30,Post=40000"] + model)
        #expect(made.exit == 0)
        return (moult, [Tool.path, "migrate", "forum.sqlite", "--events"] + model)
    }

    @Test func `a second Control-C ends the process by the signal, and is no crash either`() throws {
        let (moult, command) = try besideLargeStore()
        for _ in 0..<6 {
            let ended = try moult.run("python3", ["-c", Self.interruptingTwice] + command)
            #expect(["-2\n", "-15\n"].contains(ended.output), "\(ended)")
        }
        let runs = try moult.run(Tool.path, ["resume", "forum.sqlite"])
        #expect(runs.exit == 0)
        let history = try moult("runs", "forum.sqlite", "--json").document
        let records = try #require(history["runs"] as? [[String: any Sendable]])
        // The last one is that of resume, which finishes what was begun.
        let results = records.compactMap { $0["result"] as? String }
        #expect(results.sorted() == Array(repeating: "cancelled", count: 6) + ["done"], "\(records)")
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/forum.sqlite.moult/stopped"))
    }

    @Test func `three runs that Control-C has stopped exit as the page says, and are no crash loop`() throws {
        let (moult, command) = try besideLargeStore()
        for _ in 0..<3 {
            let ended = try moult.run("python3", ["-c", Self.interrupting] + command)
            #expect(ended.output.hasPrefix("5\n") && ended.output.contains("\"cancelled\""), "\(ended)")
        }
        let doctor = try moult.run(Tool.path, ["doctor", "forum.sqlite", "--json"] + model)
        #expect(doctor.exit == 0, "\(doctor)")
        #expect(!doctor.output.contains("never-completes") && !doctor.output.contains("last-run-failed"))
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite"] + model).exit == 0)
    }

    // MARK: - Control characters

    /// C0, DEL, C1, and marks that turn the direction of writing.
    private static let steering = [
        "\u{1B}", "\u{7F}", "\u{85}", "\u{9B}", "\u{202E}", "\u{2066}", "\u{200F}", "\u{2028}",
    ]

    private func isSafe(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar == "\n" || scalar == "\t"
                || !(scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
                    || (0x200E...0x200F).contains(scalar.value) || (0x2028...0x202E).contains(scalar.value)
                    || (0x2066...0x2069).contains(scalar.value))
        }
    }

    @Test func `nothing that a file or a path holds reaches the terminal as a command`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let folder = moult.folder.path
        let all = Self.steering.joined(separator: "x")
        let hexadecimal = all.utf8.map { String(format: "%02x", $0) }.joined()
        let name = "s\(all)s.sqlite"
        _ = try SQLiteShell.run(
            folder + "/forum.sqlite",
            """
            UPDATE ZPOST SET ZTEXT = CAST(x'\(hexadecimal)' AS TEXT);
            UPDATE ZPOST SET ZAUTHOR = 999 WHERE Z_PK < 5;
            CREATE TABLE "t\(all)" (a); CREATE INDEX "i\(all)" ON ZPOST (ZTEXT);
            """)
        try FileManager.default.moveItem(atPath: folder + "/forum.sqlite", toPath: folder + "/" + name)
        for verb in [
            ["inspect"], ["status"], ["dump"], ["validate"], ["doctor"], ["plan", "--sql"], ["repair", "--dry-run"],
            ["backup", "create"], ["backup", "list"], ["migrate"], ["runs"], ["log"], ["rollback"], ["nothing"],
        ] {
            for json: [String] in [[], ["--json"]] {
                let words = verb.prefix { !$0.hasPrefix("-") }
                let needsModel = ["status", "plan", "migrate"].contains(verb[0])
                let rest = Array(verb.dropFirst(words.count)) + json
                let options = needsModel ? rest + model : rest
                let arguments: [String] = Array(words) + [name] + options
                let result = try moult.run(Tool.path, arguments)
                #expect(isSafe(result.output) && isSafe(result.errors), "\(verb) \(json) \(result)")
                guard !json.isEmpty else { continue }
                for line in result.output.split(separator: "\n") {
                    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
                }
            }
        }
        // The value comes back as it is from the document.
        let dump = try moult("dump", name, "--entity", "Post", "--json").output.split(separator: "\n")[0]
        let row = try JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [String: any Sendable]
        #expect((row?["values"] as? [String: any Sendable])?["text"] as? String == all)
    }

    @Test func `the last barrier lets colours through, and nothing else`() {
        let colour = TextStyle(hasColour: true)
        #expect(colour.red("a").safeForTerminal(style: colour) == colour.red("a"))
        #expect(colour.red("a").safeForTerminal(style: .plain) == "\\u{1B}[31ma\\u{1B}[0m")
        #expect("\u{1B}[2J\u{1B}]0;x\u{9B}31m".safeForTerminal(style: colour) == "\\u{1B}[2J\\u{1B}]0;x\\u{9B}31m")
        #expect("a\n\tb".safeForTerminal(style: .plain) == "a\n\tb")
    }
}
