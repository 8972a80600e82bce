import MoultModel
import MoultSQLite

/// A relationship of the source as pairs of keys, wherever they are kept: the object that has it, and its destination.
struct RelationshipPairs: Hashable {
    /// The one of the two objects that a row of `table` belongs to; a join table's belongs to neither.
    enum Row: Hashable { case owner, destination, neither }

    /// The table of the rows; empty where a path of tables gives them.
    let table: String
    /// The pairs that follow each other on the way; empty where a table gives the rows.
    private(set) var path: RelationshipPath?
    let ownerColumn: String
    let destinationColumn: String
    /// The destination's place in the owner's list.
    let ownerOrderColumn: String?
    /// The owner's place in the destination's list.
    let destinationOrderColumn: String?
    let row: Row
    /// The entity of the source that each end belongs to, or one below it.
    let ownerEntity: String
    let destinationEntity: String
    /// Whether the table holds each pair of a relationship that is its own inverse, as far as it is there, from both
    /// ends.
    private(set) var isReflexive = false

    /// The same pairs seen from the other end.
    var flipped: RelationshipPairs {
        RelationshipPairs(
            table: table, path: path, ownerColumn: destinationColumn, destinationColumn: ownerColumn,
            ownerOrderColumn: destinationOrderColumn, destinationOrderColumn: ownerOrderColumn,
            row: row == .owner ? .destination : row == .destination ? .owner : .neither,
            ownerEntity: destinationEntity, destinationEntity: ownerEntity, isReflexive: isReflexive)
    }
}

extension RelationshipPairs {
    /// The pairs of a relationship that `entity` declares or inherits; nil for one that is not stored.
    init?(_ name: String, of entity: EntityDescription, in layout: StoreLayout) {
        guard let relationship = layout.model.relationship(name, of: entity),
            let declaring = layout.model.declaringEntity(of: name, in: entity),
            let storage = layout.storage(ofRelationship: name, in: entity)
        else { return nil }
        ownerEntity = declaring.name
        destinationEntity = relationship.destinationEntityName
        switch storage {
        case .foreignKey(let table, let column, _):
            self.table = table
            ownerColumn = "Z_PK"
            destinationColumn = column
            ownerOrderColumn = nil
            destinationOrderColumn = layout.table(for: entity)?.column(.order(entity: declaring.name, name: name))
            row = .owner
        case .inverseForeignKey(let table, let column, _, let order), .inverseless(let table, let column, let order):
            self.table = table
            ownerColumn = column
            destinationColumn = "Z_PK"
            ownerOrderColumn = order
            destinationOrderColumn = nil
            row = .destination
        case .joinTable(let table, let own, let other, let order, let inverseOrder, let isReflexive):
            self.isReflexive = isReflexive
            self.table = table
            ownerColumn = own
            destinationColumn = other
            ownerOrderColumn = order
            destinationOrderColumn = inverseOrder
            row = .neither
        }
    }

    /// The pairs along a path that starts at objects of just the one entity.
    init(_ path: RelationshipPath) {
        self.init(
            table: "", path: path, ownerColumn: RelationshipPath.owner, destinationColumn: RelationshipPath.destination,
            ownerOrderColumn: nil, destinationOrderColumn: nil, row: .neither, ownerEntity: path.ownerEntity,
            destinationEntity: path.destinationEntity)
    }

    /// The rows as they stand behind FROM.
    func rows(in schema: SQLText) -> SQLText { path?.query(in: schema) ?? "\(schema).\(table: table)" }

    /// Returns the value of `column` in the first pair of a row `s` of the owner's table: a column of its own where it
    /// has one, else a subquery. `filter` is a condition on the pair `p`, and `rows` is where the pairs are.
    func value(_ column: String, filter: SQLText?, in rows: SQLText) -> ColumnSource {
        if row == .owner { return .column(column) }
        let condition: SQLText = filter.map { " AND \($0)" } ?? ""
        return .expression(
            """
            (SELECT p.\(name: column) FROM \(rows) AS p \
            WHERE p.\(name: ownerColumn) = s.Z_PK\(condition) \
            ORDER BY \(ownerOrder)p.\(name: destinationColumn) LIMIT 1)
            """)
    }

    /// The first term in the order of the pairs `p` of one owner; empty where they have no order.
    var ownerOrder: SQLText { ownerOrderColumn.map { "p.\(name: $0), " } ?? "" }
}
