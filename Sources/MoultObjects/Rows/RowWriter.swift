import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// A writer of rows and links inside its connection's open transaction. All rows are written through it.
///
/// The bulk writer for fixtures and the saves of an ``ObjectStore`` both use it. It manages keys, places in ordered
/// lists, external files, and the functions that a store's triggers call.
final class RowWriter {
    let layout: StoreLayout
    let connection: Connection
    let external: ExternalFiles
    let keys: PrimaryKeys
    /// The findings about derived attributes that nothing maintains.
    let findings: [Finding]
    /// Whether triggers run, which may look rows up while rows are written.
    let hasTriggers: Bool
    /// Whether the tables have the indexes of their foreign keys.
    var isIndexed = true
    private let system: any System
    private var statements: [String: Statement] = [:]
    private var places: [RelationshipReference: OrderKeys] = [:]
    private var entities: [String: EntityColumns] = [:]
    private var lastEntity: EntityColumns?
    private let meter = WorkMeter.current

    /// - Parameter recomputed: collects the rows that triggers compute; nil if they are not needed.
    init(
        _ connection: Connection, layout: StoreLayout, external: ExternalFiles, recomputed: RecomputedRows? = nil,
        on system: some System
    ) throws {
        (self.connection, self.layout, self.external, self.system) = (connection, layout, external, system)
        keys = PrimaryKeys(connection, layout)
        try connection.registerCoreDataStubs()
        // A function with the exact number of arguments takes precedence over the stub, which takes any.
        for function in recomputed?.functions ?? [] { try connection.register(function) }
        try connection.register(Self.dateFunction(on: system))
        for function in DerivedKeeper.functions { try connection.register(function) }
        let derived = DerivedKeeper(layout)
        for trigger in derived.triggers { try connection.execute(trigger) }
        findings = derived.findings
        hasTriggers = !layout.triggers.isEmpty || !derived.triggers.isEmpty
        // SQLite considers it unsafe that a trigger writes an R-tree, as Core Data's own triggers do.
        if !layout.virtualTables.isEmpty { try connection.execute("PRAGMA trusted_schema = ON") }
    }

    /// Returns the function that the trigger of a `now()` attribute calls. It returns the current time as dates are
    /// stored.
    private static func dateFunction(on system: some System) -> SQLiteFunction {
        SQLiteFunction("NSCoreDataNow", argumentCount: 0, isDeterministic: false, isCallableFromSchema: true) { _ in
            .real(system.now.sinceReferenceDate)
        }
    }

    var now: Timestamp { system.now }

    /// Counts an object whose row was inserted, updated or deleted.
    func noteWritten() {
        connection.objectsWritten &+= 1
        meter?.advance()
    }

    /// Notes that the links of an object are written.
    func noteLinks() { meter?.pulse(1) }

    /// Forgets the state of the previous transaction.
    func begin() {
        keys.forget()
        places = [:]
    }

    /// Forgets the last places in lists, which a statement has changed.
    func forgetPlaces() { places = [:] }

    /// Returns the compiled statement for an SQL text, which is compiled once.
    func statement(_ sql: String) throws -> Statement {
        if let known = statements[sql] { return known }
        // Callers may generate any number of texts. Past the limit, statements still in use are compiled again.
        if statements.count >= 1_000 { statements = [:] }
        let statement = try connection.prepare(sql)
        statements[sql] = statement
        return statement
    }

    /// Calls `body` for each row that a query finds for the keys. The keys are batched in a few fixed sizes, so that
    /// there are few statements to compile.
    ///
    /// - Parameter query: contains `(?)` in place of the keys.
    func forEachRow(_ query: String, keys: [Int64], _ body: (Statement) throws -> Void) throws {
        var rest = keys[...]
        var parameters = (count: 0, text: "")
        while let first = rest.first {
            let count = rest.count == 1 ? 1 : rest.count <= 16 ? 16 : 256
            let batch = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            if parameters.count != count {
                parameters = (count, "(" + repeatElement("?", count: count).joined(separator: ", ") + ")")
            }
            let statement = try statement(query.replacing("(?)", with: parameters.text))
            for position in 0..<count {
                try statement.bind(position < batch.count ? batch[position] : first, at: position + 1)
            }
            defer { statement.reset() }
            while try statement.step() { try body(statement) }
        }
    }

    // MARK: - Columns

    /// Returns the columns of an entity's objects; nil for an entity that the store does not hold.
    func columns(of entityName: String) -> EntityColumns? {
        if let lastEntity, lastEntity.shape.entity.name == entityName { return lastEntity }
        if let known = entities[entityName] {
            lastEntity = known
            return known
        }
        let columns = layout.model.entity(entityName).flatMap { EntityColumns($0, in: layout) }
        entities[entityName] = columns
        return columns
    }

    /// Returns the next place in the relationship's list of the object `owner`; nil for a relationship without order.
    func nextPlace(
        in list: RelationshipReference, of owner: Int64, table: String, ownerColumn: String, orderColumn: String?
    ) throws -> Int64? {
        guard let orderColumn else { return nil }
        let known =
            places[list]
            ?? OrderKeys(table: table, ownerColumn: ownerColumn, orderColumn: orderColumn, isIndexed: isIndexed)
        places[list] = known
        return try known.next(for: owner, self)
    }

