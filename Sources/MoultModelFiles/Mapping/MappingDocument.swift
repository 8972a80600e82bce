import MoultBasics
import MoultModel

/// The objects of an `xcmapping.xml`, which is a Core Data XML store.
///
/// Xcode leaves deleted objects in the file, so only objects that the mapping model refers to count.
package struct MappingDocument {
    struct Object {
        let type: String
        let id: String
        let line: Int
        let attributes: [String: String]
        /// The identifiers of the destinations, in file order, which has no meaning.
        let relationships: [String: [String]]
    }

    package static let mappingModel = "XDDEVMAPPINGMODEL"

    let file: String
    /// The mapping model.
    let root: Object
    private let objects: [String: Object]

    /// - Throws: `modelInvalid` for a file that is not XML or not a mapping model.
    package init(_ bytes: [UInt8], file: String) throws(MigrationError) {
        let database = try XMLElement.root(ofModelFile: file, bytes, keepsText: true)
        guard database.name == "database" else {
            throw .modelInvalid(
                "The file's root is <\(database.name)>, not <database>.", place: "\(file):\(database.line)",
                remedy: "Give the xcmapping.xml of an .xcmappingmodel.")
        }
        var objects: [String: Object] = [:]
        var roots: [Object] = []
        for element in database.children where element.name == "object" {
            let object = try Object(element, file: file)
            guard objects.updateValue(object, forKey: object.id) == nil else {
                throw .modelInvalid(
                    "Two objects have the id \(object.id).", place: "\(file):\(object.line)",
                    remedy: "Restore the file. A merge that kept both sides has this effect.")
            }
            if object.type == Self.mappingModel { roots.append(object) }
        }
        guard let root = roots.first, roots.count == 1 else {
            throw .modelInvalid(
                "The file contains \(roots.count) mapping models instead of one.", place: file,
                remedy: "Restore the file, or create the mapping model again in Xcode.")
        }
        (self.file, self.root, self.objects) = (file, root, objects)
    }

    /// Returns the destinations of a relationship, each once.
    /// - Throws: `modelInvalid` for an identifier that no object of `type` has.
    func objects(_ relationship: String, of owner: Object, type: String) throws(MigrationError) -> [Object] {
        var found: [Object] = []
        var seen: Set<String> = []
        for id in owner.relationships[relationship] ?? [] where seen.insert(id).inserted {
            guard let object = objects[id], object.type == type else {
                throw invalid("\(relationship) refers to \(id), which is not of type \(type).", in: owner)
            }
            found.append(object)
        }
        return found
    }

    func invalid(_ message: String, in object: Object) -> MigrationError {
        .modelInvalid(
            message, place: place(of: object), remedy: "Restore the file, or create the mapping model again in Xcode.")
    }

    func place(of object: Object) -> String { "\(file):\(object.line): \(object.type) \(object.id)" }
}

extension MappingDocument.Object {
    /// Reads `<object type="…" id="…">` with its attributes and relationships.
    fileprivate init(_ element: XMLElement, file: String) throws(MigrationError) {
        guard let type = element.attribute("type"), let id = element.attribute("id") else {
            throw .modelInvalid(
                "An object has no type or no id.", place: "\(file):\(element.line)",
                remedy: "Restore the file, or create the mapping model again in Xcode.")
        }
        var attributes: [String: String] = [:]
        var relationships: [String: [String]] = [:]
        for child in element.children {
            guard let name = child.attribute("name") else { continue }
            switch child.name {
            case "attribute": attributes[name] = child.text
            case "relationship":
                relationships[name] = (child.attribute("idrefs") ?? "").split(separator: " ").map(String.init)
            default: continue
            }
        }
        self.init(type: type, id: id, line: element.line, attributes: attributes, relationships: relationships)
    }
}

