import MoultBasics
import MoultModel
import MoultModelFiles

/// Finds every error in a model source, each with its line, whereas reading the model stops at the first.
package struct SourceCheck {
    let file: String
    private(set) var faults: [ModelFault] = []
    /// The first entity of each name.
    let entities: [String: ModelElement]
    let composites: [String: ModelElement]
    /// The first property of each name, by entity or composite and then by name.
    private let properties: [String: [String: ModelElement]]

    /// - Parameter root: the `<model>` element.
    init(_ root: ModelElement) {
        file = root.file
        entities = Self.byName(root.children("entity"))
        composites = Self.byName(root.children("composite") + root.children("compositeAttribute"))
        properties = entities.merging(composites) { entity, _ in entity }.mapValues { owner in
            Self.byName(owner.properties)
        }
        check(root)
        faults.sort { $0.line < $1.line }
    }

    private static func byName(_ elements: [ModelElement]) -> [String: ModelElement] {
        Dictionary(elements.map { ($0.name, $0) }) { first, _ in first }
    }

    mutating func fail(_ element: ModelElement, _ message: String, _ kind: ModelFault.Kind = .other) {
        faults.append(ModelFault(file: file, line: element.node.line, message, kind: kind))
    }

    mutating func warn(_ element: ModelElement, _ kind: ModelFault.Kind, _ message: String) {
        faults.append(ModelFault(file: file, line: element.node.line, message, severity: .warning, kind: kind))
    }

    // MARK: The model

    private mutating func check(_ root: ModelElement) {
        checkNames(root.children("entity"), kind: "entity", areIdentifiers: true)
        for entity in root.children("entity") { check(entity: entity) }
        let composites = root.children("composite") + root.children("compositeAttribute")
        checkNames(composites, kind: "composite attribute", areIdentifiers: false)
        for composite in composites { check(propertiesOf: composite, kind: "composite attribute") }
        checkNames(root.children("configuration"), kind: "configuration", areIdentifiers: false)
        for configuration in root.children("configuration") {
            for member in configuration.children("memberEntity") {
                check(reference: member, toEntity: member.name, from: "The configuration \(configuration.name)")
            }
        }
        checkNames(root.children("fetchRequest"), kind: "fetch request", areIdentifiers: false)
        for request in root.children("fetchRequest") {
            check(fetchRequest: request, called: "The fetch request \(request.name)")
        }
    }

    /// Checks that each element has a name, that names used in code are identifiers, and that no two are the same.
    mutating func checkNames(
        _ elements: [ModelElement], kind: String, areIdentifiers: Bool, in owner: String = "The model"
    ) {
        var seen: Set<String> = []
        for element in elements {
            let name = element.name
            if name.isEmpty {
                fail(element, "\(owner) has \(kind.withArticle) without a name.")
            } else if areIdentifiers, !name.isAccessorName {
                fail(
                    element,
                    "The name \(name) is not an identifier: it must begin with a letter or an underscore and contain "
                        + "only letters, digits and underscores.")
            }
            if !seen.insert(name).inserted, !name.isEmpty {
                fail(element, "\(owner) has more than one \(kind) named \(name).")
            }
        }
    }

    private mutating func check(entity: ModelElement) {
        check(parentOf: entity)
        check(propertiesOf: entity, kind: "entity")
        checkIndexes(of: entity)
        let count = entity.properties.count
        if count > 100 {
            warn(
                entity, .propertyCount,
                "\(entity.name) has \(Quantity.count(count, "property", plural: "properties")); an entity with more than 100 "
                    + "is slow.")
        }
    }

    private mutating func check(parentOf entity: ModelElement) {
        guard let parent = entity.text(.parentEntity) else { return }
        guard entities[parent] != nil else {
            fail(entity, "The parent entity \(parent) of \(entity.name) is not in the model.", .reference)
            return
        }
        if lineage(of: entity.name).isCyclic { fail(entity, "The entity \(entity.name) is its own ancestor.") }
    }

    // MARK: Inheritance

    /// Returns the names of an entity and its ancestors in the model, and whether they lead back to it.
    func lineage(of entity: String) -> (names: [String], isCyclic: Bool) {
        var names: [String] = []
        var seen: Set<String> = []
        var current: String? = entity
        // Reading the model rejects a longer lineage, and following it for every property would take too long.
        while names.count <= ManagedObjectModel.lineageLimit, let name = current, let element = entities[name] {
            guard seen.insert(name).inserted else { return (names, name == entity) }
            names.append(name)
            current = element.text(.parentEntity)
        }
        return (names, false)
    }

    /// Returns the property of an entity or of one of its ancestors.
    func property(_ name: String, of entity: String) -> ModelElement? {
        lineage(of: entity).names.lazy.compactMap { properties[$0]?[name] }.first
    }

    /// Returns the element of a composite attribute's type.
    func element(_ name: String, ofComposite composite: String) -> ModelElement? { properties[composite]?[name] }

    mutating func check(reference element: ModelElement, toEntity name: String?, from what: String) {
        guard let name, !name.isEmpty else { return fail(element, "\(what) names no entity.") }
        guard entities[name] == nil else { return }
        fail(element, "\(what) refers to the entity \(name), which is not in the model.", .reference)
    }

    mutating func check(predicate text: String?, of element: ModelElement, called what: String) {
        guard let text else { return }
        do { _ = try Predicate(parsing: text) } catch { fail(element, what, error) }
    }

    mutating func check(expression text: String, of element: ModelElement, called what: String) {
        do { _ = try Expression(parsing: text) } catch { fail(element, what, error) }
    }

    private mutating func fail(_ element: ModelElement, _ what: String, _ error: MigrationError) {
        fail(element, "\(what) does not parse: \(error.message) (\(error.place))")
    }
}

