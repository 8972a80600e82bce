import MoultModel
import MoultSQLite
import MoultStore

/// Inserts objects of one entity with a fixed list of properties: one prepared statement for a million rows.
package final class ObjectInserter {
    package let entity: String
    private let rows: RowInserter
    private let keys: PrimaryKeys

    init(_ entity: EntityColumns, properties: [String], writer: RowWriter) throws {
        let positions = try properties.map { name in
            guard let position = entity.shape.position(of: name) else {
                throw MigrationError(
                    .usage, "\(entity.shape.entity.name) has no property \(name).",
                    place: "\(entity.shape.entity.name).\(name)",
                    remedy: "Name a property of \(entity.shape.entity.name).")
            }
            if case .toOne(_, _, let relationship) = entity.places[position], relationship.isOneToOne {
                throw MigrationError(
                    .usage, "\(relationship.place) is one to one: both objects must exist first.",
                    place: relationship.place, remedy: "Link it after both objects are inserted.")
            }
            return position
        }
        rows = try RowInserter(entity, positions: positions, writer: writer)
        keys = writer.keys
        self.entity = entity.shape.entity.name
    }

    /// Inserts one object.
    ///
    /// - Parameters:
    ///   - values: one for each property the inserter was made with, in that order; missing ones are nil.
    ///   - key: the `Z_PK` to give it; the next free one by default.
    /// - Throws: `dataConflict` for a value of the wrong type.
    @discardableResult
    package func insert(_ values: [PropertyValue], key: Int64? = nil) throws -> ObjectReference {
        let (root, table) = (rows.entity.root, rows.entity.table)
        if let key { try keys.claim(key, for: root, table: table) }
        let key = try key ?? keys.next(for: root, table: table)
        try rows.begin(key)
        for (slot, value) in values.prefix(rows.positions.count).enumerated() {
            switch value {
            case .attribute(nil), .toOne(nil): break
            case .attribute(let value?): try rows.bind(value, at: slot)
            case .toOne(let destination?): try bind(destination, at: slot)
            case .toMany: throw rows.mismatch(slot, "a list of objects")
            case .undecodable: throw rows.mismatch(slot, "a value that cannot be read")
            }
        }
        try rows.insert()
        return ObjectReference(entityName: entity, primaryKey: key)
    }

    private func bind(_ destination: ObjectReference, at slot: Int) throws {
        if case .toOne(_, _, let relationship) = rows.entity.places[rows.positions[slot]],
            !relationship.accepts(destination.entityName)
        {
            throw rows.mismatch(slot, "an object of \(destination.entityName)")
        }
        try rows.bind(destination, at: slot)
    }
}

extension ObjectWriter {
    /// Prepares to insert many objects of an entity with the given properties: stored attributes and to-one
    /// relationships.
    ///
    /// - Throws: `usage` for an entity or property that has no place in the store.
    package func inserter(_ entity: String, _ properties: [String]) throws -> ObjectInserter {
        guard let columns = rows.columns(of: entity) else {
            throw MigrationError(
                .usage, "The store holds no objects of \(entity).", place: entity,
                remedy: "Use one of: \(layout.model.entities.map(\.name).joined(separator: ", ")).")
        }
        return try ObjectInserter(columns, properties: properties, writer: rows)
    }

    /// Inserts one object; ``inserter(_:_:)`` is faster for many.
    @discardableResult
    package func insert(_ entity: String, _ values: [String: PropertyValue], key: Int64? = nil) throws
        -> ObjectReference
    {
        let names = values.keys.sorted { $0.precedesInByteOrder($1) }
        return try inserter(entity, names).insert(names.map { values[$0] ?? .attribute(nil) }, key: key)
    }
}
