import MoultModel
import MoultSQLite
import MoultStore

/// Inserts objects of one entity with a fixed list of properties: one prepared statement for a million rows.
package final class ObjectInserter {
    package let entity: String
    private unowned let writer: ObjectWriter
    private let root: String
    private let statement: Statement
    private let slots: [Slot]
    /// Take the present moment: attributes that `now()` derives, whose trigger waits for the first update.
    private let nowParameters: [Int]

    /// What one given property fills.
    private enum Slot {
        case attribute(AttributeBinder)
        case toOne(ToOneSlot)
    }

    private struct ToOneSlot {
        var destination: EntityDescription
        var parameter: Int
        /// Takes the destination's entity number.
        var entityParameter: Int?
        /// Takes the place in the ordered list at the other end.
        var order: (parameter: Int, list: RelationshipReference, table: String, ownerColumn: String, column: String)?
        var place: String
    }

    init(_ entity: EntityDescription, properties: [String], writer: ObjectWriter) throws {
        let layout = writer.layout
        guard let table = layout.table(for: entity), let number = layout.entityNumbers[entity.name], !entity.isAbstract
        else {
            throw MigrationError(
                .usage, "\(entity.name) is abstract or has no table: it has no objects.", place: entity.name,
                remedy: "Insert an object of one of its sub-entities.")
        }
        var columns = ["Z_PK"]
        let attributes = Dictionary(
            layout.model.storedAttributes(of: entity).map { ($0.name, $0.description) },
            uniquingKeysWith: { first, _ in first })
        slots = try properties.map { name in
            let place = "\(entity.name).\(name)"
            if let attribute = attributes[name], let column = layout.column(forAttribute: name, in: entity) {
                columns.append(column)
                return .attribute(
                    AttributeBinder(
                        attribute: attribute, parameter: columns.count, external: writer.external, place: place))
            }
            return .toOne(try Self.toOne(name, of: entity, in: layout, place: place, columns: &columns))
        }
        nowParameters = layout.model.storedAttributes(of: entity).compactMap { attribute in
            guard attribute.description.derivation.flatMap({ DerivationShape($0.expression) }) == .now,
                attribute.description.type == .date, !properties.contains(attribute.name),
                let column = layout.column(forAttribute: attribute.name, in: entity)
            else { return nil }
            columns.append(column)
            return columns.count
        }
        self.entity = entity.name
        self.writer = writer
        root = table.rootEntityName
        let parameters = repeatElement("?", count: columns.count).joined(separator: ", ")
        let names = columns.map(\.quotedName).joined(separator: ", ")
        statement = try writer.connection.prepare(
            "INSERT INTO \(table.name.quotedName) (\(names), Z_ENT, Z_OPT) VALUES (\(parameters), \(number), 1)")
    }

    private static func toOne(
        _ name: String, of entity: EntityDescription, in layout: StoreLayout, place: String, columns: inout [String]
    ) throws -> ToOneSlot {
        let model = layout.model
        guard let relationship = model.relationship(name, of: entity),
            case .foreignKey(let table, let column, let entityColumn)? = layout.storage(
                ofRelationship: name, in: entity),
            let destination = model.entity(relationship.destinationEntityName)
        else {
            throw MigrationError(
                .usage, "\(place) is no stored attribute or to-one relationship.", place: place,
                remedy: "Name a property of \(entity.name); link to-many relationships afterwards.")
        }
        let inverse = model.inverse(of: relationship)
        guard inverse?.isToMany != false else {
            throw MigrationError(
                .usage, "\(place) is one to one: both objects must exist first.", place: place,
                remedy: "Link it after both objects are inserted.")
        }
        columns.append(column)
        var slot = ToOneSlot(destination: destination, parameter: columns.count, place: place)
        if let entityColumn {
            columns.append(entityColumn)
            slot.entityParameter = columns.count
        }
        if let inverse, let declaring = model.declaringEntity(of: inverse.name, in: destination),
            case .inverseForeignKey(_, _, _, let order?)? = layout.storage(
                ofRelationship: inverse.name, in: destination)
        {
            columns.append(order)
            let list = RelationshipReference(entity: declaring.name, name: inverse.name)
            slot.order = (columns.count, list, table, column, order)
        }
        return slot
    }

    /// Inserts one object.
    ///
    /// - Parameters:
    ///   - values: one for each property the inserter was made with, in that order; missing ones are nil.
    ///   - key: the `Z_PK` to give it; the next free one by default.
    /// - Throws: `dataConflict` for a value of the wrong type.
    @discardableResult
    package func insert(_ values: [PropertyValue], key: Int64? = nil) throws -> ObjectReference {
        if let key { writer.claim(key, for: root) }
        let key = key ?? writer.nextKey(for: root)
        // A statement that failed keeps the values of the row before.
        statement.clearBindings()
        try statement.bind(key, at: 1)
        for (slot, value) in zip(slots, values) { try bind(value, to: slot) }
        for parameter in nowParameters { try statement.bind(writer.now.sinceReferenceDate, at: parameter) }
        try statement.run()
        return ObjectReference(entityName: entity, primaryKey: key)
    }

    private func bind(_ value: PropertyValue, to slot: Slot) throws {
        switch (slot, value) {
        case (_, .attribute(nil)), (_, .toOne(nil)):
            break
        case (.attribute(let binder), .attribute(let value?)):
            try binder.bind(value, to: statement)
        case (.toOne(let slot), .toOne(let object?)):
            try bind(object, to: slot)
        case (.attribute(let binder), _):
            throw Self.mismatch(binder.place, "\(value)")
        case (.toOne(let slot), _):
            throw Self.mismatch(slot.place, "\(value)")
        }
    }

    private func bind(_ object: ObjectReference, to slot: ToOneSlot) throws {
        let model = writer.layout.model
        guard let entity = model.entity(object.entityName), model.isKind(entity, of: slot.destination) else {
            throw Self.mismatch(slot.place, "an object of \(object.entityName)")
        }
        try statement.bind(object.primaryKey, at: slot.parameter)
        if let parameter = slot.entityParameter, let number = writer.layout.entityNumbers[object.entityName] {
            try statement.bind(Int64(number), at: parameter)
        }
        if let order = slot.order {
            let place = try writer.nextPlace(
                in: order.list, of: object.primaryKey, table: order.table, ownerColumn: order.ownerColumn,
                orderColumn: order.column)
            try statement.bind(place, at: order.parameter)
        }
    }

    private static func mismatch(_ place: String, _ what: String) -> MigrationError {
        MigrationError(
            .dataConflict, "\(place) cannot hold \(what).", place: place,
            remedy: "Give a value of the property's own type.")
    }
}

extension ObjectWriter {
    /// Prepares to insert many objects of an entity with the given properties: stored attributes and to-one
    /// relationships.
    ///
    /// - Throws: `usage` for an entity or property that has no place in the store.
    package func inserter(_ entity: String, _ properties: [String]) throws -> ObjectInserter {
        guard let description = layout.model.entity(entity) else {
            throw MigrationError(
                .usage, "The model has no entity \(entity).", place: entity,
                remedy: "Use one of: \(layout.model.entities.map(\.name).joined(separator: ", ")).")
        }
        return try ObjectInserter(description, properties: properties, writer: self)
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
