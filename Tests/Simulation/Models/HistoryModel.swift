import MoultModel

/// One version of a generated history: a model whose entities, attributes and links keep a number of their own through
/// all versions, so that what became of each is known without asking the models.
struct HistoryModel: Codable, Sendable {
    struct Attribute: Sendable {
        var id: Int
        /// Its name is a path, `composite.element`, where it is an element of a composite attribute; its renaming
        /// identifier is the element's.
        var description: AttributeDescription
        /// Whether every object has another value, so that it may become unique.
        var isDistinct = false
    }

    struct Entity: Codable, Sendable {
        var id: Int
        var name: String
        var renamingIdentifier: String?
        /// A part of the version hash that stands for nothing else.
        var modifier: String?
        /// A note, which is no part of the version hash.
        var note: String?
        var parent: Int?
        var isAbstract = false
        /// Whether no version's data have an object of it, so that it may become abstract.
        var isEmpty = false
        var attributes: [Attribute] = []
        /// Attributes, by number, that are unique.
        var unique: [Int] = []
        /// Indexes, each over attributes of the entity's own, by number.
        var indexes: [[Int]] = []
        /// The renaming identifiers of composite attributes, by their names.
        var composites: [String: String]?
        /// The names of transient attributes, texts that no store has.
        var transients: [String]?
        /// The attributes that the store computes.
        var derived: [Derived]?
    }

    struct End: Codable, Sendable {
        /// The entity that declares it.
        var entity: Int
        var name: String
        var isToMany = false
        var isOrdered = false
        var renamingIdentifier: String?
        /// Whether an object takes its destinations with it when it is deleted; no part of the version hash.
        var cascades = false
        /// The delete rule where it is neither to cascade nor to nullify; no part of the version hash either.
        var rule: Rule?
        /// Whether every object has a destination, or as many as a to-many has at least.
        var isRequired: Bool?
        /// The highest number of destinations of a to-many; nil for any number.
        var limit: Int?
        /// The least number of destinations of a to-many that is not empty; nil for any number.
        var least: Int?

        enum Rule: String, Codable, CaseIterable, Sendable { case deny, noAction }

        var deleteRule: DeleteRule {
            switch rule {
            case .deny: .deny
            case .noAction: .noAction
            case nil: cascades ? .cascade : .nullify
            }
        }
    }

    /// A relationship with its inverse, or without one.
    struct Link: Codable, Sendable {
        var id: Int
        var end: End
        var destination: Int
        var inverse: End?

        var ends: [End] { [end] + (inverse.map { [$0] } ?? []) }
        /// The entity at the other end.
        var far: Int { inverse?.entity ?? destination }
        var isRequired: Bool { ends.contains { $0.isRequired == true } }
        /// Whether a save may be refused for what the link is then.
        var isRuled: Bool { isRequired || ends.contains { $0.isCounted || $0.rule == .deny } }
    }

    var entities: [Entity] = []
    var links: [Link] = []
    /// Entities, by number, that are marked as another configuration's; nil where the model has no configurations.
    var others: [Int]?
    /// Whether SwiftData's classes can declare it; nil for no.
    var isPlain: Bool?
    /// Whether the other configuration has a store too; nil for no. What is linked, or of one hierarchy, is then marked
    /// alike.
    var isDivided: Bool?

    func entity(_ id: Int?) -> Entity? { entities.first { $0.id == id } }
    func link(_ id: Int) -> Link? { links.first { $0.id == id } }

    /// The entity and those above it, itself first.
    func lineage(_ id: Int) -> [Entity] {
        var lineage: [Entity] = []
        var next = entity(id)
        while let entity = next, lineage.count < entities.count {
            lineage.append(entity)
            next = self.entity(entity.parent)
        }
        return lineage
    }

