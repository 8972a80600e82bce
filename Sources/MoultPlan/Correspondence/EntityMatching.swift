import MoultBasics
import MoultModel

/// The correspondence between the entities and properties of two versions.
///
/// It is determined by names, renaming identifiers with their history, and recorded answers. Anything else is a
/// question; until it is answered, the entity or property counts as removed and added.
package struct EntityMatching: Sendable {
    package let source: ResolvedModel
    package let destination: ResolvedModel
    /// The version names that answers use.
    package let from: String
    package let to: String
    /// Source entity by destination entity.
    package let entitySources: [String: String]
    /// By destination entity: source property by destination property, inherited ones included.
    package private(set) var propertySources: [String: [String: String]]
    package private(set) var questions: [Question]
    let answers: EdgeAnswers
    /// Destination entity by source entity.
    let entityDestinations: [String: String]
    /// The unchanged entities whose relationships lead only to unchanged entities.
    private(set) var kept: Set<String>

    /// - Throws: `usage` if an answer does not fit any question about the versions.
    package init(
        from older: ModelVersion, to newer: ModelVersion, answers: Answers = .none,
        history: RenamingHistory = RenamingHistory()
    ) throws(MigrationError) {
        let source = ResolvedModel(older.model)
        try self.init(
            from: source, named: older.name, to: ResolvedModel(newer.model, after: source), named: newer.name,
            answers: EdgeAnswers(answers.about(older, newer)), history: history)
    }

    init(
        from source: ResolvedModel, named from: String, to destination: ResolvedModel, named to: String,
        answers: EdgeAnswers, history: RenamingHistory
    ) throws(MigrationError) {
        let matching = NameMatching(
            from: source.model.entities.map {
                .init(name: $0.name, identifier: $0.renamingIdentifier, formerNames: history.entities[$0.name] ?? [])
            },
            to: destination.model.entities.map { .init(name: $0.name, identifier: $0.renamingIdentifier) },
            answers: answers.entityNames)
        try answers.check(from: source, to: destination, sourceOf: matching.sources)
        (self.source, self.destination, self.from, self.to, self.answers) = (source, destination, from, to, answers)
        entitySources = matching.sources
        entityDestinations = Dictionary(matching.sources.map { ($0.value, $0.key) }) { first, _ in first }
        propertySources = [:]
        propertySources.reserveCapacity(matching.sources.count)
        questions = []
        kept = []
        var asked = QuestionList(from: from, to: to)
        asked.askAboutEntities(ambiguities: matching.ambiguities, in: self)
        var ambiguous: [String: [String: [String]]] = [:]
        for name in destination.names {
            guard let pair = pair(name) else { continue }
            let matched = match(pair, history: history)
            propertySources[name] = matched.sources
            if !matched.ambiguities.isEmpty { ambiguous[name] = matched.ambiguities }
        }
        let same = Set(destination.names.filter(isSame))
        kept = source.closed(same, with: destination)
        let changed = destination.names.filter { !same.contains($0) }
        matchInverses(of: changed, except: ambiguous)
        asked.askAboutProperties(of: changed, ambiguities: ambiguous, in: self)
        questions = asked.questions
    }

    /// Reverses a correspondence, for the reverse mapping of an edge. It asks no questions.
    init(reversing other: EntityMatching) {
        var properties: [String: [String: String]] = [:]
        properties.reserveCapacity(other.propertySources.count)
        for (entity, sources) in other.propertySources {
            guard let name = other.entitySources[entity] else { continue }
            properties[name] =
                other.kept.contains(entity)
                ? sources : Dictionary(sources.map { ($0.value, $0.key) }) { first, _ in first }
        }
        self.init(
            source: other.destination, destination: other.source, from: other.to, to: other.from,
            entitySources: other.entityDestinations, propertySources: properties, questions: [], kept: other.kept)
    }

    /// Wraps a correspondence that is already known.
    init(
        source: ResolvedModel, destination: ResolvedModel, from: String, to: String,
        entitySources: [String: String], propertySources: [String: [String: String]], questions: [Question],
        kept: Set<String> = [], answers: EdgeAnswers = EdgeAnswers()
    ) {
        (self.source, self.destination, self.from) = (source, destination, from)
        (self.to, self.entitySources, self.propertySources) = (to, entitySources, propertySources)
        (self.questions, self.kept, self.answers) = (questions, kept, answers)
        entityDestinations = Dictionary(entitySources.map { ($0.value, $0.key) }) { first, _ in first }
    }

    /// An entity of the destination with its source entity.
    struct Pair {
        var source: ResolvedEntity
        var destination: ResolvedEntity
    }

    func pair(_ destinationEntity: String) -> Pair? {
        guard let sourceName = entitySources[destinationEntity], let old = source[sourceName],
            let new = destination[destinationEntity]
        else { return nil }
        return Pair(source: old, destination: new)
    }

    /// Whether a destination entity has its name and all its property names from an identical source entity.
    func isSame(_ name: String) -> Bool {
        guard entitySources[name] == name, let entity = destination[name], entity === source[name] else { return false }
        return propertySources[name] == entity.sameNames
    }

    /// Returns the source property of a destination property, in the named entity or one that inherits the property.
    func source(of property: String, in destinationEntity: String) -> String? {
        propertySources[destinationEntity]?[property]
    }
}

