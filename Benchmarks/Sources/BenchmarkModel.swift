import MoultBasics
import MoultModel
import MoultPlan

/// The model of the benchmarks: one entity with ten attributes of mixed types and two indexes, and what becomes of it.
enum BenchmarkModel {
    /// A change whose cost is measured: the versions on the way, the last one the target.
    struct Change {
        var versions: ModelVersions
        var answers = Answers.none
    }

    /// The changes by the name a child process is given.
    static func change(named name: String) throws -> Change {
        switch name {
        case "in-place": try Change(versions: versions([first, inPlace]))
        case "required": try Change(versions: versions([first, required]))
        case "widened":
            try Change(
                versions: versions([first, widened]),
                answers: Answers([Answer(from: "V1", to: "V2", entity: entity, property: "count", is: .keep)]))
        case "indexed": try Change(versions: versions([first, indexed]))
        case "deferred": try Change(versions: versions([first, fewer]))
        case "chain": try Change(versions: versions(chain))
        case "direct": try Change(versions: versions([first, chain[chain.count - 1]]))
        default:
            throw MigrationError(.usage, "There is no change \(name).", remedy: "See BenchmarkModel.")
        }
    }

    static let entity = "Item"

    static let attributes: [AttributeDescription] = [
        AttributeDescription(name: "amount", type: .decimal),
        AttributeDescription(name: "count", type: .integer32),
        AttributeDescription(name: "createdAt", type: .date, isIndexed: true),
        AttributeDescription(name: "identifier", type: .uuid),
        AttributeDescription(name: "isDone", type: .boolean),
        AttributeDescription(name: "note", type: .string),
        AttributeDescription(name: "payload", type: .binary),
        AttributeDescription(name: "price", type: .double),
        AttributeDescription(name: "rank", type: .integer16),
        AttributeDescription(name: "title", type: .string, isIndexed: true),
    ]

    static let first = attributes

    /// One attribute added, one renamed: the catalogue alone changes.
    static let inPlace = renaming("note", to: "remark", in: adding("tag", to: attributes))

    /// An optional attribute becomes required; the rows that have no value get the default.
    static let required = changing("note", in: attributes) {
        $0.isOptional = false
        $0.defaultValue = .string("none")
    }

    /// A column comes, and another one gets an index, which alone is no new version.
    static let indexed = changing("note", in: adding("tag", to: attributes)) { $0.isIndexed = true }

    /// Two columns leave and one comes, which moves the others.
    static let fewer =
        attributes.filter { $0.name != "note" && $0.name != "payload" }
        + [AttributeDescription(name: "checked", type: .boolean)]

    /// A column changes its type and every value stays.
    static let widened = changing("count", in: attributes) { $0.type = .double }

    /// Ten versions: attributes come, go, get other names, and one becomes required.
    static let chain: [[AttributeDescription]] = {
        var versions = [attributes]
        func next(_ change: ([AttributeDescription]) -> [AttributeDescription]) {
            versions.append(change(versions[versions.count - 1]))
        }
        next { adding("colour", to: $0) }
        next { adding("draft", to: $0) }
        next { renaming("rank", to: "position", in: $0) }
        next { adding("size", to: $0) }
        next { $0.filter { $0.name != "draft" } }
        next { renaming("title", to: "heading", in: $0) }
        next { adding("owner", to: $0) }
        next {
            changing("note", in: $0) {
                $0.isOptional = false
                $0.defaultValue = .string("none")
            }
        }
        next { adding("language", to: $0) }
        return versions
    }()

    static func versions(_ all: [[AttributeDescription]]) throws -> ModelVersions {
        try ModelVersions(
            versions: all.enumerated().map { position, attributes in
                ModelVersion(
                    names: ["V\(position + 1)"], model: try ManagedObjectModel(entities: [entity(with: attributes)]))
            })
    }

    private static func entity(with attributes: [AttributeDescription]) -> EntityDescription {
        EntityDescription(name: entity, attributes: attributes)
    }

    // MARK: - Words for changes

    private static func adding(_ name: String, to attributes: [AttributeDescription]) -> [AttributeDescription] {
        attributes + [text(name)]
    }

    static func text(_ name: String) -> AttributeDescription { AttributeDescription(name: name, type: .string) }

    private static func renaming(_ name: String, to newName: String, in attributes: [AttributeDescription])
        -> [AttributeDescription]
    {
        changing(name, in: attributes) {
            $0.renamingIdentifier = name
            $0.name = newName
        }
    }

    static func changing(
        _ name: String, in attributes: [AttributeDescription], _ change: (inout AttributeDescription) -> Void
    ) -> [AttributeDescription] {
        attributes.map { attribute in
            var attribute = attribute
            if attribute.name == name { change(&attribute) }
            return attribute
        }
    }
}
