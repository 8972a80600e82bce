import MoultModel

/// The accessors of a to-many relationship, in the order and spelling of Xcode.
struct ManagedList {
    private(set) var accessors: [(apple: [String], foreign: [String], moult: [String])] = []

    /// - Parameters:
    ///   - type: the class of the destinations; `moult` where the API is MoultCoreData's.
    init(_ relationship: RelationshipDescription, _ type: String, moult: String, _ types: TypeNames) {
        let (name, own) = (relationship.name, relationship.name.identifier)
        let title = name.capitalizedFirst
        let int = types("Int")
        if relationship.isOrdered {
            let list = "mutableOrderedSetValue(forKey: \(name.swiftLiteral))"
            add(
                "insertObject:in\(title)AtIndex:", "insertInto\(title)(_ value: \(type), at idx: \(int))",
                ["\(list).insert(value, at: idx)"], "insertInto\(title)(_ value: \(moult), at idx: \(int))",
                ["\(own).insert(value, at: idx)"])
            add(
                "removeObjectFrom\(title)AtIndex:", "removeFrom\(title)(at idx: \(int))",
                ["\(list).removeObject(at: idx)"], "removeFrom\(title)(at idx: \(int))", ["\(own).remove(at: idx)"])
            add(
                "insert\(title):atIndexes:", "insertInto\(title)(_ values: [\(type)], at indexes: NSIndexSet)",
                ["for (value, index) in zip(values, indexes) { \(list).insert(value, at: index) }"],
                "insertInto\(title)(_ values: [\(moult)], at indexes: IndexSet)",
                ["for (value, index) in zip(values, indexes) { \(own).insert(value, at: index) }"])
            add(
                "remove\(title)AtIndexes:", "removeFrom\(title)(at indexes: NSIndexSet)",
                ["for index in indexes.reversed() { \(list).removeObject(at: index) }"],
                "removeFrom\(title)(at indexes: IndexSet)",
                ["for index in indexes.reversed() { \(own).remove(at: index) }"])
            add(
                "replaceObjectIn\(title)AtIndex:withObject:",
                "replace\(title)(at idx: \(int), with value: \(type))",
                ["\(list).removeObject(at: idx)", "\(list).insert(value, at: idx)"],
                "replace\(title)(at idx: \(int), with value: \(moult))", ["\(own)[idx] = value"])
            add(
                "replace\(title)AtIndexes:with\(title):",
                "replace\(title)(at indexes: NSIndexSet, with values: [\(type)])",
                ["for (index, value) in zip(indexes, values) { replace\(title)(at: index, with: value) }"],
                "replace\(title)(at indexes: IndexSet, with values: [\(moult)])",
                ["for (index, value) in zip(indexes, values) { \(own)[index] = value }"])
            addPlain(
                title, list, "NSOrderedSet", type, moult, "[\(moult)]", add: "\(own).append(value)",
                remove: "\(own).removeAll { $0 == value }", addAll: "\(own) += values",
                removeAll: "\(own).removeAll { values.contains($0) }", all: "values.array")
        } else {
            let set = "mutableSetValue(forKey: \(name.swiftLiteral))"
            addPlain(
                title, set, "NSSet", type, moult, "\(types("Set"))<\(moult)>", add: "\(own).insert(value)",
                remove: "\(own).remove(value)", addAll: "\(own).formUnion(values)",
                removeAll: "\(own).subtract(values)", all: "values.allObjects")
        }
    }

    private mutating func addPlain(
        _ title: String, _ list: String, _ collection: String, _ type: String, _ moult: String, _ moultValues: String,
        add addOne: String, remove: String, addAll: String, removeAll: String, all: String
    ) {
        add(
            "add\(title)Object:", "addTo\(title)(_ value: \(type))", ["\(list).add(value)"],
            "addTo\(title)(_ value: \(moult))", [addOne])
        add(
            "remove\(title)Object:", "removeFrom\(title)(_ value: \(type))", ["\(list).remove(value)"],
            "removeFrom\(title)(_ value: \(moult))", [remove])
        add(
            "add\(title):", "addTo\(title)(_ values: \(collection))",
            ["for value in \(all) { \(list).add(value) }"], "addTo\(title)(_ values: \(moultValues))", [addAll])
        add(
            "remove\(title):", "removeFrom\(title)(_ values: \(collection))",
            ["for value in \(all) { \(list).remove(value) }"], "removeFrom\(title)(_ values: \(moultValues))",
            [removeAll])
    }

    private mutating func add(
        _ selector: String, _ signature: String, _ body: [String], _ moultSignature: String, _ moultBody: [String]
    ) {
        func function(_ signature: String, _ body: [String]) -> [String] {
            ["public func \(signature) {"] + body.indented + ["}"]
        }
        accessors.append(
            (
                ["@objc(\(selector))", "@NSManaged public func \(signature)"], function(signature, body),
                function(moultSignature, moultBody)
            ))
    }
}
