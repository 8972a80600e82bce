import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// Writes objects into a store by the names of their properties; the only writer of rows.
///
/// Everything written is one transaction, which ``commit()`` ends: until then nobody sees it, and a writer that goes
/// away without it leaves the store as it was. Keys, entity numbers, `Z_OPT`, `Z_MAX`, the order of ordered
/// relationships, derived attributes that triggers keep, and external files are all taken care of.
package final class ObjectWriter {
    package let layout: StoreLayout
    let connection: Connection
    let external: ExternalFiles
    private let speed: Speed
    private let system: any System
    private var highestKeys: [String: Int64] = [:]
    private var touchedRoots: Set<String> = []
    private var lists: [RelationshipReference: ListOrder] = [:]
    private var statements: [String: Statement] = [:]
    /// The statements of indexes that are made when every row is there.
    private var postponedIndexes: [String] = []

    /// How a writer trades safety for speed.
    package enum Speed: Sendable {
        /// A process or machine that dies leaves the store as it was.
        case safe
        /// For a store that can be made again: no journal, no waiting for the disk, indexes of empty tables made at the
        /// end. A death leaves it damaged, and so does a writer that is not finished.
        case reckless
    }

    /// - Parameter layout: the layout of that very store.
    /// - Throws: `sqlite` or `locked` where the store cannot be opened for writing.
    package init(
        store path: String, layout: StoreLayout, speed: Speed = .safe, on system: some System = POSIXSystem()
    ) throws {
        self.layout = layout
        self.speed = speed
        self.system = system
        external = ExternalFiles(ExternalStorage(store: path), system)
        connection = try Connection(path, mode: .readWrite)
        let now = Self.dateFunction(on: system)
        for function in SQLiteFunction.coreDataStubs where function.name != now.name {
            try connection.register(function)
        }
        try connection.register(now)
        // SQLite calls it unsafe that a trigger writes an R-tree, which Core Data's own do (MORE 6).
        if !layout.virtualTables.isEmpty { try connection.execute("PRAGMA trusted_schema = ON") }
        if speed == .reckless {
            try connection.execute(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; "
                    + "PRAGMA cache_size = -65536")
        }
        try connection.execute("BEGIN IMMEDIATE")
        if speed == .reckless { try postponeIndexes() }
        try connection.forEachRow("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY") {
            highestKeys[$0.text(0) ?? ""] = $0.integer(1)
        }
    }

    /// Sorting all keys at once is several times faster than finding the place of each; but what a trigger reads it
    /// may look up through an index.
    private func postponeIndexes() throws {
        guard layout.triggers.isEmpty else { return }
        let present = Set(try connection.catalogue().entries.compactMap(\.sql))
        for index in layout.indexes where present.contains(index.sql) {
            guard try connection.value("SELECT 1 FROM \(index.table.quotedName) LIMIT 1") == nil else { continue }
            try connection.execute("DROP INDEX \(index.name.quotedName)")
            postponedIndexes.append(index.sql)
        }
    }

    /// What a trigger of a `now()` attribute calls: the present moment, as a date is stored.
    private static func dateFunction(on system: some System) -> SQLiteFunction {
        SQLiteFunction("NSCoreDataNow", argumentCount: 0, isDeterministic: false, isCallableFromSchema: true) { _ in
            .real(system.now.sinceReferenceDate)
        }
    }

    var now: Timestamp { system.now }

    /// Makes everything written since the writer was made, or since the last commit, part of the store.
    package func commit() throws {
        for root in touchedRoots.sorted() {
            try connection.run(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = max(Z_MAX, ?) WHERE Z_NAME = ?",
                [.integer(highestKeys[root] ?? 0), .text(root)])
        }
        try connection.execute("COMMIT")
        try connection.execute("BEGIN IMMEDIATE")
    }

    /// Commits, and closes the store in the journal mode its framework uses.
    ///
    /// - Parameter leavingLog: leave what was written in the `-wal` file, as an app that was ended leaves it; of no
    ///   effect for a reckless writer, which keeps no log.
    package func finish(leavingLog: Bool = false) throws {
        if leavingLog {
            try connection.execute("PRAGMA wal_autocheckpoint = 0")
            try connection.keepWALOnClose(true)
        }
        // Sorting is fastest in what the processor's own cache holds.
        if !postponedIndexes.isEmpty { try connection.execute("PRAGMA cache_size = -2048") }
        for index in postponedIndexes { try connection.execute(index) }
        try commit()
        try connection.execute("COMMIT")
        if speed == .reckless, layout.level.writesAheadLog {
            try connection.execute("PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL")
        }
        connection.close()
    }

    /// The compiled statement for a text, made once.
    func statement(_ sql: String) throws -> Statement {
        if let known = statements[sql] { return known }
        let statement = try connection.prepare(sql)
        statements[sql] = statement
        return statement
    }

    /// The next free key in the table of `entity`.
    func nextKey(for root: String) -> Int64 {
        touchedRoots.insert(root)
        let next = (highestKeys[root] ?? 0) &+ 1
        highestKeys[root] = next
        return next
    }

    func claim(_ key: Int64, for root: String) {
        touchedRoots.insert(root)
        highestKeys[root] = max(key, highestKeys[root] ?? 0)
    }

    /// The place behind the last of the list that `relationship` of the object `owner` holds: 2048, then every 1024
    /// (STORE_FORMAT 3).
    func nextPlace(
        in relationship: RelationshipReference, of owner: Int64, table: String, ownerColumn: String,
        orderColumn: String
    ) throws -> Int64 {
        let list: ListOrder
        if let known = lists[relationship] {
            list = known
        } else {
            list = try ListOrder(connection, table: table, ownerColumn: ownerColumn, orderColumn: orderColumn)
            lists[relationship] = list
        }
        return list.next(for: owner)
    }
}

/// The last place given in each list of one ordered relationship.
private final class ListOrder {
    private var last: [Int64: Int64] = [:]

    init(_ connection: Connection, table: String, ownerColumn: String, orderColumn: String) throws {
        let (owner, order) = (ownerColumn.quotedName, orderColumn.quotedName)
        try connection.forEachRow(
            "SELECT \(owner), max(\(order)) FROM \(table.quotedName) WHERE \(owner) IS NOT NULL GROUP BY \(owner)"
        ) { last[$0.integer(0)] = $0.integer(1) }
    }

    func next(for owner: Int64) -> Int64 {
        let place = max(last[owner] ?? 1024, 1024) + 1024
        last[owner] = place
        return place
    }
}

extension Timestamp {
    /// Seconds since 2001-01-01 00:00:00 UTC, as Core Data keeps dates.
    package var sinceReferenceDate: Double { Double(seconds - 978_307_200) + Double(nanoseconds) / 1e9 }
}
