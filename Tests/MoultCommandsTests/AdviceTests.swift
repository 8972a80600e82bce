import Foundation
import MoultCommands
import TestSupport
import Testing

/// Every command that Moult prints as advice runs as it is printed.
@Suite("Advice")
struct AdviceTests {  // tier: long
    /// The commands in a text: from the program's name to the backtick or the line's end.
    static func commands(in text: String) -> [String] {
        text.components(separatedBy: "moult ").dropFirst().compactMap { piece in
            let words = piece.prefix { $0 != "`" && $0 != "\n" }
            guard let first = words.split(separator: " ").first, Verb.all.contains(where: { $0.name == first })
            else { return nil }
            return "moult " + words
        }
    }

    /// Runs a command line in a shell, as a person would paste it.
    private func paste(_ command: String, _ moult: Tool) throws -> Tool.Result {
        let path = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().path
        return try moult.run("/bin/sh", ["-c", "PATH='\(path)':$PATH; \(command) < /dev/null"])
    }

    /// A command that is advice is no wrong usage, and names what there is.
    private func expectRuns(_ text: String, _ moult: Tool, at least: Int = 1) throws {
        let commands = Self.commands(in: text)
        #expect(commands.count >= least, "\(text)")
        for command in commands {
            let result = try paste(command, moult)
            #expect(![2, 4, 70, 127].contains(result.exit), "\(command): \(result)")
        }
    }