// MARK: - Properties

extension EntityMatching {
    private func match(_ pair: Pair, history: RenamingHistory) -> (
        sources: [String: String], ambiguities: [String: [String]]
    ) {
        let former = history.properties[pair.source.name] ?? [:]
        let decided = answers.propertyNames(of: pair.destination)
        if pair.source === pair.destination, decided.isEmpty { return (pair.source.sameNames, [:]) }
        let attributes = NameMatching(
            from: pair.source.attributes.values.map {
                .init(name: $0.name, identifier: $0.renamingIdentifier, formerNames: former[$0.name] ?? [])
            },
            to: pair.destination.attributes.values.map { .init(name: $0.name, identifier: $0.renamingIdentifier) },
            answers: decided.filter { pair.destination.attributes[$0.key] != nil })
        let relationships = NameMatching(
            from: pair.source.relationships.values.map {
                .init(name: $0.name, identifier: $0.renamingIdentifier, formerNames: former[$0.name] ?? [])
            },
            to: pair.destination.relationships.values.map {
                .init(name: $0.name, identifier: $0.renamingIdentifier)
            },
            answers: decided.filter { pair.destination.relationships[$0.key] != nil })
        return (
            attributes.sources.merging(relationships.sources) { first, _ in first },
            attributes.ambiguities.merging(relationships.ambiguities) { first, _ in first }
        )
    }

    /// Matches relationships whose inverses are matched: both are ends of the same link.
    private mutating func matchInverses(of entities: [String], except ambiguous: [String: [String: [String]]]) {
        for name in entities {
            guard let pair = pair(name), propertySources[name] != pair.destination.sameNames else { continue }
            for relationship in destination.model.relationships(of: pair.destination.description) {
                guard source(of: relationship.name, in: name) == nil, ambiguous[name]?[relationship.name] == nil,
                    let old = sourceByInverse(of: relationship, in: pair),
                    propertySources[name]?.values.contains(old) != true
                else { continue }
                propertySources[name]?[relationship.name] = old
            }
        }
    }

    private func sourceByInverse(of relationship: RelationshipDescription, in pair: Pair) -> String? {
        let declaring = pair.destination.declaringEntity(of: relationship.name)
        guard answers.property(relationship.name, declaredBy: declaring)?.is != .new,
            let inverse = relationship.inverseName,
            let otherEnd = self.pair(relationship.destinationEntityName),
            let oldInverse = source(of: inverse, in: relationship.destinationEntityName),
            let old = otherEnd.source.relationships[oldInverse]?.inverseName,
            let candidate = pair.source.relationships[old], candidate.inverseName == oldInverse,
            otherEnd.source.isKind(of: candidate.destinationEntityName)
        else { return nil }
        return old
    }

