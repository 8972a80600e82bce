import Foundation
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Kills a program at random moments while it migrates and puts work off, and while it does that work.
@Suite(.saysSeed)
struct DeferredKillTests {  // tier: long
    @Test(arguments: ["defer", "finish"])
    func `a killed run leaves whole tasks and the next one finishes`(verb: String) throws {
        try DeferredKillTrial(verb, rows: 2_000).run(kills: 4)
    }
}

@Suite(.saysSeed, .enabled(if: Tier.faults.isAsked))
struct DeferredKillFaultTests {
    @Test(arguments: ["defer", "finish"])
    func `a killed run leaves whole tasks and the next one finishes`(verb: String) throws {
        try DeferredKillTrial(verb, rows: 50_000).run(kills: 200)
    }
}

private struct DeferredKillTrial {
    let verb: String
    let template: DeferredStore
    /// What the store may be after a kill, the first as it was and the last as it has to become.
    let states: [String]
    /// Seconds that an undisturbed run takes.
    let whole: Double

    init(_ verb: String, rows: Int) throws {
        self.verb = verb
        let versions = try DeferrableVersions.make()
        template = try DeferredStore(versions.versions[0], rows: rows)
        if verb == "finish" { try template.migrate(versions) }
        let store = try template.copy()
        var states = [try Self.hash(store.path)]
        if verb == "defer" {
            try store.migrate(versions)
            states.append(try Self.hash(store.path))
        } else {
            while try store.isPending {
                try store.finish(.one)
                states.append(try Self.hash(store.path))
            }
        }
        self.states = states
        let undisturbed = try template.copy()
        let start = Date()
        #expect(try EngineChild(verb, undisturbed.path).end() == 0)
        whole = Date().timeIntervalSince(start)
    }

    func run(kills: Int) throws {
        let start = Date()
        var met = [Int](repeating: 0, count: states.count)
        var random = SeededGenerator.ofRun(verb)
        for _ in 0..<kills where Date().timeIntervalSince(start) < Tier.faults.seconds {
            met[try killOnce(after: .random(in: 0...whole * 1.1, using: &random))] += 1
        }
        print("DeferredKillTests: \(verb): kills by what was done already: \(met)")
    }

    private func killOnce(after seconds: Double) throws -> Int {
        let store = try template.copy()
        let child = try EngineChild(verb, store.path)
        Thread.sleep(forTimeInterval: seconds)
        child.kill()
        let place = try #require(states.firstIndex(of: Self.hash(store.path)))
        #expect(try EngineChild(verb, store.path).end() == 0)
        #expect(try Self.hash(store.path) == states.last)
        return place
    }

    /// The sqlite3 shell's hash over all rows and texts, in a copy, so that looking heals nothing.
    private static func hash(_ store: String) throws -> String {
        let copy = try ScratchFolder()
        for suffix in ["", "-wal", "-journal"] where FileManager.default.fileExists(atPath: store + suffix) {
            try FileManager.default.copyItem(atPath: store + suffix, toPath: copy.path + "/store" + suffix)
        }
        #expect(try SQLiteShell.run(copy.path + "/store", "PRAGMA integrity_check") == "ok\n")
        return try SQLiteShell.run(copy.path + "/store", ".sha3sum --schema")
    }
}
