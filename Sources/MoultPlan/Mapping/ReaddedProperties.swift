import MoultBasics
import MoultModel

/// The entities and properties that an earlier edge removed and this edge adds again under the same names.
///
/// Answers decide whether their old values are kept or dropped. A part without an answer is a question.
struct ReaddedProperties {
    let start: ResolvedModel
    let newer: ResolvedModel
    /// The edge's newer version.
    let end: ModelVersion
    let versions: [ModelVersion]
    let answers: Answers
    /// The models of the versions that removed parts come from; empty if all come from `start`.
    var origins: [ResolvedModel] = []
    private(set) var questions: [Question] = []
    private(set) var usedAnswers: Set<Answer> = []

    /// Restores kept values in `joined`, the mapping from the first version to the edge's newer version.
    mutating func restore(
        from removedParts: RemovedProperties, along edge: ResolvedMapping, into joined: inout ResolvedMapping
    ) throws(MigrationError) {
        guard !removedParts.properties.isEmpty || !removedParts.entities.isEmpty else { return }
        for (position, mapping) in edge.entityMappings.enumerated() {
            guard let name = mapping.destinationEntityName, let entity = newer[name],
                joined.entityMappings.indices.contains(position)
            else { continue }
            if let old = mapping.sourceEntityName {
                let gone = removedParts.properties[old] ?? [:]
                try restore(gone, of: entity, along: mapping, into: &joined.entityMappings[position])
            } else if let gone = removedParts.entities[name] {
                try restore(gone.mapping, version: gone.version, to: entity, at: position, into: &joined)
            }
        }
    }

    /// Returns the answer about a restored part. Without one, it returns nil and adds the question to `questions`.
    private mutating func verdict(_ entity: String, _ property: String?, version: Int, canKeep: Bool)
        throws(MigrationError) -> Answer.Verdict?
    {
        let former = versions[version]
        let place = [entity, property].compactMap { $0 }.joined(separator: ".")
        if let answer = answers.about(former, end).first(where: { $0.entity == entity && $0.property == property }) {
            usedAnswers.insert(answer)
            if answer.is == .keep, !canKeep {
                throw answer.refusedToKeep(in: end, from: former)
            }
            return answer.is
        }
        guard !questions.contains(where: { $0.place == place }) else { return nil }
        let verdicts: [Answer.Verdict] = canKeep ? [.keep, .drop] : [.drop]
        questions.append(
            Question(
                kind: .returned, from: former.name, to: end.name, entity: entity, property: property,
                sentence: "\(place) is in \(former.name), is removed after it, and returns in \(end.name). "
                    + returnSentence(of: property == nil ? "objects, without their relationships," : "values", canKeep),
                candidates: [],
                answers: verdicts.map {
                    Answer(from: former.name, to: end.name, entity: entity, property: property, is: $0)
                }))
        return nil
    }
}

private func returnSentence(of what: String, _ canKeep: Bool) -> String {
    canKeep ? "Are the old \(what) kept or dropped?" : "Are the old \(what) dropped?"
}

// MARK: - Properties

extension ReaddedProperties {
    private mutating func restore(
        _ gone: [String: RemovedProperties.Property], of entity: ResolvedEntity, along edge: ResolvedEntityMapping,
        into mapping: inout ResolvedEntityMapping
    ) throws(MigrationError) {
        for (name, removed) in gone.inByteOrder(of: { $0.key }) {
            let declaring = entity.declaringEntity(of: name)
            switch removed.value {
            case .attribute(let old, let source):
                guard case .constant? = edge.attributes[name], let new = entity.attributes[name], old.type == new.type
                else { continue }
                let verdict = try verdict(declaring, name, version: removed.version, canKeep: true)
                guard verdict == .keep else { continue }
                mapping.attributes[name] = source.filling(new)
            case .relationship(let old, let source, let destination):
                guard edge.relationships[name] == .empty, let new = entity.relationships[name],
                    new.isToMany == old.isToMany, new.destinationEntityName == destination
                else { continue }
                let verdict = try verdict(declaring, name, version: removed.version, canKeep: true)
                guard verdict == .keep else { continue }
                mapping.relationships[name] = source
            }
        }
    }
}

