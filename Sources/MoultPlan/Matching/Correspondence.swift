import MoultModel

/// The correspondence between the entities and properties of two versions.
///
/// Names, renaming identifiers with their history, and recorded answers decide. Anything else is a question; until it
/// is answered, the thing counts as removed and added.
package struct Correspondence: Sendable {
    package let source: ResolvedModel
    package let destination: ResolvedModel
    /// The version names that answers go by.
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
    /// The entities that are as they were, as is all that their relationships lead to.
    private(set) var kept: Set<String>

    /// - Throws: `usage` if an answer fits no question that the versions have.
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
                .init(
                    name: $0.name, identifier: $0.renamingIdentifier, formerNames: history.entities[$0.name] ?? [])
            },
            to: destination.model.entities.map { .init(name: $0.name, identifier: $0.renamingIdentifier) },
            answers: answers.entityNames)
        try answers.check(from: source, to: destination, sourceOf: matching.sources)
        self.source = source
        self.destination = destination
        self.from = from
        self.to = to
        self.answers = answers
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

    /// The same in the reverse direction, for the reverse mapping of an edge. It asks no questions.
    init(reversing other: Correspondence) {
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

    /// A correspondence that is already known.
    init(
        source: ResolvedModel, destination: ResolvedModel, from: String, to: String,
        entitySources: [String: String], propertySources: [String: [String: String]], questions: [Question],
        kept: Set<String> = [], answers: EdgeAnswers = EdgeAnswers()
    ) {
        self.source = source
        self.destination = destination
        self.from = from
        self.to = to
        self.entitySources = entitySources
        self.propertySources = propertySources
        self.questions = questions
        self.kept = kept
        self.answers = answers
        entityDestinations = Dictionary(entitySources.map { ($0.value, $0.key) }) { first, _ in first }
    }

    /// An entity of the destination with the one it comes from.
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

    /// Whether an entity of the destination has its name and its properties from one that is identical.
    func isSame(_ name: String) -> Bool {
        guard entitySources[name] == name, let entity = destination[name], entity === source[name] else { return false }
        return propertySources[name] == entity.sameNames
    }

    /// The source property of a destination property, in the entity named or one that inherits it.
    func source(of property: String, in destinationEntity: String) -> String? {
        propertySources[destinationEntity]?[property]
    }
}

// MARK: - Properties

extension Correspondence {
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

    /// A relationship whose inverse is matched is matched by it: the two are one link, seen from its two ends.
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
}
