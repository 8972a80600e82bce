import MoultModel
import MoultSQLite

extension ObjectReader {
    /// Some destinations of a to-many relationship.
    package struct Links: Sendable {
        package let keys: [Int64]
        /// The position before which the previous destinations end; nil if there are none.
        package let previous: Position?
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
        contents.joins(of: entity).inByteOrder { $0.relationship }
    }

    /// Returns the destination entity of a to-one relationship; nil for any other column.
    package func destination(of column: EntityContents.Column, in entity: String) -> String? {
        guard case .toOne = column.source, let model = contents.layout?.model, let entity = model.entity(entity) else {
            return nil
        }
        return model.relationship(column.name, of: entity)?.destinationEntityName
    }

    /// Returns a page of the destinations of an object.
    package func links(
        _ join: JoinContents, of key: Int64, at place: PagePlace<Position> = .first, limit: Int = 50
    ) throws -> Links {
        let (sign, direction) = place.isBackward ? ("<", " DESC") : (">", "")
        let other = join.otherColumn.quotedName
        let order = join.orderColumn.map { "ifnull(\($0.quotedName), 0)" }
        var values: [SQLiteValue] = [.integer(key)]
        var condition = ""
        if let position = place.element {
            // Without an order, the table's index finds the next destination.
            condition = order.map { " AND (\($0), \(other)) \(sign) (?, ?)" } ?? " AND \(other) \(sign) ?"
            values += (order == nil ? [] : [.integer(position.order)]) + [.integer(position.key)]
        }
        let sql =
            "SELECT \(order ?? "0"), \(other) FROM \(join.table.quotedName) WHERE \(join.ownColumn.quotedName) = ?"
            + "\(condition) ORDER BY \(order.map { "\($0)\(direction), " } ?? "")\(other)\(direction) LIMIT \(limit + 1)"
        let found = try rows(sql, values) { Position(order: $0.integer(0), key: $0.integer(1)) }
        let read = Array(found.prefix(limit))
        let shown = place.isBackward ? read.reversed() : read
        let (previous, next) = place.neighbours(shown, more: found.count > limit ? read.last : nil)
        return Links(keys: shown.map(\.key), previous: previous, next: next)
    }
}
