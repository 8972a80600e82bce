import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

@Suite("moult migrate --deferred, status, finish, downgrade")
struct DeferredVerbTests {  // tier: long
    private let model = ["--model", "models"]

    /// A tool beside the two versions of ``DeferrableVersions`` and a store of the first.
    private func tool() throws -> Tool {
        let moult = Tool(folder: try ScratchFolder())
        try FileManager.default.createDirectory(
            atPath: moult.folder.path + "/models", withIntermediateDirectories: true)
        for version in try DeferrableVersions.make().versions {
            try version.model.json.indented.write(
                toFile: moult.folder.path + "/models/\(version.name).json", atomically: true, encoding: .utf8)
        }
        let made = try moult.run(
            Tool.path, ["create", "forum.sqlite", "--version", "1", "--rows", "Item=30,Tag=5"] + model)
        #expect(made.exit == 0, "\(made.errors)")
        return moult
    }

    private func run(_ moult: Tool, _ arguments: String...) throws -> Tool.Result {
        try moult.run(Tool.path, arguments + model)
    }

    private func names(_ list: (any Sendable)?) -> [String] {
        (list as? [[String: any Sendable]] ?? []).compactMap { $0["name"] as? String }
    }

    @Test func `what waits is listed, done one by one or with a budget, and then nothing waits`() throws {
        let moult = try tool()
        let plan = try run(moult, "plan", "forum.sqlite", "--deferred", "--json").document["deferral"]
        #expect((plan as? [String: any Sendable])?["possible"] as? Bool == true)
        let migrated = try run(moult, "migrate", "forum.sqlite", "--deferred", "--accept-losses")
        #expect(migrated.exit == 0 && migrated.output.contains("Drop the table ZTAG"), "\(migrated.errors)")
        let status = try run(moult, "status", "forum.sqlite", "--json").document
        let all = ["Z_DEFERRED_1_ZTAG", "ZAUTHOR", "ZITEM", "Z_Link_place"]
        #expect(names(status["deferredTasks"]) == all)
        #expect(status["pendingWork"] as? [String] == ["deferredMigration"])
        for budget in ["0", "-1s", "0.01ms"] {
            let refused = try run(moult, "finish", "forum.sqlite", "--budget=\(budget)", "--json")
            #expect(refused.exit == 3)
            #expect((try refused.document["error"] as? [String: any Sendable])?["code"] as? String == "budgetTooSmall")
        }
        #expect(try run(moult, "finish", "forum.sqlite", "--budget", "soon").exit == 2)
        #expect(try run(moult, "finish", "forum.sqlite", "--budget", "5s", "--one").exit == 2)
        let one = try run(moult, "finish", "forum.sqlite", "--one", "--json").document
        #expect(names(one["done"]) == [all[0]] && names(one["left"]) == Array(all.dropFirst()))
        #expect(one["backup"] is String)
        // The model that the store carries is enough.
        let rest = try moult("finish", "forum.sqlite", "--budget", "1min", "--json").document
        #expect(rest["finished"] as? Bool == true && names(rest["done"]) == Array(all.dropFirst()))
        #expect(rest["backup"] is NSNull)
        #expect(try run(moult, "finish", "forum.sqlite").output == "There is no deferred work in this store.\n")
        #expect(try run(moult, "finish", "forum.sqlite", "--budget=-1s").exit == 3)
        #expect(try run(moult, "validate", "forum.sqlite").exit == 0)
        #expect(try moult("runs", "forum.sqlite").output.contains("finish"))
    }

    @Test func `until then the older version comes back by a downgrade, and a rollback says so`() throws {
        let moult = try tool()
        let store = moult.folder.path + "/forum.sqlite"
        let words = try SQLiteShell.run(store, "SELECT ZWORD FROM ZTAG ORDER BY Z_PK")
        #expect(try run(moult, "migrate", "forum.sqlite", "--deferred", "--accept-losses").exit == 0)
        let rollback = try run(moult, "rollback", "forum.sqlite")
        #expect(
            rollback.exit == 3 && rollback.errors.contains("--to 1") && rollback.errors.contains("moult downgrade "),
            "\(rollback.errors)")
        let back = try run(moult, "downgrade", "forum.sqlite", "--to", "1", "--json")
        #expect(try back.document["way"] as? String == "leftovers")
        #expect(try run(moult, "status", "forum.sqlite", "--json").document["version"] as? String == "1")
        #expect(try SQLiteShell.run(store, "SELECT ZWORD FROM ZTAG ORDER BY Z_PK") == words)
    }
}
