import MoultModel
import MoultSQLite

extension ObjectReader {
    /// Some destinations of a to-many relationship.
    package struct Links: Sendable {
        package let keys: [Int64]
        /// The position after which the next destinations begin; nil if there are none.
        package let next: Position?
    }

    /// A position in the destinations of a relationship: by their order, then by key.
    package struct Position: Sendable, Hashable {
        package var order: Int64
        package var key: Int64

        package init(order: Int64, key: Int64) {
            self.order = order
            self.key = key
        }
    }

    /// Returns the to-many relationships of an entity, inherited ones included, by name.
    package func joins(of entity: String) -> [JoinContents] {
        contents.joins(of: entity).sorted { $0.relationship.precedesInByteOrder($1.relationship) }
    }

    /// Returns the destination entity of a to-one relationship; nil for any other column.
    package func destination(of column: EntityContents.Column, in entity: String) -> String? {
        guard case .toOne = column.source, let model = contents.layout?.model, let entity = model.entity(entity) else {
            return nil
        }
        return model.relationship(column.name, of: entity)?.destinationEntityName
    }

    /// Returns the next destinations of an object.
    package func links(
        _ join: JoinContents, of key: Int64, after position: Position? = nil, limit: Int = 50
    ) throws -> Links {
        let other = join.otherColumn.quotedName
        let order = join.orderColumn.map { "ifnull(\($0.quotedName), 0)" }
        var values: [SQLiteValue] = [.integer(key)]
        var condition = ""
        if let position {
            // Without an order, the table's index finds the next destination.
            condition = order.map { " AND (\($0), \(other)) > (?, ?)" } ?? " AND \(other) > ?"
            values += (order == nil ? [] : [.integer(position.order)]) + [.integer(position.key)]
        }
        let sql =
            "SELECT \(order ?? "0"), \(other) FROM \(join.table.quotedName) WHERE \(join.ownColumn.quotedName) = ?"
            + "\(condition) ORDER BY \(order.map { $0 + ", " } ?? "")\(other) LIMIT \(limit + 1)"
        let found = try rows(sql, values) { Position(order: $0.integer(0), key: $0.integer(1)) }
        let shown = found.prefix(limit)
        return Links(keys: shown.map(\.key), next: found.count > limit ? shown.last : nil)
    }
}
