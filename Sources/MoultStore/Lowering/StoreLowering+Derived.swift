import MoultModel
import MoultSQLite

extension StoreLowering {
    /// The statements that compute derived attributes whose stored values cannot be carried over: new ones, ones that
    /// are derived in another way, and all of them where rows that they may depend on leave.
    func derivedUpdates() -> [StoreScript.Statement] {
        let rowsLeave = mapping.entityMappings.contains { $0.destinationEntityName == nil || $0.policy != nil }
        return destination.model.entities.flatMap { entity in
            entity.attributes.filter { $0.isStored && $0.derivation != nil }.compactMap { attribute in
                rowsLeave || !isCarried(attribute, in: entity) ? update(attribute, in: entity) : nil
            }
        }
    }

    private func isCarried(_ attribute: AttributeDescription, in entity: EntityDescription) -> Bool {
        contributions(to: entity).allSatisfy { contribution in
            let old = source.model.attribute(attribute.name, of: contribution.source)
            return old?.derivation == attribute.derivation && old?.isStored == true
                && contribution.source.name == contribution.destination.name
        }
    }

    private func update(_ attribute: AttributeDescription, in entity: EntityDescription) -> StoreScript.Statement? {
        guard let derivation = attribute.derivation, derivation.filter == nil,
            let shape = DerivationShape(derivation.expression), let table = destination.table(for: entity),
            let column = destination.column(forAttribute: attribute.name, in: entity),
            let value = destination.expression(for: shape, in: entity)
        else { return nil }
        let numbers = destination.numbers(ofEntityAndDescendants: entity).sqlList
        return .init(
            .update, table.name,
            """
            UPDATE main.\(table.name.quotedName) AS t SET \(column.quotedName) = \(value) WHERE t.Z_ENT IN (\(numbers))
            """,
            "Compute \(entity.name).\(attribute.name) from \(derivation.expression).",
            rows: .counted(rows(of: [entity.name])))
    }
}

extension StoreLayout {
    /// Returns the SQL of a derivation for a row `t` of the entity's table, in `main`.
    func expression(for shape: DerivationShape, in entity: EntityDescription) -> String? {
        switch shape {
        case .now:
            // Seconds since 2001-01-01, which is Julian day 2451910.5.
            return "(julianday('now') - 2451910.5) * 86400.0"
        case .count(let relationship):
            switch storage(ofRelationship: relationship, in: entity) {
            case .inverseForeignKey(let table, let column, _, _), .inverseless(let table, let column, _),
                .joinTable(let table, let column, _, _, _, _):
                return "(SELECT COUNT(*) FROM main.\(table.quotedName) AS c WHERE c.\(column.quotedName) = t.Z_PK)"
            case .foreignKey, nil: return nil
            }
        case .value(let relationship, let attribute):
            guard case .foreignKey(_, let key, _)? = storage(ofRelationship: relationship, in: entity),
                let name = model.relationship(relationship, of: entity)?.destinationEntityName,
                let there = model.entity(name), let other = self.table(for: there)?.name,
                let column = self.column(forAttribute: attribute, in: there)
            else { return nil }
            return
                "(SELECT d.\(column.quotedName) FROM main.\(other.quotedName) AS d WHERE d.Z_PK = t.\(key.quotedName))"
        }
    }
}
