import MoultModel

/// The pairs that fill a destination relationship, and the entity mappings that migrate the objects at either end.
package struct Links {
    /// The pairs, seen from the owner.
    let pairs: RelationshipPairs
    let owners: [StoreLowering.RowSource]
    let destinations: [StoreLowering.RowSource]

    /// The same links, seen from the other end.
    var flipped: Links { Links(pairs: pairs.flipped, owners: destinations, destinations: owners) }
}

extension StoreLowering {
    /// Returns the links that fill a relationship of the destination, given with its declaring entity. They come from
    /// the owners' own mappings or, if those leave the relationship to its inverse, from the mappings of the
    /// destinations.
    package func links(of reference: RelationshipReference) -> [Links] {
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

    /// Returns the links from the mappings of the entity `owner` and its descendants.
    private func ownLinks(_ name: String, of owner: String, to target: String) -> [Links] {
        guard let entity = destination.model.entity(owner) else { return [] }
        var order: [OwnPairs] = []
        var owners: [OwnPairs: [RowSource]] = [:]
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
        /// The only entity mapping whose objects are included; nil for any.
        let taker: String?
    }

    /// Returns the pairs that the mapping itself gives the relationship; nil if the mapping leaves it to the inverse,
    /// or if a policy creates the links.
    private func ownPairs(for name: String, of contribution: RowSource) -> OwnPairs? {
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

    /// Returns the mappings that turn objects of `old` or its descendants into objects of `new` or its descendants.
    private func carriers(of old: String, into new: String, by name: String?) -> [RowSource] {
        guard let old = source.model.entity(old), let new = destination.model.entity(new) else { return [] }
        return carriers(toTableOf: destination.model.root(of: new).name).filter {
            source.model.isKind($0.source, of: old) && destination.model.isKind($0.destination, of: new)
                && (name == nil || $0.mapping.name == name)
        }
    }

    // MARK: - Translation of keys

    /// Returns whether each object becomes at most one object with the same key, determined by its entity alone.
    func keepsKeys(_ carriers: [RowSource]) -> Bool {
        carriers.allSatisfy { $0.shift == 0 && $0.values.condition == nil }
            && Set(carriers.map(\.sourceNumber)).count == carriers.count
    }

    /// Returns a query in parentheses for the keys of source objects as `old`, each with the key and entity number of
    /// the resulting object.
    func translation(_ carriers: [RowSource]) -> SQLText {
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

    /// Returns the source numbers of `entity` and its descendants that one of the mappings migrates; nil if these are
    /// all of them, so that no condition is needed.
    func numbers(of entity: String, carriedBy carriers: [RowSource]) -> [Int]? {
        guard let entity = source.model.entity(entity) else { return [] }
        let fitting = Set(carriers.map(\.sourceNumber)).intersection(source.numbers(ofEntityAndDescendants: entity))
        let mayHaveRows = ([entity] + source.model.descendants(of: entity)).filter { !$0.isAbstract }
        return mayHaveRows.allSatisfy { fitting.contains(source.entityNumbers[$0.name] ?? -1) } ? nil : fitting.sorted()
    }
}

extension StoreLowering.RowSource {
    /// Returns the key in the destination for a key of the source.
    func key(_ key: SQLText) -> SQLText { shift == 0 ? key : "\(key) + \(shift)" }
}

/// A relationship of the source as pairs of keys, independent of their storage: the object that has it, and its
/// destination.
package struct RelationshipPairs: Hashable {
    /// The object of the pair that a row of `table` belongs to; neither for a join table.
    enum Row: Hashable { case owner, destination, neither }

    /// The table of the rows; empty if they come from a path of tables.
    let table: String
    /// The path of consecutive pairs; nil if the rows come from a table.
    private(set) var path: RelationshipPath?
    let ownerColumn: String
    let destinationColumn: String
    /// The destination's position in the owner's list.
    let ownerOrderColumn: String?
    /// The owner's position in the destination's list.
    let destinationOrderColumn: String?
    let row: Row
    /// The source entities of both ends; an object may also be of a descendant entity.
    package let ownerEntity: String
    package let destinationEntity: String
    /// Whether the relationship is its own inverse and the table contains each existing pair from both ends.
    private(set) var isReflexive = false

    /// The same pairs, seen from the other end.
    var flipped: RelationshipPairs {
        RelationshipPairs(
            table: table, path: path, ownerColumn: destinationColumn, destinationColumn: ownerColumn,
            ownerOrderColumn: destinationOrderColumn, destinationOrderColumn: ownerOrderColumn,
            row: row == .owner ? .destination : row == .destination ? .owner : .neither,
            ownerEntity: destinationEntity, destinationEntity: ownerEntity, isReflexive: isReflexive)
    }
}

extension RelationshipPairs {
    /// Reads the pairs of a relationship that `entity` declares or inherits; nil if it is not stored.
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

    /// Creates the pairs along a path that starts at objects of exactly one entity.
    init(_ path: RelationshipPath) {
        self.init(
            table: "", path: path, ownerColumn: RelationshipPath.owner, destinationColumn: RelationshipPath.destination,
            ownerOrderColumn: nil, destinationOrderColumn: nil, row: .neither, ownerEntity: path.ownerEntity,
            destinationEntity: path.destinationEntity)
    }

    /// Returns the rows as written after FROM.
    func rows(in schema: SQLText) -> SQLText { path?.query(in: schema) ?? "\(schema).\(table: table)" }

    /// Returns the value of `column` in the first pair of a row `s` of the owner's table: the row's own column if it
    /// has one, or else a subquery. `filter` is a condition on the pair `p`, and `rows` are the rows with the pairs.
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

    /// The first sort term for the pairs `p` of one owner; empty if they have no order.
    var ownerOrder: SQLText { ownerOrderColumn.map { "p.\(name: $0), " } ?? "" }
}

/// The pairs of one source entity's objects and the objects at the end of a path of relationships.
struct RelationshipPath: Hashable {
    /// The names of the two columns in the path's rows.
    static let (owner, destination) = ("owner", "destination")

    /// The entity at the start of the path, not including objects of sub-entities.
    let ownerEntity: String
    let destinationEntity: String
    private let ownerTable: String
    private let ownerNumber: Int
    private let steps: [RelationshipPairs]

    /// - Parameter keys: the names of relationships; none for the objects themselves.
    /// - Returns: nil if a relationship or an entity is not in the store.
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

    /// Returns the pairs as a query in parentheses, which may return a pair more than once.
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
