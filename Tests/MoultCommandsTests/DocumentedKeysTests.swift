import Foundation
import TestSupport
import Testing

/// The keys of real documents are those that Documentation/CommandLine.md lists.
@Suite("Documented keys")
struct DocumentedKeysTests {  // tier: long
    /// Members whose own keys are names from a model or a store.
    private static let named: Set<String> = [
        "metadata", "values", "userInfo", "hashes", "versions", "rows", "entities", "object", "applicationKeys",
        "checksums",
    ]

    /// Every key in a value, however deep; not those that are names of data.
    private static func keys(of value: Any) -> Set<String> {
        if let list = value as? [Any] { return list.reduce(into: []) { $0.formUnion(keys(of: $1)) } }
        guard let object = value as? [String: Any] else { return [] }
        return object.reduce(into: []) { found, member in
            found.insert(member.key)
            let isNamed = named.contains(member.key) && member.value is [String: Any]
            if !isNamed { found.formUnion(keys(of: member.value)) }
        }
    }

    /// The sections that the sections of a verb refer to, such as "tasks as `status` lists them".
    private static let references = [
        "plan": ["diff", "finish", "migrate"], "migrate": ["finish", "rollback", "status"], "finish": ["status"],
        "doctor": ["validate", "plan"], "changelog": ["diff"], "schema bump": ["diff"], "cloudkit check": ["lint"],
    ]

