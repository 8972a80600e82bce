import Foundation
import Moult
import TestSupport
import Testing

/// Kills an app's launches at random moments. Every row is there afterwards, in the whole old store or the whole new one,
/// and the launches that follow end the migration, none of them over its budget.
struct LaunchKillTests {  // tier: long
    /// Forty kills of each of the five kinds in the faults tier, eight in the long one.
    @Test(arguments: LaunchKind.allCases)
    func `killed launches lose nothing, and the next ones end the migration`(kind: LaunchKind) throws {
        var trial = try LaunchTrial(kind)
        try trial.run(kills: Tier.faults.isAsked ? 40 : 8)
    }

    @Test func `after as many deaths as there are attempts, the next launch is refused, and both its ways lead on`()
        throws
    {
        let trial = try LaunchTrial(.stages, budget: 60)
        #expect(try trial.launch("first").word == "ready")
        for death in 1...RunOptions().maximumAttempts {
            let child = try EngineChild("launch-linger", trial.store)
            child.wait(for: "lingers")
            child.kill()
            #expect(try trial.look().rows == trial.before, "death \(death)")
        }
        // Asked twice, it is the same.
        for _ in 0..<2 {
            let refused = try trial.launch("stages")
            #expect(refused.word == "refused" && refused.rest.hasPrefix("tooManyAttempts "), "\(refused)")
            #expect(refused.rest.contains("StoreLaunch.tryAgain()"), "\(refused)")
            #expect(refused.rest.contains("StoreLaunch.goBack()"), "\(refused)")
            let seen = try trial.look()
            #expect(seen.rows == trial.before && !seen.isNew)
        }
        let refused = try ScratchFolder()
        try LaunchTrial.copy(trial.folder.path, to: refused.path)

        #expect(try trial.launch("again").word == "ready")
        let migrated = try trial.look()
        #expect(migrated.rows == trial.before && migrated.isNew)

        try trial.reset(from: refused)
        let back = try trial.launch("back")
        #expect(back.word == "back" && back.rest == "V1", "\(back)")
        let restored = try trial.look()
        #expect(restored.rows == trial.before && !restored.isNew)
        // A run that came to its end ends the row of deaths.
        #expect(try trial.launch("stages").word == "ready")
        let last = try trial.look()
        #expect(last.rows == trial.before && last.isNew)
    }
}

/// A store whose launches are killed, in processes of their own.
private struct LaunchTrial {
    /// The result that a launch printed at its end.
    struct Answer: CustomStringConvertible {
        let word: String
        let seconds: Double
        let rest: String

        init(_ output: String) {
            let lines = output.split(separator: "\n").filter { $0 != "begun" }.map(String.init)
            let words = (lines.first ?? "nothing").split(separator: " ").map(String.init)
            (word, seconds) = (words[0], words.dropFirst().first.flatMap(Double.init) ?? 0)
            rest = lines.dropFirst().joined(separator: "\n")
        }

        var description: String { "\(word) \(seconds) \(rest)" }
    }

    /// The time over its budget that a call may take on a machine that runs other tests: a commit waits for the disk.
    private static let slack = 1.5
    private static let words = "MOULT_SEED=\(SeededGenerator.seedOfRun)"

    let kind: LaunchKind
    let folder: ScratchFolder
    let store: String
    /// The rows of the old store, by plain SQL.
    let before: [String]
    private let (template, looked): (ScratchFolder, ScratchFolder)
    private var random: SeededGenerator
    private var budget: Double
    /// The longest call of an undisturbed migration.
    private var longest = 0.0
    private var (calls, unfinished, over) = (0, 0, 0.0)

    init(_ kind: LaunchKind, budget: Double = 60) throws {
        self.kind = kind
        self.budget = budget
        (folder, template, looked) = (try ScratchFolder(), try ScratchFolder(), try ScratchFolder())
        store = folder.path + "/Notes.sqlite"
        random = SeededGenerator(
            seed: SeededGenerator.seedOfRun &+ UInt64(LaunchKind.allCases.firstIndex(of: kind) ?? 0))
        try kind.makeStore(at: store)
        before = try kind.witness(store)
        #expect(before.count > 2 && before.first == "ok\n")
        #expect(try !kind.isNew(store))
        try Self.copy(folder.path, to: template.path)
        try write(budget)
    }

    // MARK: - Kills

