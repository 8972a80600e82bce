import Foundation
import MoultEngine
import TestSupport
import Testing

/// However a run dies, an object is in the store or in the quarantine, and never in both.
@Suite(.saysSeed)
struct QuarantineKillTests {  // tier: long
    @Test func `a killed run neither loses an object nor keeps one twice`() throws {
        try Self.trial(topics: 4_000)
    }

    static func trial(topics: Int) throws {
        let forum = try BrokenForum.closed(
            """
            INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'one');
            INSERT INTO ZTOPIC (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZFORUM)
                SELECT value, 4, 1, 't' || value, iif(value % 4 = 0, NULL, 1) FROM generate_series(1, \(topics))
            """)
        let template = try Data(contentsOf: URL(fileURLWithPath: forum.path))
        let (whole, commit) = try time(forum)
        var ends: [RecoveryOutcome: Int] = [:]
        var random = SeededGenerator.ofRun("\(topics)")
        for kill in Tier.faults.rounds(quick: 6, full: 200, sharedBy: 2) {
            try FileManager.default.removeItem(atPath: forum.sidecar.folder)
            try template.write(to: URL(fileURLWithPath: forum.path))
            let child = try EngineChild("mend", forum.path)
            let isLate = kill % 2 == 1
            if isLate { child.wait(for: "commit") }
            Thread.sleep(forTimeInterval: .random(in: 0...(isLate ? commit : whole) * 1.1, using: &random))
            child.kill()
            let outcome = try Migrator().recover(forum.path)
            ends[outcome, default: 0] += 1
            try check(forum, topics, committed: outcome == .undone ? false : outcome == .completed ? true : nil)
            #expect(try EngineChild("mend", forum.path).end() == 0)
            try check(forum, topics, committed: true)
        }
        print("QuarantineKillTests:", ends.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", "))
    }

    /// Seconds of an undisturbed run, and from the beginning of its commit.
    private static func time(_ forum: BrokenForum) throws -> (Double, Double) {
        let start = Date()
        let child = try EngineChild("mend", forum.path)
        child.wait(for: "commit")
        let atCommit = Date()
        #expect(child.end() == 0)
        return (Date().timeIntervalSince(start), Date().timeIntervalSince(atCommit))
    }

    /// - Parameter committed: nil where nobody can know: nothing was left to heal.
    private static func check(_ forum: BrokenForum, _ topics: Int, committed: Bool?) throws {
        let keys = try forum.quarantined().map(\.object.key)
        let left = try Int(forum.shell("SELECT count(*) FROM ZTOPIC")) ?? 0
        let isCommitted = left < topics
        if let committed { #expect(isCommitted == committed) }
        #expect(keys == (isCommitted ? Array(stride(from: 4, through: Int64(topics), by: 4)) : []))
        #expect(left + keys.count == topics)
    }
}

@Suite(.saysSeed, .enabled(if: Tier.faults.isAsked))
struct QuarantineFaultTests {
    @Test func `a killed run neither loses an object nor keeps one twice`() throws {
        try QuarantineKillTests.trial(topics: Tier.faults.isBounded ? 10_000 : 40_000)
    }
}
