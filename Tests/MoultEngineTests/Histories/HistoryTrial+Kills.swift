import Foundation
import MoultModel
import MoultPlan
import TestSupport
import Testing

@testable import MoultEngine

extension HistoryTrial {
    /// Goes to the end in a process of its own that is killed at a random instant of the run, heals what it left, and
    /// goes on; comes after ``run(seed:)``, with whose stores it compares.
    ///
    /// - Returns: what became of the killed run.
    func kill(_ random: inout HistoryRandom) async throws -> String {
        let store = try copy("killed")
        let old = try tables(store)
        let answers = try history.path(from: from, to: to, keepsReturned: false).answers
        let (undisturbed, began) = (try copy("undisturbed"), Date())
        try way("undisturbed") { try Self.migrate(undisturbed, history, to: to, answers) }
        let delay = Double.random(in: 0...Date().timeIntervalSince(began), using: &random)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                seed = history.seed as UInt64, versions = history.versionLimit as Int, from = from as Int,
                to = to as Int, store = store as String, delay = delay as Double
            ] in
            var random = HistoryRandom(seed: seed)
            let history = try ModelHistory(seed: seed, versions: versions, &random)
            let answers = try history.path(from: from, to: to, keepsReturned: false).answers
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: delay)
                Foundation.kill(getpid(), SIGKILL)
            }
            try HistoryTrial.migrate(store, history, to: to, answers)
            Foundation.kill(getpid(), SIGKILL)
        }
        let outcome = try Migrator().recover(store)
        let isOld = try tables(store) == old
        guard outcome == .nothing || isOld == (outcome == .undone) else {
            throw Difference(description: "killed and healed as \(outcome), and the store is not that")
        }
        try way("resumed after a kill") { try Self.migrate(store, history, to: to, answers) }
        try compare(store, with: world(at: to), at: to, "resumed after a kill")
        try sameTables(store, undisturbed, "killed and undisturbed")
        return "killed and \(outcome == .nothing ? isOld ? "old" : "new" : outcome.rawValue)"
    }
}
