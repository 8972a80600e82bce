import Foundation
import Moult
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// A one-to-one relationship of which the app has never written one end, as in some stores of Apple's own apps. The
/// sqlite3 shell makes it, and reads what became of it.
@Suite("One-to-one relationships of which one end is empty")
struct OneSidedTests {
    private struct Notes {
        let folder: ScratchFolder
        let version: ModelVersion
        var path: String { folder.path + "/notes.sqlite" }

        init(_ sql: String = "") throws {
            folder = try ScratchFolder()
            let note = EntityDescription("Note = title String, state > State.note")
            let state = EntityDescription("State = version Integer64, note > Note.state")
            version = ModelVersion(names: ["One"], model: try ManagedObjectModel(entities: [note, state]))
            try StoreCreator(version).make(at: path)
            try shell(
                """
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZSTATE) SELECT value, 1, 1, value FROM generate_series(1, 20);
                INSERT INTO ZSTATE (Z_PK, Z_ENT, Z_OPT) SELECT value, 2, 1 FROM generate_series(1, 25);
                UPDATE Z_PRIMARYKEY SET Z_MAX = 25; \(sql)
                """)
        }

        @discardableResult
        func shell(_ sql: String) throws -> String { try SQLiteShell.run(path, sql) }
        var audit: StoreAudit { get throws { try StoreAudit(path, model: version.model) } }
    }

    @Test func `an end that is empty in every row is one note, and a repair leaves it`() throws {
        let notes = try Notes()
        let audit = try notes.audit
        #expect(audit.isSound)
        #expect(audit.findings.map(\.code) == ["inverse-one-sided"])
        #expect(audit.findings.first?.message.hasPrefix("20 objects refer through Note.state,") == true)
        let repair = try StoreRepair(notes.path, at: notes.version)
        #expect(repair.found.isWell && repair.migration == nil)
    }

    @Test func `a repair that is told to sets it`() throws {
        let notes = try Notes()
        let repair = try StoreRepair(notes.path, at: notes.version, rules: [.oneSided])
        _ = try Migrator().run(try #require(repair.migration), on: notes.path)
        #expect(repair.report.count == 20 && repair.report.left == 0)
        let agreeing = "SELECT count(*) FROM ZNOTE AS n JOIN ZSTATE AS s ON s.Z_PK = n.ZSTATE AND s.ZNOTE = n.Z_PK"
        #expect(try notes.shell(agreeing) == "20\n")
        #expect(try notes.shell("SELECT count(*) FROM ZSTATE WHERE ZNOTE IS NULL") == "5\n")
        #expect(try notes.audit.findings.isEmpty)
    }

    @Test(arguments: [
        // One row agrees.
        "UPDATE ZSTATE SET ZNOTE = 3 WHERE Z_PK = 3",
        // One row names another.
        "UPDATE ZSTATE SET ZNOTE = 4 WHERE Z_PK = 3",
        // A state that no note names has one.
        "UPDATE ZSTATE SET ZNOTE = 3 WHERE Z_PK = 22",
        // Two notes name one state.
        "UPDATE ZNOTE SET ZSTATE = 3 WHERE Z_PK = 4",
    ])
    func `where the app has written any of it, what disagrees is an error, and a repair mends it`(sql: String) throws {
        let notes = try Notes(sql)
        let audit = try notes.audit
        #expect(!audit.isSound && Set(audit.findings.map(\.code)) == ["inverse-disagrees"])
        let repair = try StoreRepair(notes.path, at: notes.version)
        #expect(Set(repair.found.faults.map(\.rule)) == [.inverses])
        _ = try Migrator().run(try #require(repair.migration), on: notes.path)
        #expect(try notes.audit.findings.isEmpty)
    }

    @Test func `a reference that leads nowhere is a fault all the same`() throws {
        let notes = try Notes("UPDATE ZNOTE SET ZSTATE = 99 WHERE Z_PK = 4")
        let audit = try notes.audit
        #expect(!audit.isSound && Set(audit.findings.map(\.code)) == ["dangling-reference", "inverse-one-sided"])
        #expect(audit.findings.contains { $0.message.hasPrefix("19 objects refer through Note.state,") })
    }
}
