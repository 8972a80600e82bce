import MoultModel
import MoultStore

extension ObjectCoordinator {
    /// Returns the kind of value that the store holds of an attribute or a to-one relationship, such as `a text` or
    /// `NULL`: for errors, which never have the value itself. Nil if that cannot be found out.
    package func storedKind(_ property: String, of id: ObjectID) -> String? {
        lock.withLock { try? store(of: id).storedKind(property, of: id) }
    }
}

extension ObjectStore {
    fileprivate func storedKind(_ property: String, of id: ObjectID) throws -> String? {
        let entity = try columns(of: id.entityName)
        guard let position = entity.shape.position(of: property) else { return nil }
        let column: String
        switch entity.places[position] {
        case .attribute(let name, _), .toOne(let name, _, _): column = name.quotedName
        case .none, .toMany: return nil
        }
        let kind =
            "CASE typeof(\(column)) WHEN 'null' THEN 'NULL' WHEN 'text' THEN 'a text' WHEN 'integer' THEN 'an integer' "
            + "WHEN 'real' THEN 'a real number' ELSE 'a blob of ' || length(\(column)) || ' bytes' END"
        return try reading {
            try connection.rows(
                "SELECT \(kind) FROM \(entity.table.quotedName) WHERE Z_PK = ?", [.integer(id.key)]
            ) { $0.text(0) }.first ?? nil
        }
    }
}
