import MoultBasics

/// One version of a model, as values: every entity with everything the model says about it.
///
/// A `ManagedObjectModel` is whole by construction: its initialiser refuses a parent, destination or inverse
/// that does not exist, a cycle of parents and a name given twice, so that nobody downstream asks again.
public struct ManagedObjectModel: Sendable, Equatable {
    /// The entities, ordered by name in byte order.
    public let entities: [EntityDescription]
    /// The named subsets of entities, ordered by name.
    public let configurations: [Configuration]
    /// The composite types that a model source names, ordered by name. Attributes have their elements themselves.
    public let composites: [CompositeDescription]
    /// The stored fetch requests, ordered by name.
    public let fetchRequestTemplates: [FetchRequestTemplate]
    /// The version identifiers that `NSStoreModelVersionIdentifiers` of a store of this model holds: `[""]` when a
    /// model file names none.
    public var versionIdentifiers: [String]
    /// The attributes of a model file about itself, by name (its tools, whether it is used with CloudKit or SwiftData).
    /// They describe the file, not the model, and are no part of the fingerprint.
    public let documentAttributes: [String: String]
    /// The frame of each entity in the diagram of a model editor: x, y, width and height in points, separated by
    /// spaces. Only a source has it, and it is no part of the fingerprint.
    public let diagram: [String: String]

    private let positions: [String: Int]
    private let children: [String: [String]]
    let hashes = Once<VersionHashes>()

    /// - Throws: `MigrationError` with code `modelInvalid` that names the entity and property at fault.
    public init(
        entities: [EntityDescription], configurations: [Configuration] = [], composites: [CompositeDescription] = [],
        fetchRequestTemplates: [FetchRequestTemplate] = [], versionIdentifiers: [String] = [""],
        documentAttributes: [String: String] = [:], diagram: [String: String] = [:]
    ) throws {
        let composites = try CompositeTypes(composites)
        self.entities = try entities.map { try composites.resolved($0.inNameOrder) }
            .sorted { $0.name.precedesInByteOrder($1.name) }
        self.configurations = configurations.sorted { $0.name.precedesInByteOrder($1.name) }
        self.composites = composites.inNameOrder
        self.fetchRequestTemplates = fetchRequestTemplates.sorted { $0.name.precedesInByteOrder($1.name) }
        (self.versionIdentifiers, self.documentAttributes) = (versionIdentifiers, documentAttributes)
        self.diagram = diagram
        var positions: [String: Int] = [:]
        var children: [String: [String]] = [:]
        for (position, entity) in self.entities.enumerated() {
            positions[entity.name] = position
            if let parent = entity.superentityName { children[parent, default: []].append(entity.name) }
        }
        self.positions = positions
        self.children = children
        try checkInvariants()
    }

    /// A model of nothing, to be filled by ``setEntities(_:)``.
    public init() {
        (entities, configurations, composites, fetchRequestTemplates) = ([], [], [], [])
        (versionIdentifiers, documentAttributes, diagram) = ([""], [:], [:])
        (positions, children) = ([:], [:])
    }

    /// The entity of that name, if the model has it.
    public func entity(_ name: String) -> EntityDescription? { positions[name].map { entities[$0] } }

    // MARK: - Inheritance

    /// The entities above `entity`, nearest first.
    public func superentities(of entity: EntityDescription) -> [EntityDescription] {
        var above: [EntityDescription] = []
        var name = entity.superentityName
        while let parent = name.flatMap(self.entity) {
            above.append(parent)
            name = parent.superentityName
        }
        return above
    }

    /// The top of the inheritance tree that `entity` belongs to; the entity itself when it has no parent.
    public func root(of entity: EntityDescription) -> EntityDescription {
        var top = entity
        while let parent = top.superentityName.flatMap(self.entity) { top = parent }
        return top
    }

    /// The direct sub-entities, ordered by name in byte order.
    public func subentities(of entity: EntityDescription) -> [EntityDescription] {
        children[entity.name, default: []].compactMap(self.entity)
    }

    package func hasEntity(_ name: String) -> Bool { positions[name] != nil }

    /// Whether entities inherit from the one of that name.
    package func hasSubentities(_ name: String) -> Bool { children[name] != nil }

    /// Every entity below `entity`, depth first.
    public func descendants(of entity: EntityDescription) -> [EntityDescription] {
        subentities(of: entity).flatMap { [$0] + descendants(of: $0) }
    }

    /// Whether `entity` is `ancestor` or lies below it.
    public func isKind(_ entity: EntityDescription, of ancestor: EntityDescription) -> Bool {
        entity.name == ancestor.name || superentities(of: entity).contains { $0.name == ancestor.name }
    }

    /// Whether the entity of a name is that of another, or lies below it; not where the model lacks one of them.
    package func isKind(_ name: String, of ancestor: String) -> Bool {
        guard let entity = entity(name), let other = self.entity(ancestor) else { return false }
        return isKind(entity, of: other)
    }

    /// The attributes of an entity, inherited ones included, ordered by name in byte order.
    public func attributes(of entity: EntityDescription) -> [AttributeDescription] {
        lineage(of: entity).flatMap(\.attributes).sorted { $0.name.precedesInByteOrder($1.name) }
    }

    /// The relationships of an entity, inherited ones included, ordered by name in byte order.
    public func relationships(of entity: EntityDescription) -> [RelationshipDescription] {
        lineage(of: entity).flatMap(\.relationships).sorted { $0.name.precedesInByteOrder($1.name) }
    }

