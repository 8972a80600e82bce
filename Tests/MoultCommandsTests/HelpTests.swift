import Foundation
import MoultCommands
import TestSupport
import Testing

@Suite("Help by groups")
struct HelpTests {  // tier: long
    @Test func `every verb is in one group, and no group has the name of a verb`() {
        let grouped = VerbGroup.all.flatMap(\.verbs).map(\.name)
        #expect(grouped.sorted() == Verb.all.map(\.name).sorted())
        #expect(Set(grouped).isDisjoint(with: VerbGroup.all.map(\.name)))
        // What is in no group of the list falls into the last one.
        #expect(VerbGroup.all.last?.verbs.map(\.name).sorted() == ["completions", "manual"])
    }

    @Test func `moult alone fits on a screen and names every verb`() throws {
        let moult = try Tool.besideForumModel()
        let bare = try moult()
        #expect(bare.exit == 2)
        #expect(bare.output == (try moult("help").output))
        #expect(bare.output.split(separator: "\n", omittingEmptySubsequences: false).count <= 40)
        let words = Set(bare.output.split { " ,\n".contains($0) }.map(String.init))
        #expect(words.isSuperset(of: Verb.all.map(\.name)))
        let all = try moult("help", "--all").output
        for verb in Verb.all { #expect(all.contains("\n  \(verb.name) "), "\(verb.name)") }
    }

    @Test(arguments: VerbGroup.all.map(\.name))
    func `help of a group lists its verbs`(name: String) throws {
        let moult = try Tool.besideForumModel()
        let help = try moult("help", name)
        #expect(help.exit == 0)
        let verbs = try #require(VerbGroup.all.first { $0.name == name }).verbs
        #expect(!verbs.isEmpty && verbs.allSatisfy { help.output.contains("\n  \($0.name) ") }, "\(help.output)")
        #expect(try moult.run(Tool.path, [name]).errors.contains("moult help \(name)"))
    }

    @Test(arguments: [
        ("gui", "browse"), ("open", "browse"),
        ("snapshot", "backup create"), ("dry-run", "migrate --dry-run"), ("seed", "import"), ("undo", "rollback"),
        ("sqlmigrate", "plan --sql"), ("inspectdb", "generate"), ("UNDO", "rollback"), ("exceptions", "lint"),
        ("baseline", "init"),
    ])
    func `a word from another tool points to the verb, with the arguments that were typed`(
        word: String, command: String
    ) throws {
        let moult = try Tool.besideForumModel()
        let result = try moult(word, "a b.sqlite")
        #expect(result.exit == 2)
        #expect(result.errors.contains("Did you mean `moult \(command) 'a b.sqlite'`?"), "\(result.errors)")
        let help = try moult("help", word)
        let verb = command.split(separator: " ").prefix { !$0.hasPrefix("-") }.joined(separator: " ")
        #expect(help.exit == 0 && help.output.contains("Usage: moult \(verb)"), "\(help)")
    }

    @Test(arguments: [
        ("ls", "inspect"), ("Tables", "inspect"), ("check", "validate"), ("showmigrations", "status"),
        ("fsck", "doctor"),
        ("erd", "diagram"), ("reflog", "runs"),
    ])
    func `a word from another tool runs a verb without an effect, and says so`(word: String, verb: String) throws {
        let moult = try StoreVerbTests.besideForumStore()
        let (result, meant) = try (moult(word, "forum.sqlite"), moult(verb, "forum.sqlite"))
        #expect(result.output == meant.output && result.exit == meant.exit, "\(result)")
        #expect(result.errors.contains("\(word) is moult \(verb)."), "\(result.errors)")
    }

    @Test(arguments: ["csv", "json", "convert", "sqlite"])
    func `the suggestion for another word for an export works as it is printed`(word: String) throws {
        let moult = try StoreVerbTests.besideForumStore()
        let errors = try moult(word, "forum.sqlite").errors
        let command = try #require(errors.split(separator: "Did you mean `").last?.split(separator: "`").first)
        #expect(try moult.shell(String(command)).exit == 0, "\(errors)")
    }

    @Test func `every synonym names a verb of this program, with options that it has`() throws {
        for (word, command) in Verb.otherWords {
            let words = command.split(separator: " ").map(String.init)
            let leaf = Verb.all.flatMap(\.leaves).filter { words.starts(with: $0.words) }
                .max { $0.words.count < $1.words.count }
            let group = Verb.all.first { $0.name == words[0] && $0.isGroup }
            #expect(leaf != nil || group != nil && words.count == 1, "\(word): \(command)")
            for option in words where option.hasPrefix("--") {
                #expect(leaf?.verb.options.contains { "--\($0.name)" == option } == true, "\(word): \(command)")
            }
            #expect(!Verb.all.contains { $0.name == word } && VerbGroup.all.allSatisfy { $0.name != word }, "\(word)")
        }
        #expect(Verb.otherWords.count > 100)
    }

    @Test(arguments: [50, 80])
    func `text wraps at words at the width that is asked for`(width: Int) throws {
        var moult = try StoreVerbTests.besideForumStore()
        let plain = try ["--help", "help migrate", "plan forum.sqlite", "forum.sqlite"].map {
            try moult.run(Tool.path, $0.split(separator: " ").map(String.init)).output
        }
        moult.environment["COLUMNS"] = "\(width)"
        let wrapped = try ["--help", "help migrate", "plan forum.sqlite", "forum.sqlite"].map {
            try moult.run(Tool.path, $0.split(separator: " ").map(String.init)).output
        }
        for (plain, wrapped) in zip(plain, wrapped) {
            let long = wrapped.split(separator: "\n").filter { $0.count > width && !$0.contains("moult ") }
            #expect(long.allSatisfy { $0.split(separator: " ").count <= 2 }, "\(long)")
            // The words stay whole and in their order; a comment after a command may be left out.
            let words = wrapped.split(whereSeparator: \.isWhitespace).map(String.init)
            let all = Set(plain.split(whereSeparator: \.isWhitespace).map(String.init))
            #expect(words.count > 50 && words.allSatisfy(all.contains), "\(words.filter { !all.contains($0) })")
        }
    }

    @Test func `output for a program keeps its lines whatever the width`() throws {
        var moult = try StoreVerbTests.besideForumStore()
        let commands = [
            ["ddl", "Forum.xcdatamodeld"], ["completions", "bash"], ["changelog", "Forum.xcdatamodeld"],
            ["status", "forum.sqlite", "--json"], ["query", "forum.sqlite", "SELECT * FROM Post", "--format", "csv"],
            ["views", "forum.sqlite"], ["export", "forum.sqlite", "--entity", "Post"],
        ]
        let plain = try commands.map { try moult.run(Tool.path, $0).output }
        moult.environment["COLUMNS"] = "30"
        #expect(try commands.map { try moult.run(Tool.path, $0).output } == plain)
        #expect(plain.allSatisfy { !$0.isEmpty })
    }
}

@Suite("One way to name an output")
struct OutputOptionTests {  // tier: long
    @Test(arguments: [
        ["salvage", "forum.sqlite"], ["migrate", "forum.sqlite", "--model", "Forum.xcdatamodeld"],
        ["doctor", "forum.sqlite", "--model", "Forum.xcdatamodeld"], ["create", "--model", "Forum.xcdatamodeld"],
        ["mirror", "start", "forum.sqlite", "--model", "Forum.xcdatamodeld"],
        ["fixture", "--model", "Forum.xcdatamodeld"],
        ["schema", "export", "--model", "Forum.xcdatamodeld"], ["export", "forum.sqlite"], ["views", "forum.sqlite"],
        ["anonymise", "forum.sqlite"], ["manual"], ["diagram", "Forum.xcdatamodeld"],
        ["lint", "Forum.xcdatamodeld"],
        ["query", "forum.sqlite", "SELECT 1"], ["ddl", "Forum.xcdatamodeld"], ["plan", "forum.sqlite", "--json"],
    ])
    func `-o names what a verb makes`(arguments: [String]) throws {
        let moult = try StoreVerbTests.besideForumStore()
        let made = try moult.run(Tool.path, arguments + ["-o", "made.out"])
        #expect([0, 1].contains(made.exit), "\(made)")
        #expect(FileManager.default.fileExists(atPath: moult.folder.path + "/made.out"), "\(made)")
        let help = try moult.run(Tool.path, arguments.prefix { !$0.contains(".") && !$0.hasPrefix("-") } + ["--help"])
        #expect(help.output.contains("-o"), "\(help.output)")
    }

