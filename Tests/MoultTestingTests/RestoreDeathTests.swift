import FaultCases
import Foundation
import MoultBasics
import MoultEngine
import TestSupport
import Testing

@testable import MoultTesting

/// Verbs that replace a store where no sound one is, or make new files, at some calls of theirs, more of them in the
/// tier; `moult-faults` tries every call.
struct RestoreDeathTests {  // tier: long
    private static func trials(_ words: String, _ kinds: [Fault.Kind], stride step: Int = 1) throws {
        let folder = try ScratchFolder()
        defer { withExtendedLifetime(folder) {} }
        let faultCase = try #require(try FaultCases.all.first { $0.name == words })
        let ground = try FaultFixture(faultCase, in: POSIXSystem().resolve(folder.path))
        for kind in kinds {
            let row = try FaultSeries(ground, kind, seeds: [0, 1]).run(seconds: Tier.faults.isAsked ? 6 : 0.2, limit: 3)
            #expect(row.broken.isEmpty && row.tried > 0, "\(row.broken)")
        }
    }

    @Test(arguments: [
        "backup restored over a damaged store", "backup restored over damaged pages and a log",
        "backup restored over a cut-off store and a hot journal", "backup restored where only a log is left",
    ])
    func `what is at the path is what was there or the restored store, by the sqlite3 shell`(name: String) throws {
        try Self.trials(name, [.stop, .powerLoss, .inputOutputOnce, .fullOnce])
    }

    @Test(arguments: [
        "backup made", "backup exported into an archive", "backup exported into a folder", "backup imported",
        "salvaged", "mirror begun", "rows repaired",
    ])
    func `what makes new files leaves whole ones or none, and the next run leaves nothing else`(name: String) throws {
        try Self.trials(name, [.stop, .inputOutputOnce])
    }

    @Test(arguments: [
        "moved", "moved, a history", "moved to another volume", "moved to another volume, rows in the WAL",
    ])
    func `a store that is moved is whole at one of the two places, by the sqlite3 shell`(name: String) throws {
        try Self.trials(name, [.stop, .powerLoss, .inputOutputOnce, .inputOutputOn, .fullOnce])
    }

    /// The witness itself: it sees a store that is gone, an empty one, and one that was moved elsewhere.
    @Test(arguments: ["gone", "empty", "moved"])
    func `a store that is not at its path is seen`(fate: String) throws {
        let folder = try ScratchFolder()
        defer { withExtendedLifetime(folder) {} }
        var faultCase = try #require(try FaultCases.all.first { $0.name == "backup restored over a damaged store" })
        let run = faultCase.run
        faultCase.run = { store, system in
            try system.makeFolder(store + ".moult/damaged")
            try system.makeFolder(store + ".moult/damaged/1")
            switch fate {
            case "gone": try system.remove(store)
            case "empty": try system.write([], to: store)
            default: try system.rename(store, to: store + ".moult/damaged/1/" + Path.name(of: store))
            }
            // A moment at which it may die.
            try system.synchronise(Path.folder(of: store))
            if fate == "empty" { try system.remove(store) }
            try run(store, system)
        }
        let ground = try FaultFixture(faultCase, in: POSIXSystem().resolve(folder.path))
        let row = try FaultSeries(ground, .stop).run(seconds: 10, limit: 1)
        #expect(!row.broken.isEmpty, "\(row.tried) of \(row.moments) were tried")
    }
}
