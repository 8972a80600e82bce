import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore

// MARK: - Links that carry the keys of source objects

extension MigrationManager {
    /// When all instances are there: leads links that were carried over with the keys of source objects to what has
    /// become of those, in bulk, and makes the links of mappings that are kept nowhere else.
    func leadLinksOn() throws {
        for mapping in mappings {
            guard let name = mapping.mapping.destinationEntityName, destinationModel.entity(name)?.isAbstract == false
            else { continue }
            for (relationship, source) in mapping.mapping.relationships.sorted(by: { $0.key < $1.key }) {
                guard let link = try MappedLink(relationship, of: mapping, source, self) else { continue }
                try leadOn(link)
                if link.isLeftToUs { try make(link) }
                if mapping.policy != nil, !link.isMappedElsewhere, link.isCarried || link.isLeftToUs {
                    mapping.ownRelationships.append(link.position)
                }
            }
        }
        try leadPairsOn()
    }

    /// The to-ones in the rows of one mapping that lead to source objects which became something else.
    private func leadOn(_ link: MappedLink) throws {
        guard link.isCarried, let toOne = link.entity.columns.toOne(at: link.position) else { return }
        for target in link.targets where associations.counts[target.position] != nil {
            let column = toOne.column.quotedName
            let found = { (what: String) in
                """
                (SELECT a.\(what) FROM temp.moult_associations AS a WHERE a.mapping = \(target.position) \
                AND a.source = t.\(column) AND a.entity IN (\(link.numbers)) ORDER BY a.place LIMIT 1)
                """
            }
            var assignments = ["\(column) = \(found("destination"))"]
            if let entity = toOne.entity { assignments.append("\(entity.quotedName) = \(found("entity"))") }
            if let order = toOne.order {
                assignments.append(
                    "\(order.quotedName) = CASE WHEN \(found("destination")) IS NULL THEN NULL ELSE t.\(order.quotedName) END"
                )
            }
            try connection.run(
                """
                UPDATE main.\(link.entity.columns.table.quotedName) AS t SET \(assignments.joined(separator: ", ")) \
                WHERE t.Z_ENT = \(link.entity.columns.number) AND t.\(column) IN \
                (SELECT source FROM temp.moult_associations WHERE mapping = \(target.position))
                """)
        }
    }

    /// The rows of join tables, which hold no entity: each end leads on by the exceptions of its own mappings.
    private func leadPairsOn() throws {
        for table in destinationStore.layout.joinTables {
            for column in table.keyColumns {
                guard let entity = endEntity(of: column, in: table) else { continue }
                for mapping in mappings where mapping.policy != nil && mapping.keepsKeys {
                    guard associations.counts[mapping.position] != nil,
                        let to = mapping.mapping.destinationEntityName, destinationModel.isKind(to, of: entity)
                    else { continue }
                    try leadPairsOn(table.name, column, mapping, entity)
                }
            }
        }
    }

    private func leadPairsOn(_ table: String, _ column: String, _ mapping: RunningMapping, _ entity: String) throws {
        let numbers = self.numbers(atOrBelow: entity)
        let exceptions = "temp.moult_associations AS a WHERE a.mapping = \(mapping.position)"
        let (table, column) = (table.quotedName, column.quotedName)
        try connection.run(
            """
            UPDATE OR IGNORE main.\(table) AS t SET \(column) = (SELECT a.destination FROM \(exceptions) \
            AND a.source = t.\(column) AND a.entity IN (\(numbers)) ORDER BY a.place LIMIT 1) \
            WHERE t.\(column) IN (SELECT a.source FROM \(exceptions) AND a.entity IN (\(numbers)))
            """)
        // What became nothing, and what would stand there twice; but a part of a split object may keep the key.
        try connection.run(
            """
            DELETE FROM main.\(table) WHERE \(column) IN (SELECT a.source FROM \(exceptions)) \
            AND \(column) NOT IN (SELECT a.source FROM \(exceptions) AND a.destination = a.source)
            """)
    }

    /// The entity whose keys a column of a join table holds.
    private func endEntity(of column: String, in table: JoinTable) -> String? {
        let layout = destinationStore.layout
        for reference in [table.owner]
            + table.columns.compactMap({ column -> RelationshipReference? in
                if case .source(let reference) = column.role { reference } else { nil }
            })
        {
            guard let entity = destinationModel.entity(reference.entity),
                case .joinTable(_, let own, let other, _, _, _)? = layout.storage(
                    ofRelationship: reference.name, in: entity)
            else { continue }
            if own == column { return reference.entity }
            if other == column {
                return destinationModel.relationship(reference.name, of: entity)?.destinationEntityName
            }
        }
        return nil
    }

    func numbers(atOrBelow name: String) -> String {
        destinationModel.entity(name).map { destinationStore.layout.numbers(ofEntityAndDescendants: $0) }?
            .map(String.init).joined(separator: ", ") ?? ""
    }

    // MARK: - Links that nobody else makes

    /// Makes the links that a mapping's expression gives, object by object.
    private func make(_ link: MappedLink) throws {
        let mapping = link.mapping
        guard let from = mapping.mapping.sourceEntityName else { return }
        let reader = try mapping.reader ?? InstanceReader(from, in: sources.store)
        mapping.reader = reader
        try run.forEachKey(of: mapping) { keys in
            let ends = try self.ends(of: link.path, keys.map { sources.id(from, $0) })
            for key in keys {
                guard let found = ends[sources.id(from, key)], !found.isEmpty,
                    let owner = try destinations(of: mapping, from, key).first
                else { continue }
                try lead(owner, link, to: found)
            }
            try writeWaiting()
        }
    }

