import Foundation
import TestSupport
import Testing

/// Every real store goes through the verbs that a person would use, on a copy: by the model inside it, and by a model of
/// its project where there is one. What Core Data made has no fault, and comes back as it was.
@Suite("The real stores walk through the verbs", .enabled(if: Corpus.isAskedWhole))
struct VerbWalkMatrixTests {
    @Test
    func `no verb fails, nothing sound is called a fault, and a rollback brings every byte of content back`() throws {
        var problems: [String] = []
        var (walked, withModel, withOwn) = (0, 0, 0)
        let begun = Date()
        let stores = CorpusStores.distinct
        var seen = 0
        // Where the tier has a bound, other stores each time.
        let seed = SeededGenerator.seedOfRun
        var generator = SeededGenerator(seed: seed)
        for store in stores.shuffled(using: &generator) where Date().timeIntervalSince(begun) < Tier.matrix.seconds {
            seen += 1
            let walk = try StoreWalk(store)
            for model in CorpusStores.models(of: store) {
                walked += 1
                if model == nil { withOwn += 1 } else { withModel += 1 }
                problems += try walk.problems(model)
            }
        }
        #expect(problems == [], "MOULT_SEED=\(seed)\n\(problems.joined(separator: "\n"))")
        print("WALKED: \(walked) times, \(withModel) with a model, \(withOwn) with the store's own")
        #expect(seen < stores.count || withModel > 30 && withOwn > 40)
    }
}

/// One real store on its way.
private struct StoreWalk {
    private let store: String
    private let moult: Tool
    private let name: String
    private var path: String { moult.folder.path + "/" + name }

    init(_ store: String) throws {
        self.store = store
        moult = Tool(folder: try ScratchFolder())
        name = URL(fileURLWithPath: try moult.folder.copyStore(store)).lastPathComponent
    }

    func problems(_ model: String?) throws -> [String] {
        let options = model.map { ["--model", $0] } ?? []
        var problems: [String] = []
        func note(_ verb: String, _ what: String) {
            problems.append(
                "\(CorpusStores.name(of: store)) \(model.map { "by \($0)" } ?? "by its own") \(verb): \(what)")
        }
        let before = try content()
        for verb in [["inspect"], ["status"], ["validate"], ["plan", "--accept-losses"], ["repair", "--dry-run"]] {
            let result = try run(verb, options)
            for problem in try faults(of: verb[0], result) { note(verb[0], problem) }
        }
        let backup = try run(["backup", "create"], options)
        guard backup.exit == 0 else { return problems + ["\(store) backup: \(backup.output)"] }
        // Without a model there is nothing to migrate to, and the verb says so.
        let migrate = model == nil ? [] : [["migrate", "--accept-losses"]]
        for verb in migrate + [["validate"], ["repair"]] {
            let result = try run(verb, options)
            for problem in try faults(of: verb[0], result) { note(verb[0], problem) }
        }
        // Where no run has left a backup of its own, the one made by hand is restored.
        let backups = try FileManager.default.contentsOfDirectory(atPath: path + ".moult/backups")
        let name = (try backup.document["backup"] as? [String: any Sendable])?["name"] as? String ?? ""
        let wasChanged = backups.count > 1
        let back = try run(wasChanged ? ["rollback"] : ["backup", "restore"], options, backup: wasChanged ? nil : name)
        for problem in try faults(of: "rollback", back) { note("rollback", problem) }
        if try content() != before { note("rollback", "the content is not as it was") }
        _ = try? FileManager.default.removeItem(atPath: path + ".moult")
        return problems
    }

    private func run(_ verb: [String], _ options: [String], backup: String? = nil) throws -> Tool.Result {
        let words = verb.prefix { !$0.hasPrefix("-") }
        let operands = [name, backup].compactMap { $0 }
        let arguments: [String] = Array(words) + operands + ["--json"] + Array(verb.dropFirst(words.count)) + options
        return try moult.run(Tool.path, arguments)
    }

    /// What a verb says that it must not say of this store.
    private func faults(of verb: String, _ result: Tool.Result) throws -> [String] {
        let document: [String: any Sendable]
        do { document = try result.document } catch { return ["\(result.exit) without a document: \(result.errors)"] }
        if let error = document["error"] as? [String: any Sendable] {
            let code = error["code"] as? String ?? ""
            return isKnown(["\(verb) \(code)"]) || isOfPlan(verb, code)
                ? [] : ["\(result.exit) \(code): \(error["message"] ?? "")"]
        }
        let findings =
            (document["findings"] as? [[String: any Sendable]] ?? [])
            + (document["remarks"] as? [[String: any Sendable]] ?? [])
        let loud = findings.filter { ($0["severity"] as? String) != "note" }.map { finding in
            "\(finding["code"] ?? finding["rule"] ?? "") \(finding["place"] ?? "")"
        }
        let new = loud.filter { text in
            let code = String(text.split(separator: " ")[0])
            return !isKnown([text, code]) && !isOfPlan(verb, code)
        }
        if !new.isEmpty { return ["\(result.exit): \(new.joined(separator: "; "))"] }
        // A plan with an obstacle is refused.
        let isTold = !loud.isEmpty && (result.exit == 1 || result.exit == 3 && verb == "plan")
        return result.exit == 0 || isTold ? [] : ["exit \(result.exit): \(result.output)"]
    }

    private func isOfPlan(_ verb: String, _ code: String) -> Bool {
        ["plan", "migrate"].contains(verb) && KnownFaults.ofPlans.contains(code)
    }

    private func isKnown(_ texts: [String]) -> Bool {
        KnownFaults.all.contains { store.contains($0.store) && !$0.findings.isDisjoint(with: texts) }
    }

    /// The shell's hash over every table; what SQLite keeps by itself left out.
    private func content() throws -> String {
        try SQLiteShell.run(path, ".sha3sum --schema")
    }
}

/// What real stores really have, each with the reason.
private enum KnownFaults {
    /// What a plan says of the way to another version, and not of the store.
    static let ofPlans: Set<String> = [
        "attribute-removed", "relationship-removed", "entity-removed", "values-dropped", "links-dropped",
        "object-dropped", "uniqueness-constraint-added", "join-name-uncertain", "question", "cannotInfer",
    ]

    static let all: [(store: String, findings: Set<String>, reason: String)] = [
        (
            "CoreDataMigration_Example_3.sqlite",
            ["not-unique Section.post", "plan dataConflict", "migrate dataConflict"],
            "two posts have two sections each, and the next version wants one"
        )
    ]
}
