import MoultModel
import MoultStore

extension ObjectCoordinator {
    /// What the store holds of an attribute or a to-one relationship, as SQL would write it, shortened: for errors.
    /// Nil where that cannot be found out.
    package func storedLiteral(_ property: String, of id: ObjectID) -> String? {
        lock.withLock { try? store(of: id).storedLiteral(property, of: id) }
    }
}

extension ObjectStore {
    fileprivate func storedLiteral(_ property: String, of id: ObjectID) throws -> String? {
        let entity = try columns(of: id.entityName)
        guard let position = entity.shape.position(of: property) else { return nil }
        let column: String
        switch entity.places[position] {
        case .attribute(let name, _), .toOne(let name, _, _): column = name.quotedName
        case .none, .toMany: return nil
        }
        let part =
            "CASE typeof(\(column)) WHEN 'text' THEN substr(\(column), 1, 40) "
            + "WHEN 'blob' THEN substr(\(column), 1, 16) ELSE \(column) END"
        return try reading {
            try connection.rows(
                "SELECT quote(\(part)) FROM \(entity.table.quotedName) WHERE Z_PK = ?", [.integer(id.key)]
            ) { $0.text(0) }.first ?? nil
        }
    }
}
