import MoultBasics
import MoultModel

/// Composes two consecutive mappings into one, if a single mapping can do what both do.
struct Composer {
    let source: ResolvedModel
    let middle: ResolvedModel
    let destination: ResolvedModel
    /// The first mapping by the entity of the intermediate version.
    let first: [String: ResolvedEntityMapping]
    /// The second mapping by the entity of the last version.
    private let second: [String: ResolvedEntityMapping]
    private let next: ResolvedMapping
    private let removed: [ResolvedEntityMapping]
    /// The entities that the second mapping keeps unchanged, and whose relationships lead only to such entities.
    private let kept: Set<String>

    /// - Parameters:
    ///   - first: maps `source` to `middle`.
    ///   - second: maps `middle` to `destination`.
    init(
        _ first: ResolvedMapping, _ second: ResolvedMapping, from source: ResolvedModel, through middle: ResolvedModel,
        to destination: ResolvedModel
    ) {
        (self.source, self.middle, self.destination) = (source, middle, destination)
        let (origins, nexts) = (first.byDestination, second.byDestination)
        self.first = origins
        self.second = nexts
        let same = nexts.values.filter { next in
            guard let name = next.destinationEntityName, let entity = destination[name] else { return false }
            return entity === middle[name] && next == entity.same
        }
        kept = middle.closed(Set(same.compactMap(\.destinationEntityName)), with: destination)
        next = second
        let removedLater = second.entityMappings.filter { $0.destinationEntityName == nil }.compactMap {
            mapping -> ResolvedEntityMapping? in
            guard let name = mapping.sourceEntityName, let origin = origins[name]?.sourceEntityName else { return nil }
            return ResolvedEntityMapping(sourceEntityName: origin, destinationEntityName: nil)
        }
        removed = first.entityMappings.filter { $0.destinationEntityName == nil } + removedLater
    }

    func compose() -> ResolvedMapping.Composition {
        var joined: [ResolvedEntityMapping] = []
        for name in destination.names {
            guard let next = second[name] else { continue }
            let before = next.sourceEntityName.flatMap { first[$0] }
            if let before, kept.contains(name), before.hasProperties(of: next) {
                joined.append(before)
                continue
            }
            var mapping = ResolvedEntityMapping(sourceEntityName: before?.sourceEntityName, destinationEntityName: name)
            let isSame = takesOverAttributes(next)
            if isSame, let before { mapping.attributes = before.attributes }
            // In order, because the first reason is printed.
            for (property, source) in next.attributes.sorted(by: { $0.key < $1.key }) where !isSame {
                switch compose(source, for: property, of: name, after: before) {
                case .joined(let source): mapping.attributes[property] = source
                case .apart(let reason): return .apart(reason: reason)
                }
            }
            for (property, source) in next.relationships.sorted(by: { $0.key < $1.key }) {
                switch compose(source, for: property, of: name, after: before) {
                case .joined(let source): mapping.relationships[property] = source
                case .apart(let reason): return .apart(reason: reason)
                }
            }
            joined.append(mapping)
        }
        let gone = removed.sorted {
            ($0.sourceEntityName ?? "").precedesInByteOrder($1.sourceEntityName ?? "")
        }
        return .joined(ResolvedMapping(entityMappings: joined + gone))
    }

    /// Whether the second mapping keeps an entity and all its attributes unchanged.
    private func takesOverAttributes(_ next: ResolvedEntityMapping) -> Bool {
        guard let name = next.sourceEntityName, let before = first[name], let entity = middle[name],
            entity === destination[next.destinationEntityName ?? ""]
        else { return false }
        return next.attributes == entity.same.attributes && before.attributes.count == next.attributes.count
    }

    private enum Joint<Source> {
        case joined(Source)
        case apart(String)
    }

    // MARK: - Attributes

    private func compose(
        _ next: AttributeSource, for name: String, of entity: String, after before: ResolvedEntityMapping?
    )
        -> Joint<AttributeSource>
    {
        if case .expression = next { return .apart("\(entity).\(name) is computed from the intermediate version") }
        guard case .attribute(let middleName, let later) = next else { return .joined(next) }
        let type = destination[entity]?.attributes[name]?.type ?? .undefined
        switch before?.attributes[middleName] {
        case .attribute(let oldName, let earlier)?:
            // An attribute that the first mapping fills has a value in the second.
            return .joined(.attribute(oldName, ifNil: earlier?.widened(to: type) ?? later))
        case .constant(let value)?:
            return .joined(.constant(value?.widened(to: type) ?? later))
        case .expression?: return .apart("\(entity).\(name) uses what was computed for the intermediate version")
        case nil:
            return .apart("\(entity).\(name) uses what \(middleName) derived in the intermediate version")
        }
    }

    // MARK: - Relationships

    private func compose(
        _ next: RelationshipSource, for name: String, of entity: String, after before: ResolvedEntityMapping?
    ) -> Joint<RelationshipSource> {
        if case .path = next { return .apart("\(entity).\(name) follows a path through the intermediate version") }
        guard case .relationship(let middleName) = next, let before, let middleEntity = before.destinationEntityName
        else { return .joined(.empty) }
        switch before.relationships[middleName] {
        case .relationship(let oldName)?:
            let origin = before.sourceEntityName ?? ""
            let old = LinkShape(oldName, of: origin, in: source)
            let between = LinkShape(middleName, of: middleEntity, in: middle)
            if let old, let between, old.isNarrowed(to: between),
                between != LinkShape(name, of: entity, in: destination) || !bothEndsStay(middleName, of: middleEntity)
            {
                return .apart("\(entity).\(name) was narrowed in the intermediate version, and changes again")
            }
            return .joined(.relationship(oldName))
        case .path?: return .apart("\(entity).\(name) uses what a path gave the intermediate version")
        case .empty?, nil:
            guard before.sourceEntityName != nil, isFilledByInverse(middleName, of: middleEntity) else {
                return .joined(.empty)
            }
            // The inverse filled it in the intermediate version. It still does if it also leads back in the last
            // version.
            return inverseGoesAlong(middleName, of: middleEntity, to: name, of: entity)
                ? .joined(.empty) : .apart("\(entity).\(name) was filled by its inverse in the intermediate version")
        }
    }

