import Foundation
import TestSupport
import Testing

/// The keys of real documents are those that Documentation/CommandLine.md lists.
@Suite("Documented keys")
struct DocumentedKeysTests {
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

    /// The words in the page's code, which is where it names keys.
    private static func words() throws -> Set<String> {
        let page = try String(
            contentsOf: packageRoot.appendingPathComponent("Documentation/CommandLine.md"), encoding: .utf8)
        var words: Set<String> = []
        for (place, part) in page.components(separatedBy: "`").enumerated() where !place.isMultiple(of: 2) {
            words.formUnion(part.split { !($0.isLetter || $0.isNumber) }.map(String.init))
        }
        for block in page.components(separatedBy: "```").enumerated() where !block.offset.isMultiple(of: 2) {
            words.formUnion(block.element.split { !($0.isLetter || $0.isNumber) }.map(String.init))
        }
        return words
    }

    @Test func `every key that a verb prints is on the page`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let model = ["--model", "Forum.xcdatamodeld"]
        let (store, folder) = ("forum.sqlite", moult.folder.path)
        let known = try Self.words()
        var seen: Set<String> = []
        func run(_ arguments: [String]) throws {
            let result = try moult.run(Tool.path, arguments + ["--json"])
            for line in result.output.split(separator: "\n") {
                let document = try JSONSerialization.jsonObject(with: Data(line.utf8))
                let keys = Self.keys(of: document)
                seen.formUnion(keys)
                let missing = keys.subtracting(known).sorted()
                #expect(missing.isEmpty, "\(arguments.joined(separator: " ")): \(missing)")
            }
        }
        for arguments in [
            ["status", store] + model, ["inspect", store] + model, ["dump", store], ["hash", "Forum.xcdatamodeld"],
            ["diagram", "Forum.xcdatamodeld"], ["views", store, "-o", "V.sqlite"], ["export", store, "-o", "E"],
            ["anonymise", store, "-o", "A.sqlite"], ["import", "A.sqlite", "E"],
            ["query", store, "SELECT count(*) AS rows FROM Post"],
            ["ddl", "Forum.xcdatamodeld"], ["schema", "export", "S"] + model,
            ["compile", "Forum.xcdatamodeld"], ["decompile", "Forum.momd", "-o", "D"],
            ["generate", "Forum.xcdatamodeld", "-o", "G"], ["coexist", "Forum.xcdatamodeld"],
            ["lock", "Forum.xcdatamodeld"],
            ["lint", "Forum.xcdatamodeld"], ["init", "--config", "other.json"], ["changelog", "Forum.xcdatamodeld"],
            ["fixture", "F"] + model, ["checklist", "Forum.xcdatamodeld"],
            ["schema", "bump", "Forum.xcdatamodeld"],
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
}
