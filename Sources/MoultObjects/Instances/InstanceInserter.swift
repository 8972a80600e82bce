import MoultModel
import MoultSQLite
import MoultStore

/// Inserts objects of one entity property by property, by one prepared statement: values, values as another store's
/// row holds them, and to-one destinations by their keys.
package final class InstanceInserter {
    package let entity: EntityColumns
    private let rows: RowInserter
    /// What inserts a row. It takes values as another store's row holds them, which must stay until this one is there.
    package let row: Statement
    private let keys: PrimaryKeys
    /// The slot of each property of the entity's shape; nil for what its own row does not hold.
    private let slots: [Int?]
    /// What binds the attribute at each position; nil for what is none that the row holds. `rows` keeps them; here they
    /// are not counted, once for each value.
    private let binders: [Unmanaged<AttributeBinder>?]

    init(_ entity: EntityColumns, in store: ObjectStore) throws {
        self.entity = entity
        rows = try RowInserter(entity, positions: entity.writtenPositions, writer: store.writer)
        row = rows.statement
        keys = store.writer.keys
        var slots = [Int?](repeating: nil, count: entity.shape.properties.count)
        for (slot, position) in entity.writtenPositions.enumerated() { slots[position] = slot }
        self.slots = slots
        binders = slots.map { [rows] slot in slot.flatMap(rows.binder).map(Unmanaged.passUnretained) }
    }

    /// A key that no object of the entity's table has or had.
    package func nextKey() throws -> Int64 { try keys.next(for: entity.root, table: entity.table) }

    /// Notes that keys up to this one are taken.
    package func claim(_ key: Int64) throws { try keys.claim(key, for: entity.root, table: entity.table) }

    /// Whether the object's own row holds the property.
    package func holds(_ position: Int) -> Bool { slots[position] != nil }

    package func begin(_ key: Int64) throws { try rows.begin(key) }

    /// - Throws: `dataConflict` for a value of another type.
    package func set(_ value: AttributeValue, at position: Int) throws {
        if let binder = binders[position] {
            try binder._withUnsafeGuaranteedRef { try $0.bind(value, to: row) }
        } else if let slot = slots[position] {
            throw rows.mismatch(slot, value.kindPhrase)
        }
    }

    /// - Throws: `dataConflict` for an object that the relationship does not lead to.
    package func set(_ destination: ObjectReference, at position: Int) throws {
        guard let slot = slots[position] else { return }
        if case .toOne(_, _, let relationship) = entity.places[position], !relationship.accepts(destination.entityName)
        {
            throw relationship.mismatch(destination.entityName)
        }
        try rows.bind(destination, at: slot)
    }

    /// Leads a to-one to a key, with the number of its entity and the place in the list at the other end, unchecked.
    package func set(key: Int64, number: Int64?, place: Int64?, at position: Int) throws {
        guard let slot = slots[position] else { return }
        try rows.bind(key: key, number: number, place: place, at: slot)
    }

    /// The parameter of ``row`` that takes an attribute's value; nil for a property that the row does not hold.
    package func parameter(of position: Int) -> Int? { binders[position]?._withUnsafeGuaranteedRef { $0.parameter } }

    package func insert() throws { try rows.insert() }
}

extension ObjectStore {
    /// - Throws: `usage` for an entity that the store does not hold or that is abstract.
    package func instanceInserter(_ entityName: String) throws -> InstanceInserter {
        try InstanceInserter(columns(of: entityName), in: self)
    }
}

extension EntityColumns {
    /// Where the value of a property lies: the column of a stored attribute.
    package func attribute(at position: Int) -> (column: String, description: AttributeDescription)? {
        if case .attribute(let column, let attribute) = places[position] { (column, attribute) } else { nil }
    }

    /// The columns of a to-one: its key, its entity's number, and the place in the ordered list at the other end.
    package func toOne(at position: Int) -> (column: String, entity: String?, order: String?)? {
        guard case .toOne(let column, let entity, let relationship) = places[position] else { return nil }
        return (column, entity, relationship.inverseOrderColumn)
    }

    package func isToMany(_ position: Int) -> Bool { if case .toMany = places[position] { true } else { false } }

    /// Whether a to-many's pairs lie in a join table.
    package func isManyToMany(_ position: Int) -> Bool {
        guard case .toMany(let relationship) = places[position], case .joinTable = relationship.storage else {
            return false
        }
        return true
    }

    /// Whether a to-one's other end is a to-one too, whose row has to follow.
    package func isOneToOne(_ position: Int) -> Bool {
        if case .toOne(_, _, let relationship) = places[position] { relationship.isOneToOne } else { false }
    }

    /// The to-one at the other end of a to-many whose members' rows hold it.
    package func inverseToOne(of position: Int) -> RelationshipReference? {
        guard case .toMany(let relationship) = places[position], case .inverseForeignKey = relationship.storage else {
            return nil
        }
        return relationship.inverse
    }
}
