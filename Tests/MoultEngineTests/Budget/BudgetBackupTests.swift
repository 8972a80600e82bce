import Foundation
import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultEngine

/// What calls with a budget keep before there is a backup, how they prove it, and what they leave of the commit's log.
struct BudgetBackupTests {  // tier: long
    @Test func `the look at the rows is kept before there is a backup`() throws {
        var paced = try PacedStore()
        let new = try paced.hashOfOneRun()
        #expect(try paced.call().pause?.next == "Back up the store.")
        #expect(try Migrator().backups(of: paced.store).list().isEmpty)
        let checkpoint = try #require(try paced.migrator.paused(paced.store))
        let rows = try #require(Int(paced.fixture.shell("SELECT count(*) FROM ZITEM").dropLast()))
        #expect(checkpoint.rowFacts.rowCounts["Item"] == Int64(rows))
        // Another number in the checkpoint shows who asks the rows and who does not.
        var other = checkpoint
        other.rowFacts.rowCounts["Item"] = Int64(rows) + 1
        try other.write(StoreRecords(store: paced.store), paced.system)
        #expect(try paced.prepared().bound?.rowCounts["Item"] == Int64(rows) + 1)
        paced.preparation.continuesEarlierCall = false
        #expect(try paced.prepared().bound?.rowCounts["Item"] == Int64(rows))
        paced.preparation.continuesEarlierCall = true
        try checkpoint.write(StoreRecords(store: paced.store), paced.system)
        let next = try paced.call()
        #expect(next.startedOver == nil && next.pause?.next == "Create the working copy.")
        #expect(try paced.callUntilDone().outcome != nil)
        #expect(try paced.fixture.logicalHash() == new)
    }

    @Test func `a call that dies before there is a backup is gone on from`() throws {
        let paced = try PacedStore()
        let new = try paced.hashOfOneRun()
        #expect(try paced.call().pause != nil)
        let journal = paced.fixture.sidecar + "/journal.json"
        let text = try String(contentsOfFile: journal, encoding: .utf8)
        try text.replacingOccurrences(of: "\"paused\"", with: "\"started\"")
            .write(toFile: journal, atomically: true, encoding: .utf8)
        let next = try paced.call()
        #expect(next.startedOver == nil && next.pause?.next == "Create the working copy.")
        #expect(try paced.callUntilDone().outcome != nil)
        #expect(try paced.fixture.logicalHash() == new)
        #expect(try paced.fixture.sidecarNames() == IdentityMigrationTests.tidy)
    }

    @Test func `the backup is proven in two units, and one that changes between them does not agree with its manifest`()
        throws
    {
        let paced = try PacedStore()
        let backups = try Migrator().backups(of: paced.store)
        var nexts: [String] = []
        let outcome = try paced.callUntilDone { pause throws in
            nexts.append(pause.next)
            guard pause.next == "Check the pages of the backup." else { return }
            let folder = try FileManager.default.contentsOfDirectory(atPath: backups.folder).filter {
                $0.hasSuffix(BackupFolder.draftSuffix)
            }
            #expect(folder.count == 1)
            let draft = "\(backups.folder)/\(folder.first ?? "")/Forum data.sqlite"
            #expect(try SQLiteShell.run(draft, "UPDATE ZITEM SET ZNAME = 'another' WHERE Z_PK = 5") == "")
        }.outcome
        let digest = try #require(nexts.firstIndex(of: "Compute the digest of the backup."))
        #expect(nexts.firstIndex(of: "Check the pages of the backup.") == digest + 1)
        let backup = try #require(outcome?.backup)
        let error = #expect(throws: MigrationError.self) { try backups.verify(backup) }
        #expect(error?.code == .backupInvalid)
    }

    @Test(arguments: ["delete", "wal"])
    func `the plan knows whether the commit goes through a log, which makes it shorter`(mode: String) throws {
        let paced = try PacedStore()
        #expect(try paced.fixture.shell("PRAGMA journal_mode = \(mode)") == mode + "\n")
        let prepared = try paced.prepared()
        #expect(prepared.usesWAL == (mode == "wal"))
        let migration = try #require(try prepared.migration())
        func commit(usesWAL: Bool) -> Double {
            MigrationUnits(migration, size: 1_000_000_000, usesWAL: usesWAL).commit.seconds
        }
        #expect(commit(usesWAL: true) < commit(usesWAL: false))
    }

    @Test func `the log of the commit is left to the next opener where there is no time to write it back`() throws {
        func logAtTheEnd(_ limit: CallLimit) throws -> Int64 {
            let paced = try PacedStore(isWAL: true)
            let new = try paced.hashOfOneRun()
            let outcome = try paced.callUntilDone(limit).outcome
            let size = try paced.system.status(of: paced.store + "-wal")?.size ?? 0
            // A call of one unit has no time for another.
            #expect(outcome != nil && (size > 0) == (limit == .one))
            #expect(try paced.fixture.logicalHash() == new)
            _ = try Migrator().recover(paced.store)
            #expect(try paced.system.status(of: paced.store + "-wal")?.size ?? 0 == 0)
            #expect(try paced.fixture.logicalHash() == new)
            return size
        }
        #expect(try logAtTheEnd(.one) > 4_096)
        #expect(try logAtTheEnd(.all) == 0)
    }
}
