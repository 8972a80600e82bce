import MoultModel
import MoultSQLite

/// The pairs of objects of one entity of the source and those at the end of a path of relationships.
struct RelationshipPath: Hashable {
    /// The names of the two columns of its rows.
    static let (owner, destination) = ("owner", "destination")

    /// The entity whose objects, without those of sub-entities, the path starts at.
    let ownerEntity: String
    let destinationEntity: String
    private let ownerTable: String
    private let ownerNumber: Int
    private let steps: [RelationshipPairs]

    /// - Parameter keys: names of relationships; none for the objects themselves.
    /// - Returns: nil where a relationship or an entity is not in the store.
    init?(_ keys: [String], of entity: EntityDescription, in layout: StoreLayout) {
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
        destinationEntity = current.name
        ownerTable = table
        ownerNumber = number
        self.steps = steps
    }

    /// The pairs as a query in parentheses, in which one may come more than once.
    func query(in schema: SQLText) -> SQLText {
        var key: SQLText = "o.Z_PK"
        var text: SQLText = "FROM \(schema).\(table: ownerTable) AS o"
        for (place, step) in steps.enumerated() {
            let alias: SQLText = "p\(place)"
            text += " JOIN \(step.rows(in: schema)) AS \(alias) ON \(alias).\(name: step.ownerColumn) = \(key)"
            key = "\(alias).\(name: step.destinationColumn)"
        }
        return "(SELECT o.Z_PK AS owner, \(key) AS destination \(text) WHERE o.Z_ENT = \(ownerNumber))"
    }
}
