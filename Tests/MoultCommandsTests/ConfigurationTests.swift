import Foundation
import TestSupport
import Testing

@testable import MoultTools

/// `moult.json`, `MOULT_MODEL` and `moult init`.
@Suite("Configuration")
struct ConfigurationTests {  // tier: long
    /// A tool in the folder `work` of a repository that has the model of the forum at its root.
    private func below(_ configuration: String? = nil) throws -> (outer: Tool, inner: String) {
        let moult = try Tool.besideForumModel()
        let root = moult.folder.path
        try FileManager.default.createDirectory(atPath: root + "/project/deep", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: root + "/.git", withIntermediateDirectories: true)
        if let configuration { try write(configuration, moult) }
        return (moult, root + "/project/deep")
    }

    private func write(_ text: String, _ moult: Tool, _ name: String = "moult.json") throws {
        try text.write(toFile: moult.folder.path + "/" + name, atomically: true, encoding: .utf8)
    }

    @Test func `the model is found upwards, and every verb uses it`() throws {
        let (moult, inner) = try below("{\"model\": \"Forum.xcdatamodeld\"}")
        for command in [
            "hash", "lint", "changelog", "create a.sqlite --version Forum --fill 2", "status a.sqlite", "plan a.sqlite",
            "diff Forum 'Forum 2'", "migrate a.sqlite", "validate a.sqlite", "schema export out",
        ] {
            let result = try moult.shell("cd '\(inner)' && moult \(command)")
            #expect(result.exit == 0, "\(command): \(result)")
        }
        let status = try moult.shell("cd '\(inner)' && moult status a.sqlite --json")
        #expect(try status.document["version"] as? String == "Forum 3")
        // A repository is a project of its own.
        try FileManager.default.createDirectory(atPath: inner + "/.git", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: inner + "/more", withIntermediateDirectories: true)
        #expect(try moult.shell("cd '\(inner)/more' && moult hash").exit == 2)
        #expect(try moult.shell("cd '\(inner)' && moult hash --config ../../moult.json").exit == 0)
    }

    @Test func `the command line comes before MOULT_MODEL, and that before moult.json`() throws {
        var moult = try Tool.besideForumModel()
        #expect(try moult("hash").exit == 2)
        try write("{\"model\": \"Forum.xcdatamodeld/Forum.xcdatamodel\"}", moult)
        func versions(_ result: Tool.Result) throws -> [String] {
            try #require(try result.document["versions"] as? [String: any Sendable], "\(result)").keys.sorted()
        }
        #expect(try versions(moult("hash", "--json")) == ["Forum"])
        moult.environment["MOULT_MODEL"] = "Forum.xcdatamodeld/Forum 2.xcdatamodel"
        #expect(try versions(moult("hash", "--json")) == ["Forum 2"])
        #expect(try versions(moult("hash", "Forum.xcdatamodeld/Forum 3.xcdatamodel", "--json")) == ["Forum 3"])
        #expect(try versions(moult("hash", "--json", "--config", "none")) == ["Forum 2"])
        moult.environment["MOULT_MODEL"] = "nothing.xcdatamodeld"
        let wrong = try moult("hash")
        #expect(wrong.exit == 2 && wrong.errors.contains("MOULT_MODEL names nothing.xcdatamodeld"), "\(wrong)")
    }

