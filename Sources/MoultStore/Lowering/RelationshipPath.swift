import MoultModel
import MoultSQLite

/// The pairs of objects of one entity of the source and those at the end of a path of relationships.
struct RelationshipPath: Hashable {
    /// What the two columns of its rows are called.
    static let owner = "owner"
    static let destination = "destination"

    /// The entity whose objects, without those of sub-entities, the path starts at.
    let ownerEntity: String
    let destinationEntity: String
    private let ownerTable: String
    private let ownerNumber: Int
    private let steps: [RelationshipPairs]
    /// The table and number of the one entity that the destinations must be of; nil for any.
    private let destinationTable: String?
    private let destinationNumber: Int?

    /// - Parameters:
    ///   - keys: names of relationships; none for the objects themselves.
    ///   - destination: the entity, without sub-entities, that destinations must be of; nil for any.
    /// - Returns: nil where a relationship or an entity is not in the store.
    init?(_ keys: [String], of entity: EntityDescription, to destination: String?, in layout: StoreLayout) {
        guard let table = layout.table(for: entity)?.name, let number = layout.entityNumbers[entity.name] else {
            return nil
        }
        var steps: [RelationshipPairs] = []
        var current = entity
        for key in keys {
            guard let pairs = RelationshipPairs(key, of: current, in: layout),
                let next = layout.model.entity(pairs.destinationEntity)
            else { return nil }
            steps.append(pairs)
            current = next
        }
        ownerEntity = entity.name
        destinationEntity = destination ?? current.name
        ownerTable = table
        ownerNumber = number
        self.steps = steps
        if let destination {
            guard let table = layout.table(forEntity: destination)?.name,
                let number = layout.entityNumbers[destination]
            else { return nil }
            (destinationTable, destinationNumber) = (table, number)
        } else {
            (destinationTable, destinationNumber) = (nil, nil)
        }
    }

    /// The pairs as a query in parentheses, in which one may come more than once.
    func query(in schema: String) -> String {
        var key = "o.Z_PK"
        var text = "FROM \(schema).\(ownerTable.quotedName) AS o"
        for (place, step) in steps.enumerated() {
            let alias = "p\(place)"
            text += " JOIN \(step.rows(in: schema)) AS \(alias) ON \(alias).\(step.ownerColumn.quotedName) = \(key)"
            key = "\(alias).\(step.destinationColumn.quotedName)"
        }
        var conditions = ["o.Z_ENT = \(ownerNumber)"]
        if let destinationTable, let destinationNumber {
            text += " JOIN \(schema).\(destinationTable.quotedName) AS d ON d.Z_PK = \(key)"
            conditions.append("d.Z_ENT = \(destinationNumber)")
        }
        return """
            (SELECT o.Z_PK AS \(Self.owner), \(key) AS \(Self.destination) \(text) \
            WHERE \(conditions.joined(separator: " AND ")))
            """
    }
}
