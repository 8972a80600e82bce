import MoultModel
import MoultStore

/// The links between the objects of a sample. Each relationship is filled once, from the more convenient side.
struct SampleLinks {
    let objects: [String: [ObjectReference]]
    let writer: ObjectWriter
    /// The number of destinations of each object; nil lets the seed decide.
    private let count: Int?
    private var generator: SeededGenerator
    private var done: Set<RelationshipReference> = []

    init(objects: [String: [ObjectReference]], writer: ObjectWriter, seed: UInt64, count: Int? = nil) {
        (self.objects, self.count, self.writer) = (objects, count, writer)
        generator = SeededGenerator(seed: seed)
    }

    private var model: ManagedObjectModel { writer.layout.model }

    /// The relationships of all entities, in the order in which they are filled.
    var relationships: [(EntityDescription, RelationshipDescription)] {
        model.entities.flatMap { entity in entity.relationships.map { (entity, $0) } }
    }

    /// Fills a relationship, unless it was filled from its other side.
    mutating func fill(_ relationship: RelationshipDescription, of entity: EntityDescription) throws -> [Void] {
        let reference = RelationshipReference(entity: entity.name, name: relationship.name)
        guard writer.layout.storage(ofRelationship: relationship.name, in: entity) != nil,
            let destination = model.entity(relationship.destinationEntityName), done.insert(reference).inserted
        else { return [] }
        try link(entity, relationship, destination)
        return []
    }

    private mutating func link(
        _ entity: EntityDescription, _ relationship: RelationshipDescription, _ destination: EntityDescription
    ) throws {
        let sources = instances(of: entity)
        let targets = instances(of: destination)
        guard !sources.isEmpty, !targets.isEmpty, count != 0 || !relationship.isOptional else { return }
        let inverse = model.inverse(of: relationship)
        if relationship.isToMany {
            // A to-many with a to-one inverse is filled from the other side.
            guard inverse?.isToMany != false else { return }
            if let inverse { markDone(inverse, of: destination) }
            inverse == nil
                ? try shareOut(targets, among: sources, relationship)
                : try linkPairs(sources, relationship, targets)
        } else if let inverse, !inverse.isToMany {
            markDone(inverse, of: destination)
            try linkOneToOne(sources, relationship, targets)
        } else {
            try linkToOne(sources, relationship, targets, isUnique: isConstrained(relationship, entity))
        }
    }

    private mutating func markDone(_ inverse: RelationshipDescription, of destination: EntityDescription) {
        if let declaring = model.declaringEntity(of: inverse.name, in: destination) {
            done.insert(RelationshipReference(entity: declaring.name, name: inverse.name))
        }
    }

    /// Whether a uniqueness constraint depends on this relationship alone.
    private func isConstrained(_ relationship: RelationshipDescription, _ entity: EntityDescription) -> Bool {
        entity.uniquenessConstraints.contains { constraint in
            constraint.contains(relationship.name)
                && !constraint.contains { name in
                    model.attribute(name, of: entity).map { $0.type != .boolean } ?? false
                }
        }
    }

    /// Fills a to-one relationship. If it is optional, about every fifth object gets no destination; within one entity,
    /// an object leads to an earlier one if it can.
    private mutating func linkToOne(
        _ sources: [ObjectReference], _ relationship: RelationshipDescription, _ targets: [ObjectReference],
        isUnique: Bool
    ) throws {
        let positions = Dictionary(targets.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        for (position, source) in sources.enumerated() {
            if relationship.isOptional, count == nil, Int.random(in: 0..<5, using: &generator) == 0 { continue }
            if isUnique {
                if position < targets.count { try writer.link(source, relationship.name, to: [targets[position]]) }
                continue
            }
            let limit = positions[source] ?? targets.count
            if limit == 0, relationship.isOptional { continue }
            let target = targets[place(of: position, among: max(limit, 1), isWithin: positions[source] != nil)]
            try writer.link(source, relationship.name, to: [target])
        }
    }

    /// Returns the index of an object's destination among the first `limit` targets. With a count, each target in turn
    /// gets that many objects.
    private mutating func place(of position: Int, among limit: Int, isWithin: Bool) -> Int {
        guard let count, count > 0 else { return Int.random(in: 0..<limit, using: &generator) }
        return max(position - (isWithin ? 1 : 0), 0) / count % limit
    }

    private mutating func linkOneToOne(
        _ sources: [ObjectReference], _ relationship: RelationshipDescription, _ targets: [ObjectReference]
    ) throws {
        let shuffled = targets.shuffled(using: &generator)
        var taken: Set<ObjectReference> = []
        let isWithin = !Set(sources).isDisjoint(with: targets)
        for (source, target) in zip(sources, shuffled) {
            if relationship.isOptional, count == nil, Int.random(in: 0..<4, using: &generator) == 0 { continue }
            // Within one entity, an object may be at either end of a relationship, but in one pair only.
            if isWithin, source == target || taken.contains(source) || taken.contains(target) { continue }
            taken.formUnion([source, target])
            try writer.link(source, relationship.name, to: [target])
        }
    }

    private mutating func linkPairs(
        _ sources: [ObjectReference], _ relationship: RelationshipDescription, _ targets: [ObjectReference]
    ) throws {
        for (position, source) in sources.enumerated() {
            if let count {
                let chosen = (0..<min(count, targets.count)).map { targets[(position + $0) % targets.count] }
                try writer.link(source, relationship.name, to: chosen)
                continue
            }
            let count = min(Int.random(in: 0...4, using: &generator), targets.count)
            var chosen: [ObjectReference] = []
            for _ in 0..<count {
                let target = targets[Int.random(in: 0..<targets.count, using: &generator)]
                if !chosen.contains(target) { chosen.append(target) }
            }
            try writer.link(source, relationship.name, to: chosen)
        }
    }

    /// Assigns each target to at most one source.
    private mutating func shareOut(
        _ targets: [ObjectReference], among sources: [ObjectReference], _ relationship: RelationshipDescription
    ) throws {
        if let count {
            for (position, source) in sources.enumerated() {
                let own = targets.dropFirst(position * count).prefix(count)
                if !own.isEmpty { try writer.link(source, relationship.name, to: Array(own)) }
            }
            return
        }
        for target in targets.shuffled(using: &generator) where Int.random(in: 0..<5, using: &generator) > 0 {
            let source = sources[Int.random(in: 0..<sources.count, using: &generator)]
            try writer.link(source, relationship.name, to: [target])
        }
    }

    private func instances(of entity: EntityDescription) -> [ObjectReference] {
        ([entity] + model.descendants(of: entity)).flatMap { objects[$0.name] ?? [] }
    }
}
