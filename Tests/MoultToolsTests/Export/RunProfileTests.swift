import Foundation
import MoultTools
import Testing

@testable import MoultEngine

@Suite("Profiles")
struct RunProfileTests {
    private func progress(
        _ phase: MigrationProgress.Phase, rows: Int64 = 0, _ message: String? = nil, _ table: String? = nil
    ) -> MigrationProgress {
        MigrationProgress(
            phase: phase, fraction: 0, rows: rows, totalRows: 10, bytes: 0, message: message, table: table)
    }

    @Test
    func `a phase lasts until the next begins or its last report, a statement from the end of the one before`() throws {
        let profile = RunProfile(begun: 1_000)
        profile.note(progress(.lock), at: 1_000)
        profile.note(progress(.backup), at: 3_000)
        profile.note(progress(.change), at: 10_000)
        profile.note(progress(.change, rows: 4), at: 12_000)
        profile.note(progress(.change, rows: 6, "one", "ZA"), at: 15_000)
        // What another thread tells late.
        profile.note(progress(.backup), at: 15_500)
        var beside = progress(.change, rows: 10, "the backup is made")
        beside.isBeside = true
        profile.note(beside, at: 15_800)
        profile.note(progress(.change, rows: 10, "two", "ZB"), at: 16_000)
        profile.note(progress(.verify), at: 20_000)
        profile.note(progress(.done), at: 26_000)
        profile.end(at: 99_000)
        let told = profile.spans.map { "\($0.name) \($0.start)+\($0.duration) \($0.rows)" }
        #expect(
            told == [
                "lock 0+2000 0", "backup 2000+12500 0", "change 9000+10000 10", "one 9000+5000 6", "two 14000+1000 4",
                "verify 19000+6000 0",
            ])
        let json = try JSONSerialization.jsonObject(with: Data(profile.trace.compact.utf8)) as? [String: any Sendable]
        let events = try #require(json?["traceEvents"] as? [[String: any Sendable]])
        #expect(events.count == 6 && events.allSatisfy { $0["ph"] as? String == "X" })
        #expect(
            events[3]["ts"] as? Double == 9 && events[3]["dur"] as? Double == 5
                && events[3]["cat"] as? String == "statement")
        let tables = events.compactMap { ($0["args"] as? [String: any Sendable])?["table"] as? String }
        #expect(tables == ["ZA", "ZB"])
        let lines = profile.lines(style: .plain)
        let first = try #require(lines.firstIndex { $0.hasPrefix("table") })
        #expect(lines[first + 1].hasPrefix("ZA") && lines[first + 2].hasPrefix("ZB"), "\(lines)")
        #expect(lines[1].hasPrefix("backup") && lines.last?.hasPrefix("The backup takes longest") == true, "\(lines)")
    }

    @Test func `a run that tells nothing has an empty profile`() {
        let profile = RunProfile(begun: 5)
        profile.end(at: 4)
        #expect(profile.spans == [] && profile.lines(style: .plain) == [])
    }
}
