import CSQLite
import MoultBasics

extension Connection {
    /// Compiles one statement.
    package func prepare(_ sql: String) throws -> Statement { try Statement(self, sql) }

    /// Runs every statement of a script; rows are dropped.
    package func execute(_ sql: String) throws {
        var text = sql
        try text.withUTF8 { bytes in
            var rest = bytes
            while let statement = try Statement(self, next: &rest) {
                defer { statement.finalise() }
                while try statement.step() {}
            }
        }
    }

    /// Runs one statement to its end.
    package func run(_ sql: String, _ values: [SQLiteValue] = []) throws { try forEachRow(sql, values) { _ in } }

    /// Calls `body` for each row; the statement's columns are valid inside it only.
    package func forEachRow(_ sql: String, _ values: [SQLiteValue] = [], _ body: (Statement) throws -> Void) throws {
        let statement = try prepare(sql)
        defer { statement.finalise() }
        try statement.bind(values)
        while try statement.step() { try body(statement) }
    }

    /// Every row, as `transform` makes of it.
    package func rows<Element>(
        _ sql: String, _ values: [SQLiteValue] = [], _ transform: (Statement) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        try forEachRow(sql, values) { elements.append(try transform($0)) }
        return elements
    }

    /// The first column of the first row; nil when there is no row.
    package func value(_ sql: String, _ values: [SQLiteValue] = []) throws -> SQLiteValue? {
        let statement = try prepare(sql)
        defer { statement.finalise() }
        try statement.bind(values)
        return try statement.step() ? statement.value(0) : nil
    }

    /// ``value(_:_:)`` where it is an integer.
    package func integer(_ sql: String, _ values: [SQLiteValue] = []) throws -> Int64? {
        try value(sql, values)?.integer
    }

    /// ``value(_:_:)`` where it is a text.
    package func text(_ sql: String, _ values: [SQLiteValue] = []) throws -> String? { try value(sql, values)?.text }

    /// Rows that the last INSERT, UPDATE or DELETE changed.
    package var changes: Int64 { sqlite3_changes64(handle) }
    /// Rows changed since the connection was opened.
    package var totalChanges: Int64 { sqlite3_total_changes64(handle) }
    package var isInTransaction: Bool { handle != nil && sqlite3_get_autocommit(handle) == 0 }
    /// Writes the pages that the open transaction has changed to the WAL, or to the database after its journal.
    ///
    /// A page that a statement is reading stays in memory, and so does the first page.
    ///
    /// - Returns: whether no statement was reading.
    package func flushPages() throws -> Bool {
        var statement = sqlite3_next_stmt(handle, nil)
        while let next = statement {
            if sqlite3_stmt_busy(next) != 0 { return false }
            statement = sqlite3_next_stmt(handle, next)
        }
        try check(sqlite3_db_cacheflush(handle))
        return true
    }

    package static var version: String { String(cString: sqlite3_libversion()) }

    // MARK: - Settings

    /// Whether the last connection to close leaves the WAL as it is instead of writing it back into the database.
    package func keepWALOnClose(_ isKept: Bool) throws {
        try check(moult_sqlite_set(handle, Int32(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE), isKept ? 1 : 0))
    }

    /// Whether the database counts as empty, whatever its file holds: what is written then replaces all of it in one
    /// transaction, and a file that is no database, or a damaged one, is no error.
    package func ignoresContents(_ isIgnored: Bool) throws {
        try check(moult_sqlite_set(handle, Int32(SQLITE_DBCONFIG_RESET_DATABASE), isIgnored ? 1 : 0))
    }

    /// Sets the folder where SQLite writes what does not fit into memory, such as large sorts. It is one setting for
    /// the whole process and must not be changed while a statement runs.
    package func setTemporaryFolder(_ folder: String) throws {
        guard try text("PRAGMA temp_store_directory") != folder else { return }
        try execute("PRAGMA temp_store_directory = \(folder.quotedLiteral)")
    }

    // MARK: - Transactions

    package enum TransactionKind: String, Sendable {
        case deferred = "DEFERRED"
        case immediate = "IMMEDIATE"
        case exclusive = "EXCLUSIVE"
    }