    mutating func run(kills: Int) throws {
        let budgets = kind == .catalogue ? 0.4...0.6 : 0.5...2
        try begin(.random(in: budgets, using: &random))
        try finish()
        let limit = RunOptions().maximumAttempts
        var (done, rounds) = (0, 0)
        while done < kills, rounds < 4 * kills {
            rounds += 1
            try begin(.random(in: budgets, using: &random))
            // One death less than is refused.
            let deaths = min(Int.random(in: 1..<limit, using: &random), kills - done)
            for _ in 0..<deaths {
                guard try kill() else { break }
                done += 1
                #expect(try look().rows == before, "\(Self.words)")
            }
            try finish()
        }
        #expect(done == kills, "\(Self.words)")
        // A migration of many rows takes several calls.
        #expect(kind != .catalogue || unfinished >= rounds, "\(unfinished) of \(calls) calls, \(Self.words)")
        print(
            "LaunchKillTests: \(kind): \(done) kills, \(rounds) migrations, \(calls) calls to their end, the longest "
                + "\(over) s over its budget, \(Self.words)")
    }

    private mutating func begin(_ budget: Double) throws {
        self.budget = budget
        try reset(from: template)
    }

    /// Starts a launch and kills it at a random moment.
    ///
    /// - Returns: false where it had ended by itself.
    private mutating func kill() throws -> Bool {
        let child = try EngineChild("launch-\(kind)", store)
        child.wait(for: "begun")
        Thread.sleep(forTimeInterval: .random(in: 0...longest, using: &random))
        child.kill()
        guard child.end() != 128 + SIGKILL else { return true }
        try check(Answer(child.output()))
        return false
    }

    /// Launches until the store is ready, at most 200 times.
    private mutating func finish() throws {
        for _ in 0..<200 {
            let answer = try launch("\(kind)")
            try check(answer)
            switch answer.word {
            case "ready":
                #expect(try look().isNew, "\(Self.words)")
                return try expectTidy()
            case "unfinished": unfinished += 1
            case "refused" where answer.rest.hasPrefix("budgetTooSmall "):
                // A busy machine needs more time for a piece that cannot be interrupted.
                budget *= 1.5
                try write(budget)
            default:
                Issue.record("\(answer), \(Self.words)")
                return
            }
        }
        Issue.record("no end after 200 calls, \(Self.words)")
    }

    private mutating func check(_ answer: Answer) throws {
        calls += 1
        longest = max(longest, answer.seconds)
        over = max(over, answer.seconds - budget)
        #expect(answer.seconds < budget + Self.slack, "\(answer), of \(budget) s, \(Self.words)")
        #expect(try look().rows == before, "\(answer), \(Self.words)")
    }

    /// Nothing of a dead run stays.
    private func expectTidy() throws {
        let files = FileManager.default
        let names = try files.contentsOfDirectory(atPath: store + ".moult")
        #expect(names.filter { $0.hasPrefix("work-") || $0 == "journal.json" } == [], "\(Self.words)")
        let backups = try files.contentsOfDirectory(atPath: store + ".moult/backups")
        #expect(!backups.isEmpty && backups.allSatisfy { !$0.hasPrefix(".") }, "\(backups), \(Self.words)")
    }

    // MARK: - Launches

    func launch(_ word: String) throws -> Answer {
        let child = try EngineChild("launch-\(word)", store)
        let output = child.output()
        _ = child.end()
        return Answer(output)
    }

    private func write(_ budget: Double) throws {
        try "\(budget)".write(toFile: store + ".budget", atomically: true, encoding: .utf8)
    }

    /// Returns the result of SQL over a copy, which SQL may heal.
    func look() throws -> (rows: [String], isNew: Bool) {
        try Self.clear(looked.path)
        try Self.copy(folder.path, to: looked.path, withRecords: false)
        let copy = looked.path + "/Notes.sqlite"
        return (try kind.witness(copy), try kind.isNew(copy))
    }

    func reset(from other: ScratchFolder) throws {
        try Self.clear(folder.path)
        try Self.copy(other.path, to: folder.path)
        try write(budget)
    }

    private static func clear(_ folder: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
    }

    static func copy(_ folder: String, to other: String, withRecords: Bool = true) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder)
        where withRecords || !name.hasSuffix(".moult") {
            try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(other)/\(name)")
        }
    }
}
