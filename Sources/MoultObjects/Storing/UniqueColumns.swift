import MoultModel
import MoultStore

/// A uniqueness constraint as a table keeps it: no two of its rows have the same values there, unless one is NULL.
///
/// A unique index is one of a whole table, also where the entity that asks for it lies below the root.
struct UniqueColumns: Hashable {
    let table: String
    let root: String
    /// As the model names them.
    let properties: [String]
    /// Names and declared types.
    let columns: [Column]

    struct Column: Hashable {
        let name: String
        let type: String
    }

    /// Every constraint of the entities of one tree, each once.
    static func all(of root: String, in writer: RowWriter) -> [UniqueColumns] {
        let model = writer.layout.model
        guard let entity = model.entity(root), let table = writer.layout.table(for: entity) else { return [] }
        let types = table.types
        var found: [UniqueColumns] = []
        for entity in [entity] + model.descendants(of: entity) {
            guard let places = writer.columns(of: entity.name) else { continue }
            for properties in entity.uniquenessConstraints {
                let columns = properties.compactMap { places.column(of: $0) }
                    .map { Column(name: $0, type: types[$0] ?? "") }
                guard columns.count == properties.count, !columns.isEmpty,
                    !found.contains(where: { Set($0.columns) == Set(columns) })
                else { continue }
                found.append(
                    UniqueColumns(table: table.name, root: root, properties: properties, columns: columns))
            }
        }
        return found
    }

    /// The position of each column's property in the shape of an entity; nil if it has not all of them.
    func positions(in entity: EntityColumns) -> [Int]? {
        let positions = columns.compactMap { column in entity.position(ofColumn: column.name) }
        return positions.count == columns.count ? positions : nil
    }
}

extension EntityColumns {
    /// The column of an attribute or a to-one.
    func column(of name: String) -> String? { shape.position(of: name).flatMap { column(at: $0) } }

    func position(ofColumn column: String) -> Int? { places.indices.first { self.column(at: $0) == column } }

    func column(at position: Int) -> String? {
        switch places[position] {
        case .attribute(let column, _), .toOne(let column, _, _): column
        case .none, .toMany: nil
        }
    }
}
