import MoultModel
import MoultSQLite

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
}

// MARK: - What becomes of a key

extension StoreLowering {
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