    func isKind(_ id: Int, of ancestor: Int) -> Bool { lineage(id).contains { $0.id == ancestor } }
    func root(of id: Int) -> Int { lineage(id).last?.id ?? id }
    /// The entity and those below it.
    func family(of id: Int) -> [Entity] { entities.filter { isKind($0.id, of: id) } }
    /// The entities of the same table.
    func tree(of id: Int) -> [Entity] { family(of: root(of: id)) }

    /// Names that a property of the entity, or of one of its table, has or had as its identifier.
    func takenNames(around id: Int) -> Set<String> {
        let members = Set(tree(of: id).map(\.id))
        let attributes = entities.filter { members.contains($0.id) }.flatMap(\.attributes).map(\.description)
        let ends = links.flatMap(\.ends).filter { members.contains($0.entity) }
        return Set(attributes.map(\.name) + attributes.map(\.lastName) + ends.map(\.name))
            .union(attributes.compactMap(\.renamingIdentifier) + ends.compactMap(\.renamingIdentifier))
    }

    /// The number of the attribute that objects of the entity know by that name.
    func attribute(_ name: String, of entity: Int) -> Attribute? {
        lineage(entity).flatMap(\.attributes).first { $0.description.name == name }
    }

    /// Whether an object of the entity may be the destination that another one has to have.
    func isNeeded(_ id: Int) -> Bool {
        links.contains { link in
            link.end.isRequired == true && isKind(id, of: link.far)
                || link.inverse?.isRequired == true && isKind(id, of: link.end.entity)
        }
    }

    /// An entity with objects, and an attribute of theirs whose bytes stay in the file.
    var longPlace: (entity: Entity, attribute: Attribute)? {
        for entity in entities where !entity.isAbstract && !entity.isEmpty {
            let attributes = lineage(entity.id).flatMap(\.attributes)
            let fitting = attributes.first {
                [.binary, .transformable].contains($0.description.type)
                    && !$0.description.allowsExternalBinaryDataStorage
            }
            if let fitting { return (entity, fitting) }
        }
        return nil
    }

    /// The end that objects of the entity know by that name, and its link.
    func end(_ name: String, of entity: Int) -> (link: Link, end: End)? {
        let members = Set(lineage(entity).map(\.id))
        for link in links {
            for end in link.ends where end.name == name && members.contains(end.entity) { return (link, end) }
        }
        return nil
    }
}

extension HistoryModel {
    /// Changes only what no version hash sees: default values, delete rules and notes.
    mutating func retune() {
        for position in entities.indices {
            entities[position].note = (entities[position].note ?? "") + "t"
            for place in entities[position].attributes.indices {
                let attribute = entities[position].attributes[place].description
                guard let value = attribute.defaultValue else { continue }
                let standard = HistoryValues.standard(attribute.type)
                entities[position].attributes[place].description.defaultValue =
                    value == standard ? HistoryValues.otherStandard(attribute.type) : standard
            }
        }
        for position in links.indices where links[position].inverse != nil {
            let before = links[position].end.deleteRule
            links[position].end.cascades = before == .nullify
            links[position].end.rule = before == .cascade ? .deny : before == .deny ? .noAction : nil
        }
    }

    /// Leaves out what things were called in earlier versions.
    mutating func forgetIdentifiers() {
        for position in entities.indices {
            entities[position].renamingIdentifier = nil
            entities[position].composites = nil
            for attribute in entities[position].attributes.indices {
                entities[position].attributes[attribute].description.renamingIdentifier = nil
            }
        }
        for position in links.indices {
            links[position].end.renamingIdentifier = nil
            links[position].inverse?.renamingIdentifier = nil
        }
    }
}

// MARK: - Compared with another version

extension HistoryModel {
    /// What it holds, by the numbers: versions of one form differ in names, rules and indexes alone.
    var form: Set<String> {
        Set(
            entities.flatMap { entity in
                ["\(entity.id) \(entity.parent ?? 0) \(entity.isAbstract)"]
                    + entity.attributes.map { "\(entity.id) \($0.id) \($0.description.type)" }
            }
                + links.map { link in
                    "\(link.id) \(link.destination) "
                        + link.ends.map { "\($0.entity) \($0.isToMany) \($0.isOrdered)" }.joined(separator: " ")
                })
    }

