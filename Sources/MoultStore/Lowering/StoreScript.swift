import MoultSQLite

/// The changes to a store as SQL statements, lowered from a bound plan. The engine runs them.
///
/// The statements run in order, in one transaction, on a connection whose `main` is the working copy or the store
/// itself (``Place``) and whose schema `source` is the unchanged backup of the store.
package struct StoreScript: Sendable, Equatable {
    /// The way to change the tables to the new version, where there is a choice.
    package enum Choice: Sendable, Hashable {
        /// Changes each table in the cheapest safe way.
        case cheapest
        /// Rebuilds every table whose text changes, with its columns in the order of a new store.
        case normalised
        /// Changes only the catalogue, in a time that does not depend on the number of rows, or fails. Indexes keep
        /// their names, as after Core Data's own in-place migration.
        case inPlace
    }

    package var statements: [Statement]
    /// The place where a script may run.
    package enum Place: String, Sendable, Hashable {
        /// On a working copy.
        case copy
        /// On the store itself, next to its backup, or on a working copy: every table is kept.
        case store
        /// On the store itself: only the catalogue and the metadata change.
        case catalogue
    }

    package var place: Place
    /// Whether the script changes only the catalogue and the metadata, and runs on the store itself.
    package var isInPlace: Bool { place == .catalogue }
    /// Whether any statement writes rows, or may do so.
    package var writesRows: Bool {
        statements.contains { [.fill, .update, .delete, .dropColumn].contains($0.kind) && $0.rows != 0 }
    }
    /// Whether the script leaves slow work for later.
    package var isDeferred = false
    /// Whether anything is lost immediately, such as an object of an app that is dropped in the new version.
    package var needsBackup = true
    /// The mappings that migrate persistent history's column sets, by source entity number.
    package var historyColumns: [Int: HistoryColumns]
    /// The app's own definitions and objects that are kept: those in Core Data's tables, by name, and separate objects.
    package struct Kept: Sendable, Equatable {
        package var definitions: [String: UserTableAdditions] = [:]
        package var objects = UserSchemaObjects()

        package init() {}

        init(definitions: [String: UserTableAdditions], objects: UserSchemaObjects) {
            (self.definitions, self.objects) = (definitions, objects)
        }
    }

    package internal(set) var kept = Kept()
    /// The closures that statements call.
    let transforms: [TransformFunction]

    package init(statements: [Statement], isInPlace: Bool = false, historyColumns: [Int: HistoryColumns] = [:]) {
        self.init(statements: statements, isInPlace: isInPlace, historyColumns: historyColumns, transforms: [])
    }

    package init(
        statements: [Statement], isInPlace: Bool = false, historyColumns: [Int: HistoryColumns],
        transforms: [TransformFunction]
    ) {
        self.transforms = transforms
        self.statements = statements
        place = isInPlace ? .catalogue : .copy
        self.historyColumns = historyColumns
    }

    /// Returns the functions that the statements call, in addition to those of ``FormatFunctions``.
    ///
    /// - Parameter externalFile: returns the bytes of the external data file with a name.
    package func functions(externalFile: @escaping @Sendable (String) throws -> [UInt8]) -> [SQLiteFunction] {
        let columns = historyColumns
        return [
            SQLiteFunction("moult_history_columns", argumentCount: 2) { arguments in
                guard !arguments.isNull(1) else { return .null }
                guard let carry = columns[Int(clamping: arguments.integer(0))] else { return arguments[1] }
                return .blob(arguments.withBytes(1) { carry.carry(Array($0)) })
            },
            SQLiteFunction("moult_inline", argumentCount: 1) { arguments in
                try Self.inline(arguments[0], externalFile)
            },
        ] + transforms.map(\.function)
    }

    /// Returns the bytes of a value with external storage: those after a leading 1, or those of the file named after a
    /// leading 2. Any other value is returned unchanged.
    private static func inline(_ value: SQLiteValue, _ externalFile: (String) throws -> [UInt8]) throws -> SQLiteValue {
        guard let bytes = value.blob, let mark = bytes.first else { return value }
        switch mark {
        case 1: return .blob(Array(bytes.dropFirst()))
        case 2:
            let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
            return .blob(try externalFile(name))
        default: return value
        }
    }

    /// An SQL statement, with its effect, the table it changes, the tables it reads, and a description in one sentence.
    package struct Statement: Sendable, Equatable {
        package enum Kind: Sendable, Hashable {
            case createTable, renameTable, dropTable, dropView, addColumn, renameColumn, dropColumn
            /// Edits the text of a table in `sqlite_master`.
            case retypeColumns
            case createIndex, dropIndex, createTrigger, dropTrigger
            /// Inserts new rows, changes values in existing rows, or deletes rows.
            case fill, update, delete
            /// Writes the version of a store: hashes, the model, and the numbers of entities.
            case metadata
        }

        package let kind: Kind
        /// The table that the statement changes, or whose index or trigger it creates or drops; the name of a view.
        package let table: String
        /// The other tables whose rows the statement reads.
        package let reads: Set<String>
        package var sql: String
        package let sentence: String
        package private(set) var rows: RowCount
        /// The table whose keys can limit the statement to some rows; nil if it cannot be limited.
        package private(set) var keys: Keys?
        /// The columns that an update of a kept table writes.
        package private(set) var columns: [String] = []
        /// Whether literals may contain an app's data: its metadata, or the SQL of its own indexes and triggers.
        package private(set) var holdsValues = false

        package init(
            _ kind: Kind, _ table: String, reads: Set<String> = [], _ sql: String, _ sentence: String,
            rows: RowCount = 0, keys: Keys? = nil
        ) {
            (self.kind, self.table, self.reads, self.sql) = (kind, table, reads, sql)
            (self.sentence, self.rows, self.keys) = (sentence, rows, keys)
        }

        init(
            _ kind: Kind, _ table: String, text: SQLText, _ sentence: String, rows: RowCount = 0, keys: Keys? = nil,
            columns: [String] = []
        ) {
            self.init(kind, table, reads: text.reads, text.inlined, sentence, rows: rows, keys: keys)
            self.columns = columns
        }

        /// The statement without values, for display by default.
        package var sqlWithoutValues: String { holdsValues ? sql.withoutSQLLiterals() : sql }

        func holdingValues() -> Self {
            var statement = self
            statement.holdsValues = true
            return statement
        }

        /// The table `s` whose rows a statement processes one by one. Running the statement for ranges of keys that
        /// cover all rows, in ascending order, has the same effect as running it once.
        package struct Keys: Sendable, Equatable {
            /// The quoted name of the table, with its schema.
            package var table: String
            /// Whether the statement ends with a condition.
            package var hasCondition: Bool
        }

        /// Returns the same statement for the rows with keys in a range; nil if it cannot be limited.
        ///
        /// - Parameter rows: the approximate number of these rows.
        package func limited(to range: ClosedRange<Int64>, rows: Int64) -> Statement? {
            guard let keys else { return nil }
            var statement = self
            statement.sql += " \(keys.hasCondition ? "AND" : "WHERE") "
            statement.sql += "s.Z_PK BETWEEN \(range.lowerBound) AND \(range.upperBound)"
            statement.rows = .counted(rows)
            statement.keys = nil
            return statement
        }
    }

    /// The approximate number of rows that a statement reads or writes.
    package enum RowCount: Sendable, Hashable, ExpressibleByIntegerLiteral {
        /// A count based on the store's entities; 0 for a statement that changes only the catalogue.
        case counted(Int64)
        /// An upper bound for rows that were not counted.
        case atMost(Int64)
        case unknown

        package init(integerLiteral count: Int64) { self = .counted(count) }

        /// The maximum number of rows; nil if unknown.
        package var bound: Int64? {
            switch self {
            case .counted(let count), .atMost(let count): count
            case .unknown: nil
            }
        }

        /// The rows that the statement contributes to the progress of a script; one if they were not counted.
        package var progress: Int64 { if case .counted(let count) = self { count } else { 1 } }
    }
}

