import MoultBasics
import MoultSQLite
import MoultStore

/// The free pages of a store: those that hold no data and stay in the file for later rows.
package struct FreePages: Sendable, Equatable {
    package let count: Int64
    /// The number of all pages.
    package let total: Int64
    package let pageSize: Int64

    package var bytes: Int64 { count &* pageSize }

    /// Whether there are so many that a person may want them back: at least 64 KiB, and one page in ten.
    package var isWorthwhile: Bool { bytes >= 1 << 16 && count >= total / 10 }

    package init(_ file: StoreSnapshot.FileFacts) {
        (count, total, pageSize) = (file.freePages, file.pageCount, file.pageSize)
    }
}

/// The date before which persistent history is deleted. The newest transaction stays, and with it the token of a reader
/// that has read everything.
package struct HistoryLimit: Sendable, Equatable {
    /// The date as a person wrote it.
    package let name: String
    /// The date in seconds since 2001-01-01 00:00:00 UTC.
    package let seconds: Double

    /// - Parameter name: the date as it was written; nil for its ISO 8601 form.
    package init(_ name: String? = nil, seconds: Double) {
        // An infinite or NaN date deletes nothing.
        self.seconds = seconds.isFinite ? seconds : -1e10
        let whole = Int64(min(max(self.seconds, -1e10), 1e11).rounded(.down))
        self.name = name ?? Timestamp(seconds: Int64(DateText.referenceDate) + whole).iso8601
    }

    /// The number of the first transaction that stays, as SQL. A reader of history expects the transactions after its
    /// token to be complete, so none is left out between others.
    package var firstKept: String {
        "(SELECT coalesce((SELECT min(Z_PK) FROM main.ATRANSACTION WHERE ZTIMESTAMP >= \(seconds)), "
            + "(SELECT max(Z_PK) FROM main.ATRANSACTION)))"
    }
}

/// The last work of a repair on a working copy: its free pages are given back.
enum StoreCompaction {
    static let sentence = "Give the free pages back."

    /// Rewrites the file without its free pages, and compares every row and the catalogue with what they were.
    static func run(on connection: Connection, place: String) throws {
        let (rows, objects) = (try digests(connection), Set(try connection.catalogue().entries))
        try connection.execute("VACUUM main")
        try connection.checkSoundness(place: place)
        let after = try digests(connection)
        let differing = Set(rows.keys).union(after.keys).sorted().first { rows[$0] != after[$0] }
        // SQLite lists the tables before the indexes, so the order may differ.
        guard differing == nil, Set(try connection.catalogue().entries) == objects else {
            throw MigrationError(
                .verificationFailed,
                "\(differing.map { "The rows of \($0)" } ?? "The tables and indexes") are not the same after the free "
                    + "pages were given back.", place: place,
                remedy: "The store is unchanged. Leave the free pages where they are, and report this.")
        }
    }

    /// Returns a digest of the rows of each table, in the order of their rowids. The rows of a virtual table are in its
    /// shadow tables, which are included.
    private static func digests(_ connection: Connection) throws -> [String: [UInt8]] {
        var digests: [String: [UInt8]] = [:]
        for table in try connection.catalogue().tables where !table.isVirtual {
            let rows = "FROM main.\(table.name.quotedName) NOT INDEXED"
            // Without a rowid, the rows are in the order of the table's key. VACUUM gives the rows of SQLite's own tables
            // and of the model cache new rowids, to which nothing refers.
            let isNumbered = !table.name.hasPrefix("sqlite_") && table.name != "Z_MODELCACHE"
            let hasRowid =
                try isNumbered && connection.attempt { try connection.integer("SELECT rowid \(rows) LIMIT 1") } != nil
            var stream = SHA256Stream()
            try connection.forEachRow("SELECT \(hasRowid ? "rowid, " : "")* \(rows)") { row in
                for column in 0..<row.columnCount { stream.update(row.value(column)) }
            }
            digests[table.name] = stream.finish()
        }
        return digests
    }
}

extension SHA256Stream {
    /// Adds a value, with its storage class and its length.
    fileprivate mutating func update(_ value: SQLiteValue) {
        func add(_ kind: UInt8, _ bytes: [UInt8]) {
            let length = withUnsafeBytes(of: Int64(bytes.count).littleEndian) { Array($0) }
            ([kind] + length + bytes).withUnsafeBytes { update($0) }
        }
        switch value {
        case .null: add(0, [])
        case .integer(let number): add(1, withUnsafeBytes(of: number.littleEndian) { Array($0) })
        case .real(let number): add(2, withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) })
        case .text(let text): add(3, Array(text.utf8))
        case .blob(let bytes): add(4, bytes)
        }
    }
}
