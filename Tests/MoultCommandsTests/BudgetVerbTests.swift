import Foundation
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

@Suite("moult migrate --budget")
struct BudgetVerbTests {  // tier: long
    private let model = ["--model", "models"]

    /// A tool beside the two versions of ``KillableVersions`` and a store of the first with many items.
    private func tool(items: Int) throws -> Tool {
        let moult = Tool(folder: try ScratchFolder())
        try FileManager.default.createDirectory(
            atPath: moult.folder.path + "/models", withIntermediateDirectories: true)
        for version in try KillableVersions.make().versions {
            try version.model.json.indented.write(
                toFile: moult.folder.path + "/models/\(version.name).json", atomically: true, encoding: .utf8)
        }
        let made = try moult.run(Tool.path, ["create", "forum.sqlite", "--version", "1"] + model)
        #expect(made.exit == 0, "\(made.errors)")
        let item = "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item')"
        _ = try SQLiteShell.run(
            moult.folder.path + "/forum.sqlite",
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT value, \(item), 1, 'Item ' || value
                FROM generate_series(1, \(items));
            UPDATE Z_PRIMARYKEY SET Z_MAX = \(items) WHERE Z_NAME = 'Item'
            """)
        return moult
    }

    private func run(_ moult: Tool, _ arguments: String...) throws -> Tool.Result {
        try moult.run(Tool.path, arguments + model)
    }

    @Test func `calls end with 6 until the last one ends with 0`() throws {
        let moult = try tool(items: 150_000)
        let plan = try run(moult, "plan", "forum.sqlite", "--json").document["longestUnit"] as? [String: any Sendable]
        let longest = try #require(plan?["seconds"] as? Double)
        #expect(
            try run(moult, "plan", "forum.sqlite").output.contains(
                "that cannot be interrupted with a time budget takes about "))
        for budget in ["0", "-1s", "1ms"] {
            let refused = try run(moult, "migrate", "forum.sqlite", "--budget=\(budget)", "--json")
            let error = try refused.document["error"] as? [String: any Sendable]
            #expect(refused.exit == 3 && error?["code"] as? String == "budgetTooSmall")
            #expect((error?["message"] as? String)?.contains("\((longest * 1000).rounded(.up) / 1000) s") == true)
        }
        var (fractions, last, budget): ([Double], Tool.Result?, Double) = ([], nil, longest)
        for _ in 0..<60 where last?.exit != 0 {
            let call = try run(moult, "migrate", "forum.sqlite", "--budget", "\(budget)s", "--json")
            last = call
            // A machine that is busy may need more for a unit; what was done is kept.
            if call.exit == 3 { budget *= 2 }
            guard call.exit == 6 else { continue }
            let document = try call.document
            #expect(document["finished"] as? Bool == false && document["startedOver"] is NSNull)
            fractions.append(document["fraction"] as? Double ?? -1)
            let status = try run(moult, "status", "forum.sqlite", "--json").document
            #expect(status["state"] as? String == "behind")
            #expect(status["pendingWork"] as? [String] == ["pausedMigration"])
        }
        #expect(last?.exit == 0, "\(last?.errors ?? "") \(last?.output ?? "")")
        #expect(try last?.document["finished"] as? Bool == true)
        #expect(!fractions.isEmpty && fractions == fractions.sorted() && fractions.allSatisfy { 0..<1 ~= $0 })
        #expect(try run(moult, "status", "forum.sqlite", "--json").document["state"] as? String == "current")
        #expect(try moult("runs", "forum.sqlite").output.contains("paused"))
        #expect(try run(moult, "migrate", "forum.sqlite", "--budget", "5s").exit == 0)
    }

    @Test func `what excludes a budget is named, and what is no time`() throws {
        let moult = try tool(items: 10)
        for option in ["--dry-run", "--in-place", "--deferred", "--make-room", "--stop-at-each-version"] {
            let refused = try run(moult, "migrate", "forum.sqlite", "--budget", "5s", option)
            #expect(refused.exit == 2 && refused.errors.contains("--budget and \(option) exclude each other."))
        }
        #expect(try run(moult, "migrate", "forum.sqlite", "--budget", "soon").exit == 2)
    }
}
