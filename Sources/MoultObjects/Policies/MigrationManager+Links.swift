import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore

// MARK: - Links that carry the keys of source objects

extension MigrationManager {
    /// Updates links that were carried over with the keys of source objects to the objects made from these, in bulk,
    /// and makes the mappings' links that are stored nowhere else. Called when all instances exist.
    func leadLinksOn() throws {
        isMakingLinks = true
        defer { isMakingLinks = false }
        var links: [MappedLink] = []
        for mapping in mappings {
            guard let name = mapping.mapping.destinationEntityName, destinationModel.entity(name)?.isAbstract == false
            else { continue }
            for (relationship, source) in mapping.mapping.relationships.sorted(by: { $0.key < $1.key }) {
                guard let link = try MappedLink(relationship, of: mapping, source, self) else { continue }
                links.append(link)
                try leadOn(link)
                if mapping.policy != nil, !link.isMappedElsewhere, link.isCarried || link.isLeftToUs {
                    mapping.ownRelationships.append(relationship)
                }
            }
        }
        try orderLists()
        // To-one relationships choose first; the order of a list follows from the objects that chose it.
        links = links.filter { !$0.isToMany } + links.filter(\.isToMany)
        var open: [MappedLink] = []
        for link in links {
            let rivals = try link.rivals(self)
            try make(link, rivals)
            if rivals.isEmpty, !link.isNarrowed { open.append(link) }
        }
        try leadPairsOn()
        for link in open { try complete(link) }
    }

