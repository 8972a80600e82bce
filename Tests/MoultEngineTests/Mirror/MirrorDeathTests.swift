import Foundation
import MoultEngine
import MoultModel
import MoultStore
import TestSupport
import Testing

/// Either side is killed again and again; nothing is taken over twice, and nothing is left out.
struct MirrorDeathTests {  // tier: long
    @Test(arguments: [true, false])
    func `killed writers and killed mirrors leave two stores that agree`(history: Bool) throws {
        try MirrorTrial(history: history, writes: 240, patience: 6).run()
    }
}

@Suite(.enabled(if: Tier.faults.isAsked))
struct MirrorDeathFaultTests {
    @Test(arguments: [true, false])
    func `a hundred thousand writes, and deaths of either side`(history: Bool) throws {
        try MirrorTrial(history: history, writes: 100_000, patience: Tier.faults.seconds).run()
    }
}

private struct MirrorTrial {
    let history: Bool
    /// How many writes there are to be.
    let writes: Int
    /// Seconds after which it is enough.
    let patience: Double

    func run() throws {
        let fixture = try MirrorFixture(history: history, saves: 2)
        _ = try fixture.start()
        let start = Date()
        var (written, deaths, seed) = (0, 0, UInt64(1_000))
        let chance = SeededGenerator.seedOfRun
        var random = SeededGenerator(seed: chance)
        while written < writes, Date().timeIntervalSince(start) < patience {
            // A mirror that dies while the store is written to.
            let follower = try EngineChild("follow", fixture.store)
            defer { follower.kill() }
            if deaths % 3 == 0 { follower.wait(for: "followed") }
            let saves = writes > 1_000 ? 60 : 8
            try fixture.write(saves: saves, of: 15, seed: seed)
            (written, seed) = (written + 15 * saves, seed + 1)
            follower.kill()
            deaths += 1
            // An app that dies in a save, while a mirror follows it.
            let app = try EngineChild("write", fixture.store, seed: random.next())
            let second = try EngineChild("follow", fixture.store)
            app.wait(for: "saved")
            Thread.sleep(forTimeInterval: Double.random(in: 0...0.2, using: &random))
            app.kill()
            second.kill()
            deaths += 2
            guard writes < 1_000 || deaths % 15 == 0 else { continue }
            try check(fixture, "after \(written) writes, MOULT_SEED=\(chance)")
        }
        try check(fixture, "at the end, MOULT_SEED=\(chance)")
        print("MirrorDeathTests: \(written) writes and \(deaths) deaths, history \(history)")
    }

    private func check(_ fixture: MirrorFixture, _ note: String) throws {
        var mirror = try fixture.mirror()
        _ = try mirror.synchronise()
        try fixture.expectEqual("\(note)")
    }
}
