import MoultBasics
import MoultModel

extension ManagedObjectModel {
    /// The version of the form. A reader refuses a higher one.
    package static let jsonFormat = 1

    /// The model as `{"format":1,"model":{…}}`: everything it says, the same text for equal models.
    package var json: JSONValue {
        var model = JSONMembers()
        model.set("versionIdentifiers", versionIdentifiers)
        model.set("document", documentAttributes)
        model.set("diagram", diagram)
        model.set("entities", entities, \.json)
        model.set("configurations", configurations, \.json)
        model.set("composites", composites, \.json)
        model.set("fetchRequestTemplates", fetchRequestTemplates, \.json)
        return .object([.init("format", JSONValue(Self.jsonFormat)), .init("model", model.value)])
    }

    /// Reads the form that ``json`` writes. Members that are not known become findings.
    ///
    /// - Parameter file: what errors and findings call the file.
    /// - Throws: `MigrationError` with code `modelInvalid` and the path inside the document.
    package init(json bytes: [UInt8], file: String, findings: inout [Finding]) throws {
        let document = try JSONFields(
            JSONValue(parsing: bytes, place: file, code: .modelInvalid), place: file)
        guard let format = try document.integer("format"), let model = try document.object("model") else {
            throw document.invalid("has no format and model, so it is not one of Moult's models")
        }
        guard format == Self.jsonFormat else {
            throw MigrationError.modelInvalid(
                "The model has format \(format). This version of Moult reads format \(Self.jsonFormat).", place: file,
                remedy: "Use a newer version of Moult.")
        }
        var unknown = UnknownMembers()
        unknown.inspect(
            model,
            [
                "versionIdentifiers", "document", "diagram", "entities", "configurations", "composites",
                "fetchRequestTemplates",
            ])
        try self.init(
            entities: try model.objects("entities") { try EntityDescription($0, noting: &unknown) },
            configurations: try model.objects("configurations") { try Configuration($0, noting: &unknown) },
            composites: try model.objects("composites") { try CompositeDescription($0, noting: &unknown) },
            fetchRequestTemplates: try model.objects("fetchRequestTemplates") {
                try FetchRequestTemplate($0, noting: &unknown)
            },
            versionIdentifiers: try model.texts("versionIdentifiers"),
            documentAttributes: try model.dictionary("document"), diagram: try model.dictionary("diagram"))
        findings += unknown.findings
    }
}

/// Gathers the members that a reader does not know.
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

extension Configuration {
    fileprivate var json: JSONValue {
        var members = JSONMembers()
        members.set("name", name)
        members.set("entityNames", entityNames)
        members.set("usedWithCloudKit", usedWithCloudKit, unless: false)
        return members.value
    }

    fileprivate init(_ fields: JSONFields, noting unknown: inout UnknownMembers) throws {
        unknown.inspect(fields, ["name", "entityNames", "usedWithCloudKit"])
        self.init(
            name: try fields.required("name"), entityNames: try fields.texts("entityNames"),
            usedWithCloudKit: try fields.flag("usedWithCloudKit") ?? false)
    }
}

extension CompositeDescription {
    fileprivate var json: JSONValue {
        var members = JSONMembers()
        members.set("name", name)
        members.set("elements", elements, \.json)
        return members.value
    }

    fileprivate init(_ fields: JSONFields, noting unknown: inout UnknownMembers) throws {
        unknown.inspect(fields, ["name", "elements"])
        self.init(
            name: try fields.required("name"),
            elements: try fields.objects("elements") { try AttributeDescription($0, noting: &unknown) })
    }
}

extension FetchRequestTemplate {
    fileprivate var json: JSONValue {
        var members = JSONMembers()
        members.set("name", name)
        members.set("entityName", entityName)
        members.set("predicate", predicate)
        members.set("options", options)
        return members.value
    }

    fileprivate init(_ fields: JSONFields, noting unknown: inout UnknownMembers) throws {
        unknown.inspect(fields, ["name", "entityName", "predicate", "options"])
        self.init(
            name: try fields.required("name"), entityName: try fields.required("entityName"),
            predicate: try fields.text("predicate"), options: try fields.dictionary("options"))
    }
}
