import MoultBasics
import MoultModel

/// The classes of a model's entities, as Xcode generates them.
package struct CoreDataClasses {
    /// The API that the classes use.
    package enum API: Sendable {
        /// Core Data, on Apple's platforms.
        case coreData
        /// `MoultCoreData`, on every platform.
        case moult
        /// Core Data on Apple's platforms, `MoultNSCoreData` elsewhere, in one source.
        case both
    }

    /// The files to generate for an entity.
    package enum Choice: Sendable {
        /// The class and its properties.
        case whole
        /// The properties, for a class that the app declares itself.
        case category
        /// The choice that the model specifies for each entity.
        case asModelled
    }

    package let files: [GeneratedFile]
    /// The entities without a generated file, in the order of the model.
    package let skipped: [String]

    /// - Throws: `modelInvalid` for a class or property whose name is not valid in Swift, and for two entities with one
    ///   class.
    package init(_ model: ManagedObjectModel, _ api: API, _ choice: Choice) throws(MigrationError) {
        let classes = try Self.classes(of: model)
        let saysScalars = model.entities.contains { $0.attributes.contains { $0.usesScalarValueType != nil } }
        let types = TypeNames(own: Set(classes.values))
        var files: [GeneratedFile] = []
        var skipped: [String] = []
        for entity in model.entities {
            let kind = choice.codeGeneration(of: entity)
            guard let name = classes[entity.name], kind != nil else {
                skipped.append(entity.name)
                continue
            }
            let members = try ManagedMembers(entity, classes: classes, types: types, saysScalars: saysScalars)
            let parent = model.superentities(of: entity).lazy.compactMap { classes[$0.name] }.first
            if kind == "class" {
                files.append(
                    GeneratedFile(
                        "\(name)+CoreDataClass.swift", imports: api.imports, api.classLines(name, parent: parent)))
            }
            files.append(
                GeneratedFile(
                    "\(name)+CoreDataProperties.swift", imports: api.imports,
                    api.propertyLines(name, isRoot: parent == nil, entity: entity.name, members)))
        }
        self.files = files
        self.skipped = skipped
    }

    /// Returns the class of each entity that has its own.
    private static func classes(of model: ManagedObjectModel) throws(MigrationError) -> [String: String] {
        var classes: [String: String] = [:]
        var entities: [String: String] = [:]
        for entity in model.entities {
            guard let name = entity.managedObjectClassName?.split(separator: ".").last.map(String.init),
                name != "NSManagedObject"
            else { continue }
            guard name.isIdentifier else {
                throw .modelInvalid(
                    "The class name \(name) of \(entity.name) is not an identifier.", place: entity.name,
                    remedy: "Give the entity another class name.")
            }
            if let other = entities.updateValue(entity.name, forKey: name) {
                throw .modelInvalid(
                    "The entities \(other) and \(entity.name) have the same class \(name).", place: entity.name,
                    remedy: "Give each entity a class of its own.")
            }
            classes[entity.name] = name
        }
        return classes
    }
}

extension CoreDataClasses.Choice {
    /// Returns `class`, `category`, or nil for no files.
    fileprivate func codeGeneration(of entity: EntityDescription) -> String? {
        switch self {
        case .whole: "class"
        case .category: "category"
        case .asModelled: entity.codeGenerationType
        }
    }
}

extension CoreDataClasses.API {
    fileprivate var imports: [String] {
        switch self {
        case .coreData: ["import Foundation", "import CoreData"]
        case .moult: ["import Foundation", "import MoultCoreData"]
        case .both: ["import Foundation"] + ["import CoreData"].onDarwin(otherwise: ["import MoultNSCoreData"])
        }
    }

    fileprivate func classLines(_ name: String, parent: String?) -> [String] {
        let object = self == .moult ? "ManagedObject" : "NSManagedObject"
        let attribute =
            switch self {
            case .coreData: ["@objc(\(name))"]
            case .moult: [String]()
            case .both: ["@objc(\(name))"].onDarwin(otherwise: [])
            }
        return attribute + ["public class \(name.identifier): \(parent?.identifier ?? object) {", "", "}"]
    }

    fileprivate func propertyLines(
        _ name: String, isRoot: Bool, entity: String, _ members: ManagedMembers
    ) -> [String] {
        let type = name.identifier
        let request = "\(self == .moult ? "" : "NS")FetchRequest<\(type)>"
        let start = ["public class func fetchRequest() -> \(request) {"]
        var lines = ["", "extension \(type) {", ""]
        switch self {
        case .coreData: lines += start.map { "@nonobjc " + $0 }.indented
        case .moult: lines += start.indented
        case .both: lines += ["@nonobjc"].indented.onDarwin(otherwise: []) + start.indented
        }
        lines += ["        return \(request)(entityName: \(entity.swiftLiteral))", "    }", ""]
        lines += body(members.properties.map { ($0.declaration, $0.foreign, $0.moult) })
        lines += ["", "}", ""]
        for list in members.lists {
            lines += ["// MARK: Generated accessors for \(list.name)", "extension \(type) {", ""]
            lines += body(list.accessors, apart: true)
            lines += ["", "}", ""]
        }
        // A subclass inherits Identifiable. An attribute named id serves as the identity.
        return self == .moult || !isRoot ? lines : lines + ["extension \(type) : Identifiable {", "", "}"]
    }

    /// Returns the members of an extension, in the form that the API uses.
    private func body(
        _ members: [(apple: [String], foreign: [String], moult: [String])], apart: Bool = false
    ) -> [String] {
        func joined(_ parts: [[String]]) -> [String] { Array(parts.joined(separator: apart ? [""] : [])).indented }
        switch self {
        case .coreData: return joined(members.map(\.apple))
        case .moult: return joined(members.map(\.moult))
        case .both:
            return members.isEmpty
                ? [] : joined(members.map(\.apple)).onDarwin(otherwise: joined(members.map(\.foreign)))
        }
    }
}

/// The accessors of a to-many relationship, in the order and spelling of Xcode.
struct ManagedList {
    private(set) var accessors: [(apple: [String], foreign: [String], moult: [String])] = []

    /// - Parameters:
    ///   - type: the class of the destinations; `moult` is its name for MoultCoreData.
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
                "replaceObjectIn\(title)AtIndex:withObject:", "replace\(title)(at idx: \(int), with value: \(type))",
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
