import MoultModel

extension Inference {
    /// Returns the source of a relationship's destinations, in the objects of one entity.
    mutating func source(of relationship: RelationshipDescription, in pair: Correspondence.Pair)
        -> RelationshipSource
    {
        let place = Place(relationship.name, in: pair.destination)
        let answer = correspondence.answers.property(relationship.name, declaredBy: place.entity)
        let name = correspondence.source(of: relationship.name, in: pair.destination.name)
        guard let name, let old = pair.source.relationships[name], !old.isTransient else { return .empty }
        let destinations = destinations(of: old)
        if destinations.isEmpty, correspondence.entitySources[relationship.destinationEntityName] != nil {
            return .empty
        }
        if isWayBack || destinations.allSatisfy({ $0.isKind(of: relationship.destinationEntityName) }) {
            return .relationship(name)
        }
        if let answer { use(answer) }
        switch answer?.is {
        case .drop: return .empty
        case .keep, .rename:
            refuse(
                .destinationNotConvertible, place.description,
                "Not every \(old.destinationEntityName) is a \(relationship.destinationEntityName) for \(place).",
                remedy: "Answer \(answer?.is == .keep ? "drop" : "new"), or add a new relationship and fill it in a "
                    + "custom stage.")
        case .new, .value, nil: askAboutDestination(old, relationship, at: place)
        }
        return .relationship(name)
    }

    /// Returns the destination entities of the objects that a relationship can lead to, without removed entities.
    private func destinations(of old: RelationshipDescription) -> [ResolvedEntity] {
        correspondence.source.family(of: old.destinationEntityName).compactMap {
            correspondence.entityDestinations[$0].flatMap { correspondence.destination[$0] }
        }
    }

    private mutating func askAboutDestination(
        _ old: RelationshipDescription, _ new: RelationshipDescription, at place: Place
    ) {
        ask(
            place.conversion(
                "\(place) changes its destination from \(old.destinationEntityName) to "
                    + "\(new.destinationEntityName).",
                old: old.name,
                evidence: "not every \(old.destinationEntityName) becomes a "
                    + "\(new.destinationEntityName): keep needs a mapping or a custom stage",
                isOfLinks: true, in: correspondence))
    }

    /// A relationship has no default: a new one that may not be empty is refused, unless its inverse fills it.
    mutating func refuseUnfilledRelationships() {
        for name in correspondence.destination.names where !correspondence.kept.contains(name) {
            guard let pair = correspondence.pair(name), !pair.source.description.isAbstract else { continue }
            let required = correspondence.destination.model.relationships(of: pair.destination.description).filter {
                !$0.mayBeEmpty && !$0.isTransient
            }
            for relationship in required where oldRelationship(relationship.name, of: name) == nil {
                if let inverse = relationship.inverseName,
                    oldRelationship(inverse, of: relationship.destinationEntityName) != nil
                {
                    continue
                }
                let place = Place(relationship.name, in: pair.destination).description
                refuse(
                    .requiredRelationship, place,
                    relationship.isToMany
                        ? "\(place) is new and needs \(Quantity.count(relationship.minCount, "destination")) or more, and a relationship "
                            + "has no default value."
                        : "\(place) is required and new, and a relationship has no default value.",
                    remedy: relationship.isToMany
                        ? "Make it optional, set its minimum count to 0, or fill it in a custom stage."
                        : "Make it optional, or fill it in a custom stage.")
            }
        }
    }

    /// The relationship that feeds one of the destination, by the mapping made.
    private func oldRelationship(_ name: String, of entity: String) -> String? {
        guard case .relationship(let old)? = known(entity)?.relationships[name] else { return nil }
        return old
    }

    /// Two ends that were ends of two different links cannot become the ends of one.
    mutating func refuseDisagreeingInverses() {
        for name in correspondence.destination.names where !correspondence.kept.contains(name) {
            guard let pair = correspondence.pair(name) else { continue }
            for relationship in pair.destination.description.relationships {
                guard let inverse = relationship.inverseName,
                    let old = oldRelationship(relationship.name, of: name),
                    let oldInverse = oldRelationship(inverse, of: relationship.destinationEntityName),
                    pair.source.relationships[old]?.inverseName != oldInverse
                else { continue }
                let places = [
                    "\(name).\(relationship.name)", "\(relationship.destinationEntityName).\(inverse)",
                ]
                let ordered = places.sorted { $0.precedesInByteOrder($1) }
                refuse(
                    .inversesDisagree, ordered[0],
                    "\(ordered[0]) and \(ordered[1]) become each other's inverse and were not before.",
                    remedy: "Give one of them a new name, so that it starts empty and the other fills it.",
                    detail: "If Moult asks whether it was renamed, answer that it is new.")
            }
        }
    }

    /// "You can't merge entity hierarchies": several come under one root only where it is the root of one of them, whose
    /// objects keep their keys. The others move into that hierarchy, and get new ones.
    mutating func refuseMergedHierarchies(_ mapping: ResolvedMapping) {
        let (source, destination) = (correspondence.source.model, correspondence.destination.model)
        for merged in mapping.mergedHierarchies(from: source, to: destination) {
            let former = correspondence.pair(merged.root)?.source.rootName
            if let former, merged.members.keys.contains(former) { continue }
            let names = merged.members.values.compactMap(\.first).sorted { $0.precedesInByteOrder($1) }
            refuse(
                .hierarchiesMerged, merged.root,
                "\(names.joined(separator: " and ")) now have the common root \(merged.root), and had none before.",
                remedy: "Keep their hierarchies apart. Or add a version between the two that has the new hierarchy, "
                    + "under other names, next to the old entities; copy the objects in a custom stage to that "
                    + "version, and leave the old entities out of the one after it.")
        }
    }
}
