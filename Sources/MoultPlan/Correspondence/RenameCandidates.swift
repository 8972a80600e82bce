import MoultBasics
import MoultModel

/// The removed entities and properties that an added one could be, with the evidence.
struct RenameCandidates {
    private let removedAttributes: [AttributeDescription]
    private let removedRelationships: [RelationshipDescription]
    private let entitySources: [String: String]
    /// The position of each attribute among those of its entity, by name, from 1.
    private let positions: (old: [String: Int], new: [String: Int])

    /// The properties of an entity that have no source.
    struct Added {
        var attributes: [AttributeDescription]
        var relationships: [RelationshipDescription]

        var isEmpty: Bool { attributes.isEmpty && relationships.isEmpty }
    }

    init(_ correspondence: EntityMatching, pair: EntityMatching.Pair, matched: Set<String>) {
        entitySources = correspondence.entitySources
        positions = (Self.positions(pair.source), Self.positions(pair.destination))
        removedAttributes = pair.source.attributes.values
            .filter { !matched.contains($0.name) && $0.isStored && $0.derivation == nil }
            .inByteOrder { $0.name }
        removedRelationships = pair.source.relationships.values
            .filter { !matched.contains($0.name) && !$0.isTransient }
            .inByteOrder { $0.name }
    }

    /// Returns the candidates of each added property that has any, ordered by name.
    func candidates(for added: Added) -> [(name: String, candidates: [Question.Candidate])] {
        let attributes = added.attributes.filter { $0.isStored && $0.derivation == nil }.map { attribute in
            (
                attribute.name,
                removedAttributes.filter { $0.type == attribute.type }.map {
                    Question.Candidate(name: $0.name, evidence: evidence($0, attribute))
                }
            )
        }
        let relationships = added.relationships.filter { !$0.isTransient }.map { relationship in
            (
                relationship.name,
                removedRelationships.filter { couldBe($0, relationship) }.map {
                    Question.Candidate(name: $0.name, evidence: evidence($0, relationship))
                }
            )
        }
        return (attributes + relationships).filter { !$0.1.isEmpty }.inByteOrder { $0.0 }
            .map { (name: $0.0, candidates: $0.1) }
    }

    private func couldBe(_ old: RelationshipDescription, _ new: RelationshipDescription) -> Bool {
        old.isToMany == new.isToMany && entitySources[new.destinationEntityName] == old.destinationEntityName
    }

    private func evidence(_ old: AttributeDescription, _ new: AttributeDescription) -> [String] {
        var facts = ["the same type \(new.type.name)", compared("optional", old.isOptional, new.isOptional)]
        if old.defaultValue != nil || new.defaultValue != nil {
            facts.append(old.defaultValue == new.defaultValue ? "the same default value" : "another default value")
        }
        if let position = positions.old[old.name], position == positions.new[new.name] {
            facts.append("the same position (\(position))")
        }
        if old.isIndexed || new.isIndexed { facts.append(compared("indexed", old.isIndexed, new.isIndexed)) }
        return facts
    }

    private func evidence(_ old: RelationshipDescription, _ new: RelationshipDescription) -> [String] {
        var facts = [
            "the same destination \(new.destinationEntityName)", new.isToMany ? "both to-many" : "both to-one",
            compared("optional", old.isOptional, new.isOptional),
        ]
        if old.inverseName != nil || new.inverseName != nil {
            facts.append(old.inverseName == new.inverseName ? "the same inverse" : "another inverse")
        }
        facts.append(old.deleteRule == new.deleteRule ? "the same delete rule" : "another delete rule")
        return facts
    }

    private func compared(_ word: String, _ old: Bool, _ new: Bool) -> String {
        switch (old, new) {
        case (true, true): "both \(word)"
        case (false, false): "neither \(word)"
        case (true, false): "\(word) only before"
        case (false, true): "\(word) only after"
        }
    }

    private static func positions(_ entity: ResolvedEntity) -> [String: Int] {
        let names = entity.attributes.keys.inByteOrder()
        return Dictionary(names.enumerated().map { ($1, $0 + 1) }) { first, _ in first }
    }

    // MARK: - Entities

    /// Returns the removed entity as a candidate for the added one, if they share at least half of the properties of
    /// each.
    static func candidate(
        _ removed: ResolvedEntity, for added: ResolvedEntity, in correspondence: EntityMatching
    ) -> Question.Candidate? {
        let (taken, sources) = (correspondence.entityDestinations, correspondence.entitySources)
        // The destinations of a relationship that are a removed and an added entity may be one entity, renamed too.
        let old = signatures(removed) { taken[$0] == nil ? nil : $0 }
        let new = signatures(added) { sources[$0] }
        let common = old.intersection(new).count
        guard common > 0, common * 2 >= max(old.count, new.count) else { return nil }
        let lost = old.subtracting(new).map(\.name).inByteOrder()
        return Question.Candidate(
            name: removed.name,
            evidence: [
                "\(Quantity.count(common, "property is", plural: "properties are")) the same, of \(old.count) before and "
                    + "\(new.count) after"
            ]
                + (lost.isEmpty ? [] : ["a rename loses \(lost.joined(separator: ", ")), unless renamed too"]))
    }

    private struct Signature: Hashable {
        var name: String
        var type: AttributeType?
        var destination: String?
        var isToMany = false
    }

    /// - Parameter source: returns the entity of the older version for the destination of a relationship; nil for one
    ///   that only one of the versions has.
    private static func signatures(_ entity: ResolvedEntity, _ source: (String) -> String?) -> Set<Signature> {
        let attributes = entity.attributes.values.filter(\.isStored).map { Signature(name: $0.name, type: $0.type) }
        let relationships = entity.relationships.values.filter { !$0.isTransient }.map {
            Signature(name: $0.name, type: nil, destination: source($0.destinationEntityName), isToMany: $0.isToMany)
        }
        return Set(attributes + relationships)
    }
}
