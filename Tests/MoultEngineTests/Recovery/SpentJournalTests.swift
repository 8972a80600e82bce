import Foundation
import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import TestSupport
import Testing

/// A rollback journal whose transaction has ended: SQLite leaves it if the process dies before it gives its lock back, and
/// `journal_mode = PERSIST` leaves the same.
@Suite struct SpentJournalTests {  // tier: long
    private static func leaveJournal(_ fixture: EngineFixture) throws -> String {
        let said = try fixture.shell("PRAGMA journal_mode = PERSIST; UPDATE ZITEM SET Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
        #expect(said == "persist\n")
        let journal = fixture.store + "-journal"
        let bytes = try #require(FileManager.default.contents(atPath: journal))
        #expect(bytes.count > 512 && bytes.prefix(28).allSatisfy { $0 == 0 })
        return journal
    }

    @Test func `the next run removes that of the last run, also where nothing else is left to do`() throws {
        let fixture = try EngineFixture()
        _ = try Migrator().run(Pass(), on: fixture.store)
        let journal = try Self.leaveJournal(fixture)
        let sidecar = StoreRecords(store: try POSIXSystem().resolve(fixture.store))
        let ended = try #require(try RunHistory(sidecar).records().last?.endTime)
        let date = try Date.ISO8601FormatStyle().parse(ended)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: journal)
        let before = try fixture.logicalHash()
        #expect(try Migrator().recoverIfNeeded(fixture.store) == .nothing)
        #expect(!FileManager.default.fileExists(atPath: journal))
        #expect(try fixture.logicalHash() == before)
        #expect(try fixture.shell("PRAGMA integrity_check") == "ok\n")
    }

    @Test func `one that is not of the last run stays`() throws {
        let fixture = try EngineFixture()
        let journal = try Self.leaveJournal(fixture)
        #expect(try Migrator().recoverIfNeeded(fixture.store) == .nothing)
        #expect(FileManager.default.fileExists(atPath: journal))
        _ = try Migrator().run(Pass(), on: fixture.store)
        // Its time is that of the app's transaction, after the run.
        sleep(1)
        _ = try Self.leaveJournal(fixture)
        #expect(try !Migrator().hasLeftovers(fixture.store))
        #expect(FileManager.default.fileExists(atPath: journal))
    }

    @Test func `a journal that is to be played back is played back by SQLite`() throws {
        let fixture = try EngineFixture()
        _ = try Migrator().run(Pass(), on: fixture.store)
        let before = try fixture.logicalHash()
        let writer = try SQLiteProcess(fixture.store)
        _ = try writer.run("PRAGMA cache_size = 1; BEGIN; UPDATE ZITEM SET ZNAME = 'lost', ZDATA = zeroblob(900)")
        writer.kill()
        let journal = fixture.store + "-journal"
        try #require(FileManager.default.contents(atPath: journal)?.first == 0xd9)
        #expect(try !Migrator().hasLeftovers(fixture.store))
        _ = try Migrator().run(Pass(), on: fixture.store)
        #expect(!FileManager.default.fileExists(atPath: journal))
        #expect(try fixture.logicalHash() == before)
    }
}