    private func lead(_ owner: DestinationObject, _ link: MappedLink, to ends: [ObjectID]) throws {
        var objects: [ObjectReference] = []
        for id in ends {
            for target in link.targets {
                for object in try destinations(of: target, id.entityName, id.key)
                where destinationModel.isKind(object.entityName, of: link.destinationEntityName) {
                    if !objects.contains(object.reference) { objects.append(object.reference) }
                }
            }
        }
        guard !objects.isEmpty else { return }
        owner.change(link.position, to: link.isToMany ? .toMany(objects) : .toOne(objects[0]))
    }

    /// The source objects at the end of a path, for each of its beginnings.
    private func ends(of path: [String], _ owners: [ObjectID]) throws -> [ObjectID: [ObjectID]] {
        guard let first = path.first else {
            return Dictionary(owners.map { ($0, [$0]) }, uniquingKeysWith: { first, _ in first })
        }
        let near = try sources.store.destinations(of: first, owners: owners)
        guard path.count > 1 else { return near }
        let further = try ends(of: Array(path.dropFirst()), Array(Set(near.values.joined())))
        return near.mapValues { ids in
            var seen: Set<ObjectID> = []
            return ids.flatMap { further[$0] ?? [] }.filter { seen.insert($0).inserted }
        }
    }
}

/// One relationship of an entity mapping, with what its expression gives.
struct MappedLink {
    let mapping: RunningMapping
    let entity: DestinationEntity
    let position: Int
    let isToMany: Bool
    let destinationEntityName: String
    /// The relationships of the source that lead to the ends.
    let path: [String]
    /// The mappings whose objects the ends become.
    let targets: [RunningMapping]
    /// The entity numbers that a destination may have, as a list in SQL.
    let numbers: String
    /// Whether the mapping's rows hold keys of source objects.
    let isCarried: Bool
    /// Whether no statement and no other mapping's rows hold the link.
    let isLeftToUs: Bool
    /// Whether a mapping at the other end gives the inverse too.
    let isMappedElsewhere: Bool

    /// Nil for a relationship that the mapping does not fill.
    init?(
        _ name: String, of mapping: RunningMapping, _ source: RelationshipSource, _ manager: MigrationManager
    ) throws {
        guard let from = mapping.mapping.sourceEntityName, let to = mapping.mapping.destinationEntityName,
            let description = manager.destinationModel.entity(to).flatMap({
                manager.destinationModel.relationship(name, of: $0)
            })
        else { return nil }
        var only: String?
        switch source {
        case .empty: return nil
        case .relationship(let old): path = [old]
        case .path(let keys, let by): (path, only) = (keys, by)
        }
        guard let end = manager.sourceModel.entityName(atEndOf: path, from: from) else { return nil }
        entity = try manager.entity(to)
        guard let position = entity.columns.shape.position(of: name) else { return nil }
        self.position = position
        self.mapping = mapping
        isToMany = description.isToMany
        let destinationEntityName = description.destinationEntityName
        self.destinationEntityName = destinationEntityName
        targets = manager.mappings.filter { target in
            guard let taken = target.mapping.sourceEntityName, let made = target.mapping.destinationEntityName,
                only == nil || target.mapping.name == only
            else { return false }
            return manager.sourceModel.isKind(taken, of: end)
                && (manager.destinationModel.isKind(made, of: destinationEntityName) || target.policy != nil)
        }
        numbers = manager.numbers(atOrBelow: destinationEntityName)
        isCarried = mapping.policy == nil ? true : mapping.carried.contains(position)
        let isOwnRow = entity.columns.toOne(at: position) != nil
        let hasPolicy = mapping.policy != nil || targets.contains { $0.policy != nil }
        // The pairs of a join table are the statements' where they have a side of it.
        let isPaired = mapping.policy == nil && entity.columns.isManyToMany(position)
        let isBack = Self.isMappedBack(description, from: source, of: mapping, targets, manager)
        isMappedElsewhere = targets.contains { target in
            guard let inverse = description.inverseName else { return false }
            return ![nil, .empty].contains(target.mapping.relationships[inverse])
        }
        isLeftToUs = hasPolicy && !(isOwnRow && isCarried) && !isPaired && !isBack
    }

    /// Whether all of the mappings at the other end fill the inverse by the source's inverse, in their own rows or, of
    /// a join table, by statements.
    private static func isMappedBack(
        _ new: RelationshipDescription, from source: RelationshipSource, of mapping: RunningMapping,
        _ targets: [RunningMapping], _ manager: MigrationManager
    ) -> Bool {
        guard case .relationship(let old) = source, let inverse = new.inverseName,
            let oldEntity = mapping.mapping.sourceEntityName.flatMap(manager.sourceModel.entity),
            let oldRelationship = manager.sourceModel.relationship(old, of: oldEntity),
            let oldInverse = manager.sourceModel.inverse(of: oldRelationship)
        else { return false }
        let other = manager.destinationModel.entity(new.destinationEntityName)
            .flatMap { manager.destinationModel.relationship(inverse, of: $0) }
        return targets.allSatisfy { target in
            guard target.mapping.relationships[inverse] == .relationship(oldInverse.name), let other else {
                return false
            }
            if !other.isToMany, new.isToMany {
                guard target.policy != nil else { return true }
                return (try? manager.entity(target.mapping.destinationEntityName ?? ""))
                    .flatMap { $0.columns.shape.position(of: inverse) }
                    .map(target.carried.contains) ?? false
            }
            return other.isToMany && new.isToMany && target.policy == nil
        }
    }
}

extension ManagedObjectModel {
    /// The entity that a path of relationships leads to; nil where one of them is not there.
    fileprivate func entityName(atEndOf path: [String], from name: String) -> String? {
        path.reduce(Optional(name)) { name, key in
            name.flatMap(entity).flatMap { relationship(key, of: $0) }?.destinationEntityName
        }
    }
}
