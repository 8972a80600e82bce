import MoultSQLite
import MoultStore

/// The space that a script takes in a store, as upper bounds.
struct ScriptSpace: Sendable, Equatable {
    /// The bytes by which the store grows.
    var growth: Int64
    /// The number of pages that change, if the script runs on the store itself.
    var changed: Int64
    /// The number of pages that change if only the catalogue does, for a deferred migration.
    var catalogue: Int64
    /// The bytes that are sorted at once in files.
    var sorted: Int64
    /// The bytes of old pages that SQLite keeps in a file until a statement ends, if the script runs on the store
    /// itself.
    var kept: Int64
}

/// A count of the pages that statements would take, one after the other.
struct PageCount {
    let measured: StoreMeasures
    /// The bytes that SQLite sorts or caches in memory.
    let memory: Double
    /// The number of pairs in each join table that was filled.
    var pairs: [String: Double] = [:]
    private var (growth, changed, catalogue, sorted, kept) = (0.0, 0.0, 0.0, 0.0, 0.0)
    /// The bytes of the free pages, and of those among them that the script has freed.
    private var (freeBytes, freed) = (0.0, 0.0)
    private var written: Set<String> = []
    private var widened: Set<String> = []

    init(_ measured: StoreMeasures, memory: Double) {
        (self.measured, self.memory) = (measured, memory)
        freeBytes = measured.freeBytes
    }

    /// Counts new pages. Free ones are used first.
    mutating func add(_ bytes: Double) {
        let bytes = (bytes / measured.pageSize).rounded(.up) * measured.pageSize
        let reused = min(bytes, freeBytes)
        growth += bytes - reused
        changed += bytes - min(freed, reused)
        freeBytes -= reused
        freed = max(0, freed - reused)
    }

    /// Counts pages that change once.
    mutating func change(_ bytes: Double) { changed += bytes }

    /// Counts the pages of the catalogue, of which some are new.
    mutating func changeCatalogue(_ bytes: Double, adding more: Double) {
        add(more)
        changed += bytes
        catalogue = changed
    }

    /// Counts a table whose every page changes.
    mutating func write(_ table: String, _ bytes: Double) {
        if written.insert(table).inserted { changed += bytes }
    }

    /// Counts the pages by which the longer rows of a table enlarge it.
    mutating func widen(_ table: String, by bytes: Double) {
        if widened.insert(table).inserted { add(bytes) }
    }

    /// Counts pages that become free. SQLite may overwrite them with zeros (`PRAGMA secure_delete`), and move other
    /// pages to their place (`PRAGMA auto_vacuum`).
    mutating func free(_ bytes: Double) {
        changed += measured.movesPages ? 2 * bytes : bytes
        freeBytes += bytes
        freed += bytes
    }

    /// Counts the old pages that a statement keeps: those of the table that it changes and, when the cache is full,
    /// those that earlier statements have changed. With a rollback journal, only pages that have changed before.
    mutating func keep(_ bytes: Double, of table: String = "") {
        let more = measured.usesWAL ? bytes + min(changed, memory) : written.contains(table) ? bytes : 0
        kept = max(kept, more)
    }

    mutating func sort(_ entries: StoreMeasures.Entries) {
        // In memory, each entry takes a header too.
        guard entries.bytes + 24 * entries.count > memory else { return }
        // Runs are merged through a buffer of their own.
        sorted = max(sorted, entries.bytes * 1.06)
    }

    var space: ScriptSpace {
        func whole(_ number: Double) -> Int64 { Int64(min(number.rounded(.up), 1e17)) }
        return ScriptSpace(
            growth: whole(growth), changed: whole(changed / measured.pageSize * 1.01),
            catalogue: whole(catalogue / measured.pageSize), sorted: whole(sorted),
            kept: whole(kept * (1 + 8 / measured.pageSize)))
    }
}

/// The sizes of the tables and indexes of a store, each measured when it is asked for.
///
/// SQLite counts the pages of a table or an index in its table `dbstat`. Where it was built without that, a table is
/// assumed to be as large as the store.
final class StoreMeasures {
    /// A number of entries of an index, and their bytes.
    typealias Entries = (count: Double, bytes: Double)

    let pageSize: Double
    /// The bytes of the pages that are free.
    let freeBytes: Double
    let usesWAL: Bool
    /// Whether other pages move to the place of free ones when a transaction ends.
    let movesPages: Bool
    private let storeSize: Double
    private let connection: Connection
    private var sizes: [String: Double?] = [:]
    private var lacking: [String: Double] = [:]
    private var keySizes: [String: Double] = [:]

    init(_ connection: Connection, _ state: StoreState) throws {
        self.connection = connection
        (pageSize, storeSize) = (Double(max(state.pageSize, 1)), Double(state.size))
        usesWAL = state.usesWAL
        freeBytes = Double(try connection.integer("PRAGMA main.freelist_count") ?? 0) * pageSize
        movesPages = try connection.integer("PRAGMA main.auto_vacuum") == 1
    }

    /// The indexes that count as part of a table: none, those of its own text, or all.
    enum Part { case table, constraints, indexes }

    /// Returns the bytes of a table or an index.
    func size(_ name: String, with part: Part = .table, orIfUnknown other: Double? = nil) throws -> Double {
        let known = try sizes[name] ?? connection.bytes(of: name).map(Double.init)
        sizes[name] = .some(known)
        guard let known else { return other ?? (part == .table ? storeSize : 0) }
        guard part != .table else { return known }
        let own = part == .constraints ? " AND sql IS NULL" : ""
        let indexes = try connection.rows(
            "SELECT name FROM main.sqlite_master WHERE type = 'index' AND tbl_name = ?\(own)", [.text(name)]
        ) { $0.text(0) ?? "" }
        return try indexes.reduce(known) { try $0 + size($1, orIfUnknown: 0) }
    }