    /// The form with everything that tables, columns and indexes depend on.
    var tables: Set<String> {
        form.union(
            entities.flatMap { entity in
                ["\(entity.name) \(entity.unique) \(entity.indexes)"]
                    + entity.attributes.map(\.description).map {
                        "\($0.name) \($0.isOptional) \($0.allowsExternalBinaryDataStorage)"
                    }
                    + derived(by: entity).map { "\($0.name) \($0.derivation?.expression ?? "")" }
            } + links.map { "\($0.ends.map(\.name))" })
    }

    /// A sort of property.
    struct Sort: Hashable {
        var isAttribute = false
        var words: String
    }

    /// Its entities with objects, and their properties, by their names.
    var places: [String: Sort] {
        var places: [String: Sort] = [:]
        for entity in entities where !entity.isAbstract {
            places[entity.name] = Sort(words: "entity")
            let lineage = lineage(entity.id)
            for attribute in lineage.flatMap(\.attributes).map(\.description) {
                places["\(entity.name).\(attribute.name)"] = Sort(isAttribute: true, words: "\(attribute.type)")
            }
            let kinds = Set(lineage.map(\.id))
            for end in links.flatMap(\.ends) where kinds.contains(end.entity) {
                places["\(entity.name).\(end.name)"] = Sort(words: "\(end.isToMany) \(end.isOrdered)")
            }
        }
        return places
    }

    /// Whether it has a place for everything that an earlier version can hold.
    func holdsAll(of old: HistoryModel) -> Bool {
        func attributes(_ model: HistoryModel, _ id: Int) -> Set<Int> {
            Set(model.lineage(id).flatMap(\.attributes).map(\.id))
        }
        return old.entities.allSatisfy {
            entity($0.id) != nil && attributes(old, $0.id).isSubset(of: attributes(self, $0.id))
        }
            && old.links.allSatisfy { before in
                // Without an inverse, any number of objects may lead to one, and any owner may leave.
                guard let after = link(before.id), before.inverse != nil || after.inverse?.isToMany != false,
                    old.family(of: before.end.entity).allSatisfy({ isKind($0.id, of: after.end.entity) })
                else { return false }
                return zip(before.ends, after.ends).allSatisfy {
                    ($1.isToMany || !$0.isToMany) && ($1.isOrdered || !$0.isOrdered)
                }
            }
    }
}

// MARK: - In Moult's words

extension HistoryModel {
    /// - Throws: where it is no model that Xcode would compile.
    func model() throws -> ManagedObjectModel {
        let configurations = others.map { _ in
            [(Self.configuration, held), (Self.otherConfiguration, rest)].map { name, part in
                Configuration(name: name, entityNames: part.entities.map(\.name).sorted())
            }.filter { !$0.entityNames.isEmpty }
        }
        return try ManagedObjectModel(entities: entities.map(description), configurations: configurations ?? [])
    }

    /// The configuration with which a store of a life is opened, where the model has one.
    static let configuration = "Main"
    /// The configuration of the entities that are marked.
    static let otherConfiguration = "Other"

    /// The model without the entities of the other configuration. What is linked, or of one hierarchy, is of one
    /// configuration: the other one's only if all of it is.
    var held: HistoryModel {
        guard let others else { return self }
        var held = self
        let marked = Set(others)
        held.entities = entities.filter { entity in companions(of: entity.id).contains { !marked.contains($0) } }
        let mine = Set(held.entities.map(\.id))
        held.links = links.filter { mine.contains($0.end.entity) }
        return held
    }

    /// The model of the other configuration.
    var rest: HistoryModel {
        let mine = Set(held.entities.map(\.id))
        var rest = self
        rest.entities = entities.filter { !mine.contains($0.id) }
        rest.links = links.filter { !mine.contains($0.end.entity) }
        return rest
    }

