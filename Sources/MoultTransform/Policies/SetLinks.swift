import MoultModel
import MoultSQLite

/// The relationships of objects that policies have set themselves, by entity, key and position: what a mapping does not
/// give, and what stays where a policy does not ask for the mapping's.
///
/// They stand in a temporary table, so that memory does not grow with the store.
final class SetLinks {
    private let connection: Connection
    private var add: Statement?
    private var find: Statement?

    init(_ connection: Connection) throws {
        self.connection = connection
        try connection.execute(
            """
            DROP TABLE IF EXISTS temp.moult_set_links;
            CREATE TEMP TABLE moult_set_links (
                entity INTEGER, key INTEGER, position INTEGER, PRIMARY KEY (entity, key, position)) WITHOUT ROWID
            """)
    }

    deinit {
        for statement in [add, find] { statement?.finalise() }
        try? connection.execute("DROP TABLE IF EXISTS temp.moult_set_links")
    }

    func note(_ position: Int, of object: DestinationObject) throws {
        let statement = try add ?? connection.prepare("INSERT OR IGNORE INTO temp.moult_set_links VALUES (?, ?, ?)")
        add = statement
        try statement.run(values(position, object))
    }

    func isSet(_ position: Int, of object: DestinationObject) throws -> Bool {
        let sql = "SELECT 1 FROM temp.moult_set_links WHERE entity = ? AND key = ? AND position = ?"
        let statement = try find ?? connection.prepare(sql)
        find = statement
        try statement.bind(values(position, object))
        defer { statement.reset() }
        return try statement.step()
    }

    private func values(_ position: Int, _ object: DestinationObject) -> [SQLiteValue] {
        [.integer(object.entity.columns.number), .integer(object.key), .integer(Int64(position))]
    }
}