    @Test(arguments: [
        ("{\n  \"model\": \"Forum.xcdatamodeld\",\n  \"profile\": []\n}", "moult.json:3", "Did you mean profiles?"),
        ("{\"model\": \"Forum.xcdatamodeld\",\n\n\"profiles\": [\"icloud\"]}", "moult.json:3", "no profile icloud"),
        (
            "{\n\"severities\": {\n\"SHAPE003\": \"off\",\n\"SHAPE900\": \"off\"}}", "moult.json:4",
            "no rule SHAPE900"
        ),
        ("{\n\"severities\": {\n\"SHAPE003\": \"fatal\"}}", "moult.json:3", "error, warning, note or off"),
        ("{\n\"model\": 7}", "moult.json:2", "should be a path"), ("[]", "moult.json:1", "an object"),
        ("{\n\"acceptedLosses\": \"Post\"}", "moult.json:2", "list of strings"),
        ("{\n\"model\": \"Gone.xcdatamodeld\"}", "moult.json:2", "Gone.xcdatamodeld is not there"),
        ("{\n\"format\": 2}", "moult.json:2", "newer version"), ("{", "moult.json", "line 1"),
    ])
    func `what is wrong in the file is an error with its line, and nothing is written`(
        text: String, place: String, says: String
    ) throws {
        let moult = try Tool.besideForumModel()
        try write(text, moult)
        let before = try FileManager.default.subpathsOfDirectory(atPath: moult.folder.path)
        for arguments in [["lint"], ["lock"], ["status", "a.sqlite"]] {
            let result = try moult.run(Tool.path, arguments)
            #expect(result.exit == 2, "\(result)")
            #expect(result.errors.contains(place) && result.errors.contains(says), "\(result)")
        }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: moult.folder.path) == before)
    }

    @Test func `a moult.json, or a file of answers, that is a link to nothing is not taken for none`() throws {
        let moult = try Tool.besideForumModel()
        let link = moult.folder.path + "/moult.json"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "elsewhere.json")
        let result = try moult("hash", "Forum.xcdatamodeld")
        #expect(result.exit == 2 && result.errors.contains("is a link to a file that is not there"), "\(result)")
        #expect(try moult("hash", "Forum.xcdatamodeld", "--config", "none").exit == 0)
        try FileManager.default.moveItem(atPath: link, toPath: moult.folder.path + "/Forum.answers.json")
        #expect(try moult("diff", "Forum", "Forum 2", "--model", "Forum.xcdatamodeld").exit != 0)
    }

    @Test func `lines are those of the keys, however the file is laid out`() {
        let text = """
            {"a": {"b": 1,
              "c": ["x", {"d": "}\\" {"}, "e"]},
             "f\\u0041":
              2}
            """
        let lines = JSONKeyLines(Array(text.utf8)).lines
        #expect(lines[["a"]] == 1 && lines[["a", "b"]] == 1 && lines[["a", "c"]] == 2)
        #expect(lines[["fA"]] == 3, "\(lines)")
        #expect(lines[["a", "c", "0"]] == 2 && lines[["a", "c", "1", "d"]] == 2 && lines[["a", "c", "2"]] == 2)
        let list = JSONKeyLines(Array("{\"a\": [\n[1, 2],\n\n{\"b\": 3}, []\n], \"c\": 4}".utf8)).lines
        #expect(list[["a", "0"]] == 2 && list[["a", "0", "1"]] == 2 && list[["a", "1", "b"]] == 4, "\(list)")
        #expect(list[["a", "2"]] == 4 && list[["c"]] == 5, "\(list)")
    }

    @Test func `lint takes profiles, severities and declared losses from the file`() throws {
        let moult = Tool(folder: try ScratchFolder())
        for (name, attributes) in [("App", "title"), ("App 2", "")] {
            let folder = "\(moult.folder.path)/App.xcdatamodeld/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let title =
                attributes.isEmpty ? "" : "<attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>"
            try "<model><entity name=\"Post\">\(title)<attribute name=\"n\" attributeType=\"String\"/></entity></model>"
                .write(toFile: folder + "/contents", atomically: true, encoding: .utf8)
        }
        try SchemaFiles.mark("App 2", inBundle: moult.folder.path + "/App.xcdatamodeld")
        func codes(_ configuration: String, _ arguments: String...) throws -> [String] {
            try write(configuration, moult)
            let document = try moult.run(Tool.path, ["lint", "--json"] + arguments).document
            return try #require(document["findings"] as? [[String: any Sendable]]).map {
                "\($0["rule"] ?? "") \($0["severity"] ?? "")"
            }
        }
        let model = "\"model\": \"App.xcdatamodeld\""
        #expect(try codes("{\(model)}") == ["DATA002 warning"])
        #expect(try codes("{\(model), \"severities\": {\"DATA002\": \"error\"}}") == ["DATA002 error"])
        #expect(try codes("{\(model), \"severities\": {\"data002\": \"off\"}}") == [])
        #expect(try codes("{\(model), \"acceptedLosses\": [\"Post.title\"]}") == [])
        #expect(try codes("{\(model), \"acceptedLosses\": [\"Post\"]}") == [])
        try write("{\(model), \"acceptedLosses\": [\"Post.other\"]}", moult)
        #expect(try moult("lint").exit == 2)
        #expect(
            try codes("{\(model), \"profiles\": [\"cloudkit\"]}")
                == ["SYNC002 error", "DATA002 warning", "SYNC009 warning"])
        #expect(
            try codes("{\(model), \"profiles\": [\"cloudkit\"]}", "--profile", "extension")
                == ["DATA002 warning", "SYNC010 warning"])
    }

    @Test func `init finds the model, writes the file and the lock, and replaces neither`() throws {
        let moult = try Tool.besideForumModel()
        let made = try moult("init", "--profile", "cloudkit", "--json")
        #expect(made.exit == 0, "\(made)")
        #expect(try made.document["model"] as? String == "Forum.xcdatamodeld")
        let text = try String(contentsOfFile: moult.folder.path + "/moult.json", encoding: .utf8)
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: any Sendable]
        #expect(object?["model"] as? String == "Forum.xcdatamodeld" && object?["profiles"] as? [String] == ["cloudkit"])
        #expect(try moult("lock", "--check").exit == 0)
        let lock = try String(contentsOfFile: moult.folder.path + "/moult.lock", encoding: .utf8)
        #expect(lock.contains("\"Forum.xcdatamodeld\": \"Forum 3\""))
        #expect(try moult("init").exit == 3)
        // The lock knows the current version.
        let marker = moult.folder.path + "/Forum.xcdatamodeld/.xccurrentversion"
        let current = try String(contentsOfFile: marker, encoding: .utf8)
        try current.replacing("Forum 3", with: "Forum 2").write(toFile: marker, atomically: true, encoding: .utf8)
        let back = try moult("lock", "--check")
        #expect(back.exit == 1 && back.output.contains("The current version is Forum 2"), "\(back)")
        #expect(try moult("lint", "--json").output.contains("OPEN004"))
        try current.write(toFile: marker, atomically: true, encoding: .utf8)
        try FileManager.default.removeItem(atPath: moult.folder.path + "/moult.json")
        let again = try moult("init")
        #expect(again.exit == 0 && again.output.contains("stays as it is"), "\(again)")
        // The next step runs as it is printed.
        let next = try #require(again.output.split(separator: "`").dropFirst().first)
        #expect(next == "moult lint Forum.xcdatamodeld")
        #expect(try moult.shell(String(next)).exit == 0)
    }

    @Test func `init needs a model, takes all there are, and uses the one that is named`() throws {
        let empty = Tool(folder: try ScratchFolder())
        let none = try empty("init")
        #expect(none.exit == 2 && none.errors.contains("no .xcdatamodeld"), "\(none)")
        let moult = try Tool.besideForumModel()
        for folder in ["Sources", "Pods"] {
            #expect(try moult.shell("mkdir \(folder) && cp -r Forum.xcdatamodeld \(folder)/").exit == 0)
        }
        let several = try moult("init", "--config", "all.json")
        #expect(
            several.exit == 0 && several.output.contains("Forum.xcdatamodeld, Sources/Forum.xcdatamodeld."),
            "\(several)")
        #expect(try moult.shell("rm moult.lock Sources/moult.lock").exit == 0)
        #expect(try moult("init", "Sources/Forum.xcdatamodeld").exit == 0)
        #expect(try moult("lint").exit == 0)
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/moult.lock"))
        #expect(FileManager.default.fileExists(atPath: moult.folder.path + "/Sources/moult.lock"))
    }

    @Test func `init asks on a terminal which model it is, and for the profiles`() throws {
        let moult = try Tool.besideForumModel()
        #expect(try moult.shell("mkdir Sources && cp -r Forum.xcdatamodeld Sources/").exit == 0)
        // Answers are written when the question is there, as a person does.
        let script = """
            import os, pty, sys
            questions = [(b"Which ones?", b"2\\n"), (b"mirrored to CloudKit?", b"y\\n"), (b"app extension", b"n\\n")]
            pid, terminal = pty.fork()
            if pid == 0:
                os.execv(sys.argv[1], [sys.argv[1], "init"])
            printed = b""
            while True:
                try:
                    part = os.read(terminal, 4096)
                except OSError:
                    break
                if not part:
                    break
                printed += part
                if questions and questions[0][0] in printed:
                    os.write(terminal, questions.pop(0)[1])
            status = os.waitpid(pid, 0)[1]
            print(printed.decode())
            sys.exit(os.waitstatus_to_exitcode(status) or len(questions))
            """
        let asked = try moult.run("/usr/bin/env", ["python3", "-c", script, Tool.path])
        #expect(asked.exit == 0, "\(asked)")
        #expect(asked.output.contains("2  Sources/Forum.xcdatamodeld"), "\(asked)")
        let text = try String(contentsOfFile: moult.folder.path + "/moult.json", encoding: .utf8)
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: any Sendable]
        #expect(object?["model"] as? String == "Sources/Forum.xcdatamodeld", "\(text)")
        #expect(object?["profiles"] as? [String] == ["cloudkit"], "\(text)")
        #expect(FileManager.default.fileExists(atPath: moult.folder.path + "/Sources/moult.lock"))
    }
}
