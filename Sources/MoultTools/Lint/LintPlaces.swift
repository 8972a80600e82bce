import MoultBasics
import MoultModelFiles
import MoultPlan

/// A lookup of the file and line of a match. Files are read on demand.
struct LintPlaces {
    private let files: [String: String]
    let path: String
    private let declarations: [String: [String: LintDeclaration]]
    /// The names of the versions, newest first.
    private let versions: [String]
    private var trees: [String: ModelTree] = [:]

    /// - Parameters:
    ///   - path: the path of the model, for matches without a file.
    ///   - declarations: the declarations in Swift source.
    init(_ versions: [LintVersion], path: String, declarations: [String: [String: LintDeclaration]] = [:]) {
        self.path = path
        self.declarations = declarations
        self.versions = versions.reversed().map(\.name)
        files = Dictionary(versions.compactMap { version in version.file.map { (version.name, $0) } }) { $1 }
    }

    mutating func finding(_ match: LintMatch, of rule: LintRule, excepted: LintException?) -> LintFinding {
        let file = match.line?.file ?? files[match.version]
        let declared = file == nil ? declaration(of: match) : nil
        let element = file.flatMap { tree(of: $0)?.element(match.entity, match.member) }
        let corrected = element.flatMap { $0.isEntityOrProperty ? $0 : nil }
        return LintFinding(
            rule: rule, severity: match.severity ?? rule.severity, version: match.version, entity: match.entity,
            member: match.member, file: file ?? declared?.file ?? path,
            line: match.line?.line ?? element?.line ?? declared?.line, message: match.message,
            advice: match.remedy,
            xml: match.edit.flatMap { edit in corrected?.startTag(setting: edit.attributes) },
            edit: corrected == nil ? nil : match.edit, exception: excepted, gap: match.gap)
    }

    /// Returns the declaration of the property, otherwise of the class, in the version itself or the newest one that
    /// has it.
    private func declaration(of match: LintMatch) -> (file: String, line: Int)? {
        guard let entity = match.entity else { return nil }
        let property = match.member.map { String($0.prefix { $0 != "." && $0 != "," }) }
        let known = ([match.version] + versions).compactMap { declarations[$0]?[entity] }
        let best = known.first { property == nil || $0.properties[property ?? ""] != nil } ?? known.first
        return best.map { best in (best.file, property.flatMap { best.properties[$0] } ?? best.line) }
    }

    private mutating func tree(of file: String) -> ModelTree? {
        if let tree = trees[file] { return tree }
        guard file.hasSuffix("/contents"), let tree = try? ModelTree(contentsOf: file) else { return nil }
        trees[file] = tree
        return tree
    }
}

/// The XML of one version, for looking up lines.
struct ModelTree {
    let root: XMLElement

    /// - Throws: any error from reading the file; `XMLFault`.
    init(contentsOf file: String) throws { try self.init(try POSIXSystem().read(file)) }

    /// - Throws: `XMLFault`.
    init(_ bytes: [UInt8]) throws(XMLFault) { root = try XMLElement.root(of: bytes, limits: .init(depth: 64)) }

    /// Returns the element of a property, otherwise of its entity, otherwise of the model.
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
    /// Returns the property or index of a name, the constraint on a list of names such as `a, b`, or the composite of a
    /// path.
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

    /// Returns the start tag with some attributes set or removed, ready to replace the old one.
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

/// References to a missing parent, destination or inverse, which make a model unreadable.
enum BrokenReferences {
    /// Returns matches for all versions whose XML can be read.
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

    private static func hasRelationship(_ name: String, _ entity: XMLElement, _ byName: [String: XMLElement]) -> Bool {
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
