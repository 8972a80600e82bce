import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore
import TestSupport
import Testing

/// A large store in calls of a tenth of the whole time, each by a process of its own as an app's launches are.
@Suite(.enabled(if: Tier.faults.isAsked))
struct BudgetFaultTests {
    @Test func `a million rows in calls of a tenth of the time`() throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/store.sqlite"
        try makeStore(at: store, rows: Tier.faults.isBounded ? 200_000 : 1_000_000)
        let (whole, new) = try oneRun(on: store)
        let prepared = try PreparedMigration(store, versions: KillableVersions.make())
        let longest = try #require(prepared.longestUnit)
        // A bounded share runs beside other tests, which take their part of the processor.
        let budget = max(whole / 10, longest.seconds * 1.1) * (Tier.faults.isBounded ? 2 : 1)
        try "\(budget)".write(toFile: store + ".budget", atomically: true, encoding: .utf8)
        let old = try SQLiteShell.run(store, ".sha3sum --schema")
        var calls: [Call] = []
        var refused = 0
        while calls.last?.isFinished != true, calls.count < 100, refused < 50 {
            if !calls.isEmpty { #expect(try SQLiteShell.run("file:\(store)?mode=ro", ".sha3sum --schema") == old) }
            let call = try Call(store)
            // On a busy machine the first unit may take longer than was foreseen; then the call is refused.
            if call.isRefused { refused += 1 } else { calls.append(call) }
        }
        #expect(try SQLiteShell.run(store, ".sha3sum --schema") == new)
        let sum = calls.reduce(0) { $0 + $1.seconds }
        let (slowest, memory) = (calls.map(\.seconds).max() ?? 0, calls.map(\.kibibytes).max() ?? 0)
        print(
            "BudgetFaultTests: one run \(whole) s, budget \(budget) s, longest unit \(longest), \(calls.count) calls, \(refused) refused,",
            "sum \(sum) s = \(sum / whole) of one run, slowest \(slowest) s, memory \(memory) KiB")
        for call in calls { print("BudgetFaultTests:   \(call)") }
        #expect(calls.last?.isFinished == true && (calls.count > 2 || Tier.faults.isBounded))
        #expect(memory <= 32 * 1024)
        // There the times are told only. Nothing can end a commit, and a disk that others use may take its time.
        if Tier.faults.isBounded { return }
        #expect(calls.dropLast().allSatisfy { $0.seconds <= budget * 1.05 })
        #expect(slowest <= budget * 2)
    }

    private struct Call: CustomStringConvertible {
        let isFinished: Bool
        let isRefused: Bool
        let seconds: Double
        let kibibytes: Int
        let description: String

        init(_ store: String) throws {
            let child = try EngineChild("budget", store)
            description = child.output()
            let exit = child.end()
            isRefused = exit == 3
            #expect(exit == 0 || isRefused)
            let words = description.split(separator: " ", maxSplits: 3).map {
                $0.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            isFinished = words.first == "finished"
            seconds = words.count > 1 ? Double(words[1]) ?? .infinity : .infinity
            kibibytes = words.count > 2 ? Int(words[2]) ?? .max : .max
        }
    }

    /// The time of a whole run, in a process of its own too, and what it makes.
    private func oneRun(on store: String) throws -> (seconds: Double, hash: String) {
        let folder = try ScratchFolder()
        let copy = folder.path + "/store.sqlite"
        try FileManager.default.copyItem(atPath: store, toPath: copy)
        let start = Date()
        let child = try EngineChild("normalise", copy)
        #expect(child.end() == 0)
        return (Date().timeIntervalSince(start), try SQLiteShell.run(copy, ".sha3sum --schema"))
    }

    private func makeStore(at store: String, rows: Int) throws {
        try StoreCreator(KillableVersions.make().versions[0]).make(at: store)
        let (items, links) = (rows * 6 / 10, rows * 4 / 10)
        _ = try SQLiteShell.run(
            store,
            """
            PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; BEGIN;
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZRATE, ZDATA) SELECT value,
                (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'), 1, 'Item ' || value * 7919 % 1000003, value / 7.0,
                zeroblob(value % 200) FROM generate_series(1, \(items));
            INSERT INTO ZLINK (Z_PK, Z_ENT, Z_OPT, ZPLACE, ZITEM) SELECT value,
                (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Link'), 1, value % 100, value FROM generate_series(1, \(links));
            UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_NAME WHEN 'Item' THEN \(items) WHEN 'Link' THEN \(links) ELSE Z_MAX END;
            COMMIT
            """)
    }
}
