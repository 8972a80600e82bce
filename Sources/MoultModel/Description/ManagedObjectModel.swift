import MoultBasics

/// One version of a model as a value, with all its entities and their details.
///
/// A `ManagedObjectModel` is always valid: its initialiser rejects a missing parent, destination or inverse, a cycle of
/// parents, and a duplicate name, so that no later code has to check again.
public struct ManagedObjectModel: Sendable, Equatable {
    /// The entities, ordered by name in byte order.
    public var entities: [EntityDescription] { contents.value.entities }
    /// The named subsets of entities, ordered by name.
    public var configurations: [Configuration] { contents.value.configurations }
    /// The named composite types of a model source, ordered by name. Attributes contain their elements themselves.
    public var composites: [CompositeDescription] { contents.value.composites }
    /// The stored fetch requests, ordered by name.
    public var fetchRequestTemplates: [FetchRequestTemplate] { contents.value.fetchRequestTemplates }
    /// The version identifiers, as in `NSStoreModelVersionIdentifiers` of a store; `[""]` if a model file has none.
    public var versionIdentifiers: [String]
    /// The attributes of a model file that describe the file and not the model, by name (its tools, its use with
    /// CloudKit or SwiftData). They are not part of the fingerprint.
    public var documentAttributes: [String: String] { contents.value.documentAttributes }
    /// The frame of each entity in the model editor's diagram: x, y, width and height in points, separated by spaces.
    /// Found only in a source, and not part of the fingerprint.
    public var diagram: [String: String] { contents.value.diagram }

    private struct Contents: Sendable, Equatable {
        var entities: [EntityDescription] = []
        var configurations: [Configuration] = []
        var composites: [CompositeDescription] = []
        var fetchRequestTemplates: [FetchRequestTemplate] = []
        var documentAttributes: [String: String] = [:]
        var diagram: [String: String] = [:]
        var positions: [String: Int] = [:]
        var children: [String: [String]] = [:]
        let hashes = Once<VersionHashes>()
        var source = ModelSourceForm()
    }

    private var contents: Shared<Contents>
    private var positions: [String: Int] { contents.value.positions }
    private var children: [String: [String]] { contents.value.children }
    var hashes: Once<VersionHashes> { contents.value.hashes }
    var source: ModelSourceForm {
        get { contents.value.source }
        set {
            var changed = contents.value
            changed.source = newValue
            contents = Shared(changed)
        }
    }

    /// - Throws: `MigrationError` with code `modelInvalid`, which names the entity and property at fault.
    public init(
        entities: [EntityDescription], configurations: [Configuration] = [], composites: [CompositeDescription] = [],
        fetchRequestTemplates: [FetchRequestTemplate] = [], versionIdentifiers: [String] = [""],
        documentAttributes: [String: String] = [:], diagram: [String: String] = [:]
    ) throws {
        let composites = try CompositeTypes(composites)
        var contents = Contents(documentAttributes: documentAttributes, diagram: diagram)
        contents.entities = try entities.map { try composites.resolved($0.inNameOrder) }
            .inByteOrder { $0.name }
        contents.configurations = configurations.inByteOrder { $0.name }
        contents.composites = composites.inNameOrder
        contents.fetchRequestTemplates = fetchRequestTemplates.inByteOrder { $0.name }
        for (position, entity) in contents.entities.enumerated() {
            contents.positions[entity.name] = position
            if let parent = entity.superentityName { contents.children[parent, default: []].append(entity.name) }
        }
        (self.contents, self.versionIdentifiers) = (Shared(contents), versionIdentifiers)
        try checkInvariants()
    }

    /// Whether the form that the model was read from says which attributes are encrypted in CloudKit. A compiled model,
    /// such as the one inside a store, does not. It is no part of the model: models that differ in it alone are equal.
    package var describesCloudEncryption: Bool {
        get { source.describesCloudEncryption }
        set { source.describesCloudEncryption = newValue }
    }

    /// Creates a model of entities that may be incomplete, such as one without the destination of a relationship. It
    /// serves only for their version hashes.
    package init(incomplete entities: [EntityDescription]) {
        let positions = Dictionary(entities.enumerated().map { ($1.name, $0) }) { first, _ in first }
        contents = Shared(Contents(entities: entities.map(\.inNameOrder), positions: positions))
        versionIdentifiers = [""]
    }

    /// Creates an empty model, to be filled by ``setEntities(_:)``.
    public init() { (contents, versionIdentifiers) = (Shared(Contents()), [""]) }

    /// Returns the entity of that name; nil if there is none.
    public func entity(_ name: String) -> EntityDescription? { positions[name].map { entities[$0] } }

    // MARK: - Inheritance