    func isMarked(_ id: Int) -> Bool { others?.contains(id) == true }

    /// The numbers of the entities that the entity's configuration has to have with it.
    func companions(of id: Int) -> Set<Int> {
        var (found, next) = (Set([id]), [id])
        while let id = next.popLast() {
            let near =
                tree(of: id).map(\.id)
                + links.flatMap { link -> [Int] in
                    let places = link.ends.map(\.entity) + [link.destination]
                    return places.contains(id) ? places : []
                }
            for other in near where entity(other) != nil && found.insert(other).inserted { next.append(other) }
        }
        return found
    }

    private func description(_ entity: Entity) -> EntityDescription {
        let names = Dictionary(
            uniqueKeysWithValues: lineage(entity.id).flatMap(\.attributes).map { ($0.id, $0.description.name) })
        return EntityDescription(
            name: entity.name, isAbstract: entity.isAbstract, superentityName: self.entity(entity.parent)?.name,
            attributes: attributes(of: entity),
            relationships: links.flatMap { relationships($0, of: entity.id) },
            fetchIndexes: entity.indexes.enumerated().map { number, attributes in
                FetchIndexDescription(
                    name: "by\(number)",
                    elements: attributes.compactMap { names[$0] }.map { .init(subject: .property($0)) })
            },
            uniquenessConstraints: entity.unique.compactMap { names[$0] }.map { [$0] },
            renamingIdentifier: entity.renamingIdentifier, versionHashModifier: entity.modifier,
            userInfo: entity.note.map { ["note": $0] } ?? [:])
    }

    /// The attributes as a model declares them: those with a path are the elements of a composite one.
    private func attributes(of entity: Entity) -> [AttributeDescription] {
        var found: [AttributeDescription] = []
        found += (entity.transients ?? []).map(AttributeDescription.init(transient:)) + derived(by: entity)
        for attribute in entity.attributes.map(\.description) {
            guard let composite = attribute.compositePath else {
                found.append(attribute)
                continue
            }
            var element = attribute
            element.name = attribute.lastName
            let place =
                found.firstIndex { $0.name == composite }
                ?? {
                    found.append(
                        AttributeDescription(
                            name: composite, type: .composite, renamingIdentifier: entity.composites?[composite]))
                    return found.count - 1
                }()
            found[place].elements.append(element)
            if !element.isOptional { found[place].isOptional = false }
        }
        return found
    }

    private func relationships(_ link: Link, of id: Int) -> [RelationshipDescription] {
        var found: [RelationshipDescription] = []
        if link.end.entity == id, let to = entity(link.inverse?.entity ?? link.destination) {
            found.append(relationship(link.end, to: to.name, inverse: link.inverse?.name))
        }
        if let inverse = link.inverse, inverse.entity == id, let to = entity(link.end.entity) {
            found.append(relationship(inverse, to: to.name, inverse: link.end.name))
        }
        return found
    }

    private func relationship(_ end: End, to entity: String, inverse: String?) -> RelationshipDescription {
        RelationshipDescription(
            name: end.name, destinationEntityName: entity, inverseName: inverse,
            isOptional: end.isRequired != true || end.isToMany && end.least == nil,
            maxCount: end.isToMany ? end.limit ?? 0 : 1, minCount: end.isToMany ? end.least ?? 0 : 0,
            isOrdered: end.isOrdered, deleteRule: end.deleteRule, renamingIdentifier: end.renamingIdentifier)
    }
}

extension AttributeDescription {
    init(transient name: String) { self.init(name: name, type: .string, isTransient: true) }

    /// The name of the composite attribute that it is an element of; nil for an attribute of its own.
    var compositePath: String? {
        name.firstIndex(of: ".").map { String(name[..<$0]) }
    }

    /// The last part of its path, which its column is named after.
    var lastName: String { name.firstIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name }
}
