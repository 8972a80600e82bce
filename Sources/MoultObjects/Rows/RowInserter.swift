import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// An inserter of rows of one entity, with a fixed set of properties and one prepared statement. It takes values,
/// values in another store's column format, and to-one destinations. Saves, policies and the bulk writer all use it.
package final class RowInserter {
    package let entity: EntityColumns
    /// The positions of the properties in the entity's shape.
    let positions: [Int]
    /// The statement that inserts a row. Values lent from another store's row must stay valid until this row is
    /// inserted.
    package let row: Statement
    private unowned let writer: RowWriter
    private let keys: PrimaryKeys
    /// The binders of the properties by position; nil for a property that the row does not hold.
    private let slots: [RowSlot?]
    /// The binders of attributes by position. `slots` retains them; here they are unretained, to save time for each
    /// value.
    private let binders: [Unmanaged<AttributeBinder>?]
    /// The parameters that take the current time: attributes derived from `now()`, whose trigger waits for the first
    /// update.
    private let nowParameters: [Int]
    private var key: Int64 = 0
    /// The columns in which the row refers to itself and whose rows a trigger counts. They are set after the row is
    /// inserted: the trigger that counts all links to a new row, and the one that adds each, would count it twice.
    private var late: [String] = []

    /// - Throws: `usage` for an abstract entity, and for a property that is not a stored attribute or to-one
    ///   relationship.
    init(_ entity: EntityColumns, positions: [Int], writer: RowWriter) throws {
        guard !entity.shape.entity.isAbstract else {
            throw MigrationError(
                .usage, "\(entity.shape.entity.name) is abstract: it has no objects.", place: entity.shape.entity.name,
                remedy: "Insert an object of one of its sub-entities.")
        }
        (self.entity, self.positions, self.writer) = (entity, positions, writer)
        keys = writer.keys
        var columns = ["Z_PK"]
        var slots = [RowSlot?](repeating: nil, count: entity.places.count)
        for position in positions { slots[position] = try RowSlot(position, of: entity, writer, columns: &columns) }
        self.slots = slots
        binders = slots.map { slot in
            if case .attribute(let binder)? = slot { Unmanaged.passUnretained(binder) } else { nil }
        }
        nowParameters = entity.nowPositions.filter { !positions.contains($0) }.compactMap { position in
            guard case .attribute(let column, _) = entity.places[position] else { return nil }
            columns.append(column)
            return columns.count
        }
        let parameters = repeatElement("?", count: columns.count).joined(separator: ", ")
        let names = columns.map(\.quotedName).joined(separator: ", ")
        row = try writer.connection.prepare(
            "INSERT INTO \(entity.table.quotedName) (\(names), Z_ENT, Z_OPT) "
                + "VALUES (\(parameters), \(entity.number), 1)")
    }

    // MARK: - Keys

    /// Returns a key that no object in the entity's table has or had.
    package func nextKey() throws -> Int64 { try keys.next(for: entity.root, table: entity.table) }

    /// Records that keys up to this one are taken.
    package func claim(_ key: Int64) throws { try keys.claim(key, for: entity.root, table: entity.table) }

    // MARK: - One row

    /// Begins a row.
    package func begin(_ key: Int64) throws {
        // A failed statement still has the values of the previous row.
        row.clearBindings()
        late.removeAll(keepingCapacity: true)
        self.key = key
        try row.bind(key, at: 1)
        for parameter in nowParameters { try row.bind(writer.now.sinceReferenceDate, at: parameter) }
    }

    /// Sets an attribute of the row.
    ///
    /// - Throws: `dataConflict` for a value of another type.
    package func set(_ value: AttributeValue, at position: Int) throws {
        if let binder = binders[position] {
            try binder._withUnsafeGuaranteedRef { try $0.bind(value, to: row) }
        } else if slots[position] != nil {
            throw mismatch(position, value.kindPhrase)
        }
    }

    /// Sets the destination of a to-one relationship of the row, and the place after the last in the ordered list at
    /// the other end.
    ///
    /// - Throws: `dataConflict` for an object of an entity that the relationship does not allow.
    package func set(_ destination: ObjectReference, at position: Int) throws {
        if case .toOne(let binder)? = slots[position], !binder.relationship.accepts(destination.entityName) {
            throw binder.relationship.mismatch(destination.entityName)
        }
        try link(destination, at: position)
    }

    /// Sets a destination whose entity the relationship is known to allow.
    ///
    /// - Parameter placed: whether to set the place in the list; it can be set later.
    func link(_ destination: ObjectReference, at position: Int, placed: Bool = true) throws {
        switch slots[position] {
        case .toOne(let binder)?:
            try binder.bind(destination, to: row, placed: placed, writer)
            try putOff(binder, destination.primaryKey)
        case .attribute?: throw mismatch(position, "an object")
        case nil: break
        }
    }

    /// Sets a to-one relationship to a key, with its entity number and the place in the list at the other end,
    /// unchecked.
    package func set(key: Int64, number: Int64?, place: Int64?, at position: Int) throws {
        guard case .toOne(let binder)? = slots[position] else { return }
        try binder.bind(key: key, number: number, place: place, to: row)
        try putOff(binder, key)
    }

    private func putOff(_ binder: ToOneBinder, _ destination: Int64) throws {
        guard destination == key, binder.isCounted else { return }
        try row.bindNull(at: binder.parameter)
        late.append(binder.column)
    }

    /// Returns the parameter of ``row`` for an attribute's value; nil for a property that the row does not hold.
    package func parameter(of position: Int) -> Int? { binders[position]?._withUnsafeGuaranteedRef { $0.parameter } }

    /// Inserts the row.
    package func insert() throws {
        try row.run()
        for column in late {
            try writer.connection.execute(
                "UPDATE \(entity.table.quotedName) SET \(column.quotedName) = Z_PK WHERE Z_PK = \(key)")
        }
        writer.noteWritten()
    }

    func mismatch(_ position: Int, _ what: String) -> MigrationError {
        let place = entity.place(position)
        return MigrationError(
            .dataConflict, "\(place) cannot hold \(what).", place: place,
            remedy: "Give a value of the property's own type.")
    }

    // MARK: - Whole rows

    /// Inserts one object.
    ///
    /// - Parameters:
    ///   - values: one for each of the inserter's properties, in that order; missing ones are nil.
    ///   - key: the `Z_PK` of the row; by default the next free one.
    /// - Throws: `dataConflict` for a value of the wrong type.
    @discardableResult
    package func insert(_ values: [PropertyValue], key: Int64? = nil) throws -> ObjectReference {
        if let key { try claim(key) }
        let key = try key ?? nextKey()
        try begin(key)
        for (position, value) in zip(positions, values) {
            switch value {
            case .attribute(nil), .toOne(nil): break
            case .attribute(let value?): try set(value, at: position)
            case .toOne(let destination?): try set(destination, at: position)
            case .toMany: throw mismatch(position, "a list of objects")
            case .undecodable: throw mismatch(position, "a value that cannot be read")
            }
        }
        try insert()
        return ObjectReference(entityName: entity.shape.entity.name, primaryKey: key)
    }
}

