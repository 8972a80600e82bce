import Foundation
import MoultBasics
import MoultModel

/// Calls of a tenth of the time that one run takes, beside that run.
extension Benchmarks {
    func budget(_ store: BenchmarkStore) throws -> [Figure] {
        guard settings.rows >= 1_000_000 || !settings.only.isEmpty else {
            skip("calls with a budget, which are for large stores; --only budget measures them all the same")
            return []
        }
        let orders = try orders(settings.rows)
        let kinds = BudgetKind.allCases.filter { settings.kind.isEmpty || $0.rawValue == settings.kind }
        return try kinds.flatMap { try budget($0, of: $0.hasOrders ? orders : store) }
    }

    /// One kind, in as many rounds as asked.
    private func budget(_ kind: BudgetKind, of store: BenchmarkStore) throws -> [Figure] {
        var runs: [BudgetRun] = []
        try rounds { _ in runs.append(try BudgetRun(kind, store)) }
        let name = "budget, \(kind.rawValue)"
        for run in runs { note("\(name): \(run.sentence)") }
        // The one that others disturbed least.
        guard let best = runs.min(by: { $0.together / $0.whole < $1.together / $1.whole }) else { return [] }
        note(
            "\(name) (\(kind.sentence)): of one run \(BudgetRun.text(best.shares)); of all calls \(BudgetRun.text(best.sharesOfCalls))"
        )
        for call in best.calls { note("  \(call)") }
        let late = runs.map { $0.longest }
        func figure(_ what: String, _ ours: [Double], _ theirs: [Double] = [], _ unit: Figure.Unit = .seconds)
            -> Figure
        {
            Figure(
                name: "\(kind.rawValue): \(what)", rows: store.rows, ours: ours, theirs: theirs, unit: unit,
                options: ["--kind", kind.rawValue])
        }
        var calls = figure("all calls / one run", runs.map(\.together), runs.map(\.whole))
        calls.details = best.shares
        calls.details["calls"] = [Double(best.calls.count)]
        calls.words = ["kind": kind.sentence, "unit": best.longestUnit.sentence]
        return [
            calls, figure("longest call / budget", late, runs.map(\.budget)),
            figure("budget / a tenth of one run", runs.map(\.budget), runs.map { $0.whole / 10 }),
            figure("peak memory", runs.map { $0.peak / 1_048_576 }, [], .mebibytes),
        ]
    }
}

/// One run of a kind and, on another copy of the same store, the calls that come to the same.
private struct BudgetRun {
    let kind: BudgetKind
    var whole = 0.0
    /// The percentage of each phase, by its name; what is done on the other core is in none.
    var shares: [String: [Double]] = [:]
    var sharesOfCalls: [String: [Double]] = [:]
    /// The longest piece that cannot be interrupted, as the plan says.
    var longestUnit = (seconds: 0.0, sentence: "")
    var budget = 0.0
    var calls: [Call] = []

    struct Call: CustomStringConvertible {
        let seconds: Double
        let peak: Double
        let result: String
        let next: String

        var description: String { "\(seconds.decimals(3)) s, \(result)\(next.isEmpty ? "" : ", before: \(next)")" }
    }

    init(_ kind: BudgetKind, _ store: BenchmarkStore) throws {
        self.kind = kind
        let expected = try runWhole(store)
        let copy = try store.copy("calls")
        defer { BenchmarkStore.remove(copy) }
        // The plan's seconds are those of a fast machine.
        budget = max(whole / 10, (longestUnit.seconds * (try ReferenceWork.pace()) * 1000).rounded(.up) / 1000)
        while calls.last?.result != "finished" {
            let json = try Command.child("budget", "call", copy, kind.rawValue, String(budget)).run().json
            let call = Call(
                seconds: json.number("seconds"), peak: json.number("peak"), result: json["result"]?.string ?? "",
                next: json["next"]?.string ?? "")
            calls.append(call)
            if call.result == "finished" { sharesOfCalls = Self.shares(of: together, json) }
            // What was done is kept; a machine that is busier than was foreseen needs more time for a unit.
            if call.result == "refused" { budget *= 1.25 }
            guard calls.count < 200 else { throw Self.failure("\(kind): no end after \(calls.count) calls") }
        }
        guard try Self.contents(copy) == expected else { throw Self.failure("\(kind): the calls left another store") }
    }

    private mutating func runWhole(_ store: BenchmarkStore) throws -> String {
        let copy = try store.copy("whole")
        defer { BenchmarkStore.remove(copy) }
        let json = try Command.child("budget", "whole", copy, kind.rawValue).run().json
        whole = json.number("seconds")
        longestUnit = (json.number("longest"), json["sentence"]?.string ?? "")
        shares = Self.shares(of: whole, json)
        return try Self.contents(copy)
    }

    static let phases = ["backup", "copy", "change", "verify", "commit"]

    private static func shares(of seconds: Double, _ json: JSONValue) -> [String: [Double]] {
        var shares = Dictionary(uniqueKeysWithValues: phases.map { ($0, json.number($0) / seconds * 100) })
        shares["other"] = 100 - shares.values.reduce(0, +)
        return shares.mapValues { [$0] }
    }

    static func text(_ shares: [String: [Double]]) -> String {
        (phases + ["other"]).map { "\($0) \(shares[$0, default: []].median.decimals(0)) %" }.joined(separator: ", ")
    }

    /// What the sqlite3 shell finds in the store, tables and rows.
    private static func contents(_ store: String) throws -> String {
        try Command.shell(store, ".sha3sum --schema").run().output
    }

    private static func failure(_ message: String) -> MigrationError {
        MigrationError(.internal, message, remedy: "Look at the calls.")
    }

    var together: Double { calls.reduce(0) { $0 + $1.seconds } }
    var longest: Double { calls.map(\.seconds).max() ?? 0 }
    var peak: Double { calls.map(\.peak).max() ?? 0 }

    var sentence: String {
        let refused = calls.count { $0.result == "refused" }
        let isTenth = longestUnit.seconds <= whole / 10
        let why =
            isTenth ? "" : " (a tenth is refused: \(longestUnit.seconds.decimals(3)) s for \(longestUnit.sentence))"
        return "one run \(whole.decimals(2)) s, a tenth \((whole / 10).decimals(3)) s, budget "
            + "\(budget.decimals(3)) s\(why), \(calls.count) calls, \(refused) refused, longest "
            + "\(longest.decimals(3)) s, together \(together.decimals(2)) s = "
            + "\((together / whole).decimals(2)), \((peak / 1_048_576).decimals(0)) MiB, same store"
    }
}
