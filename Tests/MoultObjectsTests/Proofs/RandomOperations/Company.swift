import MoultModel

/// The model that random operations work on, as plain tables: one of each kind of relationship and delete rule.
///
/// The reference reads these tables, and the model of the store is made from them.
enum Company {
    struct Link {
        var owner: String
        var name: String
        var destination: String
        var inverse: String
        var isToMany = false
        var isOrdered = false
        var rule = DeleteRule.nullify
    }

    /// A sub-entity behind its parent.
    static let entities = ["Person", "Manager", "Team", "Project", "Task", "Tag", "Passport", "Locker", "Label"]
    static let parents = ["Manager": "Person"]

    /// Every entity has `ref` too: the number by which the reference knows the object.
    static let attributes: [String: [(name: String, type: AttributeType)]] = [
        "Person": [
            ("name", .string), ("age", .integer32), ("score", .double), ("isActive", .boolean), ("joined", .date),
            ("badge", .uuid), ("photo", .binary),
        ],
        "Manager": [("budget", .decimal)],
        "Team": [("title", .string), ("memberCount", .integer64)],
        "Project": [("title", .string), ("taskCount", .integer64)],
        "Task": [("title", .string), ("rank", .integer16)],
        "Tag": [("label", .string)],
        "Passport": [("number", .integer64), ("home", .uri)],
        "Locker": [("weight", .float)],
        "Label": [("name", .string), ("value", .integer64)],
    ]

    /// Kept by the store: the number of destinations of a relationship, as of the last save.
    static let derived = ["memberCount": "members", "taskCount": "tasks"]

    static let links: [Link] = [
        // One to many with an order; one to one with a cascade; one entity twice.
        Link(owner: "Team", name: "members", destination: "Person", inverse: "team", isToMany: true, isOrdered: true),
        Link(owner: "Person", name: "team", destination: "Team", inverse: "members"),
        Link(owner: "Person", name: "passport", destination: "Passport", inverse: "owner", rule: .cascade),
        Link(owner: "Passport", name: "owner", destination: "Person", inverse: "passport"),
        Link(owner: "Person", name: "mentor", destination: "Person", inverse: "mentees"),
        Link(owner: "Person", name: "mentees", destination: "Person", inverse: "mentor", isToMany: true),
        Link(owner: "Person", name: "friends", destination: "Person", inverse: "friends", isToMany: true),
        // Many to many, ordered at one end, at both, and of one entity with itself.
        Link(owner: "Person", name: "tasks", destination: "Task", inverse: "people", isToMany: true, isOrdered: true),
        Link(owner: "Task", name: "people", destination: "Person", inverse: "tasks", isToMany: true),
        Link(owner: "Task", name: "tags", destination: "Tag", inverse: "tasks", isToMany: true, isOrdered: true),
        Link(owner: "Tag", name: "tasks", destination: "Task", inverse: "tags", isToMany: true, isOrdered: true),
        Link(owner: "Task", name: "blocks", destination: "Task", inverse: "blockedBy", isToMany: true),
        Link(owner: "Task", name: "blockedBy", destination: "Task", inverse: "blocks", isToMany: true),
        // The other rules.
        Link(owner: "Team", name: "projects", destination: "Project", inverse: "team", isToMany: true, rule: .cascade),
        Link(owner: "Project", name: "team", destination: "Team", inverse: "projects"),
        Link(owner: "Project", name: "tasks", destination: "Task", inverse: "project", isToMany: true, rule: .cascade),
        Link(owner: "Task", name: "project", destination: "Project", inverse: "tasks"),
        Link(owner: "Manager", name: "runs", destination: "Team", inverse: "lead", isToMany: true, rule: .deny),
        Link(owner: "Team", name: "lead", destination: "Manager", inverse: "runs"),
        Link(owner: "Person", name: "locker", destination: "Locker", inverse: "holder", rule: .noAction),
        Link(owner: "Locker", name: "holder", destination: "Person", inverse: "locker"),
    ]

    /// The entity and those that it inherits from.
    static func lineage(_ entity: String) -> [String] { [entity] + (parents[entity].map(lineage) ?? []) }

    static func isKind(_ entity: String, of other: String) -> Bool { lineage(entity).contains(other) }

    static func links(of entity: String) -> [Link] {
        let lineage = lineage(entity)
        return links.filter { lineage.contains($0.owner) }
    }

    static func link(_ name: String, of entity: String) -> Link { links(of: entity).first { $0.name == name }! }

    /// Those that a program sets, without `ref`.
    static func attributes(of entity: String) -> [(name: String, type: AttributeType)] {
        lineage(entity).flatMap { attributes[$0] ?? [] }.filter { derived[$0.name] == nil }
    }

    static func derived(of entity: String) -> [(name: String, link: String)] {
        lineage(entity).flatMap { attributes[$0] ?? [] }.compactMap { attribute in
            derived[attribute.name].map { (attribute.name, $0) }
        }
    }

    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: entities.map(description))
    }

    private static func description(of entity: String) -> EntityDescription {
        let ref = AttributeDescription(name: "ref", type: .integer64, isOptional: false)
        let own = (attributes[entity] ?? []).map { name, type in
            AttributeDescription(
                name: name, type: type, isOptional: !(entity == "Project" && name == "title"),
                derivation: derived[name].map { .init(expression: "\($0).@count") },
                allowsExternalBinaryDataStorage: type == .binary)
        }
        return EntityDescription(
            name: entity, superentityName: parents[entity], attributes: (parents[entity] == nil ? [ref] : []) + own,
            relationships: links.filter { $0.owner == entity }.map { link in
                RelationshipDescription(
                    name: link.name, destinationEntityName: link.destination, inverseName: link.inverse,
                    maxCount: link.isToMany ? 0 : 1, isOrdered: link.isOrdered, deleteRule: link.rule)
            },
            uniquenessConstraints: entity == "Label" ? [["name"]] : [])
    }
}
