import MoultModel
import MoultSQLite

/// The destinations of one to-many relationship for all objects of a table, in the order of the objects' keys: one
/// query that runs next to the one for the objects.
final class ToManyCursor {
    private let statement: Statement
    private let destination: EntityChoice
    private var isAtEnd = false
    private var owner: Int64?

    init(_ storage: RelationshipStorage, destination: EntityChoice, over connection: Connection, schema: String) throws
    {
        self.destination = destination
        statement = try connection.prepare(
            storage.destinationsQuery(destination, schema: schema.quotedName) { "typeof(\($0)) = 'integer'" })
    }

    /// The destinations of the object with that key. Keys must be asked for in ascending order.
    func destinations(of key: Int64) throws -> PropertyValue {
        var references: [ObjectReference] = []
        var fault: UndecodableValue?
        if owner == nil { try advance() }
        while let owner, owner <= key {
            if owner == key {
                if let reference = destination.reference(statement, key: 1, entity: 2) {
                    references.append(reference)
                } else if fault == nil {
                    fault = UndecodableValue(
                        reason: "a destination that is not an object of the store", bytes: statement.cell(1).bytes)
                }
            }
            try advance()
        }
        return fault.map(PropertyValue.undecodable) ?? .toMany(references)
    }

    private func advance() throws {
        // A statement that has ended would begin again.
        guard !isAtEnd else { return }
        isAtEnd = try !statement.step()
        owner = isAtEnd ? nil : statement.integer(0)
    }
}

extension RelationshipStorage {
    /// Selects the owner's key, the destination's key and, where the destination's entity is not fixed, its number;
    /// ordered by owner, then by the order of the relationship.
    ///
    /// - Parameter condition: makes a condition of the name of the column that holds the owner's key.
    /// - Throws: `internal` for a to-one, which has no list.
    package func destinationsQuery(
        _ destination: EntityChoice, schema: String, where condition: (_ ownerKey: String) -> String
    ) throws -> String {
        switch self {
        case .inverseForeignKey(let table, let column, _, let order), .inverseless(let table, let column, let order):
            let key = column.quotedName
            let entity = destination.isFixed ? "" : ", Z_ENT"
            let place = order.map { "\($0.quotedName), " } ?? ""
            return """
                SELECT \(key), Z_PK\(entity) FROM \(schema).\(table.quotedName)
                WHERE \(condition(key)) ORDER BY \(key), \(place)Z_PK
                """
        case .joinTable(let table, let ownColumn, let otherColumn, let order, _, _):
            let (own, other) = ("j.\(ownColumn.quotedName)", "j.\(otherColumn.quotedName)")
            let place = order.map { "j.\($0.quotedName), " } ?? ""
            let entity = destination.isFixed ? "" : ", d.Z_ENT"
            let join =
                destination.isFixed
                ? "" : " LEFT JOIN \(schema).\(destination.table.quotedName) AS d ON d.Z_PK = \(other)"
            return """
                SELECT \(own), \(other)\(entity) FROM \(schema).\(table.quotedName) AS j\(join)
                WHERE \(condition(own)) ORDER BY \(own), \(place)\(other)
                """
        case .foreignKey:
            throw MigrationError(
                .internal, "A to-one relationship has no list of destinations.", remedy: "Report this as a bug.")
        }
    }
}
