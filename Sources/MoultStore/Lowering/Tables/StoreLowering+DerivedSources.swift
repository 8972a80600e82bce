import MoultBasics
import MoultModel

// Whether the stored value of a derived attribute is still right depends on what its derivation reads.

extension StoreLowering {
    /// A property of the destination that a derivation reads, in the objects of an entity.
    private enum DerivationSource {
        case value(AttributeDescription, of: EntityDescription)
        case links(RelationshipDescription, of: EntityDescription)
    }

    /// Derived attributes that read one another are followed this far.
    private static let deepest = 8

    /// Returns whether the stored values of a derived attribute are kept: its derivation is the same, and whatever it
    /// reads is carried over unchanged.
    func isCarried(_ attribute: AttributeDescription, in entity: EntityDescription, depth: Int = 0) -> Bool {
        let contributions = contributions(to: entity)
        if contributions.isEmpty { return true }
        let isSame = contributions.allSatisfy { contribution in
            let old = source.model.attribute(attribute.name, of: contribution.source)
            return old?.derivation == attribute.derivation && old?.isStored == true && old?.type == attribute.type
        }
        return isSame && depth < Self.deepest
            && sources(of: attribute, in: entity).allSatisfy { source in
                switch source {
                case .value(let attribute, let entity) where attribute.derivation != nil:
                    isCarried(attribute, in: entity, depth: depth + 1)
                case .value(let attribute, let entity):
                    self.contributions(to: entity).allSatisfy { keepsValue(of: attribute, $0) }
                case .links(let relationship, let entity): keepsLinks(of: relationship, in: entity)
                }
            }
    }

    /// Returns the number of derived attributes, one after another, that an attribute is computed from.
    func depth(of attribute: AttributeDescription, in entity: EntityDescription, below depth: Int = 0) -> Int {
        let below = sources(of: attribute, in: entity).map { source in
            guard case .value(let other, let entity) = source, other.derivation != nil, depth < Self.deepest else {
                return 0
            }
            return 1 + self.depth(of: other, in: entity, below: depth + 1)
        }
        return below.max() ?? 0
    }

    // MARK: - What a derivation reads

    /// Whether the derivation reads more than the time.
    func readsProperties(_ attribute: AttributeDescription, in entity: EntityDescription) -> Bool {
        !sources(of: attribute, in: entity).isEmpty
    }

    /// Returns what a derivation reads; nothing if it cannot be parsed. Whether the names of its filter are those of
    /// the object or of the destinations is not publicly known, so both are taken.
    private func sources(of attribute: AttributeDescription, in entity: EntityDescription) -> [DerivationSource] {
        guard let derivation = attribute.derivation,
            let expression = try? Expression(parsing: derivation.expression.withOperatorFirst)
        else { return [] }
        let filter = derivation.filter.flatMap { try? Predicate(parsing: $0) }?.keyPaths ?? []
        return expression.keyPaths.union(filter).flatMap { path in
            let filters = filter.map { $0.split(separator: ".").map(String.init) }
            return sources(along: path.split(separator: ".").map(String.init), of: entity, filters)
        }
    }

    private func sources(along path: [String], of entity: EntityDescription, _ filters: [[String]])
        -> [DerivationSource]
    {
        let names = path.filter { !$0.hasPrefix("@") }
        guard let name = names.first else { return [] }
        if let relationship = destination.model.relationship(name, of: entity) {
            let rest = [Array(names.dropFirst())] + filters
            let there = destination.model.entity(relationship.destinationEntityName)
            return [.links(relationship, of: entity)]
                + (there.map { there in rest.flatMap { sources(along: $0, of: there, []) } } ?? [])
        }
        let attribute = destination.model.attribute(names.joined(separator: "."), of: entity)
        return attribute.map { $0.leaves.filter(\.isStored).map { .value($0, of: entity) } } ?? []
    }

    // MARK: - What is carried over unchanged

    private func keepsValue(of attribute: AttributeDescription, _ contribution: RowSource) -> Bool {
        guard case .attribute(attribute.name, let substitute)? = contribution.mapping.attributes[attribute.name],
            let old = source.model.attribute(attribute.name, of: contribution.source)
        else { return false }
        return old.type == attribute.type && (substitute == nil || !old.isOptional)
            && old.allowsExternalBinaryDataStorage == attribute.allowsExternalBinaryDataStorage
    }

    /// Returns whether every object of an entity keeps its links, and every object at their other ends stays.
    private func keepsLinks(of relationship: RelationshipDescription, in entity: EntityDescription) -> Bool {
        // A policy may link any object, and the triggers add the links to a count.
        guard mapping.entityMappings.allSatisfy({ $0.policy == nil }), let links = onlyLinks(relationship, of: entity),
            keepsInverse(of: relationship, in: entity, links), conditions(links).isEmpty,
            (links.owners + links.destinations).allSatisfy({ isAlone($0) && $0.shift == 0 }),
            // A table that is filled anew has each pair once.
            source.joinTable(named: links.pairs.table)?.mayRepeat != true
        else { return false }
        return contributions(to: entity).allSatisfy { contribution in
            guard let old = source.model.relationship(relationship.name, of: contribution.source) else { return false }
            return RelationshipPairs(relationship.name, of: contribution.source, in: source) == links.pairs
                && links.owners.contains { $0.position == contribution.position }
                && old.isToMany == relationship.isToMany
                && source.model.isTakenOnce(by: old) == destination.model.isTakenOnce(by: relationship)
        }
    }

    /// Returns the links of a relationship if all come from the same pairs.
    private func onlyLinks(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Links? {
        guard let declaring = destination.model.declaringEntity(of: relationship.name, in: entity) else { return nil }
        let links = links(of: .init(entity: declaring.name, name: relationship.name))
        return links.count == 1 ? links.first : nil
    }

    /// Returns whether the inverse, whose column may hold the links, is filled from the same pairs.
    private func keepsInverse(
        of relationship: RelationshipDescription, in entity: EntityDescription, _ links: Links
    ) -> Bool {
        guard let inverse = destination.model.inverse(of: relationship),
            let there = destination.model.entity(relationship.destinationEntityName)
        else { return true }
        let isOwn = inverse.name == relationship.name && destination.model.isKind(entity, of: there)
        return isOwn || onlyLinks(inverse, of: there)?.pairs.flipped == links.pairs
    }
}