/// Creates a mapping model from the contents of Xcode's editor, and computes what the editor omits.
package struct MappingDocumentReader {
    private typealias Object = MappingDocument.Object
    package typealias Versions = (source: ModelVersion, destination: ModelVersion)

    let document: MappingDocument
    private(set) var findings: [Finding] = []

    package init(document: MappingDocument) { self.document = document }

    package mutating func read() throws -> (MappingModel, Versions) {
        let versions = (source: try version("source"), destination: try version("destination"))
        let objects = try inOrder(document.objects("entitymappings", of: document.root, type: "XDDEVENTITYMAPPING"))
        var mappings: [EntityMapping] = []
        for object in objects { mappings.append(try entityMapping(object)) }
        // Expressions refer to other mappings by name, so create all mappings first.
        let defaults = MappingDefaults(from: versions.source.model, to: versions.destination.model, mappings)
        for (position, object) in objects.enumerated() {
            mappings[position].type = defaults.type(of: mappings[position])
            mappings[position].setVersionHashes(from: versions.source, to: versions.destination)
            try addProperties(of: object, to: &mappings[position], defaults)
        }
        return (MappingModel(mappings), versions)
    }

    // MARK: The models

    /// Reads one of the two models that the mapping contains in full.
    private mutating func version(_ side: String) throws -> ModelVersion {
        guard let bytes = try data("\(side)modeldata", of: document.root) else {
            throw document.invalid("The mapping model does not contain its \(side) model.", in: document.root)
        }
        let path = document.root.attributes["\(side)modelpath"] ?? ""
        let name = path.isEmpty ? side : path.fileStem
        do {
            var noticed: [Finding] = []
            let model = try ManagedObjectModel(elements: bytes, findings: &noticed)
            findings += noticed.map { finding in
                var finding = finding
                finding.place = "\(document.file): \(name) \(finding.place)"
                return finding
            }
            return ModelVersion(names: [name], model: model)
        } catch var error as MigrationError {
            error.place = "\(document.place(of: document.root)): \(side)modeldata: \(error.place)"
            throw error
        }
    }

    // MARK: Entity mappings

    private func inOrder(_ objects: [Object]) throws -> [Object] {
        var numbered: [(number: Int, object: Object)] = []
        for object in objects {
            guard let number = object.attributes["mappingnumber"].flatMap({ Int($0) }) else {
                throw document.invalid("The entity mapping has no number.", in: object)
            }
            numbered.append((number, object))
        }
        return numbered.sorted { ($0.number, $0.object.line) < ($1.number, $1.object.line) }.map(\.object)
    }

    private mutating func entityMapping(_ object: Object) throws -> EntityMapping {
        guard object.attributes["sourcename"] != nil || object.attributes["destinationname"] != nil else {
            throw document.invalid("The entity mapping has neither a source nor a destination.", in: object)
        }
        if let type = object.attributes["mappingtypename"], type != "Undefined" {
            report("The type \(type) of an entity mapping is not read; it is computed.", in: object)
        }
        return EntityMapping(
            from: object.attributes["sourcename"], to: object.attributes["destinationname"],
            name: object.attributes["name"],
            sourcePredicate: try parsed("sourcefilterpredicatestring", of: object) {
                try Predicate(parsing: $0)
            },
            entityMigrationPolicyClassName: nonempty("migrationpolicyclassname", of: object),
            userInfo: try userInfo(of: object))
    }

    private mutating func userInfo(of object: Object) throws -> [String: String] {
        guard let bytes = try data("userinfodata", of: object) else { return [:] }
        let archive = try KeyedArchive(parsing: bytes)
        var userInfo: [String: String] = [:]
        for (key, value) in archive.root?.entries ?? [] {
            if let text = value.string {
                userInfo[key] = text
            } else {
                report("The user info \(key) is not a string and is not read.", in: object)
            }
        }
        return userInfo
    }

    // MARK: Property mappings

    private func addProperties(of object: Object, to mapping: inout EntityMapping, _ defaults: MappingDefaults) throws {
        mapping.attributeMappings = try properties("attributemappings", of: object, type: "XDDEVATTRIBUTEMAPPING")
            .map { name, property in
                let stored = try storedExpression(of: property, named: name)
                return PropertyMapping(name, stored ?? defaults.expression(forAttribute: name, of: mapping))
            }
        mapping.relationshipMappings = try properties(
            "relationshipmappings", of: object, type: "XDDEVRELATIONSHIPMAPPING"
        ).map { name, property in
            let stored = try storedExpression(of: property, named: name) ?? namedMapping(of: property, named: name)
            return PropertyMapping(name, stored ?? defaults.expression(forRelationship: name, of: mapping))
        }
    }

    /// Returns the properties by name in byte order.
    private func properties(
        _ relationship: String, of owner: Object, type: String
    ) throws -> [(name: String, object: Object)] {
        var properties: [String: Object] = [:]
        for object in try document.objects(relationship, of: owner, type: type) {
            guard let name = nonempty("name", of: object) else {
                throw document.invalid("The property mapping has no name.", in: object)
            }
            guard properties.updateValue(object, forKey: name) == nil else {
                throw document.invalid("\(name) is mapped twice.", in: object)
            }
        }
        return properties.inByteOrder { $0.key }.map { ($0.key, $0.value) }
    }

    private func storedExpression(of object: Object, named name: String) throws -> Expression? {
        guard let bytes = try data("valueexpressiondata", of: object) else { return nil }
        let place = "\(document.place(of: object)): \(name)"
        guard let root = try KeyedArchive(parsing: bytes).root else {
            throw document.invalid("The value expression of \(name) is an empty archive.", in: object)
        }
        return try Expression(mapped: root, place: place)
    }

    /// Returns the expression for the objects that another entity mapping made, from a key path or from the
    /// relationship of that name.
    private func namedMapping(of object: Object, named name: String) throws -> Expression? {
        guard let mapping = nonempty("sourcemappingname", of: object) else { return nil }
        let path = try parsed("sourcekeypath", of: object) {
            try Expression(parsing: $0)
        }
        return .destinationInstances(.ofEntityMapping, named: mapping, for: path ?? .source(name))
    }

    // MARK: Attributes of an object

    /// Returns the text of an attribute. An empty text counts as absent.
    private func nonempty(_ key: String, of object: Object) -> String? {
        object.attributes[key].flatMap { $0.isEmpty ? nil : $0 }
    }

    private func parsed<Value>(_ key: String, of object: Object, _ parse: (String) throws -> Value) throws -> Value? {
        guard let text = nonempty(key, of: object) else { return nil }
        do {
            return try parse(text)
        } catch let error as MigrationError {
            throw MigrationError(
                error.code, error.message, place: "\(document.place(of: object)): \(key): \(error.place)",
                remedy: error.advice)
        }
    }

    /// Returns the bytes of base64 text with line breaks.
    private func data(_ key: String, of object: Object) throws -> [UInt8]? {
        guard let text = object.attributes[key] else { return nil }
        let digits = String(decoding: text.utf8.filter { $0 > UInt8(ascii: " ") }, as: UTF8.self)
        guard let bytes = [UInt8](base64: digits) else { throw document.invalid("\(key) is not base64.", in: object) }
        return bytes
    }

    private mutating func report(_ message: String, in object: Object) {
        findings.append(
            Finding(
                code: "unknown-element", severity: .warning, place: document.place(of: object), message: message,
                remedy: "Check whether the omitted part matters for this mapping."))
    }
}