    /// Whether the second mapping keeps every link of a relationship. If the first mapping has to choose among links,
    /// it must not choose one that the second drops.
    private func bothEndsStay(_ name: String, of entity: String) -> Bool {
        guard let owner = middle[entity], let relationship = owner.relationships[name] else { return false }
        let heirs = next.bySource
        let owners = middle.family(of: owner.declaringEntity(of: name))
        let ownersStay = owners.allSatisfy { heirs[$0]?.relationships.values.contains(.relationship(name)) == true }
        return ownersStay && middle.family(of: relationship.destinationEntityName).allSatisfy { heirs[$0] != nil }
    }

    private func isFilledByInverse(_ name: String, of entity: String) -> Bool {
        guard let relationship = middle[entity]?.relationships[name], let inverse = relationship.inverseName else {
            return false
        }
        // A sub-entity of the destination may have a source even if the destination has none.
        return middle.family(of: relationship.destinationEntityName).contains {
            if case .relationship? = first[$0]?.relationships[inverse] { true } else { false }
        }
    }

    private func inverseGoesAlong(_ middleName: String, of middleEntity: String, to name: String, of entity: String)
        -> Bool
    {
        guard let inverse = destination[entity]?.relationships[name], let inverseName = inverse.inverseName,
            let middleInverse = middle[middleEntity]?.relationships[middleName]?.inverseName
        else { return false }
        return destination.family(of: inverse.destinationEntityName).allSatisfy {
            guard let mapping = second[$0], mapping.sourceEntityName != nil else { return true }
            return mapping.relationships[inverseName] == .relationship(middleInverse)
        }
    }
}

/// The cardinality and order of a link, seen from both of its ends.
struct LinkShape: Equatable {
    var isToMany: Bool
    var isOrdered: Bool
    /// Without an inverse, any number of objects may link to the same one.
    var isInverseToMany: Bool
    var isInverseOrdered: Bool
    var hasInverse: Bool

    init?(_ name: String, of entity: String, in model: ResolvedModel) {
        guard let relationship = model[entity]?.relationships[name] else { return nil }
        let inverse = relationship.inverseName.flatMap {
            model[relationship.destinationEntityName]?.relationships[$0]
        }
        isToMany = relationship.isToMany
        isOrdered = relationship.isOrdered
        isInverseToMany = inverse?.isToMany ?? true
        isInverseOrdered = inverse?.isOrdered ?? false
        hasInverse = inverse != nil
    }

    /// Whether the other shape may hold fewer links or lose their order.
    func isNarrowed(to other: LinkShape) -> Bool {
        isToMany && !other.isToMany || isInverseToMany && !other.isInverseToMany
            || isOrdered && !other.isOrdered || isInverseOrdered && !other.isInverseOrdered
    }
}

/// Consecutive inferred edges, composed into one mapping from the first version to the last.
///
/// A part that one edge removes and a later one adds again raises a question: edge by edge its values would be lost,
/// but the composed mapping would keep them.
struct ComposedEdges {
    /// The position of the first version.
    let start: Int
    private let startModel: ResolvedModel
    private(set) var end: Int
    private(set) var mapping: ResolvedMapping
    private(set) var questions: [Question] = []
    private(set) var usedAnswers: Set<Answer> = []
    private var removedParts = RemovedProperties()

    init(at start: Int, model: ResolvedModel) {
        self.start = start
        startModel = model
        end = start
        mapping = ResolvedMapping(identityOf: model)
    }

    /// An edge between two neighbouring nodes of the path.
    struct Edge {
        var mapping: ResolvedMapping
        var older: ResolvedModel
        var newer: ResolvedModel
        /// The position of the newer version.
        var end: Int
    }

    /// Extends the mapping by one more edge.
    ///
    /// - Returns: the reason why the edge cannot be composed; nil if it was.
    /// - Throws: `usage` if an answer asks to keep values that cannot be kept.
    mutating func append(_ edge: Edge, versions: [ModelVersion], answers: Answers) throws(MigrationError) -> String? {
        if let reason = reasonForKeys(edge) { return reason }
        let composer = Composer(mapping, edge.mapping, from: startModel, through: edge.older, to: edge.newer)
        var joined: ResolvedMapping
        switch composer.compose() {
        case .joined(let mapping): joined = mapping
        case .apart(let reason): return reason
        }
        var restored = ReaddedProperties(
            start: startModel, newer: edge.newer, end: versions[edge.end], versions: versions, answers: answers)
        try restored.restore(from: removedParts, along: edge.mapping, into: &joined)
        questions += restored.questions
        usedAnswers.formUnion(restored.usedAnswers)
        removedParts.pass(version: end, model: edge.older, before: composer.first, edge: edge.mapping)
        mapping = joined
        end = edge.end
        return nil
    }

    /// Returns the reason why new keys prevent composing an edge. Objects that move into another hierarchy must get the
    /// same keys that the edge alone would give.
    private func reasonForKeys(_ edge: Edge) -> String? {
        guard end != start else { return nil }
        let merged =
            mapping.mergedHierarchies(from: startModel.model, to: edge.older.model)
            + edge.mapping.mergedHierarchies(from: edge.older.model, to: edge.newer.model)
        return merged.first.map { "Objects move into the hierarchy of \($0.root) and get new keys." }
    }
}
