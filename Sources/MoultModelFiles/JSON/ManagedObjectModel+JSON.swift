import MoultBasics
import MoultModel

extension ManagedObjectModel {
    /// The version of the format. A reader rejects a higher one.
    package static let jsonFormat = 1

    /// The complete model as `{"format":1,"model":{…}}`; equal models have equal text.
    package var json: JSONValue {
        let contents = ModelContents(
            entities: entities, configurations: configurations, composites: composites,
            fetchRequestTemplates: fetchRequestTemplates, versionIdentifiers: versionIdentifiers,
            document: documentAttributes, diagram: diagram)
        return .object([.init("format", JSONValue(Self.jsonFormat)), .init("model", contents.json)])
    }

    /// Reads the format that ``json`` writes. Unknown members become findings.
    ///
    /// - Parameter file: the file's name in errors and findings.
    /// - Throws: `MigrationError` with code `modelInvalid` and the path inside the document.
    package init(json bytes: [UInt8], file: String, findings: inout [Finding]) throws {
        let document = try JSONFields(JSONValue(parsing: bytes, place: file, code: .modelInvalid), place: file)
        guard let format = try document.integer("format"), let model = try document.object("model") else {
            throw document.invalid("has no format and model, so it is not one of Moult's models")
        }
        guard format == Self.jsonFormat else {
            throw MigrationError.modelInvalid(
                "The model has format \(format). This version of Moult reads format \(Self.jsonFormat).", place: file,
                remedy: "Use a newer version of Moult.")
        }
        var unknown = UnknownMembers()
        let contents = try ModelContents(model, noting: &unknown)
        try self.init(
            entities: contents.entities, configurations: contents.configurations, composites: contents.composites,
            fetchRequestTemplates: contents.fetchRequestTemplates, versionIdentifiers: contents.versionIdentifiers,
            documentAttributes: contents.document, diagram: contents.diagram)
        findings += unknown.findings
    }
}

/// Collects the members that a reader does not know.
struct UnknownMembers {
    private(set) var findings: [Finding] = []

    mutating func inspect(_ fields: JSONFields, _ known: Set<String>) {
        for name in fields.unknown(known) {
            findings.append(
                Finding(
                    code: "unknown-member", severity: .note, place: fields.place,
                    message: "The member \(name) is not known and was not read."))
        }
    }
}

/// The complete contents of a model file.
private struct ModelContents: JSONPart {
    var entities: [EntityDescription] = []
    var configurations: [Configuration] = []
    var composites: [CompositeDescription] = []
    var fetchRequestTemplates: [FetchRequestTemplate] = []
    var versionIdentifiers: [String] = []
    var document: [String: String] = [:]
    var diagram: [String: String] = [:]

    static var blank: Self { Self() }

    static var members: [JSONMember<Self>] {
        [
            .parts("entities", \.entities), .parts("configurations", \.configurations),
            .parts("composites", \.composites), .parts("fetchRequestTemplates", \.fetchRequestTemplates),
            .texts("versionIdentifiers", \.versionIdentifiers), .entries("document", \.document),
            .entries("diagram", \.diagram),
        ]
    }
}

extension Configuration: JSONPart {
    static var blank: Self { Self(name: "", entityNames: []) }

    static var members: [JSONMember<Self>] {
        [
            .required("name", \.name), .texts("entityNames", \.entityNames),
            .flag("usedWithCloudKit", \.usedWithCloudKit, unless: false),
        ]
    }
}

extension CompositeDescription: JSONPart {
    static var blank: Self { Self(name: "", elements: []) }
    static var members: [JSONMember<Self>] { [.required("name", \.name), .parts("elements", \.elements)] }
}

extension FetchRequestTemplate: JSONPart {
    static var blank: Self { Self(name: "", entityName: "") }

    static var members: [JSONMember<Self>] {
        [
            .required("name", \.name), .required("entityName", \.entityName), .text("predicate", \.predicate),
            .entries("options", \.options),
        ]
    }
}