    /// A store, and a second one whose model does not say what `Post.body` was called; both in a folder with a blank.
    private func undeclared() throws -> Tool {
        let moult = try Tool.besideForumModel()
        let folder = moult.folder.path
        try FileManager.default.createDirectory(atPath: folder + "/it's here", withIntermediateDirectories: true)
        let contents = folder + "/Forum.xcdatamodeld/Forum 2.xcdatamodel/contents"
        #expect(
            try moult(
                "create", "it's here/forum.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum", "--rows",
                "Forum=2,User=5,Post=20"
            ).exit == 0)
        try String(contentsOfFile: contents, encoding: .utf8).replacingOccurrences(
            of: "elementID=\"text\"", with: "optional=\"YES\""
        ).write(toFile: contents, atomically: true, encoding: .utf8)
        let made = try moult(
            "create", "it's here/new.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum 2")
        #expect(made.exit == 0, "\(made)")
        return moult
    }

    private static let stores = ["it's here/forum.sqlite", "--model", "it's here/new.sqlite"]

    @Test func `a question between two stores is answered by the command that plan prints`() throws {
        let moult = try undeclared()
        for verb in ["plan", "migrate", "doctor"] {
            let asked = try moult.run(Tool.path, [verb] + Self.stores)
            let command = try #require(
                Self.commands(in: asked.errors + asked.output).first { $0.contains("answer") }, "\(asked)")
            #expect(command.contains("--for 'it'\\''s here/forum.sqlite'"), "\(command)")
            let answered = try paste(command, moult)
            #expect(answered.exit == 0 && answered.output.contains("No question is open."), "\(command) \(answered)")
            #expect(try moult.run(Tool.path, ["plan"] + Self.stores).exit == 0)
            try FileManager.default.removeItem(atPath: moult.folder.path + "/it's here/new.answers.json")
        }
        let model = ["it's here/forum.sqlite", "--model", "Forum.xcdatamodeld", "--to", "Forum 2"]
        let asked = try moult.run(Tool.path, ["plan"] + model)
        #expect(try paste(#require(Self.commands(in: asked.errors).last), moult).exit == 0, "\(asked)")
        #expect(try moult.run(Tool.path, ["plan"] + model).exit == 0)
    }

    @Test func `an answer about a version that neither store is of any more is ignored and named`() throws {
        let moult = try undeclared()
        let command = try #require(
            Self.commands(in: try moult.run(Tool.path, ["plan"] + Self.stores).errors).last)
        #expect(try paste(command, moult).exit == 0)
        #expect(try moult.run(Tool.path, ["migrate"] + Self.stores).exit == 0)
        let answers = moult.folder.path + "/it's here/new.answers.json"
        try String(contentsOfFile: answers, encoding: .utf8).replacingOccurrences(
            of: "\"from\": \"1.0\"", with: "\"from\": \"1.0.0 (the store's own)\""
        ).write(toFile: answers, atomically: true, encoding: .utf8)
        for verb in ["migrate", "plan", "doctor"] {
            let again = try moult.run(Tool.path, [verb] + Self.stores)
            #expect(again.exit == 0, "\(verb) \(again)")
            #expect(again.errors.contains("Ignored") && again.errors.contains("1.0.0 (the store's own)"), "\(again)")
        }
        let nothing = try moult.run(Tool.path, ["migrate"] + Self.stores)
        #expect(nothing.output.contains("nothing to do"))
    }

    @Test func `two stores whose versions have one name do not overwrite each other's export`() throws {
        let moult = try undeclared()
        let folder = moult.folder.path
        let contents = folder + "/Forum.xcdatamodeld/Forum 2.xcdatamodel/contents"
        try String(contentsOfFile: contents, encoding: .utf8).replacingOccurrences(
            of: "userDefinedModelVersionIdentifier=\"2.0\"", with: "userDefinedModelVersionIdentifier=\"1.0\""
        ).write(toFile: contents, atomically: true, encoding: .utf8)
        #expect(try moult("create", "b.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum 2").exit == 0)
        let export = ["schema", "export", "S", "--model"]
        #expect(try moult.run(Tool.path, export + ["it's here/forum.sqlite"]).exit == 0)
        let first = try Data(contentsOf: URL(fileURLWithPath: folder + "/S/1.0.json"))
        #expect(try moult.run(Tool.path, export + ["it's here/forum.sqlite"]).exit == 0, "the same again")
        let second = try moult.run(Tool.path, export + ["b.sqlite"])
        #expect(second.exit == 3 && second.errors.contains("S/1.0.json"), "\(second)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/S/1.0.json")) == first)
        #expect(try moult.run(Tool.path, export + ["b.sqlite", "--replace"]).exit == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/S/1.0.json")) != first)
    }

    @Test func `what a diagnosis says to type can be typed, and names no model where none is needed`() throws {
        /// What is done to a store, and the finding that must come of it.
        let situations: [(sql: String?, finding: String)] = [
            (nil, "no-backup"), ("DROP INDEX ZPOST_ZTHREAD_INDEX", "index-missing"),
            ("DROP TABLE ZUSER", "schema-tables"), ("UPDATE ZPOST SET ZAUTHOR = 999", "rows-dangling"),
        ]
        for (sql, code) in situations {
            for options in [
                [], ["--model", "Forum.xcdatamodeld"], ["--model", "Forum.xcdatamodeld", "--to", "Forum 2"],
            ] {
                let moult = try StoreVerbTests.besideForumStore()
                if let sql { _ = try SQLiteShell.run(moult.folder.path + "/forum.sqlite", sql) }
                let result = try moult.run(Tool.path, ["doctor", "forum.sqlite", "--json"] + options)
                let findings = try #require(try result.document["findings"] as? [[String: any Sendable]])
                #expect(findings.contains { $0["code"] as? String == code }, "\(code): \(result.output)")
                for finding in findings {
                    let remedy = finding["remedy"] as? String ?? ""
                    #expect(!remedy.contains("MODEL"), "\(remedy)")
                    for command in Self.commands(in: remedy) {
                        if let target = options.last,
                            command.contains("moult migrate") || command.contains("moult plan")
                        {
                            #expect(
                                target == "Forum.xcdatamodeld" || command.contains("--to '\(target)'"), "\(command)")
                        }
                        let typed = try paste(command, moult)
                        #expect(![2, 4, 70, 127].contains(typed.exit), "\(command): \(typed)")
                    }
                }
            }
        }
    }

    @Test func `errors and results name commands that run`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let model = ["--model", "Forum.xcdatamodeld"]
        // Back by a deferred migration, which made no backup.
        #expect(
            try moult.run(Tool.path, ["migrate", "forum.sqlite", "--to", "Forum 2", "--deferred"] + model).exit == 0)
        let status = try moult.run(Tool.path, ["status", "forum.sqlite"] + model)
        if status.output.contains("deferred migration") { try expectRuns(status.output, moult) }
        let back = try moult.run(Tool.path, ["rollback", "forum.sqlite"] + model)
        #expect(back.exit == 3, "\(back)")
        if !Self.commands(in: back.errors).isEmpty { try expectRuns(back.errors, moult) }
        // A downgrade that only a backup can do.
        let other = try StoreVerbTests.besideForumStore()
        #expect(try other.run(Tool.path, ["migrate", "forum.sqlite"] + model).exit == 0)
        _ = try SQLiteShell.run(other.folder.path + "/forum.sqlite", "UPDATE ZPOST SET ZEDITEDAT = 7")
        let down = try other.run(Tool.path, ["downgrade", "forum.sqlite", "--to", "Forum"] + model)
        #expect(down.exit == 3, "\(down)")
        try expectRuns(down.output, other)
        let now = try other.run(Tool.path, ["status", "forum.sqlite", "--json"] + model).document
        #expect(now["version"] as? String == "Forum")
    }
}
