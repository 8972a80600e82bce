import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Pages are overwritten one by one; what is salvaged must be the very rows that the sqlite3 shell knows from before, and
/// what is missing must lie in a range that the report names.
struct StoreSalvageTests {  // tier: long
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

    /// By the page's place in the file, the rows on each leaf of the loans.
    private func leaves(_ library: LibraryStore) throws -> [Int: Int] {
        let sql = "SELECT pageno - 1, ncell FROM dbstat WHERE name = 'ZLOAN' AND pagetype = 'leaf'"
        let lines = try SQLiteShell.run(library.path, sql).split(separator: "\n").map { $0.split(separator: "|") }
        return Dictionary(
            uniqueKeysWithValues: lines.compactMap { line in
                Int(line[0]).flatMap { page in Int(line[1]).map { (page, $0) } }
            })
    }

    @Test(arguments: ["WAL; SELECT count(*) FROM ZBOOK", "DELETE; BEGIN IMMEDIATE; UPDATE ZTAG SET Z_OPT = 2"])
    func `a store that another process has open is refused, with its number`(sql: String) throws {
        let library = try LibraryStore()
        let app = try SQLiteProcess(library.path)
        _ = try app.run("PRAGMA journal_mode = \(sql)")
        let path = library.folder.path + "/new.sqlite"
        let error = #expect(throws: MigrationError.self) {
            try StoreSalvage(library.version).run(library.path, into: path)
        }
        #expect(error?.code == .locked && error?.message.contains("\(app.identifier)") == true)
        app.end()
        #expect(try StoreSalvage(library.version).run(library.path, into: path).isWhole)
    }

    /// Another process writes while the store is copied, and the volume's clock has not gone on since.
    private struct Disturbing: ForwardingSystem {
        let path: String

        func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
            try real.copy(path, to: copy, rights)
            guard path == self.path else { return }
            var bytes = try real.read(path)
            bytes[bytes.count - 1] ^= 1
            try real.write(bytes, to: path)
        }
        func status(of path: String) throws -> FileStatus? {
            var status = try real.status(of: path)
            guard path == self.path else { return status }
            status?.modified = Timestamp(seconds: 1)
            status?.changed = Timestamp(seconds: 1)
            return status
        }
    }

    @Test func `a store that changes without a change of its times is refused`() throws {
        let library = try LibraryStore()
        try library.shell("PRAGMA journal_mode = DELETE")
        let system = Disturbing(path: try POSIXSystem().resolve(library.path))
        let error = #expect(throws: MigrationError.self) {
            try StoreSalvage(library.version, system: system)
                .run(library.path, into: library.folder.path + "/new.sqlite")
        }
        #expect(error?.code == .locked)
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
        let leaves = try leaves(library)
        let pages = whole.count / 4096
        // The fullest leaf first, so that the shortest run loses rows, and those that lead to others; then pages all over
        // the file.
        let root = try #require(Int(library.line("SELECT rootpage FROM sqlite_master WHERE name = 'ZLOAN'"))) - 1
        let fullest = try #require(leaves.max { $0.value < $1.value }).key
        let order = [fullest, 0, root] + (0..<pages).map { $0 * 67 % pages }
        var lostRows = 0
        for round in Tier.faults.rounds(quick: 12, full: order.count, sharedBy: 10) {
            let page = order[round]
            var bytes = whole
            for offset in (page * 4096)..<((page + 1) * 4096) {
                bytes[offset] = UInt8(truncatingIfNeeded: offset &* 31)
            }
            let damaged = library.folder.path + "/damaged.sqlite"
            try POSIXSystem().write(bytes, to: damaged)
            let path = library.folder.path + "/new-\(round).sqlite"
            let report = try StoreSalvage(library.version).run(damaged, into: path)
            let loans = try #require(report.tables.first { $0.name == "ZLOAN" })
            let after = try rows(path, "ZLOAN")
            #expect(after.isSubset(of: before), "page \(page)")
            let missing = before.subtracting(after)
            lostRows += missing.count
            for row in missing {
                let key = try #require(Int64(row.prefix { $0 != "|" }))
                #expect(loans.lostKeys.contains { $0.contains(key) }, "page \(page) key \(key)")
            }
            // The rows of that very page, and no key that never was is named.
            #expect(missing.count == leaves[page] ?? 0, "page \(page)")
            #expect(loans.lostKeys.reduce(0) { $0 + $1.count } == missing.count, "page \(page)")
            #expect(try SQLiteShell.run(path, "PRAGMA integrity_check") == "ok\n")
            #expect(try POSIXSystem().read(damaged) == bytes)
        }
        #expect(lostRows > 0)
    }

    /// A write that went to the wrong place: a leaf of the covers, whose keys and values the loans could have, too.
    @Test func `rows of another table's leaf in the place of a leaf are not read as its rows`() throws {
        let library = try Self.filled()
        func leaf(_ table: String) throws -> Int {
            let sql =
                "SELECT pageno - 1 FROM dbstat WHERE name = '\(table)' AND pagetype = 'leaf' ORDER BY path LIMIT 1"
            return try #require(Int(library.line(sql)))
        }
        let (loan, cover) = (try leaf("ZLOAN"), try leaf("ZCOVER"))
        let before = try rows(library.path, "ZLOAN")
        var bytes = try POSIXSystem().read(library.path)
        bytes.replaceSubrange(loan * 4096..<(loan + 1) * 4096, with: bytes[cover * 4096..<(cover + 1) * 4096])
        let damaged = library.folder.path + "/damaged.sqlite"
        try POSIXSystem().write(bytes, to: damaged)
        let report = try StoreSalvage(library.version).run(damaged, into: library.folder.path + "/new.sqlite")
        let loans = try #require(report.tables.first { $0.name == "ZLOAN" })
        let after = try rows(report.store, "ZLOAN")
        let missing = Set(before.subtracting(after).compactMap { Int64($0.prefix { $0 != "|" }) })
        #expect(after.isSubset(of: before) && missing.count > 10)
        #expect(Set(loans.lostKeys.flatMap { Array($0) }) == missing && !report.isEverythingRead)
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