    /// Returns the ancestors of `entity`, nearest first.
    public func superentities(of entity: EntityDescription) -> [EntityDescription] {
        var above: [EntityDescription] = []
        var name = entity.superentityName
        while let parent = name.flatMap(self.entity) {
            above.append(parent)
            name = parent.superentityName
        }
        return above
    }

    /// Returns the root of the inheritance tree of `entity`; the entity itself if it has no parent.
    public func root(of entity: EntityDescription) -> EntityDescription {
        var top = entity
        while let parent = top.superentityName.flatMap(self.entity) { top = parent }
        return top
    }

    /// Returns the direct sub-entities, ordered by name in byte order.
    public func subentities(of entity: EntityDescription) -> [EntityDescription] {
        children[entity.name, default: []].compactMap(self.entity)
    }

    package func hasEntity(_ name: String) -> Bool { positions[name] != nil }

    /// Whether any entity inherits from the one of that name.
    package func hasSubentities(_ name: String) -> Bool { children[name] != nil }

    /// Returns every entity below `entity`, depth first.
    public func descendants(of entity: EntityDescription) -> [EntityDescription] {
        subentities(of: entity).flatMap { [$0] + descendants(of: $0) }
    }

    /// Whether `entity` is `ancestor` or one of its descendants.
    public func isKind(_ entity: EntityDescription, of ancestor: EntityDescription) -> Bool {
        entity.name == ancestor.name || superentities(of: entity).contains { $0.name == ancestor.name }
    }

    /// Whether the entity of a name is another one or one of its descendants; false if the model lacks one of them.
    package func isKind(_ name: String, of ancestor: String) -> Bool {
        guard let entity = entity(name), let other = self.entity(ancestor) else { return false }
        return isKind(entity, of: other)
    }

    /// Returns the attributes of an entity, including inherited ones, ordered by name in byte order.
    public func attributes(of entity: EntityDescription) -> [AttributeDescription] {
        lineage(of: entity).flatMap(\.attributes).inByteOrder { $0.name }
    }

    /// Returns the relationships of an entity, including inherited ones, ordered by name in byte order.
    public func relationships(of entity: EntityDescription) -> [RelationshipDescription] {
        lineage(of: entity).flatMap(\.relationships).inByteOrder { $0.name }
    }

    /// Returns the attribute of that name that `entity` declares or inherits. For a leaf of a composite attribute, the
    /// name is its path, `attribute.element`.
    public func attribute(_ name: String, of entity: EntityDescription) -> AttributeDescription? {
        if let attribute = first(of: entity, { $0.attribute(name) }) { return attribute }
        guard let dot = name.firstIndex(of: "."),
            let root = first(of: entity, { $0.attribute(String(name[..<dot])) })
        else { return nil }
        return root.leaves.first { $0.name == name }
    }

    /// Returns the attributes of an entity that hold values, including inherited ones. Each composite attribute is
    /// replaced by its leaves, which are named by their paths (``AttributeDescription/leaves``).
    package func leaves(of entity: EntityDescription) -> [AttributeDescription] {
        attributes(of: entity).flatMap(\.leaves)
    }

    /// Returns the relationship of that name that `entity` declares or inherits.
    public func relationship(_ name: String, of entity: EntityDescription) -> RelationshipDescription? {
        first(of: entity) { $0.relationship(name) }
    }

    /// Returns the entity in the lineage of `entity` that declares the property of that name.
    public func declaringEntity(of property: String, in entity: EntityDescription) -> EntityDescription? {
        first(of: entity) { $0.declares(property) ? $0 : nil }
    }

    /// Returns the first result of `find`, called for the entity and then for its ancestors, nearest first.
    private func first<Found>(of entity: EntityDescription, _ find: (EntityDescription) -> Found?) -> Found? {
        if let found = find(entity) { return found }
        var name = entity.superentityName
        while let position = name.flatMap({ positions[$0] }) {
            if let found = find(entities[position]) { return found }
            name = entities[position].superentityName
        }
        return nil
    }

    /// Returns the entity itself and its ancestors, nearest first.
    public func lineage(of entity: EntityDescription) -> [EntityDescription] { [entity] + superentities(of: entity) }

    // MARK: - Relationships

    /// Returns the relationship at the other end; nil if there is none.
    public func inverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
        guard let name = relationship.inverseName, let destination = entity(relationship.destinationEntityName) else {
            return nil
        }
        return self.relationship(name, of: destination)
    }

    /// Whether at most one object can refer to each destination: the inverse is to-one, or a to-many has no inverse, so
    /// that the destination's row identifies the object.
    package func isTakenOnce(by relationship: RelationshipDescription) -> Bool {
        inverse(of: relationship).map { !$0.isToMany } ?? relationship.isToMany
    }

    /// Returns the entities of a configuration; nil if the model has no configuration of that name.
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

    /// The maximum number of ancestors of an entity.
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
            // The limit makes recursion over a lineage safe.
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