// MARK: - Statements that change the catalogue

extension StoreScript.Statement {
    package static func createTable(_ name: String, _ sql: String) -> Self {
        .init(.createTable, name, sql, "Create the table \(name).")
    }

    static func renameTable(_ name: String, to other: String, _ sentence: String) -> Self {
        .init(.renameTable, name, "ALTER TABLE main.\(name.quotedName) RENAME TO \(other.quotedName)", sentence)
    }

    static func dropTable(_ name: String, _ sentence: String, rows: StoreScript.RowCount = .unknown) -> Self {
        .init(.dropTable, name, "DROP TABLE main.\(name.quotedName)", sentence, rows: rows)
    }

    /// - Parameter standard: the value of existing rows, which must have an SQL literal.
    package static func addColumn(_ column: String, _ type: String, standard: SQLiteValue = .null, to table: String)
        -> Self
    {
        .init(
            .addColumn, table,
            "ALTER TABLE main.\(table.quotedName) ADD COLUMN \(column.quotedName) "
                + "\(type)\(standard == .null ? "" : " DEFAULT \(standard.literal)")",
            "Add the column \(column) to \(table).")
    }

    /// - Parameter sentence: the description; nil if the new name is permanent.
    static func renameColumn(_ column: String, to other: String, of table: String, _ sentence: String? = nil) -> Self {
        .init(
            .renameColumn, table,
            "ALTER TABLE main.\(table.quotedName) RENAME COLUMN \(column.quotedName) TO \(other.quotedName)",
            sentence ?? "Rename the column \(column) of \(table) to \(other).")
    }

