import Foundation
import MoultModel
import MoultStore
import MoultSystem
import TestSupport
import Testing

@testable import MoultEngine

/// Pages are overwritten one by one; what is salvaged must be the very rows that the sqlite3 shell knows from before, and
/// what is missing must lie in a range that the report names.
struct StoreSalvageTests {
    private static func filled() throws -> LibraryStore {
        let library = try LibraryStore()
        try library.shell(
            """
            INSERT INTO ZLOAN (Z_PK, Z_ENT, Z_OPT, ZREADER, ZBOOK, Z1_BOOK) SELECT value, 4, 1, 'reader ' || value || hex(zeroblob(60)),
                value % 100 + 1, iif((value % 100 + 1) % 5 = 0, 2, 1) FROM generate_series(101, 4000);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 4000 WHERE Z_NAME = 'Loan'; PRAGMA wal_checkpoint(TRUNCATE)
            """)
        return library
    }

    private func rows(_ path: String, _ table: String) throws -> Set<String> {
        Set(
            try SQLiteShell.run(path, "SELECT Z_PK, quote(ZREADER), ZBOOK, Z_OPT FROM \(table)").split(separator: "\n")
                .map(String.init))
    }

    @Test func `a sound store comes out whole`() throws {
        let library = try Self.filled()
        let path = library.folder.path + "/new.sqlite"
        let report = try StoreSalvage(library.version).run(library.path, into: path)
        #expect(report.isWhole && report.rows == 4_270)
        let tables = library.layout.tables.map(\.name) + library.layout.joinTables.map(\.name)
        for table in tables {
            let sql = "SELECT * FROM \"\(table)\" ORDER BY 1, 2"
            #expect(try SQLiteShell.run(path, sql) == SQLiteShell.run(library.path, sql), "\(table)")
        }
        let identity = "SELECT Z_UUID FROM Z_METADATA; SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 4"
        #expect(try SQLiteShell.run(path, identity) == SQLiteShell.run(library.path, identity))
        #expect(try StoreAudit(path, model: library.version.model).isSound)
    }

    @Test func `whatever page is overwritten, no row that can be read is lost, and none is made up`() throws {
        let library = try Self.filled()
        let before = try rows(library.path, "ZLOAN")
        let whole = try POSIXSystem().read(library.path)
        let pages = whole.count / 4096
        let step = Tier.faults.isAsked ? Tier.faults.isBounded ? 3 : 1 : max(pages / 12, 1)
        var (salvaged, refused, lostRows) = (0, 0, 0)
        for page in stride(from: 1, to: pages, by: step) {
            var bytes = whole
            for offset in (page * 4096)..<((page + 1) * 4096) {
                bytes[offset] = UInt8(truncatingIfNeeded: offset &* 31)
            }
            let damaged = library.folder.path + "/damaged.sqlite"
            try POSIXSystem().write(bytes, to: damaged)
            let path = library.folder.path + "/new-\(page).sqlite"
            do {
                let report = try StoreSalvage(library.version).run(damaged, into: path)
                salvaged += 1
                let loans = try #require(report.tables.first { $0.name == "ZLOAN" })
                let after = try rows(path, "ZLOAN")
                let missing = before.subtracting(after)
                lostRows += missing.count
                if loans.partial == 0 { #expect(after.isSubset(of: before), "page \(page)") }
                for row in missing {
                    let key = try #require(Int64(row.prefix { $0 != "|" }))
                    #expect(loans.lost.contains { $0.contains(key) } || loans.partial > 0, "page \(page) key \(key)")
                }
                // A page of the table holds some thirty rows.
                #expect(missing.count < 200 || loans.isCutShort || missing.count == before.count, "page \(page)")
                #expect(try SQLiteShell.run(path, "PRAGMA integrity_check") == "ok\n")
            } catch let error as MigrationError {
                // The catalogue's own pages cannot be done without.
                refused += 1
                #expect([.storeCorrupted, .notAStore].contains(error.code), "page \(page): \(error)")
                #expect(!FileManager.default.fileExists(atPath: path))
            }
            #expect(try POSIXSystem().read(damaged) == bytes)
        }
        print("salvage: \(salvaged) stores with one page overwritten read, \(refused) refused, \(lostRows) rows lost")
        #expect(salvaged > refused && lostRows > 0)
    }

    @Test func `a path that is taken is refused, and nothing is left beside it`() throws {
        let library = try LibraryStore()
        let before = try POSIXSystem().list(library.folder.path)
        let error = #expect(throws: MigrationError.self) {
            try StoreSalvage(library.version).run(library.path, into: library.path)
        }
        #expect(error?.code == .usage)
        #expect(try POSIXSystem().list(library.folder.path) == before)
    }
}
