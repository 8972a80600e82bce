import MoultModel

/// The classes of a model's entities, as Xcode makes them.
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

    /// The choice of the files that are made for an entity.
    package enum Choice: Sendable {
        /// The class and its properties.
        case whole
        /// The properties, for a class that the app has.
        case category
        /// The choice that the model makes for each entity.
        case asModelled
    }

    package let files: [GeneratedFile]
    /// The entities that no file is made for, in the order of the model.
    package let skipped: [String]

    /// - Throws: `modelInvalid` for a class or property whose name Swift cannot have, and for two entities of one class.
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

    /// The class of each entity that has one of its own.
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
    /// `class`, `category`, or nil for nothing.
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
        return attribute
            + ["public class \(name.identifier): \(parent?.identifier ?? object) {", "", "}"]
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
        // A subclass inherits it. An attribute named id is the identity.
        return self == .moult || !isRoot ? lines : lines + ["extension \(type) : Identifiable {", "", "}"]
    }

    /// The members of one extension, each in the three forms.
    private func body(
        _ members: [(apple: [String], foreign: [String], moult: [String])], apart: Bool = false
    ) -> [String] {
        func joined(_ parts: [[String]]) -> [String] {
            Array(parts.joined(separator: apart ? [""] : [])).indented
        }
        switch self {
        case .coreData: return joined(members.map(\.apple))
        case .moult: return joined(members.map(\.moult))
        case .both:
            return members.isEmpty
                ? [] : joined(members.map(\.apple)).onDarwin(otherwise: joined(members.map(\.foreign)))
        }
    }
}
