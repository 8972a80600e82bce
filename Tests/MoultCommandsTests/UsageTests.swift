import Foundation
import Moult
import MoultCommands
import TestSupport
import Testing

@Suite("Usage of the command line")
struct UsageTests {  // tier: long
    static let leaves = Verb.all.flatMap(\.leaves).map { $0.words.joined(separator: " ") }

    @Test func `help lists every verb, and a call without a verb is wrong usage that shows the same`() throws {
        let moult = try Tool.besideForumModel()
        let help = try moult("--help")
        #expect(help.exit == 0)
        for verb in Verb.all { #expect(help.output.contains(verb.name)) }
        let bare = try moult()
        #expect(bare.exit == 2)
        #expect(bare.output == help.output)
    }

    @Test(arguments: leaves)
    func `help of every verb has a summary, its usage and an example`(path: String) throws {
        let moult = try Tool.besideForumModel()
        let words = path.split(separator: " ").map(String.init)
        let help = try moult.run(Tool.path, words + ["--help"])
        #expect(help.exit == 0)
        #expect(help.output.contains("Usage: moult \(path)"))
        #expect(help.output.contains("\n  moult \(path)"))
        #expect(help.errors.isEmpty)
        #expect(try moult.run(Tool.path, ["help"] + words).output == help.output)
    }

    @Test func `man shows a page for every verb, without a complaint about its language`() throws {
        let moult = try Tool.besideForumModel()
        let result = try moult("manual", "-o", "man1", "--json")
        let files = try #require(try result.document["files"] as? [String])
        let groups = Verb.all.filter { !$0.subverbs.isEmpty }.map(\.name)
        let names = Set((Self.leaves + groups).map { "man1/moult-\($0.replacing(" ", with: "-")).1" })
        #expect(Set(files) == names.union(["man1/moult.1"]))
        let checked = try moult.run("/usr/bin/env", ["groff", "-K", "utf8", "-man", "-ww", "-z"] + files)
        #expect(checked.exit == 0 && checked.errors.isEmpty, "\(checked.errors)")
        let page = try moult.run("/usr/bin/env", ["man", "-l", "man1/moult-decompile.1"])
        #expect(page.exit == 0, "\(page)")
        let words = page.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("moult decompile MODEL [options]"))
        #expect(words.contains("--replace Replace an existing source as a whole."))
        #expect(words.contains("moult decompile forum.sqlite -o Forum.xcdatamodel"))
    }

    @Test func `the version is one line, with SQLite's`() throws {
        let moult = try Tool.besideForumModel()
        let sqlite = try moult.run("/usr/bin/env", ["python3", "-c", "import sqlite3; print(sqlite3.sqlite_version)"])
        let document = try moult("--version", "--json").document
        #expect(document["version"] as? String == MoultCommand.version)
        // A build in a clone knows the commit, and one in a plain copy of the sources does not.
        let commit = document["commit"] as? String
        #expect(
            try moult("--version").output
                == "moult \(MoultCommand.version)\(commit.map { " (\($0))" } ?? ""), SQLite \(sqlite.output)")
        guard let commit else { return }
        let git = try moult.run("git", ["-C", packageRoot.path, "cat-file", "-t", commit])
        #expect(git.output == "commit\n", "\(git)")
    }

    @Test(arguments: [
        (["hsah"], "moult has no verb hsah", "moult hash"), (["checksum"], "no verb checksum", "moult hash"),
        (["hash", "--jsno"], "no option --jsno", "--json"), (["hash"], "needs MODEL", "moult hash --help"),
        (["hash", "a", "b"], "further argument: b", "moult hash --help"),
        (["hash", "a", "--order"], "needs a value", "--help"),
        (["completions", "tcsh"], "tcsh", "bash, zsh and fish"),
        (["hash", "a", "--json=1", "--help"], "takes no value", "--help"),
        (["status", "a.sqlite", "-m", "b"], "no option -m", "--model?"),
        (["export", "a.sqlite", "--csv"], "no option --csv", "--format csv?"),
        (["diagram", "Forum.xcdatamodeld", "--svg"], "no option --svg", "--format svg?"),
        (["decompile", "Forum.momd", "--force"], "no option --force", "--replace?"),
        (
            ["migrate", "Forum.xcdatamodeld", "a.sqlite"], "argument: a.sqlite",
            "moult migrate a.sqlite Forum.xcdatamodeld"
        ),
    ])
    func `a wrong verb, option or argument is named, with what may have been meant`(
        arguments: [String], says: String, hints: String
    ) throws {
        let moult = try Tool.besideForumModel()
        let result = try moult.run(Tool.path, arguments)
        #expect(result.exit == 2)
        #expect(result.output.isEmpty || arguments.contains("--json"))
        #expect((result.errors + result.output).contains(says))
        #expect((result.errors + result.output).contains(hints))
    }

    @Test func `an error with --json is one document on standard output, with Core Data's number`() throws {
        let moult = try Tool.besideForumModel()
        let result = try moult("hash", "nothing.xcdatamodeld", "--json")
        #expect(result.exit == 4)
        #expect(result.errors.isEmpty)
        let document = try result.document
        #expect(document["format"] as? Int == 1)
        let error = try #require(document["error"] as? [String: any Sendable])
        #expect(Set(error.keys).isSuperset(of: ["code", "coreData", "message", "place", "remedy"]))
        #expect(error["code"] as? String == "fileNotFound")
        #expect((error["coreData"] as? [String: any Sendable])?["constant"] as? String == "NSFileReadNoSuchFileError")
    }

    @Test func `the completions of bash are syntactically right and offer verbs, options and words`() throws {
        let moult = try Tool.besideForumModel()
        try Data(try moult("completions", "bash").output.utf8)
            .write(to: URL(fileURLWithPath: moult.folder.path + "/moult.bash"))
        func complete(_ words: String...) throws -> [String] {
            let typed = (["moult"] + words).map { "'\($0)'" }.joined(separator: " ")
            let script =
                "source moult.bash; COMP_WORDS=(\(typed)); COMP_CWORD=\(words.count); _moult; printf '%s\\n' \"${COMPREPLY[@]}\""
            let result = try moult.run("/bin/bash", ["-uc", script])
            #expect(result.errors.isEmpty)
            return result.output.split(separator: "\n").map(String.init)
        }
        #expect(try complete("ha") == ["hash"])
        #expect(try complete("hash", "--j") == ["--json"])
        #expect(try complete("completions", "f") == ["fish"])
        #expect(Set(try complete("")).isSuperset(of: Verb.all.map(\.name)))
    }
}