extension AttributeSource {
    /// Returns the same source, adapted to an attribute that may have become required.
    fileprivate func filling(_ attribute: AttributeDescription) -> AttributeSource {
        guard case .attribute(let name, nil) = self, !attribute.isOptional else { return self }
        return .attribute(name, ifNil: attribute.defaultValue)
    }
}

// MARK: - Entities

extension ReaddedProperties {
    private mutating func restore(
        _ gone: ResolvedEntityMapping, version: Int, to entity: ResolvedEntity, at position: Int,
        into joined: inout ResolvedMapping
    ) throws(MigrationError) {
        let origin = origins.indices.contains(version) ? origins[version] : start
        guard !entity.description.isAbstract, let source = gone.sourceEntityName.flatMap({ origin[$0] }),
            !source.description.isAbstract
        else { return }
        let restored = restored(gone, of: source, to: entity)
        let canKeep = restored != nil && !mergesHierarchies(source.rootName, entity, joined)
        let verdict = try verdict(entity.name, nil, version: version, canKeep: canKeep)
        guard verdict == .keep, let restored else { return }
        joined.entityMappings[position] = restored
        // The objects are not removed after all.
        joined.entityMappings.removeAll {
            $0.destinationEntityName == nil && $0.sourceEntityName == gone.sourceEntityName
        }
    }

    /// Returns the old mapping with the entity's current properties; nil if a required value would be missing.
    private func restored(
        _ gone: ResolvedEntityMapping, of source: ResolvedEntity, to entity: ResolvedEntity
    ) -> ResolvedEntityMapping? {
        var mapping = ResolvedEntityMapping(sourceEntityName: gone.sourceEntityName, destinationEntityName: entity.name)
        for attribute in entity.attributes.values where attribute.isStored && attribute.derivation == nil {
            var kept = AttributeSource.constant(attribute.defaultValue)
            if case .attribute(let name, _)? = gone.attributes[attribute.name],
                source.attributes[name]?.type == attribute.type
            {
                kept = gone.attributes[attribute.name]?.filling(attribute) ?? kept
                let isFilled = attribute.isOptional || source.attributes[name]?.isOptional == false
                guard isFilled || kept.isNeverNil else { return nil }
            } else {
                guard attribute.isOptional || kept.isNeverNil else { return nil }
            }
            mapping.attributes[attribute.name] = kept
        }
        for relationship in entity.relationships.values where !relationship.isTransient {
            guard relationship.mayBeEmpty else { return nil }
            mapping.relationships[relationship.name] = .empty
        }
        return mapping
    }

    private func mergesHierarchies(_ root: String, _ entity: ResolvedEntity, _ joined: ResolvedMapping) -> Bool {
        joined.entityMappings.contains { mapping in
            guard let name = mapping.destinationEntityName, newer[name]?.rootName == entity.rootName,
                let other = mapping.sourceEntityName.flatMap({ start[$0] }), !other.description.isAbstract
            else { return false }
            return other.rootName != root
        }
    }
}

extension AttributeSource {
    fileprivate var isNeverNil: Bool {
        switch self {
        case .attribute(_, let value), .constant(let value): value != nil
        case .expression: false
        }
    }
}

/// The entities and properties that composed edges have removed, with the source of their values in the first version.
///
/// A later edge may add them again (``ReaddedProperties``).
struct RemovedProperties {
    /// A property that an edge removed.
    struct Property {
        /// The position of the last version that had it.
        var version: Int
        var value: Value
    }

    enum Value {
        case attribute(AttributeDescription, AttributeSource)
        /// `destination` is the current name of the destination entity.
        case relationship(RelationshipDescription, RelationshipSource, destination: String)
    }

    /// By the current name of the entity and the earlier name of the property.
    private(set) var properties: [String: [String: Property]] = [:]
    /// Removed entities by their former names, with their mapping from the first version.
    private(set) var entities: [String: (version: Int, mapping: ResolvedEntityMapping)] = [:]