/// The binder of the value of one property to its columns.
enum RowSlot {
    case attribute(AttributeBinder)
    case toOne(ToOneBinder)
}

extension RowSlot {
    /// Creates the binder of a property, and appends the columns that it fills.
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
                    relationship, in: entity, column: column, entityColumn: entityColumn, writer, columns: &columns))
        case .none, .toMany:
            let place = entity.place(position)
            throw MigrationError(
                .usage, "\(place) is not a stored attribute or to-one relationship.", place: place,
                remedy: "Name another property of \(entity.shape.entity.name); link to-many relationships afterwards.")
        }
    }
}

/// A binder of to-one destinations to the parameters of the relationship's columns.
struct ToOneBinder {
    let relationship: StoredRelationship
    private let table: String
    fileprivate let column: String
    fileprivate let parameter: Int
    /// Whether the relationship leads to objects of the same table, for which triggers of the store count something.
    fileprivate let isCounted: Bool
    /// The parameter of the destination's entity number.
    private let entityParameter: Int?
    /// The parameter of the place in the ordered list at the other end.
    private let orderParameter: Int?

    init(
        _ relationship: StoredRelationship, in entity: EntityColumns, column: String, entityColumn: String?,
        _ writer: RowWriter, columns: inout [String]
    ) {
        (self.relationship, self.table, self.column) = (relationship, entity.table, column)
        isCounted =
            relationship.destinationRoot == entity.root
            && writer.layout.triggers.contains { $0.table == entity.table && $0.name.hasSuffix("_PARAMETER_INSERT") }
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

    /// - Parameter placed: whether to set the place in the ordered list at the other end too.
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

/// An updater of rows of one entity, with a fixed set of properties and one prepared statement.
final class RowUpdater {
    private let slots: [RowSlot]
    private let statement: Statement
    private let keyParameter: Int
    private unowned let writer: RowWriter

    init(_ entity: EntityColumns, positions: [Int], writer: RowWriter) throws {
        self.writer = writer
        var columns = ["Z_OPT"]
        slots = try positions.map { try RowSlot($0, of: entity, writer, columns: &columns) }
        keyParameter = columns.count + 1
        let assignments = columns.map { "\($0.quotedName) = ?" }.joined(separator: ", ")
        statement = try writer.connection.prepare("UPDATE \(entity.table.quotedName) SET \(assignments) WHERE Z_PK = ?")
    }

    /// - Parameters:
    ///   - values: one for each position, each of its property's kind.
    ///   - placed: whether a row gets its place in an ordered list together with its owner.
    func update(
        _ key: Int64, version: Int64, _ values: [(position: Int, value: ObjectValue)],
        _ reference: (ObjectID) throws -> ObjectReference, placed: (StoredRelationship, Int64) -> Bool
    ) throws {
        statement.clearBindings()
        try statement.bind(version, at: 1)
        try statement.bind(key, at: keyParameter)
        for (slot, value) in zip(slots, values) {
            switch (slot, value.value) {
            case (.attribute(let binder), .attribute(let value?)): try binder.bind(value, to: statement)
            case (.toOne(let binder), .toOne(let destination?)):
                let reference = try reference(destination)
                try binder.bind(
                    reference, to: statement, placed: placed(binder.relationship, reference.primaryKey), writer)
            // Unbound parameters are NULL.
            default: break
            }
        }
        try statement.run()
    }
}
