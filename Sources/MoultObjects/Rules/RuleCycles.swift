import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// A search for objects that are their own ancestors through a to-one relationship, at any distance.
///
/// A walk down from every object whose chain ends marks all valid objects; each has one parent, so the walk meets it
/// once. The remaining objects are in a cycle or below one. Two pointers of different speed find each cycle. The work
/// grows only with the number of rows, and intermediate results are in temporary tables.
struct RuleCycles {
    struct Row: Hashable {
        let key: Int64
        let number: Int64
    }

    private let store: ObjectStore
    private let table: String
    private let column: String
    private static let left = "temp.moult_cycle"

    init(_ store: ObjectStore, _ rule: ValidationRule, _ relationship: String) throws {
        self.store = store
        guard let entity = store.model.entity(rule.entityName),
            case .foreignKey(let table, let column, _)? = store.layout.storage(ofRelationship: relationship, in: entity)
        else { throw store.noTable("\(rule.entityName).\(relationship)") }
        self.table = table.quotedName
        self.column = column.quotedName
    }

    /// Calls `body` for each object of each cycle, one cycle after another, each from its smallest key.
    ///
    /// - Parameter onlyFirst: whether to call `body` only for the smallest key of each cycle.
    func forEachMember(onlyFirst: Bool = false, _ body: (Row) throws -> Void) throws {
        try store.withConnection { connection in
            try collect(connection)
            defer { try? connection.execute("DROP TABLE IF EXISTS \(Self.left)") }
            let parent = try connection.prepare("SELECT \(column) FROM \(table) WHERE Z_PK = ?")
            defer { parent.finalise() }
            while let start = try connection.integer("SELECT min(k) FROM \(Self.left)") {
                let first = try smallest(onCycleAbove: start, parent)
                try walk(from: first, onlyFirst: onlyFirst, parent, connection, body)
                // Remove the whole component: the cycle and everything below it.
                try connection.run(
                    """
                    WITH RECURSIVE below(k) AS (VALUES (?) UNION \
                    SELECT t.Z_PK FROM \(table) AS t JOIN below ON t.\(column) = below.k) \
                    DELETE FROM \(Self.left) WHERE k IN below
                    """, [.integer(first)])
            }
        }
    }

    /// Returns the cycle from an object, such as `3 → 8 → 3`; the middle of a long one is left out.
    func chain(from key: Int64) throws -> String {
        try store.withConnection { connection in
            let parent = try connection.prepare("SELECT \(column) FROM \(table) WHERE Z_PK = ?")
            defer { parent.finalise() }
            var shown = ["\(key)"]
            var (here, length) = (try next(key, parent), 1)
            while let current = here, current != key {
                if length < 8 { shown.append("\(current)") }
                length += 1
                here = try next(current, parent)
            }
            if length > 8 { shown.append("… (\(Quantity.count(length, "object")))") }
            return (shown + ["\(key)"]).joined(separator: " → ")
        }
    }

    /// Collects the keys that no walk down from the end of a chain reaches.
    private func collect(_ connection: Connection) throws {
        try connection.execute(
            "DROP TABLE IF EXISTS \(Self.left); CREATE TEMP TABLE moult_cycle (k INTEGER PRIMARY KEY)")
        try connection.run(
            """
            WITH RECURSIVE well(k) AS (
              SELECT t.Z_PK FROM \(table) AS t LEFT JOIN \(table) AS p ON p.Z_PK = t.\(column) WHERE p.Z_PK IS NULL
              UNION ALL SELECT t.Z_PK FROM \(table) AS t JOIN well ON t.\(column) = well.k)
            INSERT INTO \(Self.left) SELECT Z_PK FROM \(table) WHERE \(column) IS NOT NULL
              AND Z_PK NOT IN (SELECT k FROM well)
            """)
    }

    private func next(_ key: Int64, _ parent: Statement) throws -> Int64? {
        defer { parent.reset() }
        try parent.bind(key, at: 1)
        guard try parent.step(), !parent.isNull(0) else { return nil }
        return parent.integer(0)
    }

    /// Returns the smallest key of the cycle in which an object's chain ends.
    private func smallest(onCycleAbove start: Int64, _ parent: Statement) throws -> Int64 {
        func step(_ key: Int64) throws -> Int64 { try next(key, parent) ?? start }
        var (slow, fast) = (try step(start), try step(try step(start)))
        while slow != fast { (slow, fast) = (try step(slow), try step(try step(fast))) }
        var (smallest, here) = (slow, try step(slow))
        while here != slow {
            smallest = min(smallest, here)
            here = try step(here)
        }
        return smallest
    }

    private func walk(
        from first: Int64, onlyFirst: Bool, _ parent: Statement, _ connection: Connection, _ body: (Row) throws -> Void
    ) throws {
        let number = try connection.prepare("SELECT Z_ENT FROM \(table) WHERE Z_PK = ?")
        defer { number.finalise() }
        var here: Int64? = first
        repeat {
            guard let key = here else { return }
            try number.bind(key, at: 1)
            let entity = try number.step() ? number.integer(0) : 0
            number.reset()
            try body(Row(key: key, number: entity))
            here = try next(key, parent)
        } while here != first && !onlyFirst
    }
}
