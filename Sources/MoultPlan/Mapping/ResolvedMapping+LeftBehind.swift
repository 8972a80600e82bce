import MoultModel

extension ResolvedMapping {
    /// Returns the entities and stored properties of the older version that the mapping does not carry over, without
    /// counts: objects that no entity mapping takes, and properties that none reads.
    ///
    /// - Parameter version: the name of the newer version.
    package func leftBehind(
        from source: ManagedObjectModel, to destination: ManagedObjectModel, version: String
    ) -> [MigrationLoss] {
        var carried: Set<PropertyPlace> = []
        for mapping in entityMappings where mapping.policy == nil { carried.formUnion(mapping.carried(from: source)) }
        let search = LeftBehindSearch(
            mapping: self, source: source, destination: destination, carried: carried, version: version)
        return source.entities.filter { !$0.isAbstract }.flatMap(search.losses)
    }
}

extension ManagedObjectModel {
    /// Whether the objects of an older version's entity have a concrete entity here, of the same name or renamed from
    /// it.
    package func hasEntity(of older: String) -> Bool {
        entities.contains { !$0.isAbstract && ($0.name == older || $0.renamingIdentifier == older) }
    }
}

/// A property of one entity, inherited or not.
package struct PropertyPlace: Sendable, Hashable {
    package var entity: String
    package var property: String

    package init(_ entity: String, _ property: String) {
        self.entity = entity
        self.property = property
    }
}

// MARK: - Properties that an entity mapping reads

extension ResolvedEntityMapping {
    /// Returns the source properties whose values the destination's properties use, even in expressions of other
    /// entities, and the inverses of the relationships among them, which hold the same links.
    package func carried(from model: ManagedObjectModel) -> Set<PropertyPlace> {
        guard let name = sourceEntityName, destinationEntityName != nil else { return [] }
        var paths: [[String]] = []
        for source in attributes.values {
            switch source {
            case .attribute(let name, _): paths.append(name.split(separator: ".").map(String.init))
            case .constant: break
            case .expression(let expression):
                let asked = expression.replacing { $0 == .variable("source") ? .evaluatedObject : nil }
                paths += asked.keyPaths.map { $0.split(separator: ".").map(String.init) }
            }
        }
        for source in relationships.values {
            switch source {
            case .relationship(let name): paths.append([name])
            case .path(let keys, _): paths.append(keys)
            case .empty: break
            }
        }
        return paths.reduce(into: []) { $0.formUnion(model.places(along: $1, from: name)) }
    }
}

extension ManagedObjectModel {
    /// Returns every property on a key path from objects of exactly one entity, for each entity that the path may reach,
    /// with the inverses of relationships. A composite attribute counts as its leaves.
    package func places(along path: [String], from name: String) -> Set<PropertyPlace> {
        var places: Set<PropertyPlace> = []
        var current = entity(name)
        let keys = path.filter { !$0.hasPrefix("@") }
        for (position, key) in keys.enumerated() {
            guard let entity = current else { break }
            // The path begins at an object of the very entity, and may lead to objects of sub-entities.
            let kinds = [entity] + (position == 0 ? [] : descendants(of: entity))
            guard let relationship = relationship(key, of: entity) else {
                let attribute = keys[position...].joined(separator: ".")
                for kind in kinds {
                    places.insert(PropertyPlace(kind.name, attribute))
                    let leaves = self.attribute(key, of: kind)?.leaves ?? []
                    for leaf in leaves where leaf.name.hasPrefix(attribute + ".") {
                        places.insert(PropertyPlace(kind.name, leaf.name))
                    }
                }
                break
            }
            for kind in kinds { places.insert(PropertyPlace(kind.name, key)) }
            current = self.entity(relationship.destinationEntityName)
            guard let inverse = relationship.inverseName, let other = current else { continue }
            for kind in [other] + descendants(of: other) { places.insert(PropertyPlace(kind.name, inverse)) }
        }
        return places
    }
}

// MARK: - Unread properties

private struct LeftBehindSearch {
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    /// The properties that statements carry over.
    let carried: Set<PropertyPlace>
    let version: String
    private let mappings: [String: [ResolvedEntityMapping]]

