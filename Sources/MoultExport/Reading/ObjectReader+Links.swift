import MoultModel
import MoultSQLite
import MoultStore

extension ObjectReader {
    /// Some destinations of a to-many relationship.
    package struct Links: Sendable {
        package let keys: [Int64]
        /// The position at which the next destinations begin; nil if there are none.
        package let next: Position?
    }

    /// A place in the destinations of a relationship: by their order, then by key.
    package struct Position: Sendable, Hashable {
        package var order: Int64
        package var key: Int64

        package init(order: Int64, key: Int64) {
            self.order = order
            self.key = key
        }
    }

    /// The to-many relationships of an entity, its parents' included, by name.
    package func joins(of entity: String) -> [JoinContents] {
        guard let model = contents.layout?.model, let entity = model.entity(entity) else { return [] }
        let lineage = model.lineage(of: entity).map(\.name)
        return contents.joins.filter { lineage.contains($0.entity) }
            .sorted { $0.relationship.precedesInByteOrder($1.relationship) }
    }

    /// The entity that a to-one relationship leads to; nil for a column that is none.
    package func destination(of column: EntityContents.Column, in entity: String) -> String? {
        guard case .toOne = column.source, let model = contents.layout?.model, let entity = model.entity(entity) else {
            return nil
        }
        return model.relationships(of: entity).first { $0.name == column.name }?.destinationEntityName
    }

    /// The next destinations of an object.
    package func links(
        _ join: JoinContents, of key: Int64, after position: Position? = nil, limit: Int = 50
    ) throws -> Links {
        let other = join.otherColumn.quotedName
        let order = join.orderColumn.map { "ifnull(\($0.quotedName), 0)" }
        var values: [SQLiteValue] = [.integer(key)]
        var condition = ""
        if let position {
            // Without an order the index of the table leads to the next one.
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

    /// A word for each object: its name, its title or another text of it. Objects without one are left out.
    package func labels(of entityName: String, keys: [Int64]) throws -> [Int64: String] {
        guard !keys.isEmpty, let entity = contents.whole(entityName), let column = entity.label else { return [:] }
        let list = Set(keys).map(String.init).joined(separator: ", ")
        let sql =
            "SELECT Z_PK, substr(\(column.quotedName), 1, 80) FROM \(entity.table.quotedName) WHERE Z_PK IN (\(list))"
        let found = try rows(sql) { row in row.text(1).map { (row.integer(0), $0) } }
        return Dictionary(found.compactMap(\.self), uniquingKeysWith: { first, _ in first })
    }
}

extension EntityContents {
    /// The column with the text that best says which object it is.
    fileprivate var label: String? {
        let texts: [(name: String, column: String)] = columns.compactMap { column in
            guard case .attribute(let stored, .string, _) = column.source else { return nil }
            return (column.name.lowercased(), stored)
        }
        for word in ["name", "title", "label", "text"] {
            if let text = texts.first(where: { $0.name == word }) { return text.column }
        }
        return texts.first?.column
    }
}
