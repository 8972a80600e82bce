import MoultBasics
import MoultModel

extension Diagram {
    /// Creates a picture of a model: a box for each entity, and a link for each parent and each relationship with its
    /// inverse.
    ///
    /// - Parameter choice: the entities to show.
    package init(_ model: ManagedObjectModel, title: String, choice: EntityChoice = .all) throws {
        let names = try choice.names(in: model)
        self.init(title: title)
        var places: [String: Int] = [:]
        // Entities of one hierarchy are next to each other.
        for entity in model.entities where entity.superentityName == nil {
            for member in [entity] + model.descendants(of: entity) where names.contains(member.name) {
                places[member.name] = boxes.count
                boxes.append(Box(member, in: model))
            }
        }
        links = Self.links(of: model, among: places)
    }

    /// Returns the links for the parents and relationships of the entities that have a box.
    static func links(
        of model: ManagedObjectModel, among places: [String: Int], mark: (String, String) -> Mark = { _, _ in .none }
    ) -> [Link] {
        var links: [Link] = []
        for entity in model.entities {
            guard let place = places[entity.name] else { continue }
            if let parent = entity.superentityName.flatMap({ places[$0] }) {
                links.append(Link(from: place, to: parent, kind: .inheritance))
            }
            for relationship in entity.relationships {
                guard let other = places[relationship.destinationEntityName] else { continue }
                let inverse = model.inverse(of: relationship)
                let owner = model.entity(relationship.destinationEntityName).flatMap { destination in
                    inverse.flatMap { model.declaringEntity(of: $0.name, in: destination) }
                }
                // A relationship and its inverse share one link, which starts at the first end.
                if let inverse, let owner, (owner.name, inverse.name) < (entity.name, relationship.name),
                    places[owner.name] != nil, inverse.destinationEntityName == entity.name
                {
                    continue
                }
                let label = ([relationship] + (inverse.map { [$0] } ?? [])).map(\.diagramText)
                links.append(
                    Link(
                        from: place, to: other,
                        kind: .relationship(
                            near: inverse?.diagramCount ?? Count(least: 0, most: nil), far: relationship.diagramCount),
                        label: label.joined(separator: " / "), mark: mark(entity.name, relationship.name)))
            }
        }
        return links
    }

    /// The entities of a model that a picture shows.
    package enum EntityChoice: Sendable, Equatable {
        case all
        /// The named entities, and all others at most `depth` relationships or parents away.
        case around([String], depth: Int)

        /// - Throws: `usage` for an entity that the model does not have.
        func names(in model: ManagedObjectModel) throws -> Set<String> {
            guard case .around(let centres, let depth) = self else { return Set(model.entities.map(\.name)) }
            if let missing = centres.first(where: { model.entity($0) == nil }) {
                throw MigrationError(
                    .usage, "The model has no entity \(missing).", place: missing,
                    remedy: "Its entities are: \(model.entities.map(\.name).joined(separator: ", ")).")
            }
            var neighbours: [String: Set<String>] = [:]
            for entity in model.entities {
                let others =
                    entity.relationships.map(\.destinationEntityName) + [entity.superentityName].compactMap { $0 }
                for other in others {
                    neighbours[entity.name, default: []].insert(other)
                    neighbours[other, default: []].insert(entity.name)
                }
            }
            var names = Set(centres)
            for _ in 0..<min(depth, model.entities.count) { names.formUnion(names.flatMap { neighbours[$0] ?? [] }) }
            return names
        }
    }
}

extension Diagram.Box {
    init(_ entity: EntityDescription, in model: ManagedObjectModel) {
        let attributes = entity.attributes.map { Diagram.Line($0.name, detail: $0.diagramDetail(in: entity)) }
        let constraints = entity.uniquenessConstraints.filter { $0.count > 1 }.map {
            Diagram.Line("unique \($0.joined(separator: ", "))")
        }
        let fetched = entity.fetchedProperties.map { Diagram.Line($0.name, detail: "fetched property") }
        let root = model.root(of: entity)
        self.init(
            entity.name, kind: entity.isAbstract ? "abstract" : "entity", lines: attributes + constraints + fetched,
            group: model.subentities(of: root).isEmpty ? nil : root.name)
    }
}

extension AttributeDescription {
    /// The type of the attribute and its settings, such as `String? unique, default "none"`.
    func diagramDetail(in entity: EntityDescription) -> String {
        var words: [String] = []
        if entity.uniquenessConstraints.contains([name]) { words.append("unique") }
        if derivation != nil { words.append("derived") }
        if isTransient { words.append("transient") }
        if allowsExternalBinaryDataStorage { words.append("external") }
        if let defaultValue { words.append("default \(defaultValue.diagramText)") }
        let type = "\(compositeName ?? type.name)\(isOptional ? "?" : "")"
        return words.isEmpty ? type : "\(type) \(words.joined(separator: ", "))"
    }
}

extension AttributeValue {
    /// The value as text, shortened. A string is quoted, so that an empty one can be seen.
    fileprivate var diagramText: String {
        if case .string(let text) = self { return "\"\(text.diagramExcerpt)\"" }
        return (document.string.map { $0.isEmpty ? "\"\"" : $0 } ?? document.compact).diagramExcerpt
    }
}

extension String {
    /// The beginning that a box has room for.
    fileprivate var diagramExcerpt: String { count > 30 ? prefix(30) + "…" : self }
}

extension RelationshipDescription {
    /// The relationship as text, such as `posts (ordered, Cascade)`.
    var diagramText: String {
        var words = isOrdered ? ["ordered"] : []
        if isTransient { words.append("transient") }
        return "\(name) (\((words + [deleteRule.name]).joined(separator: ", ")))"
    }

    var diagramCount: Diagram.Count {
        isToMany
            ? Diagram.Count(least: isOptional ? 0 : minCount, most: maxCount == 0 ? nil : maxCount)
            : Diagram.Count(least: isOptional ? 0 : 1, most: 1)
    }
}

extension Diagram {
    /// Creates a picture of the tables of a store without a model: a box for each entity, with the columns of its
    /// table.
    ///
    /// - Throws: `usage` for an entity that the store does not have.
    package init(tables contents: StoreContents, title: String, choice: EntityChoice = .all) throws {
        self.init(title: title)
        var chosen: Set<String>?
        if case .around(let names, _) = choice {
            let known = contents.entities.map(\.name)
            if let missing = names.first(where: { !known.contains($0) }) {
                throw MigrationError(
                    .usage, "The store has no entity \(missing).", place: missing,
                    remedy: "Its entities are: \(known.joined(separator: ", ")).")
            }
            chosen = Set(names)
        }
        let shown = contents.entities.filter { chosen?.contains($0.name) != false }
        boxes = shown.map { entity in
            Box(
                entity.name, kind: "table",
                lines: [Line("in \(entity.table)")] + entity.columns.map { Line($0.name, detail: $0.meaning) })
        }
    }
}
