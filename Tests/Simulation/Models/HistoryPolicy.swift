import MoultModel
import MoultObjects
import MoultPlan

extension HistoryMapping {
    /// A policy for the objects of exactly one entity: drops those of some keys, makes two of those of others, computes
    /// an attribute, and sets to-ones itself in its second pass.
    struct Policy: Codable, Sendable {
        let entity: Int
        let remainder: Int64
        let change: Change?
        /// Whether it makes two objects of some.
        var splits: Bool?
        var related: [Related]?

        /// A to-one that the second pass sets to what its destination has become.
        struct Related: Codable, Sendable {
            let old: String
            let new: String
        }

        func drops(_ key: Int64) -> Bool { key % 3 == remainder }
        func doubles(_ key: Int64) -> Bool { splits == true && key % 3 == (remainder + 1) % 3 }
    }
}

extension HistoryMapping.Policy {
    /// A policy for an entity of the last two of these versions; nil where none has a place for one.
    init?(_ models: [HistoryModel], _ random: inout HistoryRandom) {
        guard let new = models.last, let old = models.dropLast().last else { return nil }
        let places = new.entities.filter {
            !$0.isAbstract && old.entity($0.id)?.isAbstract == false && !old.isNeeded($0.id) && !new.isNeeded($0.id)
        }
        guard let place = places.randomElement(using: &random) else { return nil }
        let attributes = new.lineage(place.id).flatMap(\.attributes).filter {
            !$0.isDistinct && $0.description.type != .transformable
        }
        let change = attributes.randomElement(using: &random).map { attribute in
            let sources = old.lineage(place.id).flatMap(\.attributes).shuffled(using: &random).prefix(2)
            return HistoryMapping.Change(
                entity: place.id, attribute: attribute, sources: Array(sources), means: .closure)
        }
        self.init(entity: place.id, remainder: .random(in: 0..<3, using: &random), change: change)
        if Bool.random(using: &random), HistoryModel.canSplit(place.id, models) { splits = true }
        if Bool.random(using: &random) { related = HistoryModel.plainToOnes(of: place.id, old, new) }
    }
}

extension HistoryModel {
    /// An end of a link as an entity sees it, and the other one.
    private struct Side {
        let link: Link
        let mine: End?
        let theirs: End?
        /// The entity that the other end is declared by.
        let far: Int
    }

    private func sides(of id: Int) -> [Side] {
        links.flatMap { link in
            let forward = Side(link: link, mine: link.end, theirs: link.inverse, far: link.far)
            let backward = Side(link: link, mine: link.inverse, theirs: link.end, far: link.end.entity)
            return (isKind(id, of: link.end.entity) ? [forward] : []) + (isKind(id, of: link.far) ? [backward] : [])
        }
    }

    /// Whether the version before has the link in the same form.
    private func isSame(_ link: Link, in old: HistoryModel) -> Bool {
        guard let before = old.link(link.id), before.destination == link.destination,
            before.ends.count == link.ends.count
        else { return false }
        return zip(before.ends, link.ends).allSatisfy { $0.entity == $1.entity && $0.isToMany == $1.isToMany }
            && !(before.ends + link.ends).contains(where: \.isOrdered)
    }

    /// Whether what becomes of the second of two objects is known by the last version's models alone: its key is the
    /// next of a table that was one entity's all the time, no value has to be another, and of each link either both
    /// have it or the first.
    fileprivate static func canSplit(_ id: Int, _ models: [HistoryModel]) -> Bool {
        guard let new = models.last, let old = models.dropLast().last else { return false }
        let roots = models.filter { $0.entity(id) != nil }.map { $0.root(of: id) }
        let attributes = (old.lineage(id) + new.lineage(id)).flatMap(\.attributes)
        guard Set(roots).count == 1, !attributes.contains(where: \.isDistinct) else { return false }
        let sides = new.sides(of: id)
        guard Set(sides.map(\.link.id)).count == sides.count else { return false }
        return sides.allSatisfy { side in
            guard new.isSame(side.link, in: old), !side.link.isRequired,
                !side.link.ends.contains(where: { $0.limit != nil })
            else { return false }
            // What has no inverse leads to the first; a member of a list without one is in no other.
            guard let mine = side.mine else { return side.theirs?.isToMany == false }
            return side.theirs.map { mine.isToMany || $0.isToMany } ?? !mine.isToMany
        }
    }

