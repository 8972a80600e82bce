import MoultModel
import MoultSQLite

/// Collects the objects that a pass of a migration takes out of the store, until the engine keeps them in the
/// quarantine next to it.
///
/// They lie in a temporary table of the working copy's connection, so that memory does not grow with their number and
/// nothing is left of a run that ends early. Whoever adds an object deletes it from the store.
package final class QuarantineWriter {
    let connection: Connection
    private let insert: Statement
    /// Objects added by this writer.
    package private(set) var count: Int64 = 0

    package init(_ connection: Connection) throws {
        self.connection = connection
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS moult_quarantine (
                entity TEXT NOT NULL, key INTEGER NOT NULL, reason TEXT NOT NULL, origin TEXT NOT NULL,
                object TEXT NOT NULL)
            """)
        insert = try connection.prepare("INSERT INTO temp.moult_quarantine VALUES (?, ?, ?, ?, ?)")
    }

    /// - Parameters:
    ///   - entity: the object's own entity.
    ///   - key: its `Z_PK`.
    ///   - reason: one sentence for people.
    ///   - values: the whole object: ``Swift/JSONValue/init(quarantining:_:unreadable:)`` makes it.
    ///   - origin: the rule or policy that sent it.
    package func add(entity: String, key: Int64, reason: String, values: JSONValue, by origin: String) throws {
        try insert.run([.text(entity), .integer(key), .text(reason), .text(origin), .text(values.compact)])
        insert.reset()
        count += 1
    }
}

extension QuarantinedObject {
    /// Calls `body` for each object that the connection's writers have collected, in their order.
    package static func forEach(on connection: Connection, _ body: (QuarantinedObject) throws -> Void) throws {
        let isThere = "SELECT count(*) FROM temp.sqlite_master WHERE name = 'moult_quarantine'"
        guard try connection.integer(isThere) == 1 else { return }
        try connection.forEachRow(
            "SELECT entity, key, reason, origin, object FROM temp.moult_quarantine ORDER BY rowid"
        ) { row in
            try body(
                QuarantinedObject(
                    entity: row.text(0) ?? "", key: row.integer(1), reason: row.text(2) ?? "",
                    origin: row.text(3) ?? "", object: row.text(4) ?? "{}"))
        }
    }
}