    /// Sets columns in the row of an object; columns without a name are skipped.
    func set(_ table: String, _ key: Int64, _ columns: [(name: String?, value: Int64?)]) throws {
        let given = columns.compactMap { column in column.name.map { (name: $0, value: column.value) } }
        guard !given.isEmpty else { return }
        let assignments = given.map { "\($0.name.quotedName) = ?" }.joined(separator: ", ")
        let statement = try statement("UPDATE \(table.quotedName) SET \(assignments) WHERE Z_PK = ?")
        for (position, column) in given.enumerated() { try statement.bind(column.value, at: position + 1) }
        try statement.bind(key, at: given.count + 1)
        try statement.run()
    }

    /// Inserts a row of a join table; an existing row stays as it is.
    func insertPair(_ pair: JoinPair, _ own: Int64, _ other: Int64, order: Int64?, inverseOrder: Int64?) throws {
        let statement = try statement(pair.insertion)
        try statement.bind(own, at: 1)
        try statement.bind(other, at: 2)
        if pair.order != nil { try statement.bind(order, at: 3) }
        if pair.inverseOrder != nil { try statement.bind(inverseOrder, at: pair.order == nil ? 3 : 4) }
        try statement.run()
    }

    /// Appends a pair to both lists, in both directions if the relationship is its own inverse.
    func appendPair(_ pair: JoinPair, _ relationship: StoredRelationship, _ own: Int64, _ other: Int64) throws {
        let order = try nextPlace(
            in: relationship.reference, of: own, table: pair.table, ownerColumn: pair.own, orderColumn: pair.order)
        var inverseOrder: Int64?
        if let list = relationship.inverse, !pair.isReflexive {
            inverseOrder = try nextPlace(
                in: list, of: other, table: pair.table, ownerColumn: pair.other, orderColumn: pair.inverseOrder)
        }
        try insertPair(pair, own, other, order: order, inverseOrder: inverseOrder)
        if pair.isReflexive, own != other {
            let back = try nextPlace(
                in: relationship.reference, of: other, table: pair.table, ownerColumn: pair.own,
                orderColumn: pair.order)
            try insertPair(pair, other, own, order: back, inverseOrder: nil)
        }
    }
}

/// The columns of a join table, seen from one of its two relationships.
struct JoinPair {
    let table: String
    let own: String
    let other: String
    let order: String?
    let inverseOrder: String?
    /// Whether each pair is stored in both directions.
    let isReflexive: Bool
    /// The statement that inserts a pair, with its places in the lists.
    let insertion: String
    /// The query of the members of one list, each with its place.
    let members: String

    init?(_ storage: RelationshipStorage) {
        guard case .joinTable(let table, let own, let other, let order, let inverseOrder, let isReflexive) = storage
        else { return nil }
        (self.table, self.own, self.other) = (table, own, other)
        (self.order, self.inverseOrder, self.isReflexive) = (order, inverseOrder, isReflexive)
        let columns = [own, other, order, inverseOrder].compactMap { $0?.quotedName }
        insertion = """
            INSERT OR IGNORE INTO \(table.quotedName) (\(columns.joined(separator: ", "))) \
            VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
            """
        members = .members(table, member: other, owner: own, order: order)
    }
}

extension String {
    /// The query of the members of the list of one owner, each with its place.
    static func members(_ table: String, member: String, owner: String, order: String?) -> String {
        """
        SELECT \(member.quotedName), \(order?.quotedName ?? "NULL") FROM \(table.quotedName) \
        WHERE \(owner.quotedName) = ?
        """
    }
}

extension Statement {
    func bind(_ value: Int64?, at index: Int) throws {
        if let value { try bind(value, at: index) } else { try bindNull(at: index) }
    }
}

extension Timestamp {
    /// The seconds since 2001-01-01 00:00:00 UTC, as Core Data stores dates.
    package var sinceReferenceDate: Double { Double(seconds - 978_307_200) + Double(nanoseconds) / 1e9 }
}

/// An allocator of keys for new rows, which never gives a key twice, even across processes.
///
/// `Z_PRIMARYKEY` holds the highest key ever given. It is read and raised inside the transaction that writes the rows;
/// until that ends, no other connection can do the same.
final class PrimaryKeys {
    private let connection: Connection
    private let layout: StoreLayout
    /// The highest keys by entity number, of root entities or of persistent history's entities.
    private var highest: [Int: Int64] = [:]
    private var raised: Set<Int> = []

    init(_ connection: Connection, _ layout: StoreLayout) {
        self.connection = connection
        self.layout = layout
    }

    func forget() {
        highest = [:]
        raised = []
    }

    /// Returns the next free key in the table of a root entity.
    func next(for root: String, table: String) throws -> Int64 {
        guard let number = layout.entityNumbers[root] else { throw Self.missing(root) }
        return try next(number, table: table)
    }

    /// Returns the first of `count` free keys in the table of the root entity with that number.
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

    /// Records that a key is taken.
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
        // A store that was edited by hand may have keys above its recorded maximum.
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
