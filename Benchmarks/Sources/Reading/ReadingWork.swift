import CSQLite
import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

#if os(Linux)
    import MoultNSCoreData
#endif

/// One way to read every row of a table of ten integers, in a process of its own.
enum ReadingWork {
    /// The ways, of which the others are compared with the first.
    enum Way: String, CaseIterable {
        /// SQLite's C API, into a struct.
        case statements
        /// The engine's statements, into the same struct.
        case structs
        /// The engine's snapshots of objects, which are values.
        case snapshots
        /// Dictionaries of a fetch with Core Data's own names (`NSDictionaryResultType`).
        case dictionaries
    }

    /// What GRDB's benchmark of reading calls an item.
    struct Item {
        var i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int64
    }

    private static let entity = "Item"
    private static let names = (0..<10).map { "i\($0)" }
    private static let sql =
        "SELECT \(names.map { "Z" + $0.uppercased() }.joined(separator: ", ")) FROM ZITEM"

    private static func model() throws -> MoultModel.ManagedObjectModel {
        try MoultModel.ManagedObjectModel(entities: [
            EntityDescription(
                name: entity, attributes: names.map { AttributeDescription(name: $0, type: .integer64) })
        ])
    }

    /// Reads all rows and prints the seconds; "make" makes the store instead.
    static func run(_ work: String, _ store: String, _ rows: Int) throws {
        if work == "make" { return try makeStore(at: store, rows) }
        guard let way = Way(rawValue: work) else {
            throw MigrationError(.usage, "There is no way \(work).", remedy: "See ReadingWork.")
        }
        let read = try reader(way, store)
        try ChildWork.show {
            let (count, sum) = try read()
            // Row n has n, n + 1, … n + 9.
            let expected = (0..<rows).reduce(0) { $0 + 10 * $1 + 45 }
            guard count == rows, sum == expected else {
                throw MigrationError(.internal, "\(count) rows with the sum \(sum) were read.", remedy: "")
            }
        }
    }

    private static func makeStore(at path: String, _ rows: Int) throws {
        let maker = try StoreCreator(ModelVersion(names: ["1"], model: model()))
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout, speed: .reckless)
        let inserter = try writer.inserter(entity, names)
        for row in 0..<rows { try inserter.insert((0..<10).map { .attribute(.integer(Int64(row + $0))) }) }
        try writer.finish()
    }

    /// Opens the store, and returns what reads all rows: their number, and the sum of all integers.
    private static func reader(_ way: Way, _ store: String) throws -> () throws -> (Int, Int) {
        func sums(_ items: [Item]) -> (Int, Int) {
            (
                items.count,
                items.reduce(0) {
                    $0 + Int($1.i0 + $1.i1 + $1.i2 + $1.i3 + $1.i4 + $1.i5 + $1.i6 + $1.i7 + $1.i8 + $1.i9)
                }
            )
        }
        switch way {
        case .statements:
            return { sums(try statements(store)) }
        case .structs:
            let connection = try Connection(store, mode: .readOnly)
            return {
                sums(
                    try connection.rows(sql) { row in
                        Item(
                            i0: row.integer(0), i1: row.integer(1), i2: row.integer(2), i3: row.integer(3),
                            i4: row.integer(4), i5: row.integer(5), i6: row.integer(6), i7: row.integer(7),
                            i8: row.integer(8), i9: row.integer(9))
                    })
            }
        case .snapshots:
            let objects = try ObjectStore(store, model: model(), isReadOnly: true)
            return {
                let snapshots = try objects.fetchSnapshots(ObjectFetch(entityName: entity))
                var sum = 0
                for snapshot in snapshots {
                    for position in names.indices {
                        if case .attribute(.integer(let number))? = snapshot.values[position] { sum += Int(number) }
                    }
                }
                return (snapshots.count, sum)
            }
        case .dictionaries: return try dictionaries(store)
        }
    }

    /// As C would: a statement, and a struct for each row.
    private static func statements(_ store: String) throws -> [Item] {
        func failure(_ code: Int32) -> MigrationError {
            MigrationError(.internal, "SQLite returned \(code).", remedy: "Look at the store.")
        }
        var (database, statement): (OpaquePointer?, OpaquePointer?)
        defer { sqlite3_close(database) }
        var code = sqlite3_open_v2(store, &database, SQLITE_OPEN_READONLY, nil)
        guard code == SQLITE_OK else { throw failure(code) }
        defer { sqlite3_finalize(statement) }
        code = sqlite3_prepare_v2(database, sql, -1, &statement, nil)
        guard code == SQLITE_OK else { throw failure(code) }
        var items: [Item] = []
        code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            items.append(
                Item(
                    i0: sqlite3_column_int64(statement, 0), i1: sqlite3_column_int64(statement, 1),
                    i2: sqlite3_column_int64(statement, 2), i3: sqlite3_column_int64(statement, 3),
                    i4: sqlite3_column_int64(statement, 4), i5: sqlite3_column_int64(statement, 5),
                    i6: sqlite3_column_int64(statement, 6), i7: sqlite3_column_int64(statement, 7),
                    i8: sqlite3_column_int64(statement, 8), i9: sqlite3_column_int64(statement, 9)))
            code = sqlite3_step(statement)
        }
        guard code == SQLITE_DONE else { throw failure(code) }
        return items
    }

    #if os(Linux)
        private static func dictionaries(_ store: String) throws -> () throws -> (Int, Int) {
            let entity = NSEntityDescription()
            entity.name = Self.entity
            entity.properties = names.map { name in
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.type, attribute.isOptional) = (name, .integer64, true)
                return attribute
            }
            let model = NSManagedObjectModel()
            model.entities = [entity]
            let context = try NamesData.context(model, at: store)
            return {
                let request = NSFetchRequest<NSDictionary>(entityName: Self.entity)
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = names
                let rows = try context.fetch(request)
                var sum = 0
                for row in rows {
                    for name in names { sum += (row[name] as? NSNumber)?.intValue ?? 0 }
                }
                return (rows.count, sum)
            }
        }
    #else
        private static func dictionaries(_ store: String) throws -> () throws -> (Int, Int) {
            throw MigrationError(.usage, "These names are the system's.", remedy: "Measure on Linux.")
        }
    #endif
}

extension Benchmarks {
    /// Two hundred thousand rows of ten integers, as in GRDB's benchmark of reading, by each way beside the C API.
    func reading() throws -> [Figure] {
        let rows = min(settings.rows, 200_000)
        let store = folder + "/reading.sqlite"
        try Command.child("reading", "make", store, String(rows)).run()
        var times: [ReadingWork.Way: [Double]] = [:]
        try rounds { round in
            let ways = ReadingWork.Way.allCases
            for offset in ways.indices {
                let way = ways[(round + offset) % ways.count]
                let json = try Command.child("reading", way.rawValue, store, String(rows)).run().json
                times[way, default: []].append(json.number("run"))
            }
        }
        return ReadingWork.Way.allCases.dropFirst().map { way in
            Figure(
                name: "rows as \(way) / the C API", rows: rows, ours: times[way, default: []],
                theirs: times[.statements, default: []], unit: .milliseconds
            ).inMilliseconds
        }
    }
}
