import MoultModel
import MoultPlan
import MoultSQLite

extension StoreLowering {
    /// The SQL of the expressions that a mapping gives attributes of its destination.
    /// - Throws: `unsupported` for one that is no key path through to-one relationships.
    static func expressions(
        of mapping: ResolvedEntityMapping, _ old: EntityDescription, _ new: EntityDescription,
        from source: StoreLayout, to destination: StoreLayout
    ) throws -> [String: String] {
        var expressions: [String: String] = [:]
        for case (let name, .expression(let expression)) in mapping.attributes {
            let place = "\(new.name).\(name)"
            guard case .keyPath(let path, .variable("source")) = expression,
                let (sql, attribute) = value(atPath: path, of: old, in: source),
                let target = destination.model.attribute(name, of: new),
                attribute.allowsExternalBinaryDataStorage == target.allowsExternalBinaryDataStorage
            else {
                throw MigrationError(
                    .unsupported, "\(expression.format) is not computed by statements.", place: place,
                    remedy: "Write a migration policy for it.")
            }
            expressions[name] = sql
        }
        return expressions
    }

    /// The attribute at the end of a path of to-one relationships, for a row `s` of the entity's table; nil for any
    /// other path.
    private static func value(
        atPath path: String, of entity: EntityDescription, in layout: StoreLayout
    ) -> (sql: String, attribute: AttributeDescription)? {
        var keys = path.split(separator: ".").map(String.init)
        guard let last = keys.popLast() else { return nil }
        var current = entity
        for key in keys {
            guard let relationship = layout.model.relationship(key, of: current), !relationship.isToMany,
                let next = layout.model.entity(relationship.destinationEntityName)
            else { return nil }
            current = next
        }
        guard let attribute = layout.model.attribute(last, of: current), attribute.type != .composite,
            let column = layout.column(forAttribute: last, in: current), let table = layout.table(for: current),
            let pairs = RelationshipPath(keys, of: entity, to: nil, in: layout)
        else { return nil }
        let sql = """
            (SELECT d.\(column.quotedName) FROM \(pairs.query(in: "source")) AS p \
            JOIN source.\(table.name.quotedName) AS d ON d.Z_PK = p.\(RelationshipPath.destination) \
            WHERE p.\(RelationshipPath.owner) = s.Z_PK)
            """
        return (sql, attribute)
    }
}
