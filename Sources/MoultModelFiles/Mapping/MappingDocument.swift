import MoultModel
import MoultXML

/// The objects of an `xcmapping.xml`, which is a Core Data XML store.
///
/// Xcode leaves what was deleted in the file, so that only what the one mapping model refers to is part of it.
struct MappingDocument {
    struct Object {
        let type: String
        let id: String
        let line: Int
        let attributes: [String: String]
        /// The ids of the destinations, in the order of the file, which means nothing.
        let relationships: [String: [String]]
    }

    static let mappingModel = "XDDEVMAPPINGMODEL"

    let file: String
    /// The mapping model.
    let root: Object
    private let objects: [String: Object]

    /// - Throws: `modelInvalid` for what is no XML or no mapping model.
    init(_ bytes: [UInt8], file: String) throws(MigrationError) {
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

    /// The objects that a relationship leads to, each once.
    /// - Throws: `modelInvalid` for an id that no object of `type` has.
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
