import MoultBasics
import MoultModel

// Whether the stored value of a derived attribute is still right depends on what its derivation reads.

extension StoreLowering {
    /// A property of the destination that a derivation reads, in the objects of an entity.
    private enum DerivationSource {
        case value(AttributeDescription, of: EntityDescription)
        case links(RelationshipDescription, of: EntityDescription)
        /// A name that no stored property has.
        case unknown(String, of: EntityDescription)
    }

    /// Derived attributes that read one another are followed up to this number.
    private static let limit = 64

    /// Returns whether the stored values of a derived attribute are kept: its derivation is the same, and whatever it
    /// reads is carried over unchanged.
    func isCarried(_ attribute: AttributeDescription, in entity: EntityDescription) -> Bool {
        let chain = chain(of: attribute, in: entity)
        return chain.count < Self.limit && chain.allSatisfy { keepsDerivation(of: $0.attribute, in: $0.entity) }
    }

    /// Returns an attribute, followed by the derived attributes that it is computed from, at once or through others.
    func chain(of attribute: AttributeDescription, in entity: EntityDescription)
        -> [(attribute: AttributeDescription, entity: EntityDescription)]
    {
        var chain = [(attribute: attribute, entity: entity)]
        var seen: Set = [[entity.name, attribute.name]]
        var next = 0
        while next < chain.count, chain.count < Self.limit {
            for case .value(let other, let there) in sources(of: chain[next].attribute, in: chain[next].entity)
            where other.derivation != nil && seen.insert([there.name, other.name]).inserted {
                chain.append((other, there))
            }
            next += 1
        }
        return chain
    }

    /// Returns whether a derivation is the same, and reads only what is carried over or is derived itself.
    private func keepsDerivation(of attribute: AttributeDescription, in entity: EntityDescription) -> Bool {
        let contributions = contributions(to: entity)
        if contributions.isEmpty { return true }
        let isSame = contributions.allSatisfy { contribution in
            let old = source.model.attribute(attribute.name, of: contribution.source)
            return old?.derivation == attribute.derivation && old?.isStored == true && old?.type == attribute.type
        }
        return isSame
            && sources(of: attribute, in: entity).allSatisfy { source in
                switch source {
                case .value(let attribute, let entity):
                    attribute.derivation != nil
                        || self.contributions(to: entity).allSatisfy { keepsValue(of: attribute, $0) }
                case .links(let relationship, let entity): keepsLinks(of: relationship, in: entity)
                case .unknown(let name, let entity):
                    self.contributions(to: entity).allSatisfy { !self.source.model.stores(name, in: $0.source) }
                }
            }
    }

    // MARK: - What a derivation reads

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
        let path = names.joined(separator: ".")
        let leaves = destination.model.attribute(path, of: entity)?.leaves.filter(\.isStored) ?? []
        return leaves.isEmpty ? [.unknown(path, of: entity)] : leaves.map { .value($0, of: entity) }
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
            // A table that is filled anew has each pair once, or from both ends if the relationship is its own inverse.
            source.joinTable(named: links.pairs.table)?.mayRepeat != true,
            links.pairs.isReflexive || !isReflexive(relationship, in: entity)
        else { return false }
        return contributions(to: entity).allSatisfy { contribution in
            guard let old = source.model.relationship(relationship.name, of: contribution.source) else { return false }
            return RelationshipPairs(relationship.name, of: contribution.source, in: source) == links.pairs
                && links.owners.contains { $0.position == contribution.position }
                && old.isToMany == relationship.isToMany
                && source.model.isTakenOnce(by: old) == destination.model.isTakenOnce(by: relationship)
        }
    }

    private func isReflexive(_ relationship: RelationshipDescription, in entity: EntityDescription) -> Bool {
        RelationshipPairs(relationship.name, of: entity, in: destination)?.isReflexive == true
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

extension ManagedObjectModel {
    /// Returns whether objects of an entity have a stored property of that name.
    fileprivate func stores(_ name: String, in entity: EntityDescription) -> Bool {
        relationship(name, of: entity) != nil
            || attribute(name, of: entity)?.leaves.contains(where: \.isStored) == true
    }
}