    /// Creates the correspondence of any two versions, through every version between them, so that a chain of renames
    /// is one rename. The first version may be the later one.
    ///
    /// An entity or property that is removed on the way and added again counts as removed and added.
    ///
    /// - Parameter answers: the answers about neighbouring versions, as for a plan.
    /// - Throws: `usage` if an answer does not fit any question, `noPath` if there is no such version.
    package init(_ versions: ModelVersions, from: Int, to: Int, answers: Answers = .none) throws(MigrationError) {
        guard from <= to else {
            self.init(reversing: try EntityMatching(versions, from: to, to: from, answers: answers))
            return
        }
        var walker = PathWalker(versions: versions, answers: answers)
        let steps = try walker.correspondences(from: from, to: to)
        guard let first = steps.first, let last = steps.last else {
            let version = versions.versions[from]
            try self.init(from: version, to: version)
            return
        }
        self.init(joining: steps, from: first, to: last)
    }

    /// Returns the correspondence of each version but the last with the last one, along the versions between them. Each
    /// takes one step more than the one after it.
    package static func chains(_ versions: ModelVersions) throws(MigrationError) -> [EntityMatching] {
        var walker = PathWalker(versions: versions, answers: .none)
        var chains: [EntityMatching] = []
        for step in try walker.correspondences(from: 0, to: versions.versions.count - 1).reversed() {
            chains.append(chains.last.map { EntityMatching(joining: [step, $0], from: step, to: $0) } ?? step)
        }
        return chains.reversed()
    }

    /// - Parameter steps: the correspondences of neighbouring versions in order, including the first and the last.
    private init(joining steps: [EntityMatching], from first: EntityMatching, to last: EntityMatching) {
        var entities = first.entitySources
        var properties = first.propertySources
        for step in steps.dropFirst() {
            properties = step.propertySources.reduce(into: [:]) { joined, entity in
                guard let middle = step.entitySources[entity.key], let before = properties[middle] else { return }
                joined[entity.key] = entity.value.compactMapValues { before[$0] }
            }
            entities = step.entitySources.compactMapValues { entities[$0] }
        }
        self.init(
            source: first.source, destination: last.destination, from: first.from, to: last.to,
            entitySources: entities, propertySources: properties, questions: steps.flatMap(\.questions))
    }
}

extension ModelDiff {
    /// Compares any two versions of one model, following renames through the versions between them.
    ///
    /// - Throws: `noPath` for an unknown name, `usage` if an answer does not fit any question.
    package init(_ versions: ModelVersions, from: String, to: String, answers: Answers = .none) throws(MigrationError) {
        let (start, end) = (try versions.knownPosition(of: from), try versions.knownPosition(of: to))
        self.init(try EntityMatching(versions, from: start, to: end, answers: answers))
    }
}

extension EntityMatching {
    /// Creates the correspondence of the way back by reversing the way forward, so that renames lead back to the
    /// original. Anything that the way forward removed, or that was added under a name of the older version, is matched
    /// by name.
    ///
    /// - Parameter answers: the answers about the way back, with values for required attributes.
    /// - Throws: `usage` if an answer does not fit any question.
    init(wayBackAlong forward: EntityMatching, answers: EdgeAnswers) throws(MigrationError) {
        let back = EntityMatching(reversing: forward)
        var (entities, properties) = (back.entitySources, back.propertySources)
        let taken = Set(entities.values)
        for name in back.destination.names where entities[name] == nil && back.source[name] != nil {
            if !taken.contains(name) { entities[name] = name }
        }
        for (name, old) in entities {
            guard let destination = back.destination[name], let source = back.source[old] else { continue }
            var sources = properties[name] ?? [:]
            let taken = Set(sources.values)
            for property in destination.sameNames.keys where sources[property] == nil && !taken.contains(property) {
                let isAttribute = destination.attributes[property] != nil && source.attributes[property] != nil
                let isLink = destination.relationships[property] != nil && source.relationships[property] != nil
                if isAttribute || isLink { sources[property] = property }
            }
            properties[name] = sources
        }
        self.init(
            source: back.source, destination: back.destination, from: back.from, to: back.to, entitySources: entities,
            propertySources: properties, questions: forward.questions, kept: back.kept, answers: answers)
        try answers.check(from: source, to: destination, sourceOf: entitySources)
    }
}
