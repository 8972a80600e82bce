import CSQLite
import MoultBasics

extension Connection {
    /// Compiles one statement.
    package func prepare(_ sql: String) throws -> Statement { try Statement(self, sql) }

    /// Runs every statement of a script and discards any rows.
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

    /// Runs one statement to completion.
    package func run(_ sql: String, _ values: [SQLiteValue] = []) throws { try forEachRow(sql, values) { _ in } }

    /// Calls `body` for each row. The statement's columns are valid only inside the call.
    package func forEachRow(_ sql: String, _ values: [SQLiteValue] = [], _ body: (Statement) throws -> Void) throws {
        let statement = try prepare(sql)
        defer { statement.finalise() }
        try statement.bind(values)
        while try statement.step() { try body(statement) }
    }

    /// Returns the result of `transform` for every row.
    package func rows<Element>(
        _ sql: String, _ values: [SQLiteValue] = [], _ transform: (Statement) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        try forEachRow(sql, values) { elements.append(try transform($0)) }
        return elements
    }

    /// Returns the first column of the first row; nil if there is no row.
    package func value(_ sql: String, _ values: [SQLiteValue] = []) throws -> SQLiteValue? {
        let statement = try prepare(sql)
        defer { statement.finalise() }
        try statement.bind(values)
        return try statement.step() ? statement.value(0) : nil
    }

    /// Returns ``value(_:_:)`` if it is an integer.
    package func integer(_ sql: String, _ values: [SQLiteValue] = []) throws -> Int64? {
        try value(sql, values)?.integer
    }

    /// Returns ``value(_:_:)`` if it is text.
    package func text(_ sql: String, _ values: [SQLiteValue] = []) throws -> String? { try value(sql, values)?.text }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    package var changes: Int64 { sqlite3_changes64(handle) }
    /// The number of rows changed since the connection was opened.
    package var totalChanges: Int64 { sqlite3_total_changes64(handle) }
    package var isInTransaction: Bool { handle != nil && sqlite3_get_autocommit(handle) == 0 }
    /// Writes the pages that the open transaction has changed to the WAL, or to the database once its journal is
    /// written.
    ///
    /// A page that a statement is reading stays in memory, as does the first page.
    ///
    /// - Returns: whether the pages were written; false if a statement was reading.
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
    /// The same version as a number, such as 3040001 for 3.40.1.
    package static var versionNumber: Int { Int(sqlite3_libversion_number()) }

    // MARK: - Settings

    /// Sets whether the last connection to close leaves the WAL as it is instead of checkpointing it.
    package func keepWALOnClose(_ isKept: Bool) throws {
        try check(moult_sqlite_set(handle, Int32(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE), isKept ? 1 : 0))
    }

    /// Sets whether to treat the database as empty, whatever its file holds. The next transaction then replaces all of
    /// its contents, and a damaged file, or one that is not a database, is not an error.
    package func ignoresContents(_ isIgnored: Bool) throws {
        try check(moult_sqlite_set(handle, Int32(SQLITE_DBCONFIG_RESET_DATABASE), isIgnored ? 1 : 0))
    }

    /// Sets the folder where SQLite writes data that does not fit in memory, such as large sorts. The setting applies
    /// to the whole process; do not change it while a statement runs.
    package func setTemporaryFolder(_ folder: String) throws {
        guard try text("PRAGMA temp_store_directory") != folder else { return }
        try execute("PRAGMA temp_store_directory = \(folder.quotedLiteral)")
    }

    /// Runs `body` with a cache of so many KiB for the pages of `main`, unless another size has been set.
    package func withCache<Result>(ofKibibytes size: Int, _ body: () throws -> Result) throws -> Result {
        // SQLite's default. A negative size is in KiB.
        let usual: Int64 = -2_000
        guard try integer("PRAGMA main.cache_size") == usual else { return try body() }
        try execute("PRAGMA main.cache_size = -\(size)")
        defer { try? execute("PRAGMA main.cache_size = \(usual)") }
        return try body()
    }

    // MARK: - Transactions

    package enum TransactionKind: String, Sendable {
        case deferred = "DEFERRED"
        case immediate = "IMMEDIATE"
        case exclusive = "EXCLUSIVE"
    }

    /// Commits the changes made by `body`, or rolls them back if it throws. Verifies the written bytes before the commit
    /// and in it (``proving(_:)``).
    package func transaction<Result>(_ kind: TransactionKind = .immediate, _ body: () throws -> Result) throws -> Result
    {
        try execute("BEGIN \(kind.rawValue)")
        do {
            let result = try body()
            try proveWrites()
            // While it has the locks: afterwards, another connection may overwrite what this one has written.
            try proving { try execute("COMMIT") }
            return result
        } catch {
            // SQLite may have rolled back already, for instance when the disk is full.
            if isInTransaction { try? execute("ROLLBACK") }
            if !isInTransaction { try? forgetPages() }
            throw error
        }
    }

