import MoultModel
import MoultSQLite
import MoultStore

extension ObjectWriter {
    /// Makes `destinations` destinations of a relationship of `object`, in their order, behind those it has.
    ///
    /// Both ends are written: the inverse of a to-one, the row of a join table, the place in an ordered list.
    /// - Throws: `usage` for a relationship that is not stored, `dataConflict` for more than one object in a to-one
    ///   and for an object of the wrong entity.
    package func link(_ object: ObjectReference, _ relationship: String, to destinations: [ObjectReference]) throws {
        let link = try Link(object, relationship, layout)
        try link.check(destinations, layout.model)
        switch link.storage {
        case .foreignKey(let table, let column, let entityColumn):
            if let destination = destinations.first {
                try setToOne(link, table, column, entityColumn, to: destination)
            }
        case .inverseForeignKey(let table, let column, let entityColumn, let orderColumn):
            for destination in destinations {
                let order = try place(in: link.reference, of: object.primaryKey, table, column, orderColumn)
                try set(
                    table, of: destination,
                    [(column, object.primaryKey), (entityColumn, number(of: object)), (orderColumn, order)])
            }
        case .inverseless(let table, let column, let orderColumn):
            for destination in destinations {
                let order = try place(in: link.reference, of: object.primaryKey, table, column, orderColumn)
                try set(table, of: destination, [(column, object.primaryKey), (orderColumn, order)])
            }
        case .joinTable(let table, let ownColumn, let otherColumn, let orderColumn, let inverseColumn, let isReflexive):
            let pair = PairTable(
                name: table, own: ownColumn, other: otherColumn, order: orderColumn, inverseOrder: inverseColumn)
            for destination in destinations {
                try insertPair(link, pair, destination)
                // A pair of a relationship that is its own inverse is stored in both directions (MORE 9).
                if isReflexive, destination.primaryKey != object.primaryKey {
                    try insertPair(try Link(destination, relationship, layout), pair, object)
                }
            }
        }
    }

    // MARK: - To-one

    private func setToOne(
        _ link: Link, _ table: String, _ column: String, _ entityColumn: String?, to destination: ObjectReference
    ) throws {
        var orderColumn: String?
        var order: Int64?
        let back = link.inverse.flatMap { layout.storage(ofRelationship: $0.name, in: link.destination) }
        switch (back, link.inverseReference) {
        case (.inverseForeignKey(_, _, _, let inverseOrder?), let list?):
            orderColumn = inverseOrder
            order = try place(in: list, of: destination.primaryKey, table, column, inverseOrder)
        case (.foreignKey(let backTable, let backColumn, let backEntity), _):
            try set(
                backTable, of: destination,
                [(backColumn, link.object.primaryKey), (backEntity, number(of: link.object))])
        default:
            break
        }
        try set(
            table, of: link.object,
            [(column, destination.primaryKey), (entityColumn, number(of: destination)), (orderColumn, order)])
    }

    /// Sets the columns that there are in the row of an object.
    private func set(_ table: String, of object: ObjectReference, _ columns: [(name: String?, value: Int64?)]) throws {
        let given = columns.compactMap { column in column.name.map { (name: $0, value: column.value) } }
        let assignments = given.map { "\($0.name.quotedName) = ?" }.joined(separator: ", ")
        let values = given.map { $0.value.map(SQLiteValue.integer) ?? .null } + [.integer(object.primaryKey)]
        try statement("UPDATE \(table.quotedName) SET \(assignments) WHERE Z_PK = ?").run(values)
    }

    // MARK: - Many-to-many

    private struct PairTable {
        let name: String
        let own: String
        let other: String
        let order: String?
        let inverseOrder: String?
    }

    private func insertPair(_ link: Link, _ pair: PairTable, _ destination: ObjectReference) throws {
        let order = try place(in: link.reference, of: link.object.primaryKey, pair.name, pair.own, pair.order)
        var inverseOrder: Int64?
        if let list = link.inverseReference {
            inverseOrder = try place(in: list, of: destination.primaryKey, pair.name, pair.other, pair.inverseOrder)
        }
        let columns: [(name: String?, value: Int64?)] = [
            (pair.own, link.object.primaryKey), (pair.other, destination.primaryKey), (pair.order, order),
            (pair.inverseOrder, inverseOrder),
        ]
        let given = columns.compactMap { column in column.name.map { (name: $0, value: column.value) } }
        let names = given.map(\.name.quotedName).joined(separator: ", ")
        let parameters = repeatElement("?", count: given.count).joined(separator: ", ")
        // A pair that is linked already stays as it is.
        try statement("INSERT OR IGNORE INTO \(pair.name.quotedName) (\(names)) VALUES (\(parameters))")
            .run(given.map { $0.value.map(SQLiteValue.integer) ?? .null })
    }

    private func place(
        in list: RelationshipReference, of owner: Int64, _ table: String, _ column: String, _ orderColumn: String?
    ) throws -> Int64? {
        try orderColumn.map {
            try nextPlace(in: list, of: owner, table: table, ownerColumn: column, orderColumn: $0)
        }
    }

    private func number(of object: ObjectReference) -> Int64? {
        layout.entityNumbers[object.entityName].map(Int64.init)
    }
}

/// A relationship of one object, resolved.
private struct Link {
    let object: ObjectReference
    let reference: RelationshipReference
    let description: RelationshipDescription
    let destination: EntityDescription
    let inverse: RelationshipDescription?
    let inverseReference: RelationshipReference?
    let storage: RelationshipStorage

    init(_ object: ObjectReference, _ name: String, _ layout: StoreLayout) throws {
        let place = "\(object.entityName).\(name)"
        guard let entity = layout.model.entity(object.entityName),
            let description = layout.model.relationship(name, of: entity),
            let declaring = layout.model.declaringEntity(of: name, in: entity),
            let storage = layout.storage(ofRelationship: name, in: entity),
            let destination = layout.model.entity(description.destinationEntityName)
        else {
            throw MigrationError(
                .usage, "\(place) is no stored relationship.", place: place,
                remedy: "Name a relationship of \(object.entityName) that is not transient.")
        }
        self.object = object
        reference = RelationshipReference(entity: declaring.name, name: name)
        self.description = description
        self.destination = destination
        inverse = layout.model.inverse(of: description)
        inverseReference = inverse.flatMap { inverse in
            layout.model.declaringEntity(of: inverse.name, in: destination).map {
                RelationshipReference(entity: $0.name, name: inverse.name)
            }
        }
        self.storage = storage
    }

    func check(_ destinations: [ObjectReference], _ model: ManagedObjectModel) throws {
        let place = "\(object.entityName).\(description.name)"
        for reference in destinations {
            guard let entity = model.entity(reference.entityName), model.isKind(entity, of: destination) else {
                throw MigrationError(
                    .dataConflict, "\(place) leads to \(destination.name), not to \(reference.entityName).",
                    place: place,
                    remedy: "Link an object of \(destination.name).")
            }
        }
        if !description.isToMany, destinations.count > 1 {
            throw MigrationError(
                .dataConflict, "\(place) is to one, and \(destinations.count) objects were given.", place: place,
                remedy: "Give one object.")
        }
    }
}
