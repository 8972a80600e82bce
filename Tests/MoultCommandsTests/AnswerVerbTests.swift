import Foundation
import TestSupport
import Testing

@Suite("moult answer, and questions on the way")
struct AnswerVerbTests {  // tier: long
    /// A store of version Forum, and a Forum 2 that no longer says what `Post.body` was called.
    private func undeclared() throws -> Tool {
        let moult = try StoreVerbTests.besideForumStore()
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum 2.xcdatamodel/contents"
        try String(contentsOfFile: contents, encoding: .utf8).replacingOccurrences(
            of: "elementID=\"text\"", with: "optional=\"YES\""
        )
        .write(toFile: contents, atomically: true, encoding: .utf8)
        return moult
    }

    private let model = ["--model", "Forum.xcdatamodeld", "--to", "Forum 2"]

    /// The file of answers; empty where there is none.
    private func recorded(_ moult: Tool) -> String {
        (try? String(contentsOfFile: moult.folder.path + "/Forum.answers.json", encoding: .utf8)) ?? ""
    }

    @Test func `a question between released versions is counted, and listed on request`() throws {
        let moult = try undeclared()
        #expect(try moult("answer", "Forum.xcdatamodeld").exit == 3)
        #expect(try moult("lock", "Forum.xcdatamodeld").exit == 0)
        let released = try moult("answer", "Forum.xcdatamodeld")
        #expect(
            released.exit == 0 && released.output.contains("1 question is between released versions"), "\(released)")
        let asked = try moult("answer", "Forum.xcdatamodeld", "--from", "Forum")
        #expect(asked.exit == 3 && asked.output.contains("Post.body"), "\(asked)")
        #expect(try moult("answer", "Forum.xcdatamodeld", "--set", "Post.body=rename:text").exit == 0)
        #expect(recorded(moult).contains("rename"))
    }

    @Test func `plan and migrate name the command that answers, and it does as it is printed`() throws {
        let moult = try undeclared()
        for verb in ["plan", "migrate"] {
            let result = try moult.run(Tool.path, [verb, "forum.sqlite"] + model)
            #expect(result.exit == 3)
            #expect(
                result.errors.contains(
                    "moult answer Forum.xcdatamodeld --for forum.sqlite --to 'Forum 2' --set Post.body=rename:text"),
                "\(result.errors)")
        }
        let file = try moult.run(Tool.path, ["plan", "forum.sqlite", "--answers", "a.json"] + model)
        #expect(file.exit != 0, "a file that is named has to be there")
        let answered = try moult("answer", "Forum.xcdatamodeld", "--to", "Forum 2", "--set", "Post.body=rename:text")
        #expect(answered.exit == 0, "\(answered.errors)")
        #expect(recorded(moult).contains("\"property\": \"body\", \"is\": \"rename\", \"old\": \"text\""))
        // Found beside the model: nobody names the file.
        let plan = try moult.run(Tool.path, ["plan", "forum.sqlite"] + model)
        #expect(plan.exit == 0 && plan.output.contains("The attribute Post.body is renamed from text."))
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite"] + model).exit == 0)
        let store = moult.folder.path + "/forum.sqlite"
        #expect(try SQLiteShell.run(store, "SELECT count(ZBODY) > 0 FROM ZPOST") == "1\n")
    }

    /// Both could be the old `text`: once one is, nothing is asked about the other.
    @Test(arguments: [false, true])
    func `the order of several answers does not matter`(isReversed: Bool) throws {
        let moult = try undeclared()
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum 2.xcdatamodel/contents"
        try String(contentsOfFile: contents, encoding: .utf8).replacingOccurrences(
            of: "<attribute name=\"body\"",
            with:
                "<attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/>\n        <attribute name=\"body\""
        )
        .write(toFile: contents, atomically: true, encoding: .utf8)
        let answers = [["--set", "Post.body=rename:text"], ["--set", "Post.note=new"]]
        let arguments = (isReversed ? answers.reversed() : answers).flatMap { $0 }
        let verb = ["answer", "Forum.xcdatamodeld", "--to", "Forum 2"]
        let result = try moult.run(Tool.path, verb + arguments)
        #expect(result.exit == 0 && result.output.contains("No question is open."), "\(result)")
        let other = try moult.run(Tool.path, verb + ["--set", "Post.title=new"])
        #expect(other.exit == 2 && other.errors.contains("Nothing is asked about Post.title."))
    }

    @Test func `answers that take the same old property are said to exclude each other`() throws {
        let moult = try undeclared()
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum 2.xcdatamodel/contents"
        try String(contentsOfFile: contents, encoding: .utf8).replacingOccurrences(
            of: "<attribute name=\"body\"",
            with:
                "<attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/>\n        <attribute name=\"body\""
        )
        .write(toFile: contents, atomically: true, encoding: .utf8)
        let verb = ["answer", "Forum.xcdatamodeld", "--to", "Forum 2"]
        let pair = ["Post.body=rename:text", "Post.note=rename:text"]
        let document = try moult.run(Tool.path, verb + ["--json"]).document
        #expect((document["exclusive"] as? [[String]])?.map { $0.sorted() } == [pair], "\(document)")
        let text = try moult.run(Tool.path, verb).output
        #expect(text.contains("Only one of these can be given"), "\(text)")
        // It is true: the second is refused, and nothing is recorded.
        let both = try moult.run(Tool.path, verb + pair.flatMap { ["--set", $0] })
        #expect(both.exit == 2 && both.errors.contains("Another answer has settled Post.note"), "\(both)")
        #expect(recorded(moult).isEmpty)
    }

    @Test func `an answer may be changed, and taken back`() throws {
        let moult = try undeclared()
        func answer(_ arguments: String...) throws -> Tool.Result {
            try moult.run(Tool.path, ["answer", "Forum.xcdatamodeld", "--to", "Forum 2"] + arguments)
        }
        #expect(try answer("--set", "Post.body=rename:text").exit == 0)
        let shown = try answer()
        #expect(shown.exit == 0 && shown.output.contains("Post.body=rename:text"))
        #expect(try answer("--set", "Post.body=new").exit == 0)
        #expect(recorded(moult).contains("\"is\": \"new\"") && !recorded(moult).contains("rename"))
        let plan = try moult.run(Tool.path, ["plan", "forum.sqlite"] + model)
        #expect(plan.output.contains("The attribute Post.text is removed"), "\(plan.output)")
        #expect(try answer("--set", "Post.body=keep").exit == 2)
        #expect(try answer("--set", "Post.title=new").exit == 2)
        // What was asked for is done, although a question is open again.
        #expect(try answer("--forget", "Post.body").exit == 0)
        #expect(try answer().exit == 3)
        #expect(!recorded(moult).contains("Post"))
        #expect(try answer("--forget", "Post.body").exit == 2)
        let document = try answer("--set", "Post.body=new", "--json").document
        #expect((document["answers"] as? [any Sendable])?.count == 1)
        #expect(document["file"] as? String == "Forum.answers.json")
    }

    @Test func `an answer that a model has outlived is named with the command that takes it back`() throws {
        let moult = try undeclared()
        let file = moult.folder.path + "/Forum.answers.json"
        for (version, entity) in [("Forum 2", "Poem"), ("Forum 9", "Post")] {
            try """
            {"format": 1, "answers": [
              {"from": "Forum", "to": "\(version)", "entity": "\(entity)", "property": "body", "is": "new"}]}
            """.write(toFile: file, atomically: true, encoding: .utf8)
            let plan = try moult.run(Tool.path, ["plan", "forum.sqlite"] + model)
            #expect(plan.exit == 2)
            #expect(plan.errors.contains("moult answer Forum.xcdatamodeld --forget \(entity).body"), "\(plan.errors)")
            let forgotten = try moult("answer", "Forum.xcdatamodeld", "--to", "Forum 2", "--forget", "\(entity).body")
            #expect(forgotten.exit == 0, "\(forgotten.errors)")
            #expect(!recorded(moult).contains(entity))
        }
    }

    @Test func `doctor calls an open question no error`() throws {
        let moult = try undeclared()
        _ = try moult("backup", "create", "forum.sqlite", "--model", "Forum.xcdatamodeld")
        let open = try moult.run(Tool.path, ["doctor", "forum.sqlite"] + model)
        #expect(open.exit == 0, "\(open.output)")
        #expect(open.output.contains("[open-question]") && open.output.contains("moult answer Forum.xcdatamodeld"))
        _ = try moult("answer", "Forum.xcdatamodeld", "--to", "Forum 2", "--set", "Post.body=rename:text")
        let answered = try moult.run(Tool.path, ["doctor", "forum.sqlite"] + model)
        #expect(answered.output.contains("[can-migrate]"), "\(answered.output)")
    }

    @Test func `a rename that is answered and leaves something behind says so in the plan`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum 2.xcdatamodel/contents"
        // Thread is called Subject, which has lost its subject, and nothing says that it is the same.
        var text = try String(contentsOfFile: contents, encoding: .utf8)
        #expect(text.contains("<entity name=\"Thread\""))
        text = text.replacingOccurrences(of: "\"Thread\"", with: "\"Subject\"")
        text = text.split(separator: "\n").filter { line in
            !line.contains("<attribute name=\"subject\"")
        }.joined(separator: "\n")
        try text.write(toFile: contents, atomically: true, encoding: .utf8)
        let asked = try moult.run(Tool.path, ["plan", "forum.sqlite"] + model)
        #expect(asked.exit == 3 && asked.errors.contains("a rename loses subject"), "\(asked.errors)")
        let set = try moult("answer", "Forum.xcdatamodeld", "--to", "Forum 2", "--set", "Subject=rename:Thread")
        let plan = try moult.run(Tool.path, ["plan", "forum.sqlite"] + model)
        #expect(plan.exit == 3 && plan.errors.contains("Thread.subject"), "\(set.output)\(plan.errors)")
        let accepted = try moult.run(Tool.path, ["plan", "forum.sqlite", "--accept-losses"] + model)
        #expect(accepted.exit == 0, "\(accepted)")
        #expect(plan.output.contains("The attribute Subject.subject is removed"), "\(plan.output)")
        #expect(plan.output.contains("[DATA002 attribute-removed]"), "\(plan.output)")
    }

    // MARK: - Stores as models

    /// Two stores whose versions have one name and other models, and a store to go to.
    private func stores() throws -> Tool {
        let moult = try undeclared()
        let folder = moult.folder.path
        #expect(try moult("create", "new.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum 2").exit == 0)
        let contents = folder + "/Forum.xcdatamodeld/Forum.xcdatamodel/contents"
        let text = try String(contentsOfFile: contents, encoding: .utf8)
        let other = text.replacingOccurrences(
            of: "<entity name=\"Post\"", with: "<entity name=\"Post\" versionHashModifier=\"other\"")
        #expect(other != text)
        try other.write(toFile: contents, atomically: true, encoding: .utf8)
        try FileManager.default.createDirectory(atPath: folder + "/other", withIntermediateDirectories: false)
        let made = try moult("create", "other/forum.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum")
        #expect(made.exit == 0, "\(made.errors)")
        return moult
    }

    private func text(_ moult: Tool) throws -> String {
        try String(contentsOfFile: moult.folder.path + "/new.answers.json", encoding: .utf8)
    }

    @Test func `an answer about two stores is about no other store whose version has the same name`() throws {
        let moult = try stores()
        for store in ["forum.sqlite", "other/forum.sqlite"] {
            let open = try moult("plan", store, "--model", "new.sqlite")
            #expect(open.exit == 3 && open.errors.contains("moult answer new.sqlite --for \(store)"), "\(open.errors)")
        }
        #expect(try moult("answer", "new.sqlite", "--for", "forum.sqlite", "--set", "Post.body=rename:text").exit == 0)
        let checksum = try #require(
            (try moult("hash", "forum.sqlite", "--json").document["versions"] as? [String: [String: any Sendable]])?
                .values.first?["checksum"] as? String)
        #expect(try text(moult).contains("\"fromChecksum\": \"\(checksum)\""))
        #expect(try moult("plan", "forum.sqlite", "--model", "new.sqlite").exit == 0)
        let other = try moult("plan", "other/forum.sqlite", "--model", "new.sqlite")
        #expect(other.exit == 3 && other.errors.contains("Ignored, because neither store is of such a version"))
        // Each store has its own answer in the one file.
        let set = try moult("answer", "new.sqlite", "--for", "other/forum.sqlite", "--set", "Post.body=new", "--json")
        let recorded = try set.document["answers"] as? [any Sendable]
        #expect(set.exit == 0 && recorded?.count == 2)
        let kept = try text(moult)
        #expect(kept.contains("\"rename\"") && kept.contains("\"new\""))
        let plan = try moult("plan", "other/forum.sqlite", "--model", "new.sqlite")
        #expect(plan.output.contains("The attribute Post.text is removed"), "\(plan)")
        #expect(try moult("migrate", "forum.sqlite", "--model", "new.sqlite").exit == 0)
        let store = moult.folder.path + "/forum.sqlite"
        #expect(try SQLiteShell.run(store, "SELECT count(ZBODY) > 0 FROM ZPOST") == "1\n")
        #expect(try moult("answer", "new.sqlite", "--for", "other/forum.sqlite", "--forget", "Post.body").exit == 0)
        #expect(try text(moult).contains("\"rename\"") && !text(moult).contains("\"new\""))
    }

    @Test
    func `an answer about stores that goes by names alone is refused with the command that records it again`() throws {
        let moult = try stores()
        let path = moult.folder.path + "/new.answers.json"
        let names = try moult("plan", "forum.sqlite", "--model", "new.sqlite", "--json").document
        let message = try #require((names["error"] as? [String: any Sendable])?["message"] as? String)
        let line = try #require(message.split(separator: "\n").first { $0.contains("\"rename\"") })
        let bound = line.trimmingCharacters(in: .whitespaces)
        let byNames = bound.replacing(#/"(from|to)Checksum": "[^"]*", /#, with: "")
        #expect(byNames != bound)
        try "{\"format\": 1, \"answers\": [\(byNames)]}".write(toFile: path, atomically: true, encoding: .utf8)
        for verb in ["plan", "migrate"] {
            let refused = try moult(verb, "forum.sqlite", "--model", "new.sqlite")
            #expect(refused.exit == 2, "\(refused)")
            let command = "moult answer new.sqlite --for forum.sqlite --set Post.body=rename:text"
            #expect(refused.errors.contains(command), "\(refused.errors)")
        }
        let again = try moult("answer", "new.sqlite", "--for", "forum.sqlite", "--set", "Post.body=rename:text")
        #expect(again.exit == 0, "\(again)")
        #expect(try text(moult).contains(bound))
        #expect(try moult("plan", "forum.sqlite", "--model", "new.sqlite").exit == 0)
    }

    // MARK: - At a terminal

    /// Runs a command at a terminal, types a line after each prompt, and prints what is seen and the exit code.
    private static let terminal = """
        import os, pty, select, sys, time
        typed = sys.argv[1].split(",")
        child, terminal = pty.fork()
        if child == 0:
            os.execv(sys.argv[2], sys.argv[2:])
        seen, prompts, end = b"", 0, time.time() + 120
        while time.time() < end:
            ready, _, _ = select.select([terminal], [], [], 1)
            if not ready: continue
            try: piece = os.read(terminal, 65536)
            except OSError: break
            if not piece: break
            seen += piece
            if seen.count(b"Which one?") > prompts:
                os.write(terminal, ((typed[prompts] if prompts < len(typed) else "") + "\\n").encode())
                prompts += 1
        _, status = os.waitpid(child, 0)
        sys.stdout.write(seen.decode(errors="replace"))
        sys.stdout.write("\\nexit %d prompts %d\\n" % (os.waitstatus_to_exitcode(status), prompts))
        """

    private func atTerminal(_ moult: Tool, typing: String, _ arguments: [String]) throws -> String {
        try moult.run("python3", ["-c", Self.terminal, typing, Tool.path] + arguments).output
    }

    @Test func `at a terminal the question is asked, the answer is kept, and the migration goes on`() throws {
        let moult = try undeclared()
        let left = try atTerminal(moult, typing: "", ["plan", "forum.sqlite"] + model)
        #expect(left.contains("exit 3 prompts 1") && recorded(moult).isEmpty, "\(left)")
        let migrated = try atTerminal(moult, typing: "x,9,1", ["migrate", "forum.sqlite"] + model)
        #expect(migrated.contains("exit 0 prompts 3"), "\(migrated)")
        #expect(migrated.contains("Recorded in Forum.answers.json"))
        #expect(recorded(moult).contains("\"rename\""))
        let store = moult.folder.path + "/forum.sqlite"
        #expect(try SQLiteShell.run(store, "SELECT count(ZBODY) > 0 FROM ZPOST") == "1\n")
    }

    @Test func `no one is asked where the result is JSON or the input is no terminal`() throws {
        let moult = try undeclared()
        let json = try atTerminal(moult, typing: "1", ["plan", "forum.sqlite", "--json"] + model)
        #expect(json.contains("exit 3 prompts 0"), "\(json)")
        let shell = "exec '\(Tool.path)' plan forum.sqlite --model Forum.xcdatamodeld --to 'Forum 2' < /dev/null"
        let empty = try moult.run("python3", ["-c", Self.terminal, "1", "/bin/sh", "-c", shell])
        #expect(empty.output.contains("exit 3 prompts 0"), "\(empty.output)")
        #expect(recorded(moult).isEmpty)
    }
}
