import MoultBasics

/// A check of a database file that finds what SQLite's `quick_check` finds, in less time, and entries of indexes out of
/// order.
///
/// It reads the pages itself, each once (the SQLite file format, https://sqlite.org/fileformat2.html), and reports a
/// page that is wrong, that has two uses, or that has none. SQLite checks the tables with rules that this check does not
/// know, and whatever it cannot judge: a NULL where none may be, a number where a text should be, or the reverse.
///
/// The file is one that nothing writes to, such as a backup: journals are ignored.
package struct PageCheck {
    /// A fault of one page or index.
    package struct Fault: Sendable, Hashable {
        package enum Kind: Sendable, Hashable {
            /// A page is damaged.
            case page
            /// An index does not fit its table, or its entries are not in order. It can be made again.
            case index
        }

        package let kind: Kind
        /// The number of the page; 0 if SQLite found the fault.
        package let page: Int
        /// The name of the table or index; `freelist`, or empty if the page belongs to none.
        package let tree: String
        package let message: String
    }

    private let connection: Connection

    /// - Parameter connection: an immutable connection.
    package init(_ connection: Connection) { self.connection = connection }

    /// Reads the whole file.
    ///
    /// - Parameter limit: the number of faults after which the check ends.
    /// - Returns: the faults in the order in which they were found. Without a fault of a page, the number of the rows of
    ///   each table and of the entries of each index, by its name.
    /// - Throws: SQLite's error for a header or a schema that it cannot read, or the system's for a page.
    package func faults(limit: Int = 20) throws -> (faults: [Fault], entries: [String: Int64]) {
        func judgedBySQLite() throws -> [Fault] { try messagesOfSQLite("\(limit)").map(Self.fault) }
        guard let file = DatabaseFile(connection) else { return (try judgedBySQLite(), [:]) }
        let size = try file.size
        // An empty file is an empty database.
        if size == 0 { return ([], [:]) }
        var first = [UInt8](repeating: 0, count: 100)
        try first.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        guard let header = CheckedHeader(first, fileSize: size) else {
            return ([Fault(kind: .page, page: 1, tree: "", message: "The header is not one of a database.")], [:])
        }
        guard let schema = try CheckedSchema(connection, encoding: header.encoding) else {
            return (try judgedBySQLite(), [:])
        }
        let claims = PageClaims(file, header, limit: limit)
        var (entries, unchecked): ([String: Int64], Set<String>) = ([:], schema.unchecked)
        do {
            try check(schema, header, claims, &entries, &unchecked)
        } catch is PageClaims.Enough {}
        if !claims.faults.isEmpty { return (claims.faults, [:]) }
        let messages = try unchecked.sorted().flatMap { try messagesOfSQLite($0.quotedName) }
        return (messages.prefix(limit).map(Self.fault), entries)
    }

    private func check(
        _ schema: CheckedSchema, _ header: CheckedHeader, _ claims: PageClaims, _ entries: inout [String: Int64],
        _ unchecked: inout Set<String>
    ) throws {
        if header.isCutOff { try claims.report(header.count, "The file ends within the page.") }
        let lastRoot = header.hasMap ? schema.trees.map(\.root).max() ?? 1 : 0
        if header.lastRoot != lastRoot {
            try claims.report(1, "The header names \(header.lastRoot) as the last root page, not \(lastRoot).")
        }
        if header.isIncremental, !header.hasMap {
            try claims.report(1, "The header asks for incremental vacuum, but there is no pointer map.")
        }
        try claims.followFreelist(header.freelist.first, count: header.freelist.count)
        let check = TreeCheck(claims, encoding: header.encoding)
        for tree in schema.trees {
            let found = try check.walk(tree)
            entries[tree.name] = found.entries
            if found.isDoubtful { unchecked.insert(tree.table) }
        }
        // A tree with a fault may lead to the others.
        guard claims.faults.allSatisfy({ $0.kind == .index }) else { return }
        try claims.reportUnclaimed()
        for tree in schema.trees where !tree.hasRows && !tree.isPartial {
            let (count, rows) = (entries[tree.name] ?? 0, entries[tree.table] ?? 0)
            guard count != rows else { continue }
            claims.tree = tree.name
            let (found, wanted) = (Quantity.count(count, "entry", plural: "entries"), Quantity.count(rows, "row"))
            try claims.report(tree.root, "The index has \(found), but \(tree.table) has \(wanted).", .index)
        }
    }

    /// - Parameter scope: the quoted name of a table, or a number of messages.
    private func messagesOfSQLite(_ scope: String) throws -> [String] {
        try connection.checkMessages("quick_check", of: scope).filter { $0 != "ok" }
    }

    private static func fault(_ message: String) -> Fault { Fault(kind: .page, page: 0, tree: "", message: message) }
}

/// The fields of a database's header that say where its pages are (the SQLite file format, section 1.3).
struct CheckedHeader {
    let pageSize: Int
    let usable: Int
    /// The number of pages.
    let count: Int
    let freelist: (first: Int, count: Int)
    /// The highest root page if the database has a pointer map, else 0.
    let lastRoot: Int
    let isIncremental: Bool
    let encoding: Int
    /// Whether the file ends within the last page.
    let isCutOff: Bool

    var hasMap: Bool { lastRoot != 0 }

    /// Nil for a header that SQLite refuses. Other fields it ignores.
    init?(_ bytes: [UInt8], fileSize: Int64) {
        guard bytes.count == 100, bytes.starts(with: "SQLite format 3\0".utf8), bytes[19] <= 2,
            bytes[21...23] == [64, 32, 32], let pageSize = bytes.databasePageSize, bytes[47] <= 4,
            let written = bytes.number32(56)
        else { return nil }
        let pages = Int(clamping: (fileSize + Int64(pageSize) - 1) / Int64(pageSize))
        // An older SQLite leaves the number stale.
        let named = bytes[24..<28] == bytes[92..<96] ? bytes.number32(28) ?? 0 : 0
        (self.pageSize, usable, count) = (pageSize, pageSize - Int(bytes[20]), named == 0 ? pages : named)
        freelist = (bytes.number32(32) ?? 0, bytes.number32(36) ?? 0)
        (lastRoot, isIncremental) = (bytes.number32(52) ?? 0, bytes.number32(64) != 0)
        encoding = max(written & 3, 1)
        isCutOff = fileSize < Int64(count) * Int64(pageSize)
        guard usable >= 480, count <= pages else { return nil }
    }
}