    /// Returns the number of rows for which a condition holds; nil if SQLite cannot count them.
    func count(_ condition: String, in table: String) throws -> Double? {
        try connection.attempt {
            try connection.integer("SELECT count(*) FROM main.\(table.quotedName) WHERE \(condition)")
        }?.map(Double.init)
    }

    /// Returns the entries of an index of some columns of a table, and the table's keys.
    func entries(_ columns: Set<String>, of table: String) throws -> Entries {
        let known = try connection.rows("SELECT name FROM pragma_table_info(?)", [.text(table)]) { $0.text(0) ?? "" }
        let values = known.filter(columns.contains).map(Self.width).joined(separator: " + ")
        let sql = """
            SELECT count(*), total(\(values.isEmpty ? "0" : values)) FROM main.\(table.quotedName)
            """
        guard !known.isEmpty else { return (0, 0) }
        let key = try keySize(of: table)
        return try connection.attempt {
            // The header of an entry and its cell have lengths, the page a pointer to it.
            try connection.rows(sql) { ($0.real(0), $0.real(1) + $0.real(0) * (5 + key)) }.first
        }.flatMap { $0 } ?? (storeSize / 16, storeSize)
    }

    /// Returns the bytes of a key of a table in a record. In another table it may be a higher one.
    func keySize(of table: String) throws -> Double {
        if let known = keySizes[table] { return known }
        let sql = "SELECT max(rowid) FROM main.\(table.quotedName)"
        let highest = try connection.attempt { try connection.integer(sql) }?.flatMap { $0 } ?? 0
        let size = Self.bytes(of: highest.multipliedReportingOverflow(by: 2).partialValue)
        keySizes[table] = size
        return size
    }

    /// Returns the mean number of bytes that rows lack because columns were added to their table after they were
    /// written. The oldest rows, those of the first page, lack the most.
    func missing(in table: String, columns: [String]) throws -> Double {
        if let known = lacking[table] { return known }
        let leaf = """
            SELECT ncell, payload, mx_payload FROM dbstat WHERE name = ? AND pagetype = 'leaf' LIMIT 1
            """
        let page = try connection.attempt {
            try connection.rows(leaf, [.text(table)]) { row in
                (rows: row.integer(0), bytes: row.real(1), longest: row.real(2))
            }.first
        }.flatMap { $0 }
        // Of a row that continues on other pages, only the part on this one is known.
        guard let page, page.rows > 0, page.longest < pageSize - 100 else { return 0 }
        let values = columns.filter { $0 != "Z_PK" }.map(Self.width).joined(separator: " + ")
        let sql = """
            SELECT total(\(values.isEmpty ? "0" : values)) FROM \
            (SELECT * FROM main.\(table.quotedName) ORDER BY rowid LIMIT \(page.rows))
            """
        let written = try connection.attempt { try connection.rows(sql) { $0.real(0) }.first }.flatMap { $0 } ?? 0
        // The length of the header, and the type of the key.
        let bytes = max(0, (written - page.bytes) / Double(page.rows) + (columns.count > 100 ? 3 : 2))
        lacking[table] = bytes
        return bytes
    }

    /// Returns the bytes that do not fit in the pages of a table if each row grows, and the part of these pages.
    func overflow(of table: String, growingBy bytes: Double, rows: Double) throws -> (bytes: Double, share: Double) {
        let sql = """
            SELECT total(max(more, 0)), total(more > 0), count(*) FROM
            (SELECT ncell * ? - unused AS more FROM dbstat WHERE name = ? AND pagetype = 'leaf')
            """
        let pages = try connection.attempt {
            try connection.rows(sql, [.real(bytes), .text(table)]) { ($0.real(0), $0.real(1), $0.real(2)) }.first
        }.flatMap { $0 }
        guard let pages, pages.2 > 0 else { return (bytes * rows, 1) }
        return (pages.0, pages.1 / pages.2)
    }

    // MARK: - Records (the SQLite file format, section 2.1)

    /// The largest integers of each size in bytes.
    private static let integers = [(127, 1), (32_767, 2), (8_388_607, 3), (2_147_483_647, 4), (140_737_488_355_327, 6)]

    /// Returns the bytes of an integer in a record.
    static func bytes(of value: Int64) -> Double {
        integers.first { max(value, ~value) <= $0.0 }.map { Double($0.1) } ?? 8
    }

    /// Returns an expression for the bytes of a column's value and of its type.
    private static func width(_ column: String) -> String {
        let name = column.quotedName
        let sizes = integers.map { "WHEN \(name) BETWEEN \(-$0.0 - 1) AND \($0.0) THEN \($0.1 + 1)" }
        let length = "length(CAST(\(name) AS BLOB))"
        // Every numeric type stores whole numbers as integers, and 0 and 1 as a type alone.
        return """
            CASE WHEN \(name) IS NULL THEN 1 WHEN typeof(\(name)) NOT IN ('integer', 'real') \
            THEN 1 + (\(length) > 57) + \(length) WHEN \(name) IN (0, 1) THEN 1 \
            WHEN \(name) <> CAST(\(name) AS INTEGER) THEN 9 \(sizes.joined(separator: " ")) ELSE 9 END
            """
    }
}