    static func dropColumn(_ column: String, of table: String, rows: StoreScript.RowCount) -> Self {
        .init(
            .dropColumn, table, "ALTER TABLE main.\(table.quotedName) DROP COLUMN \(column.quotedName)",
            "Drop the column \(column) of \(table).", rows: rows)
    }

    static func retypeColumns(_ retyping: ColumnAlteration.Retyping, of table: String) -> Self {
        let types = retyping.columns.map { "\($0.name) to \($0.type)" }.joined(separator: ", ")
        return .init(
            .retypeColumns, table,
            "UPDATE main.sqlite_master SET sql = \(retyping.sql.quotedLiteral) "
                + "WHERE name = \(table.quotedLiteral) AND sql = \(retyping.before.quotedLiteral)",
            "Change the type of \(types) in the text of \(table).")
    }

    /// Rewrites the text of a table in SQLite's own form.
    static func respell(_ entry: Catalogue.Entry, as sql: String) -> Self {
        .init(
            .retypeColumns, entry.name,
            "UPDATE main.sqlite_master SET sql = \(sql.quotedLiteral) "
                + "WHERE name = \(entry.name.quotedLiteral) AND sql = \((entry.sql ?? "").quotedLiteral)",
            "Spell the text of \(entry.name) as SQLite does.")
    }

    package static func createIndex(_ index: IndexDefinition, rows: StoreScript.RowCount = 0) -> Self {
        .init(.createIndex, index.table, index.sql, "Create the index \(index.name).", rows: rows)
    }

    package static func dropIndex(_ name: String, of table: String, _ sentence: String, rows: StoreScript.RowCount = 0)
        -> Self
    {
        .init(.dropIndex, table, "DROP INDEX main.\(name.quotedName)", sentence, rows: rows)
    }

    package static func createTrigger(_ trigger: TriggerDefinition) -> Self {
        .init(.createTrigger, trigger.table, trigger.sql, "Make the trigger \(trigger.name).")
    }

    package static func dropTrigger(_ trigger: Catalogue.Entry) -> Self {
        .init(
            .dropTrigger, trigger.tableName, "DROP TRIGGER main.\(trigger.name.quotedName)",
            "Take the trigger \(trigger.name) away for the time being.")
    }

    /// Recreates an index or a trigger with its own SQL; nil for an index that belongs to a constraint.
    package static func putBack(_ entry: Catalogue.Entry, rows: StoreScript.RowCount = 0) -> Self? {
        entry.sql.map { sql in
            Self(
                entry.kind == .index ? .createIndex : .createTrigger, entry.tableName, sql,
                "Put the \(entry.kind.rawValue) \(entry.name) back.", rows: rows
            ).holdingValues()
        }
    }
}
