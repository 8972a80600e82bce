import FaultCases
import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore
import MoultTesting
import TestSupport
import Testing

/// What the trials have found, each with the moments where it was.
struct RepairTests {  // tier: long
    private static func ground(_ words: String) throws -> (folder: ScratchFolder, ground: FaultFixture) {
        let folder = try ScratchFolder()
        let faultCase = try #require(try FaultCases.all.first { $0.name.contains(words) })
        return (folder, try FaultFixture(faultCase, in: POSIXSystem().resolve(folder.path)))
    }

    private static func expectKept(
        _ ground: FaultFixture, _ kind: Fault.Kind, seeds: [UInt64] = [0], where isIncluded: (Int) -> Bool
    ) throws {
        let moments = ground.operations.indices.filter { kind.meets(ground.operations[$0]) && isIncluded($0) }
        #expect(!moments.isEmpty)
        for moment in moments {
            for seed in seeds {
                let outcome = try FaultTrial(ground, Fault(kind, at: moment + 1, seed: seed)).run()
                guard case .kept = outcome else {
                    Issue.record("at \(moment + 1), seed \(seed): \(outcome)")
                    continue
                }
            }
        }
    }

    @Test func `a rollback whose tidying fails has rolled back, and says so`() throws {
        let (folder, ground) = try Self.ground("rolled back")
        defer { withExtendedLifetime(folder) {} }
        let end = ground.operations.count
        try Self.expectKept(ground, .inputOutputOnce) { $0 > end - 20 }
    }

    @Test(arguments: ["rolled back", "backup restored over a damaged store"])
    func `external data that a failed restore has copied in part goes, and is in no backup`(_ name: String) throws {
        let (folder, ground) = try Self.ground(name)
        defer { withExtendedLifetime(folder) {} }
        try Self.expectKept(ground, .inputOutputOnce) { $0 > ground.operations.count / 2 }
    }

    @Test(arguments: ["rolled back", "steps with an undo"])
    func `external data that went with its objects stays gone after a power cut`(_ name: String) throws {
        let (folder, ground) = try Self.ground(name)
        defer { withExtendedLifetime(folder) {} }
        let end = ground.operations.count
        try Self.expectKept(ground, .powerLoss, seeds: [0, 3]) { $0 > end - 20 }
    }

    @Test func `a rollback that dies before its end lists in the quarantine what it took out of the store`() throws {
        let (folder, ground) = try Self.ground("rolled back to before")
        defer { withExtendedLifetime(folder) {} }
        let end = ground.operations.count
        try Self.expectKept(ground, .stop) { $0 > end - 16 }
    }

    @Test func `a damaged store that is set aside outlives a power cut`() throws {
        let (folder, ground) = try Self.ground("damaged")
        defer { withExtendedLifetime(folder) {} }
        let end = ground.operations.count
        try Self.expectKept(ground, .powerLoss, seeds: [0, 2]) { $0 > end - 30 }
    }

    @Test func `a cut-off store below a hot journal gets its length in one step`() throws {
        let (folder, ground) = try Self.ground("cut-off")
        defer { withExtendedLifetime(folder) {} }
        let sized = try #require(ground.operations.firstIndex(of: .truncate))
        try Self.expectKept(ground, .tornSector, seeds: [0, 1, 2, 3]) { (sized - 4...sized + 12).contains($0) }
    }

    @Test func `a log that was emptied does not come back after a power cut`() throws {
        let (folder, ground) = try Self.ground("policy, with a quarantine")
        defer { withExtendedLifetime(folder) {} }
        let end = ground.operations.count
        try Self.expectKept(ground, .powerLoss, seeds: [0, 1, 2, 3]) { $0 > end - 12 }
    }

    @Test(arguments: ["mirror begun", "salvaged"])
    func `what a failing disk does not let go of is named`(kind: String) throws {
        let (folder, ground) = try Self.ground(kind)
        defer { withExtendedLifetime(folder) {} }
        let end = ground.operations.count
        try Self.expectKept(ground, .inputOutputOn) { $0 > end - 10 }
    }

    @Test func `a restore that fails leaves the damaged store in its place, not an empty one`() throws {
        let folder = try ScratchFolder()
        let faultCase = try #require(try FaultCases.all.first { $0.name.contains("damaged") })
        let ground = try FaultFixture(faultCase, in: POSIXSystem().resolve(folder.path))
        let damaged = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/template/store.sqlite"))
        // The last write of the copy that is set aside, and those of the commit after it.
        let copied = try #require(ground.operations.lastIndex(of: .copy))
        let write = try #require(ground.operations[copied...].firstIndex(of: .write))
        let system = POSIXSystem()
        for moment in write..<write + 3 where ground.operations[moment] == .write {
            try ground.reset()
            let disk = try FaultDisk(Path.folder(of: ground.store), Fault(.fullOnce, at: moment + 1))
            let result = try disk.run { try faultCase.run(ground.store, $0) }
            #expect(throws: MigrationError.self) { try result.get() }
            #expect(disk.hasMet)
            #expect(try Data(contentsOf: URL(fileURLWithPath: ground.store)) == damaged)
            #expect(try !system.exists(StoreRecords(store: ground.store).journal))
        }
    }

    @Test func `a commit whose synchronisation fails is taken back, and does not come back with the WAL`() throws {
        let (folder, ground) = try Self.ground("policy")
        defer { withExtendedLifetime(folder) {} }
        // The last synchronisations before the journal is removed are those of the commit.
        let removed = try #require(ground.operations.lastIndex(of: .remove))
        let syncs = ground.operations.indices.filter { ground.operations[$0] == .sync && $0 < removed }.suffix(10)
        for kind in [Fault.Kind.inputOutputOnce, .inputOutputOn] {
            try Self.expectKept(ground, kind) { syncs.contains($0) }
        }
    }

    @Test func `the history of the first run outlives a power cut`() throws {
        let (folder, ground) = try Self.ground("rows in the WAL")
        defer { withExtendedLifetime(folder) {} }
        let end = ground.operations.count
        try Self.expectKept(ground, .powerLoss, seeds: [1]) { $0 > end - 8 }
    }

    @Test func `an I/O error while the quarantine is put back ends the run, and keeps no object from going back`()
        throws
    {
        let (folder, ground) = try Self.ground("quarantine restored")
        defer { withExtendedLifetime(folder) {} }
        try Self.expectKept(ground, .inputOutputOnce) { (60...72).contains($0) }
    }

    @Test func `recovering a store at rest leaves nothing beside it`() throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Fleet.sqlite"
        try FlightVersions.makeStore(at: store, count: 3, external: 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(try Migrator().recover(store) == .nothing)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(left == (names + ["Fleet.sqlite.moult"]).sorted())
    }
}
