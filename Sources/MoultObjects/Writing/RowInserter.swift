import MoultModel
import MoultSQLite
import MoultStore

/// Inserts rows of one entity, always the same properties of it, by one prepared statement.
final class RowInserter {
    let entity: EntityColumns
    /// The positions of the properties in the entity's shape; a slot is a place in this list.
    let positions: [Int]
    private let slots: [Slot]
    let statement: Statement
    private unowned let writer: RowWriter
    /// Take the present moment: attributes that `now()` derives, whose trigger waits for the first update.
    private let nowParameters: [Int]

    enum Slot {
        case attribute(AttributeBinder)
        case toOne(ToOneBinder)
    }

    /// - Throws: `usage` for an entity without objects and for a property that is no stored attribute or to-one.
    init(_ entity: EntityColumns, positions: [Int], writer: RowWriter) throws {
        guard !entity.shape.entity.isAbstract else {
            throw MigrationError(
                .usage, "\(entity.shape.entity.name) is abstract: it has no objects.", place: entity.shape.entity.name,
                remedy: "Insert an object of one of its sub-entities.")
        }
        self.entity = entity
        self.positions = positions
        self.writer = writer
        var columns = ["Z_PK"]
        slots = try positions.map { try Slot($0, of: entity, writer, columns: &columns) }
        nowParameters = entity.nowPositions.filter { !positions.contains($0) }.compactMap { position in
            guard case .attribute(let column, _) = entity.places[position] else { return nil }
            columns.append(column)
            return columns.count
        }
        let parameters = repeatElement("?", count: columns.count).joined(separator: ", ")
        let names = columns.map(\.quotedName).joined(separator: ", ")
        statement = try writer.connection.prepare(
            "INSERT INTO \(entity.table.quotedName) (\(names), Z_ENT, Z_OPT) "
                + "VALUES (\(parameters), \(entity.number), 1)")
    }

    /// Begins a row.
    func begin(_ key: Int64) throws {
        // A statement that failed keeps the values of the row before.
        statement.clearBindings()
        try statement.bind(key, at: 1)
        for parameter in nowParameters { try statement.bind(writer.now.sinceReferenceDate, at: parameter) }
    }

    /// Gives the row an attribute's value.
    func bind(_ value: AttributeValue, at slot: Int) throws {
        guard case .attribute(let binder) = slots[slot] else { throw mismatch(slot, value.kindPhrase) }
        try binder.bind(value, to: statement)
    }

    /// Gives the row a destination of a to-one, and the place behind the last in the ordered list at the other end.
    ///
    /// - Parameter placed: whether it is to have that place; it may get another later.
    func bind(_ destination: ObjectReference, at slot: Int, placed: Bool = true) throws {
        guard case .toOne(let binder) = slots[slot] else { throw mismatch(slot, "an object") }
        try binder.bind(destination, to: statement, placed: placed, writer)
    }

    /// What binds an attribute's value; nil for another property.
    func binder(of slot: Int) -> AttributeBinder? {
        if case .attribute(let binder) = slots[slot] { binder } else { nil }
    }

    /// Gives the row a destination of a to-one by its key, the number of its entity and the place in the list at the
    /// other end.
    func bind(key: Int64, number: Int64?, place: Int64?, at slot: Int) throws {
        guard case .toOne(let binder) = slots[slot] else { throw mismatch(slot, "an object") }
        try binder.bind(key: key, number: number, place: place, to: statement)
    }

    /// Ends the row.
    func insert() throws { try statement.run() }

    func mismatch(_ slot: Int, _ what: String) -> MigrationError {
        let place = entity.place(positions[slot])
        return MigrationError(
            .dataConflict, "\(place) cannot hold \(what).", place: place,
            remedy: "Give a value of the property's own type.")
    }
}

extension RowInserter.Slot {
    /// Adds the columns that a property fills.
    init(_ position: Int, of entity: EntityColumns, _ writer: RowWriter, columns: inout [String]) throws {
        switch entity.places[position] {
        case .attribute(let column, let attribute):
            columns.append(column)
            self = .attribute(
                AttributeBinder(
                    attribute: attribute, parameter: columns.count, external: writer.external,
                    place: entity.place(position)))
        case .toOne(let column, let entityColumn, let relationship):
            self = .toOne(
                ToOneBinder(
                    relationship, table: entity.table, column: column, entityColumn: entityColumn, columns: &columns))
        case .none, .toMany:
            let place = entity.place(position)
            throw MigrationError(
                .usage, "\(place) is not a stored attribute or to-one relationship.", place: place,
                remedy: "Name another property of \(entity.shape.entity.name); link to-many relationships afterwards.")
        }
    }
}

/// Binds destinations of a to-one to the parameters of its columns.
struct ToOneBinder {
    let relationship: StoredRelationship
    private let table: String
    private let column: String
    private let parameter: Int
    /// Takes the destination's entity number.
    private let entityParameter: Int?
    /// Takes the place in the ordered list at the other end.
    private let orderParameter: Int?

    init(
        _ relationship: StoredRelationship, table: String, column: String, entityColumn: String?,
        columns: inout [String]
    ) {
        self.relationship = relationship
        self.table = table
        self.column = column
        columns.append(column)
        parameter = columns.count
        entityParameter = entityColumn.map { name in
            columns.append(name)
            return columns.count
        }
        orderParameter = relationship.inverseOrderColumn.map { name in
            columns.append(name)
            return columns.count
        }
    }

    func bind(key: Int64, number: Int64?, place: Int64?, to statement: Statement) throws {
        try statement.bind(key, at: parameter)
        if let entityParameter { try statement.bind(number, at: entityParameter) }
        if let orderParameter { try statement.bind(place, at: orderParameter) }
    }

    /// - Parameter placed: whether the place in the ordered list at the other end is given too.
    func bind(_ destination: ObjectReference?, to statement: Statement, placed: Bool, _ writer: RowWriter) throws {
        try statement.bind(destination?.primaryKey, at: parameter)
        if let entityParameter {
            let number = destination.flatMap { writer.layout.entityNumbers[$0.entityName] }
            try statement.bind(number.map(Int64.init), at: entityParameter)
        }
        guard let orderParameter else { return }
        guard placed, let destination, let list = relationship.inverse else {
            try statement.bindNull(at: orderParameter)
            return
        }
        let place = try writer.nextPlace(
            in: list, of: destination.primaryKey, table: table, ownerColumn: column,
            orderColumn: relationship.inverseOrderColumn)
        try statement.bind(place, at: orderParameter)
    }
}
