import MoultModel
import MoultStore

// Core Data runs a mapping's relationship mappings for every object associated with a source object. Rows that take the
// mapping's values, and join tables, already have their links. This file completes the others: objects that a policy
// has inserted and associated itself, the further parts of a split object, and merged objects.

extension MigrationManager {
    /// Adds the missing links of one relationship to these objects, and counts the links that none of them can take.
    func complete(_ link: MappedLink) throws {
        let mapping = link.mapping
        guard mapping.policy != nil, let from = mapping.mapping.sourceEntityName,
            link.isLeftToUs || !link.isHeldByMembers
        else { return }
        try forEachKey(of: mapping, link.sentence, if: associations.hasExceptions(mapping)) { keys in
            let made = try associations.entries(mapping: mapping.position, from: keys[0], to: keys[keys.count - 1])
                .filter { !$0.value.isEmpty }
            let sources = made.keys.sorted()
            let ends = try self.ends(of: link.path, sources.map { self.sources.id(from, $0) })
            var completion = LinkCompletion(link)
            for key in sources {
                guard let found = ends[self.sources.id(from, key)], !found.isEmpty, let made = made[key] else {
                    continue
                }
                let owners = try made.compactMap { entry in
                    try entityName(entry.entity).map { try object(.init(entityName: $0, primaryKey: entry.key)) }
                }
                completion.add(owners, leadingTo: try found.map { try self.made(of: $0, link) })
            }
            if try completion.run(self) { completedLinks.insert(link.sentence) }
            try writeWaiting()
            guard completion.lost > 0, run.reads?.isRead(link.path[0], of: from) != true else { return }
            mapping.counts.lostLinks[link.path[0], default: 0] += completion.lost
        }
        try order(at: link, if: completedLinks.contains(link.sentence))
    }

    /// Returns the objects that one end of a link has become, of any entity.
    private func made(of end: ObjectID, _ link: MappedLink) throws -> [ObjectReference] {
        try link.targets.flatMap { try destinations(of: $0, end.entityName, end.key) }.map(\.reference)
    }

    /// Returns the stored destinations of objects, in order.
    func present(_ relationship: String, of owners: [ObjectReference]) throws -> [ObjectReference: [ObjectReference]] {
        let found = try destinationStore.destinations(
            of: relationship, owners: owners.map { destinationID($0.entityName, $0.primaryKey) })
        return Dictionary(found.map { ($0.reference, $1.map(\.reference)) }, uniquingKeysWith: { first, _ in first })
    }

    /// Restores the source's order in the ordered lists at the other end of a completed to-one relationship.
    private func order(at link: MappedLink, if isNeeded: Bool) throws {
        guard !link.isToMany, let inverse = link.inverseName else { return }
        for target in link.targets {
            guard isNeeded, let source = target.mapping.relationships[inverse],
                let list = try MappedLink(inverse, of: target, source, self), list.isOrdered,
                let from = target.mapping.sourceEntityName
            else {
                pieces?.skip()
                continue
            }
            try forEachKey(of: target, list.sentence) { keys in
                let ends = try self.ends(of: list.path, keys.map { sources.id(from, $0) })
                var wanted: [(owner: DestinationObject, members: [ObjectReference])] = []
                for key in keys {
                    guard let found = ends[sources.id(from, key)], found.count > 1,
                        let owner = try destinations(of: target, from, key).first
                    else { continue }
                    wanted.append((owner, try found.flatMap { try made(of: $0, list) }))
                }
                let present = try self.present(inverse, of: wanted.map(\.owner.reference))
                for (owner, members) in wanted {
                    guard let position = list.position(in: owner) else { continue }
                    let old = present[owner.reference, default: []]
                    let places = Dictionary(members.enumerated().map { ($1, $0) }, uniquingKeysWith: min)
                    let new = old.filter { places[$0] != nil }.sorted {
                        places[$0, default: 0] < places[$1, default: 0]
                    }
                    // Objects that a policy has added to the list itself come last.
                    let all = new + old.filter { places[$0] == nil }
                    if all != old { owner.change(position, to: .toMany(all)) }
                }
                try writeWaiting()
            }
        }
    }
}

/// The objects of one batch that may lack links of a relationship, with their possible destinations.
private struct LinkCompletion {
    /// The number of links that no object could take.
    private(set) var lost: Int64 = 0
    private let link: MappedLink
    private var sources: [(owners: [DestinationObject], ends: [[ObjectReference]])] = []

    init(_ link: MappedLink) { self.link = link }

    /// - Parameters:
    ///   - owners: the objects made from one source object.
    ///   - ends: for each object that the source object leads to, the objects made from it.
    mutating func add(_ owners: [DestinationObject], leadingTo ends: [[ObjectReference]]) {
        sources.append((owners, ends))
    }

    /// Adds the missing links; returns false if there are none.
    mutating func run(_ manager: MigrationManager) throws -> Bool {
        let owners = sources.flatMap(\.owners).filter { link.position(in: $0) != nil }
        var present = try manager.present(link.name, of: Array(Set(owners.map(\.reference))))
        var takers = try takers(manager)
        var changed: [ObjectReference: DestinationObject] = [:]
        for (owners, ends) in sources {
            var isSet = false
            for owner in owners {
                guard let position = link.position(in: owner) else { continue }
                if try manager.links.isSet(position, of: owner) {
                    isSet = true
                    continue
                }
                let all = ends.flatMap {
                    link.isToMany ? $0.filter(isKind(manager)) : $0.first(where: isKind(manager)).map { [$0] } ?? []
                }
                for end in all where link.isToMany || present[owner.reference, default: []].isEmpty {
                    guard !present[owner.reference, default: []].contains(end),
                        takers?[end, default: owner.reference] ?? owner.reference == owner.reference
                    else { continue }
                    takers?[end] = owner.reference
                    present[owner.reference, default: []].append(end)
                    changed[owner.reference] = owner
                }
            }
            if isSet { continue }
            let held = Set(owners.flatMap { present[$0.reference] ?? [] })
            lost += Int64(ends.count { !$0.isEmpty && held.isDisjoint(with: $0) })
        }
        for (reference, owner) in changed {
            guard let position = link.position(in: owner), let ends = present[reference] else { continue }
            owner.change(position, to: link.isToMany ? .toMany(ends) : .toOne(ends.first))
        }
        return !changed.isEmpty
    }

    private func isKind(_ manager: MigrationManager) -> (ObjectReference) -> Bool {
        { manager.destinationModel.isKind($0.entityName, of: link.destinationEntityName) }
    }

    /// Returns the object that leads to each end, if only one may lead there; nil if several may.
    private func takers(_ manager: MigrationManager) throws -> [ObjectReference: ObjectReference]? {
        guard let inverse = link.inverseName, link.isInverseToOne else { return nil }
        let ends = Set(sources.flatMap { $0.ends.joined() }).filter(isKind(manager))
        return try manager.present(inverse, of: Array(ends)).compactMapValues(\.first)
    }
}

extension ObjectID {
    fileprivate var reference: ObjectReference { ObjectReference(entityName: entityName, primaryKey: key) }
}