    @Test func `a file of what a verb prints has the bytes of its output, and no store is replaced`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        for arguments in [
            ["diagram", "Forum.xcdatamodeld"], ["ddl", "Forum.xcdatamodeld"], ["dump", "forum.sqlite", "--json"],
            ["query", "forum.sqlite", "SELECT * FROM User", "--format", "csv"],
        ] {
            let printed = try moult.run(Tool.path, arguments)
            let written = try moult.run(Tool.path, arguments + ["-o", "out"])
            #expect(written.exit == 0 && written.output.isEmpty, "\(written)")
            let file = try String(contentsOfFile: moult.folder.path + "/out", encoding: .utf8)
            #expect(file == printed.output && !file.isEmpty)
        }
        // It is no more readable than the store.
        let query = "umask 022; chmod 600 forum.sqlite; moult query forum.sqlite 'SELECT 1' -o rows.txt"
        #expect(try moult.shell(query + " && stat -c %a rows.txt").output == "600\n")
        let before = try moult.shell("ls -A; sha256sum forum.sqlite").output
        #expect(try moult("ddl", "Forum.xcdatamodeld", "-o", "forum.sqlite").exit == 2)
        #expect(try moult("diagram", "Forum.xcdatamodeld", "--entity", "None", "-o", "new.svg").exit != 0)
        #expect(try moult("salvage", "forum.sqlite", "new.sqlite", "-o", "other.sqlite").exit == 2)
        #expect(try moult.shell("ls -A; sha256sum forum.sqlite").output == before)
    }
}