    /// Returns the result of `body`; nil if it fails.
    ///
    /// - Throws: the error of `body` if SQLite has rolled back the surrounding transaction, for example when out of
    ///   memory. Any statements that follow would otherwise run in transactions of their own.
    package func attempt<Result>(_ body: () throws -> Result) throws -> Result? {
        let wasInTransaction = isInTransaction
        do {
            return try body()
        } catch {
            guard isInTransaction == wasInTransaction else { throw error }
            return nil
        }
    }

    /// Runs a statement that edits the SQL text of one object of `main`, inside the open transaction, and makes every
    /// connection read the schema again (sqlite.org/lang_altertable.html, 7).
    ///
    /// - Throws: `unsupported` if this SQLite does not allow it; `dataConflict` if the object has changed.
    package func editSchema(_ sql: String) throws {
        let version = Int32(truncatingIfNeeded: try integer("PRAGMA main.schema_version") ?? 0)
        try withWritableSchema {
            try run(sql)
            guard changes == 1 else {
                throw MigrationError(
                    .dataConflict, "The text of a table is not what it was when the migration was planned.",
                    place: path, remedy: "Plan the migration again.")
            }
            try execute("PRAGMA main.schema_version = \(version &+ 1)")
        }
    }

    /// Runs `body`, which may change the rows of the catalogue. This connection then reads the schema again.
    private func withWritableSchema(_ body: () throws -> Void) throws {
        try execute("PRAGMA writable_schema = ON")
        // RESET also makes this connection discard the old schema.
        defer { try? execute("PRAGMA writable_schema = RESET") }
        guard try integer("PRAGMA writable_schema") == 1 else {
            throw MigrationError(
                .unsupported, "SQLite does not allow this connection to edit its schema.", place: path,
                remedy: "Migrate with \(option: .normalise), which rebuilds the table.")
        }
        try body()
    }

    /// Runs the statements that make tables with their indexes, inside the open transaction of an empty database.
    ///
    /// For each table and index, SQLite reads the whole catalogue and visits each table in memory, so that many would
    /// take a time that grows with their square. The rows of the catalogue are therefore put aside after each group,
    /// and all of them are put back at the end, tables first.
    ///
    /// - Parameter groups: statements, none of which names a table of an earlier group.
    package func make(_ groups: [[String]]) throws {
        try execute("CREATE TEMP TABLE moult_catalogue AS SELECT * FROM main.sqlite_master WHERE 0")
        for group in groups {
            for statement in group { try execute(statement) }
            try withWritableSchema {
                try execute(
                    """
                    INSERT INTO temp.moult_catalogue SELECT * FROM main.sqlite_master; DELETE FROM main.sqlite_master
                    """)
            }
        }
        try withWritableSchema {
            try execute(
                "INSERT INTO main.sqlite_master SELECT * FROM temp.moult_catalogue ORDER BY type = 'index', rowid")
        }
        try execute("DROP TABLE temp.moult_catalogue")
    }

    /// Attaches another database under the given schema name.
    package func attach(_ path: String, as schema: String, mode: Mode = .immutable) throws {
        let uri = Self.uri(path, isImmutable: mode == .immutable, isReadOnly: mode == .readOnly)
        try run("ATTACH ? AS \(schema.quotedName)", [.text(uri)])
    }

    package func detach(_ schema: String) throws { try run("DETACH \(schema.quotedName)") }

    /// Compiles a query written by a user: one statement that returns rows and writes nothing.
    ///
    /// - Throws: `usage`, with SQLite's message, if the text is not such a statement.
    package func query(_ sql: String) throws -> Statement {
        var text = sql
        return try text.withUTF8 { bytes in
            // SQLite would not see what follows.
            guard !bytes.contains(0) else { throw Self.wrongQuery("The query has a NUL character.") }
            var rest = bytes
            guard let statement = try compile(&rest) else { throw Self.wrongQuery("There is no SQL in the query.") }
            guard statement.isReadOnly, statement.columnCount > 0 else {
                throw Self.wrongQuery("The statement is no query that only reads.")
            }
            guard try compile(&rest) == nil else { throw Self.wrongQuery("The query is more than one statement.") }
            return statement
        }
    }

    /// Advances a statement written by a user to its next row.
    ///
    /// - Throws: `usage`, with SQLite's message, if the statement itself fails.
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

    /// The last error of this connection, as a usage error.
    private var wrongQuery: MigrationError {
        let words = handle.flatMap(sqlite3_errmsg).map { String(cString: $0) } ?? "unknown"
        return Self.wrongQuery("SQLite does not accept the query: \(words).")
    }

    private static func wrongQuery(_ message: String) -> MigrationError {
        MigrationError(
            .usage, message, remedy: "Give one SELECT. \(.views, .anyStore) prints the views with their columns.")
    }
}