    /// The attribute of that name that `entity` declares or inherits. A leaf of a composite attribute goes by its path,
    /// `attribute.element`, and is named by it.
    public func attribute(_ name: String, of entity: EntityDescription) -> AttributeDescription? {
        if let attribute = first(of: entity, { $0.attribute(name) }) { return attribute }
        guard let dot = name.firstIndex(of: "."),
            let root = first(of: entity, { $0.attribute(String(name[..<dot])) })
        else { return nil }
        return root.leaves.first { $0.name == name }
    }

    /// The attributes of an entity that have values of their own, inherited ones included: a composite attribute is
    /// replaced by its leaves, each named by its path (``AttributeDescription/leaves``).
    package func leaves(of entity: EntityDescription) -> [AttributeDescription] {
        attributes(of: entity).flatMap(\.leaves)
    }

    /// The relationship of that name that `entity` declares or inherits.
    public func relationship(_ name: String, of entity: EntityDescription) -> RelationshipDescription? {
        first(of: entity) { $0.relationship(name) }
    }

    /// The entity in the lineage of `entity` that declares the property of that name.
    public func declaringEntity(of property: String, in entity: EntityDescription) -> EntityDescription? {
        first(of: entity) { $0.declares(property) ? $0 : nil }
    }

    /// Returns the first result of `find`, asked of the entity and then of those above it, nearest first.
    private func first<Found>(of entity: EntityDescription, _ find: (EntityDescription) -> Found?) -> Found? {
        if let found = find(entity) { return found }
        var name = entity.superentityName
        while let position = name.flatMap({ positions[$0] }) {
            if let found = find(entities[position]) { return found }
            name = entities[position].superentityName
        }
        return nil
    }

    /// The entity itself and those above it, nearest first.
    public func lineage(of entity: EntityDescription) -> [EntityDescription] { [entity] + superentities(of: entity) }

    // MARK: - Relationships

    /// The relationship at the other end, or nil if there is none.
    public func inverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
        guard let name = relationship.inverseName, let destination = entity(relationship.destinationEntityName) else {
            return nil
        }
        return self.relationship(name, of: destination)
    }

    /// Whether one object at most can lead to each destination: the inverse is to-one, or a to-many has none, so that the
    /// row of each destination names the object.
    package func isTakenOnce(by relationship: RelationshipDescription) -> Bool {
        inverse(of: relationship).map { !$0.isToMany } ?? relationship.isToMany
    }

    /// The entities that belong to a configuration; nil if the model has no configuration of that name.
    public func entities(inConfiguration name: String) -> [EntityDescription]? {
        configurations.first { $0.name == name }.map { $0.entityNames.compactMap(self.entity) }
    }

    // MARK: - Invariants

    private func checkInvariants() throws {
        if let twice = firstRepeated(entities.map(\.name)) {
            throw MigrationError.modelInvalid(
                "The model has two entities named \(twice).", place: twice, remedy: "Rename or remove one of them.")
        }
        for entity in entities { try checkLineage(of: entity) }
        for entity in entities { try checkProperties(of: entity) }
    }

    /// The most ancestors that an entity may have.
    package static let lineageLimit = 256

    private func checkLineage(of entity: EntityDescription) throws {
        var seen: Set<String> = [entity.name]
        var current = entity
        while let parent = current.superentityName {
            guard let above = self.entity(parent) else {
                throw MigrationError.modelInvalid(
                    "The parent entity \(parent) of \(current.name) is not in the model.", place: current.name,
                    remedy: "Add the entity \(parent), or give \(current.name) another parent.")
            }
            guard seen.insert(parent).inserted else {
                throw MigrationError.modelInvalid(
                    "The entity \(entity.name) is its own ancestor.", place: entity.name,
                    remedy: "Break the cycle of parents.")
            }
            // Recursion over a lineage is safe because none is longer.
            guard seen.count <= Self.lineageLimit else {
                throw MigrationError.modelInvalid(
                    "The entity \(entity.name) has more than \(Self.lineageLimit) ancestors.", place: entity.name,
                    remedy: "Flatten the inheritance.")
            }
            current = above
        }
    }

    private func checkProperties(of entity: EntityDescription) throws {
        if let twice = firstRepeated(lineage(of: entity).flatMap(\.propertyNames)) {
            throw MigrationError.modelInvalid(
                "The entity \(entity.name) has two properties named \(twice).", place: "\(entity.name).\(twice)",
                remedy: "Rename or remove one of them.")
        }
        for relationship in entity.relationships {
            let place = "\(entity.name).\(relationship.name)"
            guard let destination = self.entity(relationship.destinationEntityName) else {
                throw MigrationError.modelInvalid(
                    "The destination \(relationship.destinationEntityName) of \(place) is not in the model.",
                    place: place, remedy: "Add that entity, or correct the destination.")
            }
            guard let inverseName = relationship.inverseName else { continue }
            guard let inverse = self.relationship(inverseName, of: destination) else {
                throw MigrationError.modelInvalid(
                    "The inverse \(inverseName) of \(place) is not a relationship of \(destination.name).",
                    place: place, remedy: "Add it to \(destination.name), or correct the inverse.")
            }
            guard inverse.inverseName == nil || inverse.inverseName == relationship.name else {
                throw MigrationError.modelInvalid(
                    "\(place) names \(destination.name).\(inverseName) as its inverse, which names \(inverse.inverseName ?? "none").",
                    place: place, remedy: "Make the two relationships name each other.")
            }
        }
    }

    private func firstRepeated(_ names: [String]) -> String? {
        var seen: Set<String> = []
        return names.first { !seen.insert($0).inserted }
    }
}