    /// Updates the to-one relationships in one mapping's rows whose source objects did not simply keep their keys.
    private func leadOn(_ link: MappedLink) throws {
        guard link.isCarried, let toOne = link.entity.columns.toOne(at: link.position) else { return }
        for target in link.targets {
            let column = toOne.column.quotedName
            let associated = associations.table
            let found = { (what: String) in
                """
                (SELECT a.\(what) FROM \(associated) AS a WHERE a.mapping = \(target.position) \
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
            try update(link.entity.columns.table.quotedName, if: associations.hasExceptions(target)) {
                try connection.run(
                    """
                    UPDATE main.\(link.entity.columns.table.quotedName) AS t SET \(assignments.joined(separator: ", ")) \
                    WHERE t.Z_ENT = \(link.entity.columns.number) AND t.\(column) IN \
                    (SELECT source FROM \(associated) WHERE mapping = \(target.position))
                    """)
            }
        }
    }

    /// Performs a task that reads every row of a table.
    func update(_ table: String, if isNeeded: Bool, _ body: () throws -> Void) throws {
        var rows: Int64 = 0
        if pieces != nil, isNeeded {
            // A table without a rowid has no highest one.
            let highest = try connection.attempt { try connection.integer("SELECT max(rowid) FROM main.\(table)") }
            rows = (highest ?? nil) ?? 0
        }
        try once(
            Self.sentenceOfLinks, seconds: CostModel.statement + Double(rows) * CostModel.update, if: isNeeded, body)
    }

    /// The work on the links that hold keys of source objects.
    package static let sentenceOfLinks = "Update the links to the objects that policies have made."

    /// Updates the rows of join tables. They hold no entity, so each end follows the exceptions of its own mappings.
    private func leadPairsOn() throws {
        for table in destinationStore.layout.joinTables {
            for column in table.keyColumns {
                guard let entity = endEntity(of: column, in: table) else { continue }
                for mapping in mappings where mapping.policy != nil && mapping.keepsKeys {
                    guard let to = mapping.mapping.destinationEntityName, destinationModel.isKind(to, of: entity)
                    else { continue }
                    try update(table.name.quotedName, if: associations.hasExceptions(mapping)) {
                        try leadPairsOn(table.name, column, mapping, entity)
                    }
                }
            }
        }
    }

    private func leadPairsOn(_ table: String, _ column: String, _ mapping: RunningMapping, _ entity: String) throws {
        let numbers = self.numbers(atOrBelow: entity)
        let exceptions = "\(associations.table) AS a WHERE a.mapping = \(mapping.position)"
        let (table, column) = (table.quotedName, column.quotedName)
        try connection.run(
            """
            UPDATE OR IGNORE main.\(table) AS t SET \(column) = (SELECT a.destination FROM \(exceptions) \
            AND a.source = t.\(column) AND a.entity IN (\(numbers)) ORDER BY a.place LIMIT 1) \
            WHERE t.\(column) IN (SELECT a.source FROM \(exceptions) AND a.entity IN (\(numbers)))
            """)
        // Delete rows whose object is gone, and rows that would be duplicates; but a part of a split object may keep
        // the key.
        try connection.run(
            """
            DELETE FROM main.\(table) WHERE \(column) IN (SELECT a.source FROM \(exceptions)) \
            AND \(column) NOT IN \
            (SELECT a.source FROM \(exceptions) AND a.destination = a.source AND a.entity IN (\(numbers)))
            """)
    }

    /// Returns the entity whose keys a column of a join table holds.
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

    // MARK: - Links made object by object

    /// Makes the links that a mapping's expression gives, object by object.
    ///
    /// - Parameter rivals: the inverse links that choose for themselves, by the positions of the mappings that make
    ///   them.
    private func make(_ link: MappedLink, _ rivals: [Int: MappedLink]) throws {
        let mapping = link.mapping
        guard let from = mapping.mapping.sourceEntityName else { return }
        let isNeeded = link.isLeftToUs || isChosenAgain(link, rivals)
        try forEachKey(of: mapping, link.sentence, if: isNeeded) { keys in
            let ends = try self.ends(of: link.path, keys.map { sources.id(from, $0) })
            let choices = try choices(of: Set(ends.values.joined()), rivals)
            var led: [(owner: DestinationObject, objects: [ObjectReference])] = []
            for key in keys {
                guard let found = ends[sources.id(from, key)], !found.isEmpty || !link.isLeftToUs,
                    // A merged object has the links of the object it was made from, and gets those of the others later.
                    try associations.entries(mapping: mapping.position, source: key)?.first?.isMerged != true,
                    let owner = try destinations(of: mapping, from, key).first
                else { continue }
                let objects = try objects(link, at: found, choosing: owner, choices)
                if !objects.isEmpty || !link.isLeftToUs { led.append((owner, objects)) }
            }
            if !link.isLeftToUs { led = try differing(led, link) }
            for (owner, objects) in led {
                guard let position = link.position(in: owner) else { continue }
                owner.change(position, to: link.isToMany ? .toMany(objects) : .toOne(objects.first))
            }
            try writeWaiting()
        }
    }

    /// Returns the objects made from the ends, except those that choose another owner. A to-one relationship takes the
    /// first.
    private func objects(
        _ link: MappedLink, at ends: [ObjectID], choosing owner: DestinationObject,
        _ choices: [Int: [ObjectID: ObjectReference]]
    ) throws -> [ObjectReference] {
        var objects: [ObjectReference] = []
        for id in ends {
            for target in link.targets {
                let isFree = choices[target.position].map { $0[id] == owner.reference } ?? true
                for object in try destinations(of: target, id.entityName, id.key)
                where destinationModel.isKind(object.entityName, of: link.destinationEntityName) {
                    // If the first object chooses another owner, do not try the second: the other end relies on the
                    // first.
                    if !isFree, !link.isToMany { return [] }
                    if isFree, !objects.contains(object.reference) { objects.append(object.reference) }
                    if !link.isToMany { return objects }
                }
            }
        }
        return objects
    }

    /// Returns the source objects at the end of a path, for each object at its start.
    func ends(of path: [String], _ owners: [ObjectID]) throws -> [ObjectID: [ObjectID]] {
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

// When an object with many destinations keeps only one, it keeps the first of those left, and both ends agree on which.
// Statements choose among the source's objects; only this code knows which of them a policy has dropped.

extension MappedLink {
    /// Returns the inverse as each mapping at the other end fills it, if that end must choose one of many.
    func rivals(_ manager: MigrationManager) throws -> [Int: MappedLink] {
        guard let inverseName else { return [:] }
        var rivals: [Int: MappedLink] = [:]
        for target in targets {
            guard let source = target.mapping.relationships[inverseName],
                let link = try MappedLink(inverseName, of: target, source, manager), link.isNarrowed
            else { continue }
            rivals[target.position] = link
        }
        return rivals
    }
}

extension MigrationManager {
    /// Whether a link made by statements must be chosen again, because a policy has dropped, merged or split some of
    /// the source objects among which they chose.
    func isChosenAgain(_ link: MappedLink, _ rivals: [Int: MappedLink]) -> Bool {
        guard link.isNarrowed || !rivals.isEmpty else { return false }
        return ([link.mapping] + link.targets).contains { $0.policy != nil && associations.hasExceptions($0) }
    }

    /// Returns the owner that each source object chooses among the possible ones, by the mapping that makes the link.
    func choices(of ends: Set<ObjectID>, _ rivals: [Int: MappedLink]) throws -> [Int: [ObjectID: ObjectReference]] {
        try rivals.mapValues { rival in
            let ends = ends.filter { $0.entityName == rival.mapping.mapping.sourceEntityName }
            let owners = try self.ends(of: rival.path, Array(ends))
            return try owners.compactMapValues { try first(of: $0, rival) }
        }
    }

    private func first(of ends: [ObjectID], _ link: MappedLink) throws -> ObjectReference? {
        for id in ends {
            for target in link.targets {
                let found = try destinations(of: target, id.entityName, id.key).first {
                    destinationModel.isKind($0.entityName, of: link.destinationEntityName)
                }
                if let found { return found.reference }
            }
        }
        return nil
    }

    /// Returns the owners whose stored links differ from these, so that correct rows stay as they are.
    func differing(
        _ led: [(owner: DestinationObject, objects: [ObjectReference])], _ link: MappedLink
    ) throws -> [(owner: DestinationObject, objects: [ObjectReference])] {
        let present = try present(link.name, of: led.map(\.owner.reference))
        return led.filter { owner, objects in
            let stored = present[owner.reference, default: []]
            return link.isOrdered ? stored != objects : Set(stored) != Set(objects)
        }
    }
}
