import MoultBasics
import MoultModel

extension Differ {
    mutating func compareProperties(of pair: EntityMatching.Pair) {
        let entity = pair.destination.description
        for attribute in entity.attributes {
            let id = PropertyID(entity: entity.name, name: attribute.name)
            let sources = sortedOrigins(of: id)
            guard let first = sources.first else {
                reportAdded(attribute, of: entity.name)
                continue
            }
            let old = correspondence.source[first.entity]?.attributes[first.name]
            reportMoves(of: id, from: sources, to: pair, .attributeRenamed, .attributeMoved, isHashed: isHashed(old))
            if let old { compare(old, attribute, of: entity.name) }
        }
        for relationship in entity.relationships {
            let id = PropertyID(entity: entity.name, name: relationship.name)
            let sources = sortedOrigins(of: id)
            guard let first = sources.first else {
                reportAdded(relationship, of: entity.name)
                continue
            }
            let old = correspondence.source[first.entity]?.relationships[first.name]
            reportMoves(
                of: id, from: sources, to: pair, .relationshipRenamed, .relationshipMoved,
                isHashed: old?.isTransient == false)
            if let old { compare(old, relationship, of: entity.name) }
        }
        reportRemovedProperties(of: pair.source.description, named: entity.name)
    }

    private func sortedOrigins(of id: PropertyID) -> [PropertyID] {
        (origins[id] ?? []).inByteOrder { $0.text }
    }

    private func isHashed(_ attribute: AttributeDescription?) -> Bool {
        // A derived attribute's name is not hashed, only its expressions are.
        attribute.map { !$0.isTransient && $0.derivation == nil } ?? true
    }

    private mutating func reportMoves(
        of id: PropertyID, from sources: [PropertyID], to pair: EntityMatching.Pair, _ renamed: ModelChange.Kind,
        _ moved: ModelChange.Kind, isHashed: Bool
    ) {
        for source in sources {
            if source.entity != pair.source.name {
                report(
                    ModelChange(
                        moved, entity: id.entity, member: id.name, old: source.text, isHashed: true,
                        losesData: fates[source]?.losesData == true))
            } else {
                if source.name != id.name {
                    report(
                        ModelChange(renamed, entity: id.entity, member: id.name, old: source.name, isHashed: isHashed))
                }
                reportLosers(of: source)
            }
        }
    }

    /// Reports a property that keeps its declaring entity but is lost to entities that leave the hierarchy.
    private mutating func reportLosers(of source: PropertyID) {
        let old = correspondence.source[source.entity]
        for entity in fates[source]?.losers ?? [] {
            if let attribute = old?.attributes[source.name] {
                report(
                    ModelChange(
                        .attributeRemoved, entity: entity, member: source.name, old: attribute.type.name,
                        isHashed: true, losesData: true))
            } else if let relationship = old?.relationships[source.name] {
                report(
                    ModelChange(
                        .relationshipRemoved, entity: entity, member: source.name, old: description(relationship),
                        isHashed: true, losesData: true))
            }
        }
    }

    /// - Parameter name: the entity's name in the newer version, if it is still there.
    mutating func reportRemovedProperties(of entity: EntityDescription, named name: String) {
        let stays = correspondence.source.family(of: entity.name).contains {
            correspondence.entityDestinations[$0] != nil
        }
        guard stays else { return }
        for attribute in entity.attributes {
            let fate = fates[PropertyID(entity: entity.name, name: attribute.name)] ?? Fate()
            guard !fate.isCarried else { continue }
            report(
                ModelChange(
                    .attributeRemoved, entity: name, member: attribute.name, old: attribute.type.name,
                    isHashed: !attribute.isTransient, losesData: fate.losesData))
        }
        for relationship in entity.relationships {
            let fate = fates[PropertyID(entity: entity.name, name: relationship.name)] ?? Fate()
            guard !fate.isCarried else { continue }
            report(
                ModelChange(
                    .relationshipRemoved, entity: name, member: relationship.name, old: description(relationship),
                    isHashed: !relationship.isTransient, losesData: fate.losesData))
        }
    }

    private func description(_ relationship: RelationshipDescription) -> String {
        "\(relationship.isToMany ? "to-many" : "to-one") \(relationship.destinationEntityName)"
    }

    // MARK: - One property

    private mutating func reportAdded(_ attribute: AttributeDescription, of entity: String) {
        let facts = [
            attribute.derivation == nil ? nil : "derived", attribute.isTransient ? "transient" : nil,
            attribute.isOptional ? "optional" : "required", attribute.type.name,
            attribute.defaultValue.map { "default \($0.text)" },
        ]
        report(
            ModelChange(
                .attributeAdded, entity: entity, member: attribute.name,
                new: facts.compactMap { $0 }.joined(separator: " "), isHashed: !attribute.isTransient))
    }

    private mutating func reportAdded(_ relationship: RelationshipDescription, of entity: String) {
        let facts = [
            relationship.isOptional ? "optional" : "required", relationship.isOrdered ? "ordered" : nil,
            description(relationship),
        ]
        report(
            ModelChange(
                .relationshipAdded, entity: entity, member: relationship.name,
                new: facts.compactMap { $0 }.joined(separator: " "), isHashed: !relationship.isTransient))
    }

    private mutating func compare(_ old: AttributeDescription, _ new: AttributeDescription, of entity: String) {
        compare(old, new, by: attributeFacts, entity: entity, member: new.name) { kind in
            if old.isTransient, new.isTransient { return false }
            // Between two derived attributes only the derivation counts.
            return old.derivation == nil || new.derivation == nil || kind == .derivation || kind == .transient
        }
    }

    private mutating func compare(_ old: RelationshipDescription, _ new: RelationshipDescription, of entity: String) {
        let isHashed = !(old.isTransient && new.isTransient)
        let destination = correspondence.entitySources[new.destinationEntityName]
        if destination != old.destinationEntityName {
            report(
                ModelChange(
                    .destination, entity: entity, member: new.name, old: old.destinationEntityName,
                    new: new.destinationEntityName, isHashed: isHashed, losesData: losesDestinations(old, new)))
        }
        let inverse = new.inverseName.flatMap { correspondence.source(of: $0, in: new.destinationEntityName) }
        if inverse != old.inverseName || (new.inverseName == nil) != (old.inverseName == nil) {
            report(
                ModelChange(
                    .inverse, entity: entity, member: new.name, old: old.inverseName, new: new.inverseName,
                    isHashed: isHashed && old.inverseName != new.inverseName))
        }
        compare(old, new, by: relationshipFacts, entity: entity, member: new.name) { _ in isHashed }
    }

    private func losesDestinations(_ old: RelationshipDescription, _ new: RelationshipDescription) -> Bool {
        correspondence.source.family(of: old.destinationEntityName).contains { name in
            guard let goal = correspondence.entityDestinations[name].flatMap({ correspondence.destination[$0] })
            else { return false }
            return !goal.isKind(of: new.destinationEntityName)
        }
    }
}
