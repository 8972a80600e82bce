import Foundation
import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Runs that die while the pages of a large store are being copied, and stores that somebody writes to before they are
/// taken up again.
struct InterruptedCopyTests {  // tier: long
    @Test(arguments: ["half-backup", "half-copy"])
    func `a copy that was cut off is thrown away and made anew`(death: String) throws {
        let fixture = try EngineFixture(killable: 4_000, isWAL: death == "half-backup")
        _ = try fixture.shell("UPDATE ZITEM SET ZDATA = randomblob(20000)")
        let before = try fixture.logicalHash()
        let size = try #require(try POSIXSystem().status(of: fixture.store)).size
        let child = try EngineChild(death, fixture.store)
        #expect(child.end() == 128 + SIGKILL || child.end() == SIGKILL)
        // It did die in the middle: something of the copy is there, and not all of it.
        let cut = try Self.cutFiles(fixture.store)
        #expect(cut.count == 1 && cut.allSatisfy { $0 > 0 && $0 < size }, "\(cut) of \(size)")
        #expect(try fixture.logicalHash() == before)
        #expect(StoreDiagnosis(fixture.store).findings.contains { $0.code.hasPrefix("run-") })
        #expect(try EngineChild("infer", fixture.store).end() == 0)
        #expect(
            try fixture.shell("SELECT count(*) FROM ZITEM WHERE ZSCORE IS NOT 1; PRAGMA integrity_check") == "0\nok\n")
        #expect(try fixture.sidecarNames() == IdentityMigrationTests.tidy)
        let folder = try Migrator().backups(of: fixture.store)
        let backups = try folder.list()
        #expect(backups.count == 1)
        for backup in backups { try folder.verify(backup) }
        #expect(try POSIXSystem().list(folder.folder).count == 1)
    }

    /// The sizes of what has no manifest yet: drafts of backups that are not whole, and working copies.
    private static func cutFiles(_ store: String) throws -> [Int64] {
        let system = POSIXSystem()
        let size = try system.status(of: store)?.size ?? 0
        return try system.files(below: store + ".moult").filter { $0.contains(".part/") || $0.hasPrefix("work-") }
            .compactMap { try system.status(of: store + ".moult/" + $0)?.size }.filter { $0 < size }
    }

    @Test(arguments: [0.25, 0.6, 0.95])
    func `where the system lets no file grow beyond a limit the old store stays`(part: Double) throws {
        let fixture = try EngineFixture(killable: 2_000, isWAL: false)
        let before = try fixture.logicalHash()
        let size = Double(try #require(try POSIXSystem().status(of: fixture.store)).size)
        let child = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("engine-child").path
        // In units of 1,024 bytes; a write beyond it fails as on a full disk, and the signal that tells of it is ignored.
        let script = "trap '' XFSZ; ulimit -f \(Int(size * part / 1024)); exec \"$0\" infer \"$1\""
        let limited = try ChildProcess.run("bash", ["-c", script, child, fixture.store])
        #expect(limited.exit == MigrationError.Code.inputOutput.exitCode, "\(limited)")
        #expect(limited.output.contains("error inputOutput"), "\(limited)")
        #expect(try fixture.logicalHash() == before)
        #expect(try !POSIXSystem().exists(fixture.sidecar + "/journal.json"))
        #expect(try EngineChild("infer", fixture.store).end() == 0)
        #expect(
            try fixture.shell("SELECT count(*) FROM ZITEM WHERE ZSCORE IS NOT 1; PRAGMA integrity_check") == "0\nok\n")
        #expect(try fixture.sidecarNames() == IdentityMigrationTests.tidy)
    }

    @Test func `a row that an app writes after a killed chain is migrated with the rest when that is resumed`() throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Fleet.sqlite"
        try FlightVersions.makeStore(at: store, count: 40)
        let before = try FlightVersions.witness(store)
        let child = try EngineChild("linger-stops", store)
        child.wait(for: "sent")
        child.kill()
        // The first commit stands, the second had begun.
        #expect(
            try SQLiteShell.run(store, "SELECT count(*) FROM ZFLIGHTDATA; SELECT max(Z_PK) FROM ZAIRCRAFT") == "0\n40\n"
        )
        #expect(try Migrator().isUnfinished(store))
        _ = try SQLiteShell.run(
            store,
            """
            INSERT INTO ZAIRCRAFT (Z_PK, Z_ENT, Z_OPT, ZNAME, ZFLIGHTDATA)
                VALUES (41, 1, 1, 'late', CAST(x'01' || 'written late' AS BLOB));
            UPDATE ZAIRCRAFT SET ZNAME = 'renamed', Z_OPT = 2 WHERE Z_PK = 5;
            UPDATE Z_PRIMARYKEY SET Z_MAX = 41 WHERE Z_NAME = 'Aircraft'
            """)
        #expect(try EngineChild("stops", store).end() == 0)
        let columns = try SQLiteShell.run(store, "SELECT group_concat(name) FROM pragma_table_info('ZAIRCRAFT')")
        #expect(!columns.contains("ZFLIGHTDATA"))
        let after = try FlightVersions.witness(store)
        #expect(
            after.count == 41 && Array(after[..<4]) == Array(before[..<4])
                && Array(after[5..<40]) == Array(before[5...]))
        #expect(
            after[4].hasPrefix("renamed|") && after[4].split(separator: "|")[1] == before[4].split(separator: "|")[1])
        #expect(
            try SQLiteShell.run(
                store,
                """
                SELECT a.ZNAME, CAST(substr(f.ZDATA, 2) AS TEXT) FROM ZAIRCRAFT a
                JOIN ZFLIGHTDATA f ON f.Z_PK = a.ZFLIGHT AND f.ZAIRCRAFT = a.Z_PK WHERE a.Z_PK = 41
                """) == "late|written late\n")
    }
}
