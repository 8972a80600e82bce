import MoultSQLite

/// The destination objects made from source objects, by entity mapping.
///
/// Nearly every source object becomes one object of its mapping's destination entity with the same key, and needs no
/// record. The others are in a table, so that memory does not grow with the store: a temporary one, or one of the
/// working copy if the run is in pieces. The key of a new object is greater than that of any source object, so a key is
/// never ambiguous.
final class Associations {
    private let connection: Connection
    private var add: Statement?
    private var find: Statement?
    private var findSources: Statement?
    /// The table with its schema.
    let table: String
    /// The mappings with exceptions.
    private(set) var mappings: Set<Int> = []

    /// An object made from a source object. `isMerged` is true for an object that existed before and represents other
    /// source objects too.
    struct Entry {
        let entity: Int64
        let key: Int64
        let isMerged: Bool
    }

    /// - Parameter schema: `temp`; or `main`, where an earlier call may have left the table.
    init(_ connection: Connection, in schema: String) throws {
        self.connection = connection
        table = "\(schema).moult_associations"
        try connection.execute(
            """
            DROP TABLE IF EXISTS temp.moult_associations;
            CREATE TABLE IF NOT EXISTS \(table) (
                mapping INTEGER, source INTEGER, place INTEGER, entity INTEGER, destination INTEGER, merged INTEGER,
                PRIMARY KEY (mapping, source, place)) WITHOUT ROWID;
            CREATE INDEX IF NOT EXISTS \(schema).moult_destinations ON moult_associations (destination, entity)
            """)
        mappings = Set(try connection.rows("SELECT DISTINCT mapping FROM \(table)") { Int(clamping: $0.integer(0)) })
    }

    deinit {
        for statement in [add, find, findSources] { statement?.finalise() }
        try? connection.execute("DROP TABLE IF EXISTS temp.moult_associations")
    }

    /// Whether objects of a mapping are not simply the objects with the keys of their source objects.
    func hasExceptions(_ mapping: RunningMapping) -> Bool { mappings.contains(mapping.position) }

    /// Records the objects made from a source object, unless there is just one with the same key. An empty list records
    /// that none was made.
    func keep(_ entries: [Entry], mapping: Int, source: Int64) throws {
        let statement = try prepared(&add, "INSERT OR REPLACE INTO \(table) VALUES (?, ?, ?, ?, ?, ?)")
        mappings.insert(mapping)
        try statement.bind(Int64(mapping), at: 1)
        try statement.bind(source, at: 2)
        if entries.isEmpty {
            try statement.bind(Int64(0), at: 3)
            for place in 4...6 { try statement.bindNull(at: place) }
            try statement.run()
        }
        for (place, entry) in entries.enumerated() {
            try statement.bind(Int64(place), at: 3)
            try statement.bind(entry.entity, at: 4)
            try statement.bind(entry.key, at: 5)
            try statement.bind(Int64(entry.isMerged ? 1 : 0), at: 6)
            try statement.run()
        }
    }

    /// Returns the objects recorded for a source object: an empty list if none is made from it; nil if it is one object
    /// with the same key, or not processed yet.
    func entries(mapping: Int, source: Int64) throws -> [Entry]? {
        guard mappings.contains(mapping) else { return nil }
        let statement = try prepared(
            &find,
            "SELECT entity, destination, merged FROM \(table) WHERE mapping = ? AND source = ? ORDER BY place"
        )
        try statement.bind(Int64(mapping), at: 1)
        try statement.bind(source, at: 2)
        var found: [Entry]?
        while try statement.step() {
            found = found ?? []
            if !statement.isNull(1) {
                found?.append(
                    Entry(entity: statement.integer(0), key: statement.integer(1), isMerged: statement.integer(2) == 1))
            }
        }
        return found
    }

    /// Returns the exceptions among the source objects in a range of keys.
    func entries(mapping: Int, from first: Int64, to last: Int64) throws -> [Int64: [Entry]] {
        guard mappings.contains(mapping) else { return [:] }
        var found: [Int64: [Entry]] = [:]
        let sql = """
            SELECT source, entity, destination, merged FROM \(table) \
            WHERE mapping = ? AND source BETWEEN ? AND ? ORDER BY source, place
            """
        try connection.forEachRow(sql, [.integer(Int64(mapping)), .integer(first), .integer(last)]) { row in
            let entry = Entry(entity: row.integer(1), key: row.integer(2), isMerged: row.integer(3) == 1)
            found[row.integer(0), default: []] += row.isNull(2) ? [] : [entry]
        }
        return found
    }

    /// Returns the source objects from which an object was made, except the one with the same key.
    func sources(mapping: Int, entity: Int64, destination: Int64) throws -> [Int64] {
        guard mappings.contains(mapping) else { return [] }
        let statement = try prepared(
            &findSources,
            """
            SELECT source FROM \(table) WHERE destination = ? AND entity = ? AND mapping = ? \
            ORDER BY source
            """)
        try statement.bind([.integer(destination), .integer(entity), .integer(Int64(mapping))])
        var found: [Int64] = []
        while try statement.step() { found.append(statement.integer(0)) }
        return found
    }

    private func prepared(_ statement: inout Statement?, _ sql: String) throws -> Statement {
        if let statement { return statement }
        let made = try connection.prepare(sql)
        statement = made
        return made
    }
}

/// The relationships that policies have set themselves, by entity, key and position. The mapping does not replace them,
/// and they stay if a policy does not ask for the mapping's relationships.
///
/// They are in a table, as the associations are.
final class SetLinks {
    private let connection: Connection
    private let table: String
    private var add: Statement?
    private var find: Statement?

    /// - Parameter schema: `temp`; or `main`, where an earlier call may have left the table.
    init(_ connection: Connection, in schema: String) throws {
        self.connection = connection
        table = "\(schema).moult_set_links"
        try connection.execute(
            """
            DROP TABLE IF EXISTS temp.moult_set_links;
            CREATE TABLE IF NOT EXISTS \(table) (
                entity INTEGER, key INTEGER, position INTEGER, PRIMARY KEY (entity, key, position)) WITHOUT ROWID
            """)
    }

    deinit {
        for statement in [add, find] { statement?.finalise() }
        try? connection.execute("DROP TABLE IF EXISTS temp.moult_set_links")
    }

    func note(_ position: Int, of object: DestinationObject) throws {
        let statement = try add ?? connection.prepare("INSERT OR IGNORE INTO \(table) VALUES (?, ?, ?)")
        add = statement
        try statement.run(values(position, object))
    }

    func isSet(_ position: Int, of object: DestinationObject) throws -> Bool {
        let sql = "SELECT 1 FROM \(table) WHERE entity = ? AND key = ? AND position = ?"
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
