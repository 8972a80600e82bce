import Foundation
import MoultCommands
import Synchronization
import TestSupport
import Testing

/// A command of some verb's help, which runs as it stands beside `forum.sqlite`.
struct VerbExample: Sendable, CustomTestStringConvertible {
    /// Such as `backup create`.
    let verb: String
    let command: String
    /// Commands that have to run before it, beside those of its verb.
    var before: [String] = []

    var testDescription: String { command }

    /// `browse` serves its page until it is stopped; MoultToolsTests start it. `cloudkit check` exits with 1: the model
    /// of the examples has what Core Data refuses to mirror.
    static let all: [VerbExample] = Verb.all.filter { $0.name != "browse" }.flatMap(\.leaves).flatMap { words, verb in
        verb.examples.map { VerbExample(verb: words.joined(separator: " "), command: $0) }
    }.filter { $0.verb != "cloudkit check" }

    /// One for each verb, and all of them in the tier.
    static let tried: [VerbExample] =
        Tier.faults.isAsked
        ? all
        : all.enumerated().filter { place, example in place == 0 || all[place - 1].verb != example.verb }.map(\.element)

    /// Whether one of many trials is made: a part of them in the quick tests, and all of them in the tier.
    static func isTried(_ number: Int, oneIn part: Int) -> Bool { Tier.faults.isAsked || number % part == 0 }

    /// A part of those that are tried.
    static func tried(oneIn part: Int, from first: Int = 0) -> [VerbExample] {
        tried.enumerated().filter { isTried($0.offset - first, oneIn: part) }.map(\.element)
    }

    /// Those that take longer than the others by far.
    var isTrial: Bool { verb == "test" }

    /// Whether what it makes is made from no store, and follows the umask.
    var isFromNoStore: Bool {
        [
            "create", "answer", "lock", "schema export", "compile", "generate", "generate tests", "init", "fixture",
            "manual", "parity", "diagram", "cloudkit schema", "reconstruct",
        ]
        .contains(verb)
            && !command.contains("forum.sqlite")
    }

    /// The commands that have to run before it.
    var preparation: [String] {
        // A file of external data that nothing refers to is copied with the others.
        let external = ".forum_SUPPORT/_EXTERNAL_DATA"
        var commands = [
            "mkdir tmp",
            "moult create forum.sqlite --model Forum.xcdatamodeld --version Forum --rows Forum=3,User=9,Post=60",
            "mkdir -p \(external)", "echo picture > \(external)/AAAAAAAA", "chmod -R go= .",
            "moult backup create forum.sqlite --model Forum.xcdatamodeld",
        ]
        if verb.hasPrefix("mirror"), verb != "mirror start" {
            commands.append("moult mirror start forum.sqlite --model Forum.xcdatamodeld --at new.sqlite")
        }
        if verb.hasPrefix("fleet"), verb != "fleet plan" {
            commands.append("moult fleet plan . --model Forum.xcdatamodeld -o fleet.jsonl")
        }
        if verb == "rollback" { commands.append("moult migrate forum.sqlite --model Forum.xcdatamodeld") }
        if verb == "fleet rollback" { commands.append("moult fleet run fleet.jsonl") }
        if verb == "parity" {
            let report = "{\"format\":1,\"coreData\":\"Apple\",\"system\":\"macOS\",\"moult\":\"moult\",\"checks\":[]}"
            commands.append("echo '\(report)' > parity.json")
        }
        if verb == "cloudkit check" || verb == "cloudkit diff" {
            commands.append("moult cloudkit schema Forum.xcdatamodeld -o Forum.ckdb")
        }
        if verb == "reconstruct" || command.contains("--from-tags") { commands += Self.repository }
        if verb == "import" { commands.append("moult export forum.sqlite -o csv") }
        if command.contains("--check") { commands.append("moult lock Forum.xcdatamodeld") }
        return commands + before
    }

    /// A repository with the model as it was at a tag, and edited in place since.
    private static let repository = [
        "git init -q", "git add Forum.xcdatamodeld",
        "git -c user.name=T -c user.email=t@example.com commit -q -m Release", "git tag v1.0",
        "sed -i 's/name=\"subject\"/name=\"title\"/' Forum.xcdatamodeld/Forum.xcdatamodel/contents",
    ]

    /// A folder of its own after what has to run before it, where nobody else may read anything.
    func fixture() throws -> Tool {
        let template = try Self.templates.withLock { templates in
            let made = try templates[preparation] ?? makeTemplate()
            templates[preparation] = made
            return made
        }
        var moult = Tool(folder: try ScratchFolder())
        let path = moult.folder.path
        // A mirror knows its second store by its path, and a fleet all of them.
        let knowsPaths = verb.hasPrefix("mirror") || verb.hasPrefix("fleet")
        guard !knowsPaths || ["mirror start", "fleet plan"].contains(verb) else { return try makeTemplate() }
        let copied = try ChildProcess.run("cp", ["-a", template.folder.path + "/.", path])
        try #require(copied.exit == 0, "\(copied.output)")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        moult.environment["TMPDIR"] = path + "/tmp"
        return moult
    }

    private static let templates = Mutex<[[String]: Tool]>([:])

    private func makeTemplate() throws -> Tool {
        var moult = try Tool.besideForumModel()
        moult.environment["TMPDIR"] = moult.folder.path + "/tmp"
        let result = try moult.shell(preparation.joined(separator: " && "))
        try #require(result.exit == 0, "\(result.errors)")
        return moult
    }
}

extension Tool {
    /// Runs a line in the shell, where `moult` is the tool and the umask is 022.
    func shell(_ line: String) throws -> Result {
        let bin = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().path
        return try run("/bin/bash", ["-c", "PATH='\(bin)':\"$PATH\"; umask 022; \(line)"])
    }

    /// The rows of the store, by the shell of SQLite, over a copy.
    func contents() throws -> String {
        let copy = try ScratchFolder()
        let names = ["forum.sqlite", "moved.sqlite"]
        let name = names.first { FileManager.default.fileExists(atPath: "\(folder.path)/\($0)") } ?? names[0]
        let path = try copy.copyStore("\(folder.path)/\(name)")
        return try SQLiteShell.run(path, ".sha3sum --schema")
    }
}
