import Foundation
import Moult
import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// What a salvage says beside the rows: what has no place, what a rule refuses, what a log lacks, and that nothing of the
/// damaged store is changed. The sqlite3 shell counts.
struct SalvageAccountTests {  // tier: long
    /// The machine as another process sees it.
    private struct OtherSystem: ForwardingSystem { let processIdentifier: Int32 }

    private func salvage(_ library: LibraryStore, _ model: ManagedObjectModel? = nil) throws -> SalvageReport {
        let version = try ModelVersion(names: ["1"], model: model ?? LibraryStore.model())
        return try StoreSalvage(version).run(library.path, into: library.folder.path + "/new.sqlite")
    }

    /// The model without the entities Tag and Novel and without the readers of loans.
    private func narrower() throws -> ManagedObjectModel {
        let entities = try LibraryStore.model().entities.filter { !["Tag", "Novel"].contains($0.name) }
        return try ManagedObjectModel(
            entities: entities.map { entity in
                var entity = entity
                entity.relationships.removeAll { $0.destinationEntityName == "Tag" }
                if entity.name == "Loan" { entity.attributes = [] }
                return entity
            })
    }

    @Test func `what the model has no column, entity or table for is kept beside and named`() throws {
        let library = try LibraryStore()
        let report = try salvage(library, narrower())
        #expect(!report.isWhole && report.isEverythingRead)
        let aside = try #require(report.aside)
        let found = report.unplaced.map { "\($0.table) \($0.reason) \($0.detail ?? "") \($0.rows)" }.sorted()
        #expect(
            found == [
                "ZBOOK column ZGENRE 20", "ZBOOK entity Novel 20", "ZCOVER column Z1_BOOK 100",
                "ZLOAN column Z1_BOOK 50", "ZLOAN column ZREADER 50", "ZTAG table  10", "Z_1TAGS table  100",
            ])
        let readers = "SELECT Z_PK, ZREADER FROM ZLOAN WHERE 1 ORDER BY 1"
        #expect(
            try SQLiteShell.run(aside, readers.replacing("WHERE 1", with: "WHERE moult_detail = 'ZREADER'"))
                == SQLiteShell.run(library.path, readers))
        let novels = "SELECT Z_PK, Z_ENT, ZTITLE, ZGENRE FROM ZBOOK WHERE Z_ENT = 2 ORDER BY 1"
        #expect(
            try SQLiteShell.run(aside, novels.replacing("WHERE", with: "WHERE moult_reason = 'entity' AND"))
                == SQLiteShell.run(library.path, novels))
        for table in ["ZTAG", "Z_1TAGS"] {
            let count = "SELECT count(*) FROM \(table)"
            #expect(try SQLiteShell.run(aside, count) == SQLiteShell.run(library.path, count))
        }
        // The entities have other numbers without the two.
        #expect(
            try SQLiteShell.run(report.store, "SELECT DISTINCT Z_NAME FROM ZLOAN JOIN Z_PRIMARYKEY USING (Z_ENT)")
                == "Loan\n")
        #expect(try SQLiteShell.run(report.store, "SELECT count(*) FROM ZBOOK") == "80\n")
        #expect(report.remarks.contains { $0.contains("another version of Book, Loan") }, "\(report.remarks)")
    }

    @Test func `rows that a uniqueness constraint refuses are kept beside and named`() throws {
        let library = try LibraryStore()
        try library.shell(
            """
            DROP INDEX \(SQLiteShell.run(library.path, "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE UNIQUE%' AND tbl_name = 'ZTAG'").dropLast());
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (11, 6, 1, 'tag 3'), (12, 6, 4, 'tag 3');
            UPDATE ZBOOK SET ZSHELF = NULL WHERE Z_PK IN (4, 5)
            """)
        let report = try salvage(library)
        #expect(report.unplaced == [.init(table: "ZTAG", reason: .rule, detail: nil, rows: 2)])
        #expect(
            try SQLiteShell.run(#require(report.aside), "SELECT moult_key, moult_reason, Z_OPT, ZNAME FROM ZTAG")
                == "11|rule|1|tag 3\n12|rule|4|tag 3\n")
        #expect(report.remarks.contains { $0.contains("2 rows") && $0.contains("Book.shelf") }, "\(report.remarks)")
    }

    @Test func `a history that is left behind does not make a salvage incomplete`() throws {
        let library = try LibraryStore(history: true)
        let report = try salvage(library)
        #expect(report.isWhole && report.remarks.contains { $0.contains("history") })
    }

    @Test func `the new files are readable for no one else than the old one`() throws {
        for mode in [UInt32(0o600), 0o640] {
            let library = try LibraryStore()
            try POSIXSystem().setMode(mode, of: library.path)
            let report = try salvage(library, narrower())
            for path in [report.store, try #require(report.aside)] {
                #expect(try POSIXSystem().status(of: path)?.mode == mode)
            }
        }
    }

    @Test func `without its root page a table is read from its leaves, and nothing is named lost`() throws {
        let library = try SalvageDamageTests.store(.deleted)
        var bytes = try POSIXSystem().read(library.path)
        let root = try #require(Int(library.line("SELECT rootpage FROM sqlite_master WHERE name = 'ZLOAN'")))
        for place in ((root - 1) * 1024)..<(root * 1024) { bytes[place] = 0 }
        let rows = "SELECT * FROM ZLOAN ORDER BY 1"
        let before = try SQLiteShell.run(library.path, rows)
        try POSIXSystem().write(bytes, to: library.path)
        let report = try salvage(library)
        #expect(try SQLiteShell.run(report.store, rows) == before)
        #expect(report.isWhole && report.pages.damaged == [Int64(root)...Int64(root)], "\(report)")
        #expect(report.pages.reads < 10 * report.pages.count, "\(report.pages)")
    }

    @Test func `a log is read to its last sound commit, and what is left of it is named`() throws {
        let library = try LibraryStore()
        let shell = try SQLiteProcess(library.path)
        for key in 51...90 {
            try shell.run("INSERT INTO ZLOAN (Z_PK, Z_ENT, Z_OPT, ZREADER) VALUES (\(key), 4, 1, 'r')")
        }
        let log = try POSIXSystem().read(library.path + "-wal")
        let store = library.folder.path + "/copy.sqlite"
        try POSIXSystem().copy(library.path, to: store)
        func counted(_ log: [UInt8]) throws -> (SalvageReport, String) {
            try POSIXSystem().write(log, to: store + "-wal")
            let new = library.folder.path + "/\(POSIXSystem().uniqueName()).sqlite"
            let report = try StoreSalvage(library.version).run(store, into: new)
            return (report, try SQLiteShell.run(new, "SELECT count(*) FROM ZLOAN"))
        }
        let (whole, all) = try counted(log)
        #expect(whole.isWhole && all == "90\n", "\(whole.notes)")
        var damaged = log
        damaged[32 + 20 * (24 + 4096) + 1000] ^= 0xff
        let (part, some) = try counted(damaged)
        let rows = try #require(Int(some.dropLast()))
        #expect(!part.isWhole && rows > 50 && rows < 90 && part.notes.contains { $0.contains("WAL") }, "\(part.notes)")
        damaged = log
        damaged[25] ^= 0xff
        let (none, old) = try counted(damaged)
        #expect(!none.isWhole && old == "50\n" && none.notes.contains { $0.contains("WAL") }, "\(none.notes)")
        shell.end()
    }

    @Test func `a hot rollback journal is played back, and one that cannot be is named`() throws {
        let library = try SalvageDamageTests.store(.plain)
        let rows = "SELECT * FROM ZLOAN ORDER BY 1"
        let before = try SQLiteShell.run(library.path, rows)
        let writer = try SQLiteProcess(library.path)
        _ = try writer.run(
            "PRAGMA cache_size = 2; BEGIN IMMEDIATE; UPDATE ZLOAN SET ZREADER = 'half' || hex(zeroblob(100))")
        writer.kill()
        let files = [library.path, library.path + "-journal"]
        let left = try files.map { try POSIXSystem().read($0) }
        #expect(Data(left[0]).range(of: Data("half".utf8)) != nil)
        let report = try salvage(library)
        #expect(try SQLiteShell.run(report.store, rows) == before)
        #expect(report.isWhole, "\(report)")
        #expect(try files.map { try POSIXSystem().read($0) } == left)
        // Its magic number is gone, and SQLite takes it for no journal; its middle is zeros.
        let third = left[1].count / 3
        let zeros = [UInt8](repeating: 0, count: third)
        let damages: [[UInt8]] = [
            [0xEE] + left[1].dropFirst(), Array(left[1].prefix(third)) + zeros + left[1].dropFirst(2 * third),
        ]
        for damaged in damages {
            try POSIXSystem().write(damaged, to: files[1])
            for path in [report.store, StoreRecords.aside(of: report.store)] { try POSIXSystem().remove(path) }
            let unplayed = try salvage(library)
            #expect(!unplayed.isEverythingRead && unplayed.notes.contains { $0.contains("journal") })
        }
    }

    @Test func `a salvage of damaged pages says that what was read may be wrong, and that of a sound store does not`()
        throws
    {
        let library = try LibraryStore()
        #expect(try salvage(library).remarks.allSatisfy { !$0.contains("may have wrong values") })
        try library.overwritePage(of: "ZLOAN", with: "ZTAG")
        let report = try StoreSalvage(library.version).run(library.path, into: library.folder.path + "/read.sqlite")
        #expect(!report.isEverythingRead && report.remarks.contains { $0.contains("may have wrong values") })
    }

    @Test func `a rollback journal whose header is zeros is named where it held pages`() throws {
        let library = try SalvageDamageTests.store(.plain)
        let writer = try SQLiteProcess(library.path)
        _ = try writer.run(
            "PRAGMA cache_size = 2; BEGIN IMMEDIATE; UPDATE ZLOAN SET ZREADER = 'half' || hex(zeroblob(100))")
        writer.kill()
        let journal = library.path + "-journal"
        let left = try POSIXSystem().read(journal)
        let damages = [[UInt8](repeating: 0, count: 28) + left.dropFirst(28), [UInt8](repeating: 0, count: left.count)]
        for (number, damaged) in damages.enumerated() {
            try POSIXSystem().write(damaged, to: journal)
            let new = library.folder.path + "/new\(number).sqlite"
            let report = try StoreSalvage(library.version).run(library.path, into: new)
            #expect(!report.isEverythingRead)
            #expect(report.notes.contains { $0.contains("Its header is zeros") }, "\(report.notes)")
        }
        // A header alone held none.
        try POSIXSystem().write([UInt8](repeating: 0, count: 512), to: journal)
        let report = try StoreSalvage(library.version).run(library.path, into: library.folder.path + "/last.sqlite")
        #expect(!report.notes.contains { $0.contains("journal") }, "\(report.notes)")
    }

    @Test func `a hot rollback journal that is cut off between its parts is named`() throws {
        let library = try SalvageDamageTests.store(.plain)
        let writer = try SQLiteProcess(library.path)
        _ = try writer.run(
            "PRAGMA cache_size = 2; BEGIN IMMEDIATE; UPDATE ZLOAN SET ZREADER = 'half' || hex(zeroblob(100))")
        writer.kill()
        let journal = library.path + "-journal"
        let left = try POSIXSystem().read(journal)
        // Its first part: a sector with the number of its pages, and these, each with its number and checksum.
        let records = left[8..<12].reduce(0) { $0 << 8 | Int($1) }
        let end = 512 + records * (1024 + 8)
        #expect(records > 0 && left.count > end + 24)
        for extra in [1, 24] {
            try POSIXSystem().write(Array(left.prefix(end + extra)), to: journal)
            let new = library.folder.path + "/cut\(extra).sqlite"
            let report = try StoreSalvage(library.version).run(library.path, into: new)
            #expect(!report.isEverythingRead)
            #expect(report.notes.contains { $0.contains("cut off after") }, "\(report.notes)")
        }
    }

    @Test func `gigabytes that were never written are passed over`() throws {
        let library = try SalvageDamageTests.store(.mapped)
        let rows = "SELECT * FROM ZLOAN ORDER BY 1"
        let before = try SQLiteShell.run(library.path, rows)
        #expect(truncate(library.path, 6 << 30) == 0)
        let report = try salvage(library)
        #expect(try SQLiteShell.run(report.store, rows) == before)
        #expect(report.isWhole && report.pages.reads < 2_000, "\(report.pages)")
    }

    @Test func `a path that another process salvages to is refused with its number`() throws {
        let library = try LibraryStore()
        let other = try SQLiteProcess(library.path)
        let new = library.folder.path + "/new.sqlite"
        let system = OtherSystem(processIdentifier: other.identifier)
        try system.makeFolder(StagedPath.make(for: new, system))
        let error = #expect(throws: MigrationError.self) { try salvage(library) }
        #expect(error?.code == .locked && error?.message.contains("\(other.identifier)") == true)
        let archive = library.folder.path + "/bundle.tar"
        try system.makeFile(StagedPath.make(for: archive, system), .own)
        #expect(throws: MigrationError.self) { try TapeArchive.Writer(archive, POSIXSystem()) }
        other.end()
        #expect(try salvage(library).isWhole)
        // What a person makes meanwhile stays.
        let writer = try TapeArchive.Writer(archive, POSIXSystem())
        try POSIXSystem().write([1], to: archive)
        #expect(throws: MigrationError.self) { try writer.finish() }
        #expect(try POSIXSystem().read(archive) == [1])
    }

    @Test func `a page that the freelist and a tree both name, and keys met twice, end nothing`() throws {
        let library = try SalvageDamageTests.store(.plain)
        var bytes = try POSIXSystem().read(library.path)
        // Every page of the first half once more in the second: what nothing leads to is a copy of what is there.
        bytes += bytes
        try POSIXSystem().write(bytes, to: library.path)
        let report = try salvage(library)
        #expect(report.isEverythingRead, "\(report)")
    }

    @Test func `whatever call fails, the new store is there as a whole or not at all`() throws {
        let library = try LibraryStore()
        let new = library.folder.path + "/new.sqlite"
        let narrower = ModelVersion(names: ["1"], model: try narrower())
        var (whole, absent) = (0, 0)
        for call in 0... {
            let system = FaultySystem { $0 == call ? EIO : nil }
            _ = try? StoreSalvage(narrower, system: system).run(library.path, into: new)
            if FileManager.default.fileExists(atPath: new) {
                whole += 1
                #expect(try SQLiteShell.run(new, "SELECT count(*) FROM ZLOAN; PRAGMA integrity_check") == "50\nok\n")
                #expect(FileManager.default.fileExists(atPath: StoreRecords.aside(of: new)))
            } else {
                absent += 1
                #expect(!FileManager.default.fileExists(atPath: StoreRecords.aside(of: new)), "call \(call)")
            }
            for path in [new, StoreRecords.aside(of: new)] { try POSIXSystem().remove(path) }
            guard system.hasFailed else { break }
        }
        #expect(whole > 0 && absent > 0, "\(whole) \(absent)")
    }
}
