import CSQLite
import MoultModel

extension Connection {
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
            .usage, message,
            remedy: "Give one SELECT. \(.views, .anyStore) prints the views with their columns.")
    }
}