    /// Commits what `body` does, or takes it back when it throws. What is written is proven before the commit and after
    /// it (``proveWrites()``).
    package func transaction<Result>(_ kind: TransactionKind = .immediate, _ body: () throws -> Result) throws -> Result
    {
        try execute("BEGIN \(kind.rawValue)")
        do {
            let result = try body()
            try proveWrites()
            try execute("COMMIT")
            try proveWrites()
            return result
        } catch {
            // SQLite may have rolled back by itself, for instance when the disk is full.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Returns the result of `body`; nil if it fails.
    ///
    /// - Throws: what has failed where SQLite has rolled the transaction around it back, as for a lack of memory: the
    ///   statements that come after it would be transactions of their own.
    package func attempt<Result>(_ body: () throws -> Result) throws -> Result? {
        let wasInTransaction = isInTransaction
        do {
            return try body()
        } catch {
            guard isInTransaction == wasInTransaction else { throw error }
            return nil
        }
    }

    /// Runs a statement that edits the text of one object of `main`, inside of the transaction that is open, and has
    /// every connection read the schema again (sqlite.org/lang_altertable.html, 7).
    ///
    /// - Throws: `unsupported` if this SQLite does not allow it; `dataConflict` if the object is not as it was.
    package func editSchema(_ sql: String) throws {
        let version = Int32(truncatingIfNeeded: try integer("PRAGMA main.schema_version") ?? 0)
        try execute("PRAGMA writable_schema = ON")
        // It also has this connection forget the old text.
        defer { try? execute("PRAGMA writable_schema = RESET") }
        guard try integer("PRAGMA writable_schema") == 1 else {
            throw MigrationError(
                .unsupported, "SQLite does not allow this connection to edit its schema.", place: path,
                remedy: "Migrate with \(option: .normalise), which rebuilds the table.")
        }
        try run(sql)
        guard changes == 1 else {
            throw MigrationError(
                .dataConflict, "The text of a table is not what it was when the migration was planned.", place: path,
                remedy: "Plan the migration again.")
        }
        try execute("PRAGMA main.schema_version = \(version &+ 1)")
    }

    /// Adds another database under a name of its own.
    package func attach(_ path: String, as schema: String, mode: Mode = .immutable) throws {
        let uri = Self.uri(path, isImmutable: mode == .immutable, isReadOnly: mode == .readOnly)
        try run("ATTACH ? AS \(schema.quotedName)", [.text(uri)])
    }

    package func detach(_ schema: String) throws { try run("DETACH \(schema.quotedName)") }

    /// Compiles a query that a person has written: one statement that returns rows and writes nothing.
    ///
    /// - Throws: `usage` with SQLite's own words for a text that is no such statement.
    package func query(_ sql: String) throws -> Statement {
        var text = sql
        return try text.withUTF8 { bytes in
            var rest = bytes
            guard let statement = try compile(&rest) else { throw Self.wrongQuery("There is no SQL in the query.") }
            guard statement.isReadOnly, statement.columnCount > 0 else {
                throw Self.wrongQuery("The statement is no query that only reads.")
            }
            guard try compile(&rest) == nil else { throw Self.wrongQuery("The query is more than one statement.") }
            return statement
        }
    }

    /// Takes a statement that a person has written one row further.
    ///
    /// - Throws: `usage` with SQLite's own words for one that fails by itself.
    package func step(query: Statement) throws -> Bool {
        do {
            return try query.step()
        } catch let error as MigrationError where error.code == .sqlite {
            throw wrongQuery
        }
    }

    private func compile(_ rest: inout UnsafeBufferPointer<UInt8>) throws -> Statement? {
        do {
            return try Statement(self, next: &rest)
        } catch let error as MigrationError where error.code == .sqlite {
            throw wrongQuery
        }
    }

    /// The last error of this connection.
    private var wrongQuery: MigrationError {
        let words = handle.flatMap(sqlite3_errmsg).map { String(cString: $0) } ?? "unknown"
        return Self.wrongQuery("SQLite does not accept the query: \(words).")
    }

    private static func wrongQuery(_ message: String) -> MigrationError {
        MigrationError(
            .usage, message, remedy: "Give one SELECT. \(.views, .anyStore) prints the views with their columns.")
    }
}