extension String {
    /// Whether the name is usable in code, because Core Data's accessors are named after it.
    fileprivate var isAccessorName: Bool {
        // Most names are plain, and classifying a character is slow.
        if utf8.allSatisfy(\.isPlain) { return utf8.first.map { !(48...57).contains($0) } ?? false }
        guard let first, first.isLetter || first == "_" else { return false }
        return allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII letter, digit or underscore.
    fileprivate var isPlain: Bool {
        (97...122).contains(self) || (65...90).contains(self) || (48...57).contains(self) || self == 95
    }
}

extension SourceCheck {
    /// Checks the indexes and the uniqueness constraints of an entity.
    mutating func checkIndexes(of entity: ModelElement) {
        let indexes = entity.children("fetchIndex", owner: entity.name)
        checkNames(indexes, kind: "fetch index", areIdentifiers: false, in: entity.name)
        for index in indexes { check(index: index, of: entity) }
        check(lists: "compoundIndexes", "compoundIndex", "index", of: entity, called: "A compound index")
        check(
            lists: "uniquenessConstraints", "uniquenessConstraint", "constraint", of: entity,
            called: "A uniqueness constraint")
    }

    private mutating func check(index: ModelElement, of entity: ModelElement) {
        let what = "The fetch index \(index.name) of \(entity.name)"
        let elements = index.children("fetchIndexElement")
        if elements.isEmpty { fail(index, "\(what) has no elements.") }
        for element in elements {
            if let property = element.text(.property) {
                check(path: property, of: entity, at: element, called: what)
            } else if let expression = element.text(.expression) {
                check(expression: expression, of: element, called: "An expression of the fetch index \(index.name)")
            } else {
                fail(element, "An element of the fetch index \(index.name) has neither property nor expression.")
            }
        }
        check(
            predicate: index.text(.partialIndexPredicate), of: index,
            called: "The predicate of the fetch index \(index.name)")
    }

    private mutating func check(
        lists outer: String, _ list: String, _ item: String, of entity: ModelElement, called what: String
    ) {
        for list in entity.children(outer).flatMap({ $0.children(list) }) {
            let items = list.children(item)
            if items.isEmpty { fail(list, "\(what) of \(entity.name) names no property.") }
            for item in items {
                guard let path = item.text(.value) else {
                    fail(item, "\(what) of \(entity.name) names no property.")
                    continue
                }
                check(path: path, of: entity, at: item, called: "\(what) of \(entity.name)")
            }
        }
    }

    /// Checks the path of a property, or of a part of a composite attribute.
    private mutating func check(path: String, of entity: ModelElement, at element: ModelElement, called what: String) {
        let names = path.split(separator: ".").map(String.init)
        var current = names.first.flatMap { property($0, of: entity.name) }
        for name in names.dropFirst() {
            current = current?.text(.composite).flatMap { self.element(name, ofComposite: $0) }
        }
        guard current == nil else { return }
        fail(element, "\(what) refers to \(path), which is not a property of \(entity.name).", .reference)
    }
}
