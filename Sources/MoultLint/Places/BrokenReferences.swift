import MoultModel
import MoultModelFiles
import MoultXML

/// The references that keep a model from being read at all: to a parent, a destination or an inverse that is missing.
enum BrokenReferences {
    /// Of all versions whose XML can be read.
    static func matches(inModelAt path: String) -> [LintMatch] {
        ModelBundle.xmlFiles(at: path).flatMap { file -> [LintMatch] in
            guard let tree = try? ModelTree(contentsOf: file.path) else { return [] }
            return matches(in: tree.root, version: file.name, file: file.path)
        }
    }

    private static func matches(in root: XMLElement, version: String, file: String) -> [LintMatch] {
        let entities = root.children.filter { $0.name == "entity" }
        let byName = Dictionary(entities.map { ($0.attribute("name") ?? "", $0) }) { first, _ in first }
        return entities.flatMap { entity -> [LintMatch] in
            let name = entity.attribute("name") ?? ""
            var matches: [LintMatch] = []
            func add(_ element: XMLElement, _ member: String?, _ message: String, _ remedy: Remedy) {
                var match = LintMatch(version, name, member, message, remedy: remedy)
                match.line = (file, element.line)
                matches.append(match)
            }
            if let parent = entity.attribute("parentEntity"), !parent.isEmpty, byName[parent] == nil {
                add(
                    entity, nil, "The parent entity \(parent) of \(name) is not in the model.",
                    "Add the entity \(parent), or name another parent in parentEntity.")
            }
            for relationship in entity.children where relationship.name == "relationship" {
                let member = relationship.attribute("name") ?? ""
                guard let goal = relationship.attribute("destinationEntity"), !goal.isEmpty else { continue }
                guard let destination = byName[goal] else {
                    add(
                        relationship, member, "The destination \(goal) of \(name).\(member) is not in the model.",
                        "Add the entity \(goal), or name another one in destinationEntity.")
                    continue
                }
                guard let inverse = relationship.attribute("inverseName"), !inverse.isEmpty,
                    !hasRelationship(inverse, destination, byName)
                else { continue }
                add(
                    relationship, member,
                    "The inverse \(inverse) of \(name).\(member) is not a relationship of \(goal).",
                    "Add the relationship \(inverse) to \(goal), or name another one in inverseName.")
            }
            return matches
        }
    }

    private static func hasRelationship(
        _ name: String, _ entity: XMLElement, _ byName: [String: XMLElement]
    ) -> Bool {
        var (current, seen): (XMLElement?, Set<String>) = (entity, [])
        while let entity = current, seen.insert(entity.attribute("name") ?? "").inserted {
            if entity.children.contains(where: { $0.name == "relationship" && $0.attribute("name") == name }) {
                return true
            }
            current = entity.attribute("parentEntity").flatMap { byName[$0] }
        }
        return false
    }
}