    @Test func `every key that a verb prints is in the verb's own section of the page`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let model = ["--model", "Forum.xcdatamodeld"]
        let (store, folder) = ("forum.sqlite", moult.folder.path)
        let page = try Page()
        let schema = ["cloudkit", "schema", "Forum.xcdatamodeld", "--version", "Forum", "-o", "Forum.ckdb"]
        _ = try moult.run(Tool.path, schema)
        let repository = "git init -q && git add Forum.xcdatamodeld && git -c user.name=T -c user.email=t@example.com"
        #expect(try moult.shell(repository + " commit -q -m A && git tag v1").exit == 0)
        var seen: Set<String> = []
        func run(_ arguments: [String]) throws {
            let result = try moult.run(Tool.path, arguments + ["--json"])
            let verb = arguments.prefix(2).joined(separator: " ")
            #expect(!result.output.isEmpty, "\(verb): \(result.errors)")
            for line in result.output.split(separator: "\n") {
                let document = try JSONSerialization.jsonObject(with: Data(line.utf8))
                let keys = Self.keys(of: document)
                seen.formUnion(keys)
                let missing = keys.subtracting(page.words(of: verb)).sorted()
                #expect(missing.isEmpty, "\(arguments.joined(separator: " ")): \(missing)")
            }
        }
        for arguments in [
            ["status", store] + model, ["inspect", store] + model, ["dump", store], ["hash", "Forum.xcdatamodeld"],
            ["diagram", "Forum.xcdatamodeld"], ["views", store, "-o", "V.sqlite"], ["export", store, "-o", "E"],
            ["anonymise", store, "-o", "A.sqlite"], ["import", "A.sqlite", "E"],
            ["query", store, "SELECT count(*) AS rows FROM Post"],
            ["ddl", "Forum.xcdatamodeld"], ["schema", "export", "S"] + model, ["explain", "OPEN001"], ["explain"],
            ["compile", "Forum.xcdatamodeld"], ["decompile", "Forum.momd", "-o", "D"],
            ["generate", "Forum.xcdatamodeld", "-o", "G"], ["coexist", "Forum.xcdatamodeld"],
            ["lock", "Forum.xcdatamodeld"], ["reconstruct", "Forum.xcdatamodeld", "--stores", store],
            ["lint", "Forum.xcdatamodeld"], ["init", "--config", "other.json"], ["changelog", "Forum.xcdatamodeld"],
            ["fixture", "F"] + model, ["checklist", "Forum.xcdatamodeld"],
            ["schema", "bump", "Forum.xcdatamodeld"],
            ["cloudkit", "schema", "Forum.xcdatamodeld", "--version", "Forum"],
            ["cloudkit", "check", "Forum.xcdatamodeld", "--schema", "Forum.ckdb"],
            ["cloudkit", "diff", "Forum", "Forum 3"] + model,
            ["diff", "Forum", "Forum 3"] + model, ["answer", "Forum.xcdatamodeld"], ["plan", store, "--sql"] + model,
            ["plan", store, "--deferred"] + model, ["doctor", store] + model, ["validate", store],
            ["validate", store, "--rules", "Forum.rules.json"] + model, ["backup", "create", store],
            ["backup", "list", store], ["backup", "verify", store],
            ["migrate", store, "--dry-run", "--to", "Forum 2"] + model,
            ["migrate", store, "--to", "Forum 2", "--budget", "0.001"] + model, ["status", "nothing.sqlite"],
            ["mirror", "start", store, "--at", "second.sqlite", "--to", "Forum 2"] + model,
            ["mirror", "sync", store], ["mirror", "status", store], ["mirror", "verify", store],
            ["mirror", "stop", store], ["migrate", store, "--to", "Forum 2"] + model, ["runs", store], ["log", store],
            ["downgrade", store, "--to", "Forum", "--dry-run"] + model, ["resume", store], ["rollback", store],
            ["migrate", store, "--deferred", "--to", "Forum 2"] + model, ["status", store] + model, ["finish", store],
            ["fleet", "plan", ".", "-o", "fleet.jsonl"] + model, ["fleet", "status", "fleet.jsonl"],
            ["fleet", "run", "fleet.jsonl"], ["fleet", "status", "fleet.jsonl"], ["fleet", "rollback", "fleet.jsonl"],
            ["fleet", "submit", "fleet.jsonl", "--slurm", "--dry-run"],
            ["backup", "prune", store], ["completions", "bash"],
            ["create", "new.sqlite"] + model, ["salvage", store, "saved.sqlite"],
        ] { try run(arguments) }
        _ = try SQLiteShell.run(folder + "/" + store, "UPDATE ZPOST SET ZAUTHOR = 999 WHERE Z_PK < 5")
        for arguments in [
            ["validate", store], ["repair", store, "--dry-run"], ["repair", store], ["quarantine", "list", store],
            ["quarantine", "show", store], ["quarantine", "restore", store, "--all", "--dry-run"],
            ["test", "--kill", "1", "new.sqlite"] + model,
        ] { try run(arguments) }
        #expect(seen.count > 120, "\(seen.count)")
    }

    /// The words in the page's code, which is where it names keys, by the verbs that its sections are about.
    private struct Page {
        /// What is true of every verb.
        private var shared: Set<String> = []
        private var sections: [(verbs: [String], words: Set<String>)] = []

        init() throws {
            for section in try Self.text("CommandLine.md").components(separatedBy: "\n##") {
                let heading = section.prefix { $0 != "\n" }
                guard heading.hasPrefix("# ") else {
                    shared.formUnion(Self.words(section))
                    continue
                }
                // And in the pages that it leads to.
                let pages = try section.matches(of: /\]\((\w+\.md)/).map { try Self.words(Self.text(String($0.1))) }
                let words = pages.reduce(Self.words(section)) { $0.union($1) }
                sections.append((heading.dropFirst(2).components(separatedBy: ", "), words))
            }
        }

        func words(of verb: String) -> Set<String> {
            func isOf(_ name: String, _ verb: String) -> Bool { (verb + " ").hasPrefix(name + " ") }
            let verbs = [verb] + references.filter { isOf($0.key, verb) }.flatMap(\.value)
            let own = sections.filter { section in section.verbs.contains { name in verbs.contains { isOf(name, $0) } }
            }
            return own.reduce(shared) { $0.union($1.words) }
        }

        private static func text(_ name: String) throws -> String {
            try String(contentsOf: packageRoot.appendingPathComponent("Documentation/\(name)"), encoding: .utf8)
        }

        private static func words(_ text: String) -> Set<String> {
            var code: [Substring] = []
            for (number, part) in text.split(separator: "```", omittingEmptySubsequences: false).enumerated() {
                let parts = part.split(separator: "`", omittingEmptySubsequences: false)
                code += number.isMultiple(of: 2) ? odd(parts) : [part]
            }
            return Set(code.flatMap { $0.split { !($0.isLetter || $0.isNumber) } }.map(String.init))
        }

        private static func odd(_ parts: [Substring]) -> [Substring] {
            parts.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
        }
    }
}
