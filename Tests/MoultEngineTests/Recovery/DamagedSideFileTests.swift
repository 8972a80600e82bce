import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Logs and journals that SQLite applies in part, or not at all, and removes: what they held is kept.
struct DamagedSideFileTests {  // tier: long
    /// A store whose last rows are in its log, as a process leaves it that was killed.
    private func store(mode: String, _ sql: String) throws -> LibraryStore {
        let library = try LibraryStore()
        let writer = try SQLiteProcess(library.path)
        _ = try writer.run(
            "PRAGMA journal_mode = \(mode); PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 2; \(sql)")
        writer.kill()
        return library
    }

    private func damage(_ path: String, at place: Int) throws -> [UInt8] {
        var bytes = try POSIXSystem().read(path)
        for offset in 0..<4 { bytes[place + offset] ^= 0x55 }
        try POSIXSystem().write(bytes, to: path)
        return bytes
    }

    private func kept(_ library: LibraryStore) throws -> [[UInt8]] {
        let system = POSIXSystem()
        let folder = StoreRecords(store: try system.resolve(library.path)).damaged
        guard try system.exists(folder) else { return [] }
        return try system.files(below: folder).sorted().map { try system.read(Path.join(folder, $0)) }
    }

    private func findings(_ library: LibraryStore) -> [String] {
        StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version])).findings.map(\.code)
    }

    /// The header's magic and a salt, the first frame, one in the middle.
    @Test(arguments: [0, 16, 100, 6_000])
    func `a damaged log is kept before SQLite drops it, and found by doctor`(place: Int) throws {
        let library = try store(
            mode: "WAL", "UPDATE ZBOOK SET ZTITLE = 'of the log'; UPDATE ZTAG SET ZNAME = Z_PK || 'x'")
        let log = try damage(library.path + "-wal", at: place)
        #expect(findings(library).contains("side-file-damaged"))
        _ = try Migrator().backUp(library.path, version: "1")
        #expect(try kept(library) == [log])
        // It is still there, and is not kept twice.
        _ = try Migrator().backUp(library.path, version: "1")
        #expect(try kept(library) == [log])
    }

    @Test func `a sound log is no finding, and nothing is kept`() throws {
        let library = try store(mode: "WAL", "UPDATE ZBOOK SET ZTITLE = 'of the log'")
        #expect(!findings(library).contains("side-file-damaged"))
        _ = try Migrator().backUp(library.path, version: "1")
        #expect(try kept(library).isEmpty)
        #expect(try library.line("SELECT DISTINCT ZTITLE FROM ZBOOK") == "of the log")
    }

    /// By how many bytes of its last frame are there: as a process that dies leaves it, and as only a power cut or a copy
    /// that was cut off does.
    @Test(arguments: [(0, false), (24, false), (10, true), (500, true), (4_119, true)])
    func `a log that ends inside a frame is told of, unless a process that dies leaves it so`(
        rest: Int, isTold: Bool
    ) throws {
        let library = try store(mode: "WAL", "UPDATE ZBOOK SET ZTITLE = 'of the log'; UPDATE ZTAG SET ZNAME = Z_PK")
        let path = library.path + "-wal"
        var log = try POSIXSystem().read(path)
        try #require((log.count - 32) % 4_120 == 0)
        log.removeLast(4_120 - rest)
        try POSIXSystem().write(log, to: path)
        let audit = try StoreAudit(library.path, model: library.version.model)
        let torn = audit.findings.filter { $0.code == "side-file-torn" }
        #expect(torn.map(\.severity) == (isTold ? [.note] : []) && audit.isSound)
        #expect(findings(library).contains("side-file-torn") == isTold)
        let copy = library.folder.path + "/copied.sqlite"
        for suffix in ["", "-wal"] { try POSIXSystem().copy(library.path + suffix, to: copy + suffix) }
        let imported = Result { try Migrator().importBackup(copy, for: library.path, version: "1") }
        #expect((imported.failure as? MigrationError)?.code == (isTold ? .backupInvalid : nil))
        let report = try StoreSalvage(library.version).run(copy, into: library.folder.path + "/saved.sqlite")
        #expect(report.notes.contains { $0.contains("ends inside a frame") } == isTold && report.isWhole != isTold)
        // Opening it is allowed. SQLite drops the rest, which may be all that a copy has of the last commits.
        _ = try Migrator().backUp(library.path, version: "1")
        #expect(try kept(library) == (isTold ? [log] : []))
    }

    private func severities(_ library: LibraryStore, of code: String) -> [Finding.Severity] {
        StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version])).findings
            .filter { $0.code == code }.map(\.severity)
    }

    @Test func `a journal whose header was lost is a warning of doctor, and kept`() throws {
        let library = try store(
            mode: "DELETE", "BEGIN IMMEDIATE; UPDATE ZBOOK SET ZTITLE = hex(randomblob(900)); SELECT count(*) FROM ZTAG"
        )
        var journal = try POSIXSystem().read(library.path + "-journal")
        try #require(journal.count > 4_096)
        for place in 0..<28 { journal[place] = 0 }
        try POSIXSystem().write(journal, to: library.path + "-journal")
        #expect(severities(library, of: "journal-zeroed") == [.warning])
        _ = try? Migrator().backUp(library.path, version: "1")
        #expect(try kept(library) == [journal])
    }

    @Test func `a journal that PERSIST has left is a note: the store shows that its transaction ended`() throws {
        let library = try LibraryStore()
        _ = try SQLiteShell.run(
            library.path,
            "PRAGMA journal_mode = DELETE; PRAGMA journal_mode = PERSIST; UPDATE ZTAG SET ZNAME = ZNAME || 'x'")
        let journal = try POSIXSystem().read(library.path + "-journal")
        try #require(journal.count > 4_096 && journal.prefix(28).allSatisfy { $0 == 0 })
        #expect(severities(library, of: "journal-zeroed") == [.note])
        #expect(try StoreAudit(library.path, model: library.version.model).isSound)
        _ = try Migrator().backUp(library.path, version: "1")
        #expect(try kept(library) == [journal])
    }

    @Test func `what an unfinished run has not committed is no damage`() throws {
        let library = try store(mode: "WAL", "UPDATE ZBOOK SET ZTITLE = 'of the log'")
        _ = try damage(library.path + "-wal", at: 100)
        let system = POSIXSystem()
        #expect(try DamagedSideFiles.findings(beside: library.path, system).map(\.code) == ["side-file-damaged"])
        let records = StoreRecords(store: try system.resolve(library.path))
        try records.make(system)
        try system.write(Array("{}".utf8), to: records.journal)
        #expect(try DamagedSideFiles.findings(beside: library.path, system).isEmpty)
    }

    /// Its header, and a byte of its first record that the checksum counts.
    @Test(arguments: [0, 612])
    func `a journal that SQLite cannot play back is kept, also where the run is refused`(place: Int) throws {
        let library = try store(
            mode: "DELETE", "BEGIN IMMEDIATE; UPDATE ZBOOK SET ZTITLE = hex(randomblob(900)); SELECT count(*) FROM ZTAG"
        )
        try #require(FileManager.default.fileExists(atPath: library.path + "-journal"))
        let journal = try damage(library.path + "-journal", at: place)
        #expect(findings(library).contains("side-file-damaged"))
        _ = try? Migrator().backUp(library.path, version: "1")
        #expect(try kept(library) == [journal])
    }

    @Test func `a sound journal is played back, and nothing is kept`() throws {
        let library = try store(mode: "DELETE", "BEGIN IMMEDIATE; UPDATE ZBOOK SET ZTITLE = hex(randomblob(900))")
        #expect(!findings(library).contains("side-file-damaged"))
        _ = try Migrator().backUp(library.path, version: "1")
        #expect(try kept(library).isEmpty)
        #expect(try library.line("SELECT count(*) FROM ZBOOK WHERE length(ZTITLE) > 900") == "0")
    }

    private final class Messages: @unchecked Sendable {
        var texts: [String] = []
    }

    @Test(arguments: ["WAL", "DELETE"])
    func `an audit, a repair that finds nothing and a dry run name a damaged log or journal`(mode: String) throws {
        let end = mode == "WAL" ? "COMMIT" : ""
        let library = try store(
            mode: mode, "BEGIN IMMEDIATE; UPDATE ZBOOK SET ZTITLE = hex(randomblob(900)); \(end)")
        let suffix = mode == "WAL" ? "-wal" : "-journal"
        let bytes = try damage(library.path + suffix, at: 0)
        let path = try POSIXSystem().resolve(library.path) + suffix
        let audit = try StoreAudit(library.path, model: library.version.model)
        #expect(audit.findings.contains { $0.code == "side-file-damaged" && $0.place == path } && !audit.isSound)
        let repair = try StoreRepair(library.path, at: library.version)
        #expect(repair.found.remarks.contains { $0.code == "side-file-damaged" } && !repair.found.isWell)
        let messages = Messages()
        var observer = MigrationObserver.none
        observer.onProgress = { if let text = $0.message { messages.texts.append(text) } }
        var migration = Pass(from: "1", to: "1")
        migration.script = StoreScript(statements: [])
        _ = try Migrator().rehearse(migration, on: library.path, observer)
        #expect(messages.texts.contains { $0.hasPrefix("The \(suffix) next to the store is damaged") })
        // Nothing was changed by looking.
        #expect(try POSIXSystem().read(library.path + suffix) == bytes)
        #expect(try kept(library).isEmpty)
        // Doctor says it once.
        #expect(findings(library).filter { $0 == "side-file-damaged" }.count == 1)
    }

    /// The journal goes away while it is copied, as its living writer ends its transaction.
    private struct Vanishing: ForwardingSystem {
        func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
            if path.hasSuffix("-journal") { try real.remove(path) }
            try real.copy(path, to: copy, rights)
        }
    }

    @Test func `a journal that goes away while it is copied leaves no folder`() throws {
        let library = try store(
            mode: "DELETE", "BEGIN IMMEDIATE; UPDATE ZBOOK SET ZTITLE = hex(randomblob(900)); SELECT count(*) FROM ZTAG"
        )
        _ = try damage(library.path + "-journal", at: 0)
        let sidecar = StoreRecords(store: try POSIXSystem().resolve(library.path))
        try sidecar.make(POSIXSystem())
        #expect(try DamagedSideFiles(sidecar, Vanishing()).keep(isAlone: true) == nil)
        #expect(!FileManager.default.fileExists(atPath: sidecar.damaged))
    }

    @Test func `a log that is there still is kept though the journal went away`() throws {
        let library = try store(mode: "WAL", "UPDATE ZBOOK SET ZTITLE = 'of the log'")
        let log = try damage(library.path + "-wal", at: 0)
        try POSIXSystem().write([UInt8](repeating: 0x5A, count: 900), to: library.path + "-journal")
        let sidecar = StoreRecords(store: try POSIXSystem().resolve(library.path))
        try sidecar.make(POSIXSystem())
        #expect(try DamagedSideFiles(sidecar, Vanishing()).keep(isAlone: true)?.isNew == true)
        #expect(try kept(library) == [log])
    }

    @Test func `a repair and an audit by the version of before are refused once another process has migrated`() throws {
        let library = try LibraryStore()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(name: "Book", attributes: [.init(name: "pages", type: .integer32)])
        ])
        let other = ModelVersion(names: ["other"], model: model)
        #expect(throws: MigrationError.self) { try StoreRepair(library.path, at: other) }
        #expect(throws: MigrationError.self) { try StoreAudit(library.path, model: model, requiring: other) }
        #expect(try StoreAudit(library.path, model: library.version.model, requiring: library.version).isSound)
    }
}
