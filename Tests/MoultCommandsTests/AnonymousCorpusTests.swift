import Foundation
import TestSupport
import Testing

/// An anonymous copy of a real store has none of its texts, and every verb says of it what it says of the store.
@Suite("Anonymous copies of real stores", .enabled(if: Corpus.isAvailable))
struct AnonymousCorpusTests {  // tier: long
    @Test func `no text is left in any byte, and plan, findings and counts are those of the store`() throws {
        let stores = CorpusStores.distinct
        let chosen = Corpus.sample(stores, every: 12)
        var (problems, copied) = ([String](), 0)
        let begun = Date()
        for store in chosen where copied <= 5 || Date().timeIntervalSince(begun) < Tier.matrix.seconds {
            for model in CorpusStores.models(of: store) {
                let copy = try AnonymousWalk(store, model)
                problems += try copy.problems().map {
                    "\(CorpusStores.name(of: store)) \(model.map { "by \($0)" } ?? "by its own"): \($0)"
                }
                copied += 1
            }
        }
        print("ANONYMISED: \(copied) copies")
        #expect(problems == [], "\(problems.joined(separator: "\n"))")
        #expect(copied > 5)
    }
}

private struct AnonymousWalk {
    private let moult: Tool
    private let options: [String]
    /// The store and its copy, under the same name.
    private let paths: [String]

    init(_ store: String, _ model: String?) throws {
        moult = Tool(folder: try ScratchFolder())
        options = model.map { ["--model", $0] } ?? []
        let original = try moult.folder.copyStore(store)
        let folder = moult.folder.path + "/copy"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        paths = [original, folder + "/" + URL(fileURLWithPath: original).lastPathComponent]
    }

    func problems() throws -> [String] {
        let first = try verbs.map { try outcome($0, paths[0]) }
        let made = try moult.run(Tool.path, ["anonymise", paths[0], "-o", paths[1], "--seed", "5", "--json"] + options)
        // A store that no verb can read has no copy.
        guard made.exit == 0 else { return first.contains { $0.exit == 0 } ? ["\(made.exit) \(made.errors)"] : [] }
        var problems: [String] = []
        // Where two values meet, or in a time of day; the report says how many there are.
        let byChance = try made.document["byChance"] as? Int ?? 0
        let search = try ChildProcess.run(
            "python3", [Witness.folder + "/traces.py", paths[0], paths[1], "\(byChance)"])
        if byChance > 20 { problems.append("\(byChance) texts by chance") }
        if search.exit != 0 { problems.append("the witness says: \(search.output)") }
        for (verb, first) in zip(verbs, first) {
            let second = try outcome(verb, paths[1])
            if first != second { problems.append("\(verb[0]) says \(second), and of the store \(first)") }
        }
        return problems
    }

    private let verbs = [["inspect"], ["status"], ["plan"], ["validate"], ["validate", "--full"]]

    private struct Outcome: Equatable {
        let exit: Int32
        let says: [String]
    }

    /// What a verb answers, without what belongs to one file.
    private func outcome(_ verb: [String], _ path: String) throws -> Outcome {
        let result = try moult.run(Tool.path, [verb[0], path, "--json"] + verb.dropFirst() + options)
        let document = try result.document
        var says: [String] = []
        for key in ["entities", "tables", "losses", "version", "from", "to", "edges", "passes", "losesData", "level"] {
            if let value = document[key] { says.append("\(key) \(try Self.text(value))") }
        }
        let findings = document["findings"] as? [[String: any Sendable]] ?? []
        // Which SQLite wrote a file last is no part of its contents.
        let shared = findings.filter { $0["code"] as? String != "wal-missing" }
        says += shared.map { "\($0["code"] ?? "") \($0["place"] ?? "") \($0["count"] ?? "")" }
        if let error = document["error"] as? [String: any Sendable] { says.append("\(error["code"] ?? "")") }
        return Outcome(exit: result.exit, says: says)
    }

    private static func text(_ value: any Sendable) throws -> String {
        let bytes = try JSONSerialization.data(withJSONObject: ["": value], options: .sortedKeys)
        return String(decoding: bytes, as: UTF8.self)
    }
}
