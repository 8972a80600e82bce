import MoultModel

extension RelationshipStorage {
    /// The storage of every relationship that the tables have columns for, by the entity that declares it.
    static func all(
        of model: ManagedObjectModel, joinTables: [JoinTable], tables: (_ root: String) -> EntityTable?
    ) -> [RelationshipReference: RelationshipStorage] {
        var storages: [RelationshipReference: RelationshipStorage] = [:]
        for joinTable in joinTables { add(joinTable, to: &storages, model) }
        for entity in model.entities {
            guard let own = tables(model.root(of: entity).name) else { continue }
            for relationship in entity.relationships where !relationship.isTransient {
                let reference = RelationshipReference(entity: entity.name, name: relationship.name)
                guard storages[reference] == nil else { continue }
                guard let destination = model.entity(relationship.destinationEntityName) else { continue }
                let there = tables(model.root(of: destination).name)
                storages[reference] =
                    relationship.isToMany
                    ? toMany(relationship, reference, model, destination: destination, table: there)
                    : toOne(reference, table: own)
            }
        }
        return storages
    }

    private static func toOne(_ reference: RelationshipReference, table: EntityTable) -> RelationshipStorage? {
        guard let column = table.column(.toOne(entity: reference.entity, name: reference.name)) else { return nil }
        let entityColumn = table.column(.toOneEntity(entity: reference.entity, name: reference.name))
        return .foreignKey(table: table.name, column: column, entityColumn: entityColumn)
    }

    private static func toMany(
        _ relationship: RelationshipDescription, _ reference: RelationshipReference, _ model: ManagedObjectModel,
        destination: EntityDescription, table: EntityTable?
    ) -> RelationshipStorage? {
        guard let table else { return nil }
        if let inverse = relationship.inverseName,
            let declaring = model.declaringEntity(of: inverse, in: destination),
            let column = table.column(.toOne(entity: declaring.name, name: inverse))
        {
            return .inverseForeignKey(
                table: table.name, column: column,
                entityColumn: table.column(.toOneEntity(entity: declaring.name, name: inverse)),
                orderColumn: table.column(.order(entity: declaring.name, name: inverse)))
        }
        guard let column = table.column(.inverselessToMany(entity: reference.entity, name: reference.name)) else {
            return nil
        }
        let order = table.column(.inverselessOrder(entity: reference.entity, name: reference.name))
        return .inverseless(table: table.name, column: column, orderColumn: order)
    }

    /// A join table serves both of its relationships, each seen from its own side.
    private static func add(
        _ joinTable: JoinTable, to storages: inout [RelationshipReference: RelationshipStorage],
        _ model: ManagedObjectModel
    ) {
        for column in joinTable.columns {
            guard case .source(let reference) = column.role else { continue }
            guard let other = joinTable.columns.first(where: { $0.isKey && $0.name != column.name }) else { continue }
            var inverseOrder: String?
            var isReflexive = true
            if case .source(let inverse) = other.role {
                inverseOrder = joinTable.column(.order(inverse))
                isReflexive = false
            }
            storages[reference] = .joinTable(
                table: joinTable.name, ownColumn: column.name, otherColumn: other.name,
                orderColumn: joinTable.column(.order(reference)), inverseOrderColumn: inverseOrder,
                isReflexive: isReflexive)
        }
    }
}