@Suite("Names in completions")
struct NameCompletionTests {  // tier: long
    private func names(_ moult: Tool, _ words: String...) throws -> [String] {
        let result = try moult.run(Tool.path, ["__complete"] + words)
        #expect(result.exit == 0 && result.errors.isEmpty, "\(result)")
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test func `the program knows versions, entities and backups, and prints nothing where it does not`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let versions = ["Forum", "Forum 2", "Forum 3"]
        #expect(try names(moult, "versions", "plan", "forum.sqlite", "--to").sorted() == versions)
        #expect(try names(moult, "versions", "ddl", "Forum.xcdatamodeld", "--version").sorted() == versions)
        #expect(try names(moult, "versions", "diff", "--model", "Forum.xcdatamodeld").sorted() == versions)
        #expect(
            Set(try names(moult, "entities", "dump", "forum.sqlite", "--entity")).isSuperset(of: ["Post", "Thread"]))
        #expect(try names(moult, "backups", "backup", "restore", "forum.sqlite").isEmpty)
        #expect(try moult("backup", "create", "forum.sqlite").exit == 0)
        let backup = try names(moult, "backups", "backup", "restore", "forum.sqlite")
        #expect(backup.count == 1 && backup[0].contains("Z-"), "\(backup)")
        #expect(
            Set(try names(moult, "restorable", "rollback", "forum.sqlite", "--to")).isSuperset(of: backup + ["Forum"]))
        #expect(try names(moult, "versions", "plan", "missing.sqlite", "--model", "missing", "--to").isEmpty)
        #expect(try names(moult, "nonsense").isEmpty)
    }

    @Test func `bash offers a version with a blank as one word`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let script = """
            source <(moult completions bash)
            complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _moult; printf '%s\\n' "${COMPREPLY[@]}"; }
            complete_line moult plan forum.sqlite --to 'Forum\\ '
            complete_line moult dump forum.sqlite --entity Po
            complete_line moult plan 'forum.sqlite' --to '"Forum 3'
            complete_line moult help ro
            complete_line moult forum.sqlite --mo
            """
        let result = try moult.shell("set -u; \(script)")
        #expect(result.errors.isEmpty, "\(result.errors)")
        #expect(result.output == "Forum\\ 2\nForum\\ 3\nPost\nForum 3\nrollback\nrows\n--model\n")
    }

    @Test(arguments: ["zsh", "fish"]) func `the scripts of the other shells ask the program too`(shell: String) throws {
        let moult = try Tool.besideForumModel()
        let script = try moult("completions", shell).output
        #expect(script.contains("__complete"))
        guard try moult.shell("command -v \(shell)").exit == 0 else { return }
        try script.write(toFile: moult.folder.path + "/script", atomically: true, encoding: .utf8)
        let checked = try moult.shell("\(shell) -n script")
        #expect(checked.exit == 0 && checked.errors.isEmpty, "\(checked)")
    }
}
