import MoultModel

/// The pairs that fill a relationship of the destination, and which entity mappings carry the objects at either end.
struct Links {
    /// Seen from the owner.
    let pairs: RelationshipPairs
    let owners: [StoreLowering.Contribution]
    let destinations: [StoreLowering.Contribution]

    /// The same seen from the other end.
    var flipped: Links { Links(pairs: pairs.flipped, owners: destinations, destinations: owners) }
}

extension StoreLowering {
    /// Returns the links that fill a relationship of the destination, given with the entity that declares it: by the
    /// owners' own mappings, and for owners that leave it to the inverse, by those of the destinations.
    func links(of reference: RelationshipReference) -> [Links] {
        foundLinks.value(reference) { findLinks(of: reference) }
    }

    private func findLinks(of reference: RelationshipReference) -> [Links] {
        guard let entity = destination.model.entity(reference.entity),
            let relationship = entity.relationship(reference.name)
        else { return [] }
        let target = relationship.destinationEntityName
        let own = ownLinks(reference.name, of: reference.entity, to: target)
        guard let inverse = relationship.inverseName else { return own }
        return own
            + ownLinks(inverse, of: target, to: reference.entity).compactMap { links in
                let waiting = links.destinations.filter { ownPairs(for: reference.name, of: $0) == nil }
                guard !waiting.isEmpty else { return nil }
                return Links(pairs: links.pairs, owners: links.owners, destinations: waiting).flipped
            }
    }

    /// By the mappings of the entity `owner` and those below it.
    private func ownLinks(_ name: String, of owner: String, to target: String) -> [Links] {
        guard let entity = destination.model.entity(owner) else { return [] }
        var order: [OwnPairs] = []
        var owners: [OwnPairs: [Contribution]] = [:]
        for contribution in contributions(to: entity) {
            guard let pairs = ownPairs(for: name, of: contribution) else { continue }
            if owners[pairs] == nil { order.append(pairs) }
            owners[pairs, default: []].append(contribution)
        }
        return order.map { own in
            Links(
                pairs: own.pairs, owners: owners[own] ?? [],
                destinations: carriers(of: own.pairs.destinationEntity, into: target, by: own.taker))
        }
    }

    private struct OwnPairs: Hashable {
        let pairs: RelationshipPairs
        /// The one entity mapping whose objects are meant; nil for any.
        let taker: String?
    }

    /// The pairs that the mapping gives the relationship itself; nil where it leaves it to its inverse, or a policy
    /// makes the links.
    private func ownPairs(for name: String, of contribution: Contribution) -> OwnPairs? {
        if contribution.mapping.policy != nil { return nil }
        switch contribution.mapping.relationships[name] {
        case .relationship(let old):
            return RelationshipPairs(old, of: contribution.source, in: source).map { OwnPairs(pairs: $0, taker: nil) }
        case .path(let keys, let taker):
            return RelationshipPath(keys, of: contribution.source, in: source).map {
                OwnPairs(pairs: RelationshipPairs($0), taker: taker)
            }
        case .empty, nil: return nil
        }
    }

    /// The mappings that make objects of `new` or below it of those of `old` or below it.
    private func carriers(of old: String, into new: String, by name: String?) -> [Contribution] {
        guard let old = source.model.entity(old), let new = destination.model.entity(new) else { return [] }
        return carriers(toTableOf: destination.model.root(of: new).name).filter {
            source.model.isKind($0.source, of: old) && destination.model.isKind($0.destination, of: new)
                && (name == nil || $0.mapping.name == name)
        }
    }

    // MARK: - What becomes of a key

    /// Whether each object becomes at most one, under its own key, as its entity says.
    func keepsKeys(_ carriers: [Contribution]) -> Bool {
        carriers.allSatisfy { $0.shift == 0 && $0.values.condition == nil }
            && Set(carriers.map(\.sourceNumber)).count == carriers.count
    }

    /// The keys of source objects as `old`, each with the key and the entity number of what it becomes, as a query in
    /// parentheses.
    func translation(_ carriers: [Contribution]) -> SQLText {
        let parts = carriers.compactMap { carrier -> SQLText? in
            guard let table = source.table(for: carrier.source)?.name else { return nil }
            let condition: SQLText = carrier.values.condition.map { " AND (\($0))" } ?? ""
            return """
                SELECT s.Z_PK AS old, \(carrier.key("s.Z_PK")) AS new, \(carrier.destinationNumber) AS number \
                FROM source.\(table: table) AS s WHERE s.Z_ENT = \(carrier.sourceNumber)\(condition)
                """
        }
        let empty: SQLText = "SELECT NULL AS old, NULL AS new, NULL AS number WHERE 0"
        return "(\(parts.isEmpty ? empty : parts.united))"
    }

    /// The source numbers of those of `entity` and below that one of the mappings carries; nil when that is all of
    /// them, so that no condition is needed.
    func numbers(of entity: String, carriedBy carriers: [Contribution]) -> [Int]? {
        guard let entity = source.model.entity(entity) else { return [] }
        let fitting = Set(carriers.map(\.sourceNumber)).intersection(source.numbers(ofEntityAndDescendants: entity))
        let mayHaveRows = ([entity] + source.model.descendants(of: entity)).filter { !$0.isAbstract }
        return mayHaveRows.allSatisfy { fitting.contains(source.entityNumbers[$0.name] ?? -1) } ? nil : fitting.sorted()
    }
}

extension StoreLowering.Contribution {
    /// A key of the source as the destination has it.
    func key(_ key: SQLText) -> SQLText { shift == 0 ? key : "\(key) + \(shift)" }
}

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
