import MoultModel
import MoultSQLite

/// The choice of the entity of a relationship's destination: by the model alone, or by the number next to the key.
package struct EntityChoice {
    /// The entity that the relationship names.
    package let name: String
    /// The table that holds its rows.
    package let table: String
    /// The entities of the store by number; empty where the table holds one entity only.
    let names: [Int64: String]

    /// Nil if the store does not hold the destination, which belongs to another configuration.
    ///
    /// - Parameter isTrusted: take it that a destination of an entity without sub-entities is of that entity, which
    ///   only a damaged store belies.
    package init?(_ relationship: RelationshipDescription, in layout: StoreLayout, isTrusted: Bool = false) {
        name = relationship.destinationEntityName
        guard let entity = layout.model.entity(name), let table = layout.table(for: entity)?.name else { return nil }
        self.table = table
        let tree = layout.numbers(ofEntityAndDescendants: isTrusted ? entity : layout.model.root(of: entity))
        names =
            tree.count == 1
            ? [:] : Dictionary(layout.entityNumbers.map { (Int64($1), $0) }, uniquingKeysWith: { first, _ in first })
    }

    package var isFixed: Bool { names.isEmpty }

    /// The destination in a row whose column `key` holds its key and whose column `entity` its number; nil if either is
    /// nothing of the kind. A key that leads to no row keeps the name that the relationship has.
    package func reference(_ row: Statement, key: Int, entity: Int) -> ObjectReference? {
        guard row.storageClass(key) == .integer else { return nil }
        let primaryKey = row.integer(key)
        if isFixed || row.isNull(entity) { return ObjectReference(entityName: name, primaryKey: primaryKey) }
        return names[row.integer(entity)].map { ObjectReference(entityName: $0, primaryKey: primaryKey) }
    }

    /// Selects the destination's key, and its entity number where that is needed, from the row `row` of a to-one.
    package func columns(key column: String, entity entityColumn: String?, of row: String, schema: String) -> [String] {
        let key = "\(row).\(column.quotedName)"
        guard !isFixed else { return [key] }
        let found = "(SELECT d.Z_ENT FROM \(schema).\(table.quotedName) AS d WHERE d.Z_PK = \(key))"
        return [key, entityColumn.map { "ifnull(\(row).\($0.quotedName), \(found))" } ?? found]
    }
}
