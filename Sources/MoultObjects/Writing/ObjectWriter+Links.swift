import MoultModel
import MoultStore

extension ObjectWriter {
    /// Makes `destinations` destinations of a relationship of `object`, in their order, behind those it has.
    ///
    /// Both ends are written: the inverse of a to-one, the row of a join table, the place in an ordered list.
    /// - Throws: `usage` for a relationship that is not stored, `dataConflict` for more than one object in a to-one
    ///   and for an object of the wrong entity.
    package func link(_ object: ObjectReference, _ relationship: String, to destinations: [ObjectReference]) throws {
        guard let stored = rows.columns(of: object.entityName)?.relationship(relationship) else {
            let place = "\(object.entityName).\(relationship)"
            throw MigrationError(
                .usage, "\(place) is not a stored relationship.", place: place,
                remedy: "Name a relationship of \(object.entityName) that is not transient.")
        }
        try check(destinations, for: stored)
        switch stored.storage {
        case .foreignKey(let table, let column, let entityColumn):
            if let destination = destinations.first {
                try setToOne(of: object, stored, table, column, entityColumn, to: destination)
            }
        case .inverseForeignKey(let table, let column, let entityColumn, let orderColumn):
            for destination in destinations {
                let order = try rows.nextPlace(
                    in: stored.reference, of: object.primaryKey, table: table, ownerColumn: column,
                    orderColumn: orderColumn)
                try rows.set(
                    table, destination.primaryKey,
                    [(column, object.primaryKey), (entityColumn, number(of: object)), (orderColumn, order)])
            }
        case .inverseless(let table, let column, let orderColumn):
            for destination in destinations {
                let order = try rows.nextPlace(
                    in: stored.reference, of: object.primaryKey, table: table, ownerColumn: column,
                    orderColumn: orderColumn)
                try rows.set(
                    table, destination.primaryKey, [(column, object.primaryKey), (orderColumn, order)])
            }
        case .joinTable:
            guard let pair = JoinPair(stored.storage) else { return }
            for destination in destinations {
                try rows.appendPair(pair, stored, object.primaryKey, destination.primaryKey)
            }
        }
    }

    private func setToOne(
        of object: ObjectReference, _ relationship: StoredRelationship, _ table: String, _ column: String,
        _ entityColumn: String?, to destination: ObjectReference
    ) throws {
        var order: Int64?
        if let list = relationship.inverse, let orderColumn = relationship.inverseOrderColumn {
            order = try rows.nextPlace(
                in: list, of: destination.primaryKey, table: table, ownerColumn: column, orderColumn: orderColumn)
        } else if case .foreignKey(let backTable, let backColumn, let backEntity)? = relationship.inverseStorage {
            try rows.set(
                backTable, destination.primaryKey,
                [(backColumn, object.primaryKey), (backEntity, number(of: object))])
        }
        try rows.set(
            table, object.primaryKey,
            [
                (column, destination.primaryKey), (entityColumn, number(of: destination)),
                (relationship.inverseOrderColumn, order),
            ])
    }

    private func number(of object: ObjectReference) -> Int64? {
        layout.entityNumbers[object.entityName].map(Int64.init)
    }

    private func check(_ destinations: [ObjectReference], for relationship: StoredRelationship) throws {
        let place = relationship.place
        for destination in destinations where !relationship.accepts(destination.entityName) {
            throw relationship.mismatch(destination.entityName)
        }
        if !relationship.description.isToMany, destinations.count > 1 {
            throw MigrationError(
                .dataConflict,
                "\(place) is to one, and \(Quantity.count(destinations.count, "object was", plural: "objects were")) given.",
                place: place,
                remedy: "Give one object.")
        }
    }
}

extension StoredRelationship {
    func mismatch(_ entityName: String) -> MigrationError {
        let destination = description.destinationEntityName
        return MigrationError(
            .dataConflict, "\(place) leads to \(destination), not to \(entityName).", place: place,
            remedy: "Link an object of \(destination).")
    }
}