    init(
        mapping: ResolvedMapping, source: ManagedObjectModel, destination: ManagedObjectModel,
        carried: Set<PropertyPlace>, version: String
    ) {
        (self.source, self.destination, self.carried, self.version) = (source, destination, carried, version)
        mappings = Dictionary(grouping: mapping.entityMappings) { $0.sourceEntityName ?? "" }
    }

    func losses(_ entity: EntityDescription) -> [MigrationLoss] {
        let all = mappings[entity.name] ?? []
        let takers = all.filter { $0.destinationEntityName != nil }
        let hasPolicy = all.contains { $0.policy != nil }
        guard !takers.isEmpty || hasPolicy else {
            let isInBoth = destination.hasEntity(of: entity.name)
            var loss = MigrationLoss(.rows, isInBoth ? .dropped : .removed, entity: entity.name, version: version)
            // A mapping of type remove states the removal itself.
            loss.isInBoth = isInBoth && all.allSatisfy { $0.written == nil }
            return [loss]
        }
        // The objects of a policy without a destination entity are counted one by one, by their outcome.
        guard !takers.isEmpty else { return [] }
        func isLeft(_ name: String) -> Bool { !carried.contains(PropertyPlace(entity.name, name)) }
        let attributes = source.leaves(of: entity).filter { $0.isStored && $0.derivation == nil && isLeft($0.name) }
        let relationships = source.relationships(of: entity).filter { !$0.isTransient && isLeft($0.name) }
        guard !attributes.isEmpty || !relationships.isEmpty else { return [] }
        let made = takers.compactMap { taker in
            taker.destinationEntityName.flatMap(destination.entity).map { MadeProperties($0, by: taker, destination) }
        }
        let left =
            attributes.map { old in (MigrationLoss.Kind.values, old.name, made.contains { $0.has(old) }) }
            + relationships.map { old in (MigrationLoss.Kind.links, old.name, made.contains { $0.has(old) }) }
        return left.map { kind, name, isInBoth in
            var loss = MigrationLoss(
                kind, isInBoth ? .dropped : .removed, entity: entity.name, property: name, version: version)
            loss.isInBoth = isInBoth
            loss.isLeftToPolicy = hasPolicy
            return loss
        }
    }
}

/// The stored properties of the objects that an entity mapping makes, by each of their names.
private struct MadeProperties {
    private let taker: ResolvedEntityMapping
    private var attributes: [String: [AttributeDescription]] = [:]
    private var relationships: [String: [RelationshipDescription]] = [:]

    init(_ entity: EntityDescription, by taker: ResolvedEntityMapping, _ model: ManagedObjectModel) {
        self.taker = taker
        for leaf in model.leaves(of: entity) where leaf.isStored && leaf.derivation == nil {
            for name in Set([leaf.name, leaf.renamingIdentifier, leaf.root].compactMap { $0 }) {
                attributes[name, default: []].append(leaf)
            }
        }
        for relationship in model.relationships(of: entity) where !relationship.isTransient {
            for name in Set([relationship.name, relationship.renamingIdentifier].compactMap { $0 }) {
                relationships[name, default: []].append(relationship)
            }
        }
    }

    /// Whether an attribute of the same name, or renamed from it, takes no other attribute's values. A composite
    /// attribute and a plain one of the same name count as one attribute whose type has changed.
    func has(_ old: AttributeDescription) -> Bool {
        (attributes[old.name, default: []] + attributes[old.root, default: []]).contains { new in
            guard new.isNamed(as: old) else { return false }
            if case .attribute(let other, _)? = taker.attributes[new.name] { return other == old.name }
            return true
        }
    }

    func has(_ old: RelationshipDescription) -> Bool {
        relationships[old.name, default: []].contains { new in
            if case .relationship(let other)? = taker.relationships[new.name] { return other == old.name }
            return true
        }
    }
}

extension AttributeDescription {
    /// Whether a leaf has another's name, present or former.
    fileprivate func isNamed(as old: AttributeDescription) -> Bool {
        name == old.name || renamingIdentifier == old.name || root == old.name || name == old.root
    }

    /// The property that a leaf belongs to.
    fileprivate var root: String { String(name.prefix { $0 != "." }) }
}
