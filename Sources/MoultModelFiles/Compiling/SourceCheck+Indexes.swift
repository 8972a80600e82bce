import MoultModel

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

    /// A property, or a part of a composite attribute.
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