    /// The to-ones of an entity that lead to exactly one entity, which they have in both versions.
    fileprivate static func plainToOnes(of id: Int, _ old: Self, _ new: Self) -> [HistoryMapping.Policy.Related] {
        new.sides(of: id).compactMap { side in
            guard let mine = side.mine, !mine.isToMany, side.theirs?.isToMany != false,
                new.isSame(side.link, in: old), let before = old.link(side.link.id),
                [old, new].allSatisfy({ $0.family(of: side.far).map(\.id) == [side.far] }),
                [old, new].allSatisfy({ $0.entity(side.far)?.isAbstract == false })
            else { return nil }
            let isForward = mine.entity == side.link.end.entity && mine.name == side.link.end.name
            return (isForward ? before.end : before.inverse).map { .init(old: $0.name, new: mine.name) }
        }
    }
}

final class HistoryPolicy: EntityMigrationPolicy {
    private let policy: HistoryMapping.Policy
    /// The names of the entity mappings, by their source entities.
    private let mappings: [String: String]

    init(_ policy: HistoryMapping.Policy, mappings: [String: String]) {
        (self.policy, self.mappings) = (policy, mappings)
    }

    override func createDestinationInstances(
        forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        guard !policy.drops(source.objectID.key) else {
            source.outcome = .dropped(reason: "its key")
            return
        }
        for _ in 0..<(policy.doubles(source.objectID.key) ? 2 : 1) {
            let made = try manager.makeDestinationInstance(forSource: source)
            guard let change = policy.change else { continue }
            made[change.name] = change.value(of: change.sources.map { HistoryValues.text(source[$0.description.name]) })
        }
    }

    override func createRelationships(
        forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
        guard let related = policy.related, !related.isEmpty else { return }
        let sources = try manager.sourceInstances(
            forEntityMappingName: mapping.name, destinationInstances: [destination])
        for relationship in related {
            let old = sources.first?.object(relationship.old)
            let made = try old.flatMap { old in
                try mappings[old.entityName].map {
                    try manager.destinationInstances(forEntityMappingName: $0, sourceInstances: [old])
                }
            }
            destination.setObject(made?.first, for: relationship.new)
        }
    }
}

// MARK: - The slow and obvious meaning

extension HistoryWorld {
    /// Without the objects that a policy drops.
    func dropping(by mapping: HistoryMapping?) -> HistoryWorld {
        guard let policy = mapping?.policy else { return self }
        return removing { $0.entity == policy.entity && policy.drops(Int64($0.key)) }
    }

    /// With a second object for each that a policy splits: with the same values, and the same links where the other end
    /// may have both.
    ///
    /// - Parameter keys: the highest keys that were given, by root entities.
    func splitting(by mapping: HistoryMapping?, in model: HistoryModel, after keys: inout [Int: Int]) -> HistoryWorld {
        guard let policy = mapping?.policy else { return self }
        var world = self
        let root = model.root(of: policy.entity)
        let split = objects.filter { $0.value.entity == policy.entity && policy.doubles(Int64($0.value.key)) }.keys
        for number in byKey(Array(split)) {
            guard var second = objects[number] else { continue }
            keys[root, default: 0] += 1
            second.key = keys[root] ?? 0
            let other = Self.number(ofSecond: second)
            world.objects[other] = second
            for link in model.links {
                if model.isKind(policy.entity, of: link.end.entity), link.inverse?.isToMany != false {
                    for end in pairs[link.id]?.forward[number] ?? [] { world.pair(link.id, other, end) }
                } else if model.isKind(policy.entity, of: link.far), link.inverse != nil, link.end.isToMany {
                    for end in pairs[link.id]?.backward[number] ?? [] { world.pair(link.id, end, other) }
                }
            }
        }
        return world
    }

    private mutating func pair(_ link: Int, _ from: Int, _ to: Int) {
        pairs[link, default: Pairs()].forward[from, default: []].append(to)
        pairs[link, default: Pairs()].backward[to, default: []].append(from)
    }

    /// A number for the second object, which no other has and no program gives: a store that went back a version is
    /// split again by the same policy, while what it made before is still there, and a key is given once.
    private static func number(ofSecond second: Object) -> Int {
        -(second.key % (.max / 20_000) * 10_000 + second.entity)
    }
}
