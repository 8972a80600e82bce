import MoultPlan
import MoultSystem
import MoultXML

/// The XML of one version, to look up lines in.
struct ModelTree {
    let root: XMLElement

    /// - Throws: what reading the file throws, and `XMLFault`.
    init(contentsOf file: String) throws {
        root = try XMLElement.root(of: try POSIXSystem().read(file), limits: .init(depth: 64))
    }

    /// The element of a property, otherwise of its entity, otherwise of the model.
    func element(_ entityName: String?, _ member: String?) -> XMLElement? {
        guard let entityName else {
            return member.flatMap { name in root.children.first { $0.attribute("name") == name } } ?? root
        }
        let named = root.children.filter { $0.attribute("name") == entityName }
        guard let entity = named.first(where: { $0.name == "entity" }) ?? named.first else { return root }
        guard let member else { return entity }
        return entity.member(member) ?? entity
    }
}

extension XMLElement {
    /// The property or index of that name; the constraint over these names, as in `a, b`; the composite of a path.
    func member(_ name: String) -> XMLElement? {
        if let named = children.first(where: { $0.attribute("name") == name }) { return named }
        let constraints = children.filter { $0.name == "uniquenessConstraints" }.flatMap(\.children)
        if let constraint = constraints.first(where: { $0.constrainedNames.joined(separator: ", ") == name }) {
            return constraint
        }
        let root = name.split(separator: ".").first.map(String.init)
        return root == name ? nil : children.first { $0.attribute("name") == root }
    }

    /// The names in a uniqueness constraint.
    var constrainedNames: [String] { children.compactMap { $0.attribute("value") } }

    var isEntityOrProperty: Bool { ["entity", "attribute", "relationship", "fetchedProperty"].contains(name) }

    /// The start tag with some attributes set or removed, as it can be pasted over the old one.
    func startTag(setting changes: [(name: String, value: String?)]) -> String {
        var all = attributes
        for change in changes {
            let place = all.firstIndex { $0.name == change.name }
            switch (place, change.value) {
            case (let place?, let value?): all[place].value = value
            case (let place?, nil): all.remove(at: place)
            case (nil, let value?): all.append((change.name, value))
            case (nil, nil): break
            }
        }
        let text = all.map { " \($0.name)=\"\($0.value.escapedForXML)\"" }.joined()
        return "<\(name)\(text)\(children.isEmpty ? "/>" : ">")"
    }
}
