import MoultModel
import MoultSQLite
import MoultStore

/// Hands out the keys of new rows, so that no two processes give the same.
///
/// The highest key ever given stands in `Z_PRIMARYKEY`. It is read inside the transaction that writes
/// the rows and raised in it: until that ends, no other connection can do the same.
final class PrimaryKeys {
    private let connection: Connection
    private let layout: StoreLayout
    /// By entity number of the root, or of history's entities.
    private var highest: [Int: Int64] = [:]
    private var raised: Set<Int> = []
    private var numbers: [String: Int] = [:]

    init(_ connection: Connection, _ layout: StoreLayout) {
        self.connection = connection
        self.layout = layout
    }

    func forget() {
        highest = [:]
        raised = []
    }

    /// The next free key in the table of a root entity.
    func next(for root: String, table: String) throws -> Int64 {
        guard let number = layout.entityNumbers[root] else { throw Self.missing(root) }
        return try next(number, table: table)
    }

    /// The next free key in the table of the root entity of that number, the first of `count` of them.
    func next(_ number: Int, table: String, count: Int64 = 1) throws -> Int64 {
        let before = try highest(number, table: table)
        let (last, isOver) = before.addingReportingOverflow(count)
        guard !isOver, last > 0 else {
            throw MigrationError(
                .storeCorrupted, "The highest key that \(table) has given is \(before); there is none after it.",
                place: table, remedy: MigrationError.damagedStoreRemedy)
        }
        highest[number] = last
        raised.insert(number)
        return before + 1
    }

    /// Notes that a key was given by somebody else.
    func claim(_ key: Int64, for root: String, table: String) throws {
        guard let number = layout.entityNumbers[root] else { throw Self.missing(root) }
        guard try key > highest(number, table: table) else { return }
        highest[number] = key
        raised.insert(number)
    }

    private func highest(_ number: Int, table: String) throws -> Int64 {
        if let known = highest[number] { return known }
        guard
            let given = try connection.integer(
                "SELECT \(PrimaryKeyRow.highestSQL) FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(Int64(number))])
        else { throw Self.missing("number \(number)") }
        // A store that somebody wrote to by hand may have higher keys than it says.
        let present = try connection.integer("SELECT max(Z_PK) FROM \(table.quotedName)") ?? 0
        let found = max(given, present, 0)
        highest[number] = found
        return found
    }

    /// Writes the highest keys into the store.
    func write() throws {
        for number in raised.sorted() {
            try connection.run(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = max(\(PrimaryKeyRow.highestSQL), ?) WHERE Z_ENT = ?",
                [.integer(highest[number] ?? 0), .integer(Int64(number))])
        }
        raised = []
    }

    private static func missing(_ entity: String) -> MigrationError {
        MigrationError(
            .storeCorrupted, "The table Z_PRIMARYKEY has no row for the entity \(entity).", place: "Z_PRIMARYKEY",
            remedy: MigrationError.damagedStoreRemedy)
    }
}
