import MoultModel
import MoultPlan
import MoultStore

// Statements and policies may make members of the same list, so the places in a list that gets an order are given here,
// when all of them exist. The script leaves the tables of policies out.

extension MigrationManager {
    /// Gives the members of ordered lists that have no place one, by key.
    func orderLists() throws {
        for table in destinationStore.layout.tables {
            let makers = mappings.filter { mapping in
                mapping.mapping.destinationEntityName.map { destinationModel.isKind($0, of: table.rootEntityName) }
                    ?? false
            }
            guard makers.contains(where: { $0.policy != nil }) else { continue }
            for column in table.columns {
                guard let key = try keyOfLists(column, in: table, makers) else { continue }
                let order = StoreLowering.makeOrder(table: table.name, order: column.name, key: key)
                try update(table.name.quotedName, if: true) { try connection.run(order.sql) }
            }
        }
        destinationStore.writer.forgetPlaces()
    }

    /// Returns the key column that identifies the lists of an order column, if some members may have no place; nil for
    /// any other column.
    private func keyOfLists(
        _ column: EntityTable.Column, in table: EntityTable, _ makers: [RunningMapping]
    ) throws -> String? {
        switch column.role {
        case .order(let entity, let name):
            let members = makers.filter { maker in
                maker.mapping.destinationEntityName.map { destinationModel.isKind($0, of: entity) } ?? false
            }
            return try members.allSatisfy { try hasPlaces(name, $0) }
                ? nil : table.column(.toOne(entity: entity, name: name))
        case .inverselessOrder(let entity, let name):
            // The lists whose members policies make are linked as a whole.
            return makers.allSatisfy { $0.policy != nil }
                ? nil : table.column(.inverselessToMany(entity: entity, name: name))
        default: return nil
        }
    }

    /// Returns whether the members that a mapping makes get their places from the source, or when they are linked.
    private func hasPlaces(_ relationship: String, _ mapping: RunningMapping) throws -> Bool {
        guard case .relationship(let old)? = mapping.mapping.relationships[relationship],
            let from = mapping.mapping.sourceEntityName
        else { return mapping.policy != nil }
        let columns = try sources.store.columns(of: from)
        guard let toOne = columns.shape.position(of: old).flatMap(columns.toOne) else { return mapping.policy != nil }
        return toOne.order != nil
    }
}
