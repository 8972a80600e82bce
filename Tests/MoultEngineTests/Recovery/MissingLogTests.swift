import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// A store in WAL mode that lies without its WAL is told of where something says that it had one.
struct MissingLogTests {  // tier: long
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
        // The shell closes the store, and SQLite removes the WAL.
        #expect(try library.line("PRAGMA journal_mode = WAL") == "wal")
        _ = try library.shell("UPDATE ZTAG SET Z_OPT = 2")
    }

    /// The notes of an audit, of a diagnosis and of a salvage.
    private func notes() throws -> [Bool] {
        let code = "wal-missing"
        let audit = try StoreAudit(library.path, model: library.version.model)
        #expect(audit.isSound)
        let diagnosis = StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version]))
        #expect(diagnosis.isWell && diagnosis.findings.count { $0.code == code } < 2, "\(diagnosis.findings)")
        let new = library.folder.path + "/\(POSIXSystem().uniqueName()).sqlite"
        let report = try StoreSalvage(library.version).run(library.path, into: new)
        #expect(report.isWhole)
        return [
            audit.findings.contains { $0.code == code && $0.severity == .note },
            diagnosis.findings.contains { $0.code == code && $0.severity == .note },
            report.remarks.contains { $0.contains("there is no -wal next to it") },
        ]
    }

    /// Writes the number of the SQLite that wrote the first page last.
    private func write(_ number: [UInt8]) throws {
        var bytes = try POSIXSystem().read(library.path)
        bytes.replaceSubrange(96..<100, with: number)
        try POSIXSystem().write(bytes, to: library.path)
    }

    @Test func `a store that was closed here has no note`() throws {
        #expect(try !POSIXSystem().exists(library.path + "-wal"))
        #expect(try notes() == [false, false, false])
    }

    @Test func `a store that another SQLite wrote has a note, unless it brought its empty log or keeps none`() throws {
        // 3.43.2, as iOS 17 has it.
        try write([0x00, 0x2E, 0x6E, 0xBA])
        #expect(try notes() == [true, true, true])
        let message = try StoreAudit(library.path, model: library.version.model).findings.map(\.message)
        #expect(message.contains { $0.contains("it was last written by SQLite 3.43.2") }, "\(message)")
        let imported = { try Migrator().importBackup(library.path, for: library.path, version: "1") }
        #expect(throws: MigrationError.self) { try imported() }
        // Apple's SQLite keeps the log of a store that it closes.
        try POSIXSystem().write([], to: library.path + "-wal")
        #expect(try notes() == [false, false, false])
        #expect(try imported().manifest.rows["ZBOOK"] == 100)
        try POSIXSystem().remove(library.path + "-wal")
        #expect(try library.line("PRAGMA journal_mode = DELETE") == "delete")
        try write([0x00, 0x2E, 0x6E, 0xBA])
        #expect(try notes() == [false, false, false])
    }

    @Test func `a -shm that lies alone says that there was a log`() throws {
        try POSIXSystem().write([UInt8](repeating: 0, count: 32_768), to: library.path + "-shm")
        #expect(try notes() == [true, true, true])
    }

    @Test func `a run that writes the log back leaves no -shm, and one that keeps the log keeps it too`() throws {
        let writer = try SQLiteProcess(library.path)
        _ = try writer.run("PRAGMA wal_autocheckpoint = 0; UPDATE ZTAG SET Z_OPT = 3")
        writer.kill()
        let files = ["-wal", "-shm"].map { library.path + $0 }
        try #require(try files.allSatisfy(POSIXSystem().exists))
        // A backup leaves the log as it is.
        _ = try Migrator().backUp(library.path, version: "1")
        #expect(try files.map(POSIXSystem().exists) == [true, true])
        _ = try library.shell("UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Book'")
        let other = try SQLiteProcess(library.path)
        _ = try other.run("PRAGMA wal_autocheckpoint = 0; UPDATE ZTAG SET Z_OPT = 4")
        other.kill()
        let repair = try StoreRepair(library.path, at: library.version)
        _ = try Migrator().run(try #require(repair.migration), on: library.path)
        #expect(try files.map(POSIXSystem().exists) == [false, false])
        #expect(try notes() == [false, false, false])
        #expect(try library.line("SELECT DISTINCT Z_OPT FROM ZTAG") == "4")
    }

    @Test func `what cannot be read may be missing with the log`() throws {
        // The first page alone, as an app leaves it that has written back nothing.
        let path = library.folder.path + "/first.sqlite"
        _ = try SQLiteShell.run(path, "PRAGMA journal_mode = WAL; CREATE TABLE t (a); DROP TABLE t; VACUUM")
        let findings = StoreDiagnosis(path).findings
        #expect(findings.contains { $0.code == "store-unreadable" && $0.severity == .error }, "\(findings)")
        #expect(findings.contains { $0.code == "wal-missing" }, "\(findings)")
    }
}
