import MoultBasics
import MoultModel

extension ManagedObjectModel {
    private static let identifierKey = "userDefinedModelVersionIdentifier"
    private static let knownChildren: Set<String> = [
        "entity", "configuration", "fetchRequest", "composite", "compositeAttribute", "elements",
    ]

    /// Reads the XML of an `.xcdatamodel`'s `contents`.
    ///
    /// - Parameter file: the file's name in errors and findings.
    /// - Parameter findings: the list to which parts that Moult does not know are appended.
    /// - Throws: `MigrationError` with code `modelInvalid`, with the file, the line and the property at fault.
    package init(xmlContents bytes: [UInt8], file: String, findings: inout [Finding]) throws {
        try self.init(ModelElement(rootOf: bytes, file: file), findings: &findings)
    }

    /// Reads the same model as ``init(xmlContents:file:findings:)``, but takes entities from `shared` if another file
    /// has the same text for them.
    package init(
        xmlContents bytes: [UInt8], file: String, sharing shared: SharedEntities, findings: inout [Finding]
    ) throws {
        if let shared = SharedModelFile(bytes, sharing: shared), let model = ManagedObjectModel(shared) {
            self = model
        } else {
            try self.init(xmlContents: bytes, file: file, findings: &findings)
        }
    }

    /// Returns nil for an invalid model and for one with findings; reading the whole file then gives the lines.
    private init?(_ file: SharedModelFile) {
        var unknown = UnknownMarkup(file: "")
        unknown.inspect(children: Self.knownChildren, of: file.root)
        guard let model = try? ManagedObjectModel(file.root, file.entities.map(\.entity), noting: &unknown) else {
            return nil
        }
        let elements = file.entities.map { ModelElement(node: $0.element, file: "", owner: "") }
        ModelElement.checkInverseEntities(of: elements, in: model, noting: &unknown)
        guard unknown.findings.isEmpty else { return nil }
        self = model
    }

    /// Reads a `<model>` and all its contents.
    ///
    /// - Throws: see ``init(xmlContents:file:findings:)``.
    package init(_ root: ModelElement, findings: inout [Finding]) throws {
        let file = root.file
        var unknown = UnknownMarkup(file: file)
        unknown.inspect(children: Self.knownChildren, of: root)
        do {
            try self.init(root, nil, noting: &unknown)
        } catch let error where error.place.hasPrefix(file) {
            throw error
        } catch let error {
            throw root.placed(error)
        }
        ModelElement.checkInverseEntities(of: root.children("entity"), in: self, noting: &unknown)
        findings += unknown.findings
    }

    /// - Parameter entities: the entities; nil to read those of the root.
    private init(
        _ root: ModelElement, _ entities: [EntityDescription]?, noting unknown: inout UnknownMarkup
    ) throws(MigrationError) {
        // These are kept as text; a text that is no switch is a finding.
        for key in [ModelKey.usedWithCloudKit, .usedWithSwiftData] { _ = root.flag(key, noting: &unknown) }
        do {
            try self.init(
                entities: try entities ?? root.children("entity").map { try EntityDescription($0, noting: &unknown) },
                configurations: try root.children("configuration").map { try Configuration($0, noting: &unknown) },
                // Both spellings are in public use; it is not known which one Xcode writes.
                composites: try (root.children("composite") + root.children("compositeAttribute"))
                    .map { try CompositeDescription($0, noting: &unknown) },
                fetchRequestTemplates: root.children("fetchRequest").compactMap {
                    FetchRequestTemplate($0, noting: &unknown)
                },
                versionIdentifiers: [root.text(.userDefinedModelVersionIdentifier) ?? ""],
                documentAttributes: root.node.allAttributes.filter { $0.key != Self.identifierKey },
                diagram: Self.diagram(of: root))
        } catch let error as MigrationError {
            throw error
        } catch {
            throw MigrationError(.internal, "\(error)", remedy: "Report this.")
        }
    }

