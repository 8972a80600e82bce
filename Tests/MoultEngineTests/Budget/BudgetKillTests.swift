import Foundation
import MoultEngine
import TestSupport
import Testing

/// Kills the process of calls with a budget at random moments, in the middle of pieces and between calls.
@Suite(.saysSeed)
struct BudgetKillTests {  // tier: long
    @Test(arguments: [false, true])
    func `a killed call goes on from its last piece`(isWAL: Bool) throws {
        let paced = try PacedStore(rows: 2_000, isWAL: isWAL)
        let (old, new) = (try paced.fixture.logicalHash(), try paced.hashOfOneRun())
        var (kills, random) = (0, SeededGenerator.ofRun("\(isWAL)"))
        for _ in 0..<6 {
            let child = try EngineChild("paced", paced.store)
            Thread.sleep(forTimeInterval: .random(in: 0.02...0.25, using: &random))
            child.kill()
            kills += 1
            let hash = try paced.fixture.logicalHash()
            #expect(hash == old || hash == new)
            if hash == new { break }
        }
        let last = try EngineChild("paced", paced.store)
        #expect(last.end() == 0)
        #expect(try paced.fixture.logicalHash() == new)
        _ = try Migrator().recover(paced.store)
        #expect(try paced.fixture.sidecarNames() == IdentityMigrationTests.tidy)
        #expect(try Migrator().backups(of: paced.store).list().count >= 1)
        print("BudgetKillTests: \(kills) kills")
    }
}
