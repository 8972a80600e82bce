import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// What the units of a migration with a budget are, and how they fit into the time.
struct BudgetUnitTests {  // tier: long
    @Test(arguments: [1, 3, 6] as [UInt64])
    func `each call ends within its budget, whatever the machine's speed`(milliseconds: UInt64) throws {
        var paced = try PacedStore()
        paced.system = SlowClock(step: milliseconds * 1_000_000)
        let new = try paced.hashOfOneRun()
        let budget = 0.25
        let (pauses, outcome) = try paced.callUntilDone(.seconds(budget))
        #expect(outcome != nil)
        #expect(try paced.fixture.logicalHash() == new)
        #expect((pauses.count > 1) == (milliseconds > 1))
        // Nobody can tell beforehand how often somebody looks at this clock, which a real one does not notice.
        let look = Double(milliseconds) / 1000
        for pause in pauses { #expect(pause.seconds <= budget + look, "\(pause)") }
    }

    /// A unit that takes longer than it may is taken back, and the work before it stays.
    @Test func `a budget that turns out too small keeps what was done`() throws {
        var paced = try PacedStore(rows: 4_000)
        paced.options.keysPerPiece = 1_000_000
        for _ in 0..<4 { #expect(try paced.call().pause != nil) }
        let before = try #require(try paced.migrator.paused(paced.store))
        paced.system = SlowClock(step: 120_000_000)
        var error: MigrationError?
        for _ in 0..<40 where error == nil {
            do { _ = try paced.call(.seconds(0.2)) } catch let thrown as MigrationError { error = thrown }
        }
        #expect(error == nil || error?.code == .budgetTooSmall)
        paced.system = POSIXSystem()
        let after = try #require(try paced.migrator.paused(paced.store))
        #expect(after.run == before.run && after.fraction >= before.fraction)
        let new = try paced.hashOfOneRun()
        #expect(try paced.callUntilDone(.all).outcome != nil)
        #expect(try paced.fixture.logicalHash() == new)
    }

    @Test func `what has passed before the first unit counts, and nothing is begun that would be late`() throws {
        let paced = try PacedStore()
        let old = try paced.fixture.logicalHash()
        let begun = paced.system.monotonicNanoseconds - 3_000_000_000
        let error = #expect(throws: MigrationError.self) {
            try paced.migrator.run(try paced.prepared(), within: .seconds(2.4), since: begun)
        }
        #expect(error?.code == .budgetTooSmall)
        let message = error?.message ?? ""
        #expect(message.hasPrefix("A budget of 2.4 s is not enough: "), "\(message)")
        #expect(message.contains(" s had passed before the piece that is next"), "\(message)")
        #expect(try paced.migrator.paused(paced.store) == nil)
        #expect(try paced.fixture.logicalHash() == old)
        #expect(try paced.migrator.run(try paced.prepared(), within: .seconds(60), since: begun).finished != nil)
    }

    /// The pieces of the verification find what the whole of it does.
    @Test(arguments: [
        "UPDATE ZITEM SET ZNAME = 'another' WHERE Z_PK = 140",
        "DELETE FROM ZITEM WHERE Z_PK = 3",
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZSCORE) SELECT 100000, Z_ENT, 1, 1 FROM ZITEM LIMIT 1",
        "UPDATE ZITEM SET ZSCORE = NULL WHERE Z_PK = 20",
        "DROP INDEX Z_Item_name",
        "UPDATE Z_METADATA SET Z_PLIST = (SELECT Z_PLIST FROM old.Z_METADATA)",
        "UPDATE Z_3LINKS SET COLUMN = 99999 WHERE rowid = (SELECT min(rowid) FROM Z_3LINKS)",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 1",
    ])
    func `what is wrong with the new store is found in pieces too`(damage: String) throws {
        let paced = try PacedStore()
        let old = try paced.fixture.logicalHash()
        var copy = ""
        while copy.isEmpty {
            guard let pause = try paced.call().pause else { break }
            guard pause.next == "Verify the tables of the new store." else { continue }
            copy = paced.fixture.sidecar + "/work-\(pause.run)/Forum data.sqlite"
        }
        let column = try SQLiteShell.run(copy, "SELECT name FROM pragma_table_info('Z_3LINKS') LIMIT 1").dropLast()
        let statement = damage.replacingOccurrences(of: "COLUMN", with: column)
        #expect(try SQLiteShell.run(copy, "ATTACH '\(paced.store)' AS old; \(statement)") == "")
        var error: MigrationError?
        for _ in 0..<40 where error == nil {
            do {
                guard try paced.call().pause != nil else { break }
            } catch let thrown as MigrationError { error = thrown }
        }
        #expect(error?.code == .verificationFailed, "\(damage)")
        #expect(try paced.fixture.logicalHash() == old)
    }

    @Test func `code of an app is one unit, and the plan names it`() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/Fleet.sqlite"
        try FlightVersions.makeStore(at: path, count: 40)
        let before = try FlightVersions.witness(path)
        func call() throws -> BudgetOutcome {
            var options = PreparedMigration.Options(registry: FlightVersions.registry())
            options.continuesEarlierCall = true
            let prepared = try PreparedMigration(path, versions: FlightVersions.make(), options: options)
            #expect(prepared.longestUnit?.sentence.contains("the migration takes several passes") == true)
            return try Migrator().run(prepared, within: .one)
        }
        #expect(try call().pause?.next == "Back up the store.")
        let pause = try #require(try call().pause)
        #expect(pause.next.contains("the migration takes several passes") && pause.calls == 2)
        #expect(try FlightVersions.witness(path) == before)
        #expect(try call().finished?.backup != nil)
        #expect(try FlightVersions.witness(path) == before)
        #expect(try SQLiteShell.run(path, "SELECT count(*), count(ZAIRCRAFT) FROM ZFLIGHTDATA") == "36|36\n")
        #expect(try !FileManager.default.contentsOfDirectory(atPath: path + ".moult").contains { $0.hasPrefix("work") })
    }

    @Test(
        arguments: [
            (0...9, 3), (5...5, 4), (-7...7, 5), (Int64.min...Int64.max, 7), (Int64.min...Int64.max, 1),
            (0...Int64.max, 2),
        ] as [(ClosedRange<Int64>, Int64)])
    func `a range is divided into ranges with the same keys`(range: ClosedRange<Int64>, count: Int64) {
        let parts = range.divided(into: count)
        #expect(parts.first?.lowerBound == range.lowerBound && parts.last?.upperBound == range.upperBound)
        #expect(parts.count <= Int(count))
        for (one, next) in zip(parts, parts.dropFirst()) { #expect(next.lowerBound == one.upperBound + 1) }
    }
}