    /// Records the parts that one edge removes.
    ///
    /// - Parameters:
    ///   - version: the position of the edge's older version.
    ///   - model: the edge's older version.
    ///   - before: the mapping from the first version to `model`, by the entities of `model`.
    ///   - edge: the mapping of the edge.
    mutating func pass(
        version: Int, model: ResolvedModel, before: [String: ResolvedEntityMapping], edge: ResolvedMapping
    ) {
        var newNames: [String: String] = [:]
        newNames.reserveCapacity(edge.entityMappings.count)
        for mapping in edge.entityMappings {
            guard let old = mapping.sourceEntityName else { continue }
            newNames[old] = mapping.destinationEntityName
            if mapping.destinationEntityName == nil, let lost = before[old], lost.sourceEntityName != nil {
                entities[old] = (version, lost)
            }
        }
        var next: [String: [String: Property]] = [:]
        for mapping in edge.entityMappings {
            guard let old = mapping.sourceEntityName, let new = mapping.destinationEntityName else { continue }
            var gone = (properties[old] ?? [:]).compactMapValues { $0.following(newNames) }
            if let entity = model[old], let sources = before[old], sources.sourceEntityName != nil {
                for (name, value) in leaving(entity, by: mapping, sources: sources) {
                    gone[name] = Property(version: version, value: value).following(newNames)
                }
            }
            if !gone.isEmpty { next[new] = gone }
        }
        properties = next
    }

    private func leaving(_ entity: ResolvedEntity, by mapping: ResolvedEntityMapping, sources: ResolvedEntityMapping)
        -> [String: Value]
    {
        if mapping == entity.same, sources.hasProperties(of: mapping) { return [:] }
        var used: Set<String> = []
        for case .attribute(let name, _) in mapping.attributes.values { used.insert(name) }
        for case .relationship(let name) in mapping.relationships.values { used.insert(name) }
        var gone: [String: Value] = [:]
        for (name, source) in sources.attributes where !used.contains(name) {
            guard case .attribute = source, let attribute = entity.attributes[name] else { continue }
            gone[name] = .attribute(attribute, source)
        }
        for (name, source) in sources.relationships where !used.contains(name) {
            guard case .relationship = source, let relationship = entity.relationships[name] else { continue }
            gone[name] = .relationship(relationship, source, destination: relationship.destinationEntityName)
        }
        return gone
    }
}

extension RemovedProperties.Property {
    /// Returns the property with the new name of its destination; nil if the destination is removed.
    fileprivate func following(_ newNames: [String: String]) -> Self? {
        guard case .relationship(let description, let source, let destination) = value else { return self }
        guard let name = newNames[destination] else { return nil }
        return Self(version: version, value: .relationship(description, source, destination: name))
    }
}

// MARK: - Along all versions

/// The parts that return along the versions of a plan, at whichever version a store starts.
package struct ReturningParts {
    private var removedParts = RemovedProperties()
    private var models: [ResolvedModel] = []

    package init() {}

    /// Whether an answer keeps or drops a part that an earlier edge removed and this one adds, and none that this edge
    /// changes.
    package func isMeant(by answer: Answer, _ edge: EntityMatching) -> Bool {
        guard answer.is == .keep || answer.is == .drop else { return false }
        let source = edge.entitySources[answer.entity]
        guard let property = answer.property else {
            return source == nil && removedParts.entities[answer.entity] != nil
        }
        return edge.propertySources[answer.entity]?[property] == nil
            && source.flatMap { removedParts.properties[$0]?[property] } != nil
    }

    /// Adds the next edge. Nothing is combined over one without a mapping.
    ///
    /// - Returns: a question about each part that the edge adds and an earlier version had.
    package mutating func questions(
        along mapping: ResolvedMapping?, _ edge: EntityMatching, versions: [ModelVersion]
    ) throws(MigrationError) -> [Question] {
        let older = models.count
        models.append(edge.source)
        guard let mapping, versions.indices.contains(older + 1) else {
            removedParts = RemovedProperties()
            return []
        }
        var returning = ReaddedProperties(
            start: edge.source, newer: edge.destination, end: versions[older + 1], versions: versions, answers: .none,
            origins: models)
        var joined = mapping
        try returning.restore(from: removedParts, along: mapping, into: &joined)
        let before = Dictionary(
            edge.source.names.compactMap { name in edge.source[name].map { (name, $0.same) } },
            uniquingKeysWith: { first, _ in first })
        removedParts.pass(version: older, model: edge.source, before: before, edge: mapping)
        return returning.questions
    }
}