    private static let diagramKeys = ["positionX", "positionY", "width", "height"]

    private static func diagram(of root: ModelElement) -> [String: String] {
        let elements = root.children("elements").flatMap { $0.children("element") }.map(\.node.allAttributes)
        let places = elements.compactMap { attributes in
            attributes["name"].map { name in
                let numbers = diagramKeys.map { key in attributes[key].flatMap { Double($0) == nil ? nil : $0 } ?? "0" }
                return (name, numbers.joined(separator: " "))
            }
        }
        return Dictionary(places, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the model as the XML of an `.xcdatamodel`'s `contents`; reading it back gives an equal model.
    ///
    /// - Parameter defaults: attributes of `<model>` that describe the file, used if the model has none of that name.
    /// - Throws: `MigrationError` with code `modelInvalid` for contents that XML cannot represent: control characters
    ///   and more than one version identifier.
    package func xmlContents(defaults: [String: String] = [:]) throws -> String {
        guard versionIdentifiers.count <= 1 else {
            throw MigrationError.modelInvalid(
                "The model has \(versionIdentifiers.count) version identifiers; an XML model holds one.",
                place: "userDefinedModelVersionIdentifier", remedy: "Remove all but one, or keep the model as JSON.")
        }
        let namingComposites = NamedComposites(self)
        var document = defaults.merging(documentAttributes) { $1 }
        document["type"] = document["type"] ?? "com.apple.IDECoreDataModeler.DataModel"
        document["documentVersion"] = document["documentVersion"] ?? "1.0"
        document[Self.identifierKey] = versionIdentifiers.first ?? ""
        let attributes = Self.inXcodesOrder(document).map { (key: $0.key, value: Optional($0.value)) }
        var writer = MarkupWriter()
        try writer.element("model", attributes) { writer in
            for entity in namingComposites.entities.inEditorOrder(\.name) { try entity.write(to: &writer) }
            for composite in namingComposites.composites { try composite.write(to: &writer) }
            for configuration in configurations { try configuration.write(to: &writer) }
            for request in fetchRequestTemplates { try request.write(to: &writer) }
            guard !diagram.isEmpty else { return }
            try writer.element("elements", []) { writer in
                for (name, place) in diagram.sorted(by: { $0.key < $1.key }).inEditorOrder(\.key) {
                    let numbers = zip(Self.diagramKeys, place.split(separator: " ")).map {
                        (key: $0, value: Optional(String($1)))
                    }
                    try writer.element("element", [(key: "name", value: Optional(name))] + numbers)
                }
            }
        }
        return writer.document
    }

    /// Returns the attributes of `<model>` in Xcode's order; attributes that Xcode does not write come last.
    private static func inXcodesOrder(_ attributes: [String: String]) -> [(key: String, value: String)] {
        let order = [
            "name", "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
            "sourceLanguage", "usedWithCloudKit", "usedWithSwiftData", identifierKey, "macOSVersion", "iOSVersion",
        ]
        let known = order.compactMap { key in attributes[key].map { (key: key, value: $0) } }
        let others = attributes.filter { !order.contains($0.key) }
        return known + others.inByteOrder { $0.key }
    }
}

extension ModelElement {
    /// Reads the `<model>` of an `.xcdatamodel`'s `contents`.
    package init(rootOf bytes: [UInt8], file: String) throws(MigrationError) {
        let node = try MarkupElement.root(of: bytes, file: file)
        guard node.name == "model" else {
            throw MigrationError.modelInvalid(
                "The file's root is <\(node.name)>, not <model>.", place: "\(file):\(node.line)",
                remedy: "Give the `contents` file of an .xcdatamodel.")
        }
        self.init(node: node, file: file, owner: "")
    }

    /// Returns the error with file and line before its place, which is `Entity` or `Entity.property`.
    fileprivate func placed(_ error: MigrationError) -> MigrationError {
        let path = error.place.split(separator: ".", maxSplits: 1).map(String.init)
        let entity = children("entity").first { $0.name == path.first }
        let property = path.count < 2 ? nil : entity?.node.children.first { $0[.name] == path[1] }
        var placed = error
        placed.place = "\(file):\((property ?? entity?.node ?? node).line): \(error.place)"
        return placed
    }

    /// Checks `inverseEntity`, which repeats `destinationEntity`, for contradictions in a file edited by hand.
    fileprivate static func checkInverseEntities(
        of entities: [ModelElement], in model: ManagedObjectModel, noting unknown: inout UnknownMarkup
    ) {
        for entity in entities {
            for relationship in entity.children("relationship", owner: entity.name) {
                guard let inverseEntity = relationship.text(.inverseEntity),
                    let inverseName = relationship.text(.inverseName),
                    let destinationName = relationship.text(.destinationEntity), destinationName != inverseEntity,
                    let destination = model.entity(destinationName)
                else { continue }
                guard model.lineage(of: destination).contains(where: { $0.name == inverseEntity }) else {
                    unknown.add(
                        "inverse-entity-not-read", relationship,
                        "inverseEntity of the inverse \(inverseName) is \(inverseEntity), but the destination is "
                            + "\(destination.name); inverseEntity is not read.",
                        remedy: "Make inverseEntity and destinationEntity the same.")
                    continue
                }
            }
        }
    }
}

extension Configuration {
    /// Reads `<configuration>` with its `<memberEntity>`s.
    fileprivate init(_ element: ModelElement, noting unknown: inout UnknownMarkup) throws {
        unknown.inspect(element, attributes: [.name, .usedWithCloudKit], children: ["memberEntity"])
        self.init(
            name: try element.required(.name),
            entityNames: try element.children("memberEntity").map { try $0.required(.name) },
            usedWithCloudKit: element.flag(.usedWithCloudKit, noting: &unknown))
    }

    fileprivate func write(to writer: inout MarkupWriter) throws {
        let attributes = [("name", name), ("usedWithCloudKit", MarkupWriter.flag(usedWithCloudKit))]
        try writer.element("configuration", attributes) { writer in
            for name in entityNames { try writer.element("memberEntity", [("name", name)]) }
        }
    }
}

extension CompositeDescription {
    /// Reads `<composite>` with its `<attribute>`s.
    fileprivate init(_ element: ModelElement, noting unknown: inout UnknownMarkup) throws {
        unknown.inspect(element, attributes: [.name], children: ["attribute"])
        let name = try element.required(.name)
        self.init(
            name: name,
            elements: try element.children("attribute", owner: name).map {
                try AttributeDescription($0, noting: &unknown)
            })
    }

    func write(to writer: inout MarkupWriter) throws {
        try writer.element("composite", [("name", name)]) { writer in
            for element in elements { try element.write(to: &writer) }
        }
    }
}

/// A model in which every composite attribute has a named type, as XML requires; compiled models and SwiftData have no
/// such names. An unnamed type gets its name from the entity and the attribute.
struct NamedComposites {
    private(set) var entities: [EntityDescription]
    private(set) var composites: [CompositeDescription]

    init(_ model: ManagedObjectModel) {
        entities = []
        composites = model.composites
        var named = model.entities
        for entity in named.indices {
            for attribute in named[entity].attributes.indices {
                name(&named[entity].attributes[attribute], after: named[entity].name)
            }
        }
        entities = named
    }

    private mutating func name(_ attribute: inout AttributeDescription, after owner: String) {
        guard attribute.type == .composite, attribute.compositeName == nil else { return }
        let wish = owner + attribute.name.prefix(1).uppercased() + attribute.name.dropFirst()
        for position in attribute.elements.indices { name(&attribute.elements[position], after: wish) }
        var chosen = wish
        var number = 1
        while composites.contains(where: { $0.name == chosen }) {
            number += 1
            chosen = "\(wish)\(number)"
        }
        attribute.compositeName = chosen
        composites.append(CompositeDescription(name: chosen, elements: attribute.elements))
    }
}
