import MoultModel
import MoultObjects
import MoultPlan
import MoultStore

// Relationships that become to-one where an object has many: it keeps the first of those that are left, and both ends
// agree on which. Statements choose among the source's objects; only here is known which of them a policy has dropped.

extension MappedLink {
    /// The inverse as each mapping at the other end fills it, where that end has one of many to choose.
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
    /// Whether a link that statements have made has to be chosen again: they have asked the source, some of whose objects
    /// a policy has dropped, merged or split.
    func isChosenAgain(_ link: MappedLink, _ rivals: [Int: MappedLink]) -> Bool {
        guard link.isNarrowed || !rivals.isEmpty else { return false }
        return ([link.mapping] + link.targets).contains { $0.policy != nil && associations.counts[$0.position] != nil }
    }

    /// By the mapping that makes it, whom each source object chooses among those that may have it.
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

    /// Returns the owners whose stored links differ from these: rows that statements have made right stay as they are.
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
