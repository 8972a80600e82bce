import MoultBasics
import MoultModel
import MoultModelFiles

extension MappingModel {
    /// Returns the mapping model as the `xcmapping.xml` of an `.xcmappingmodel`, without Xcode's default values.
    ///
    /// - Parameters:
    ///   - paths: the paths of the two versions' `.xcdatamodel` files, from which Xcode refreshes the models.
    /// - Throws: `unsupported` for a mapping or a model that the source form cannot represent.
    package func xmlDocument(
        from source: ModelVersion, to destination: ModelVersion, paths: (source: String, destination: String)
    ) throws -> String {
        var writer = MappingDocumentWriter(
            mapping: self, defaults: MappingDefaults(from: source.model, to: destination.model, entityMappings))
        let text = try writer.document([
            ("sourcemodelpath", "string", paths.source), ("destinationmodelpath", "string", paths.destination),
            ("sourcemodeldata", "binary", .lines(of: source.model.elements())),
            ("destinationmodeldata", "binary", .lines(of: destination.model.elements())),
        ])
        var reader = MappingDocumentReader(document: try MappingDocument(Array(text.utf8), file: "xcmapping.xml"))
        let (read, versions) = try reader.read()
        try Self.check(versions.source, isLike: source)
        try Self.check(versions.destination, isLike: destination)
        try check(read)
        return text
    }

    private static func check(_ read: ModelVersion, isLike version: ModelVersion) throws(MigrationError) {
        let differing = version.model.entities.first { entity in
            read.hashes.entities[entity.name] != version.hashes.entities[entity.name]
        }
        guard let differing else { return }
        throw MigrationError(
            .unsupported,
            "The source of a mapping model contains its models, and has no known form for what the entity "
                + "\(differing.name) of \(version.name) has, such as a derived or composite attribute.",
            place: differing.name, remedy: "Create the mapping model in Xcode.")
    }

    private func check(_ read: MappingModel) throws(MigrationError) {
        for (mapping, again) in zip(entityMappings, read.entityMappings) where mapping.comparable != again.comparable {
            let pairs = zip(mapping.comparable.properties, again.comparable.properties)
            let property = pairs.first { $0 != $1 }.map { " with \($0.0.name)" } ?? ""
            throw MigrationError(
                .unsupported,
                "The source of a mapping model cannot represent what the entity mapping \(mapping.name) does\(property).",
                place: mapping.name, remedy: "Create the mapping model in Xcode.")
        }
    }
}

extension EntityMapping {
    /// The mapping without details that the source form does not store: the order of the properties, and whether an
    /// entity with neither a policy nor a new name is copied or transformed, which has no effect.
    fileprivate var comparable: EntityMapping {
        var mapping = self
        if type == .copy { mapping.type = .transform }
        mapping.attributeMappings.sort { $0.name.precedesInByteOrder($1.name) }
        mapping.relationshipMappings.sort { $0.name.precedesInByteOrder($1.name) }
        return mapping
    }

    fileprivate var properties: [PropertyMapping] { attributeMappings + relationshipMappings }
}

/// Writes the objects of an `xcmapping.xml`, a Core Data XML store. ``MappingDocumentReader`` reads them.
private struct MappingDocumentWriter {
    typealias Attribute = (name: String, type: String, value: String?)
    private typealias Link = (name: String, type: String, destination: String, ids: [Int])

    private static let attributeType = "XDDEVATTRIBUTEMAPPING"
    private static let relationshipType = "XDDEVRELATIONSHIPMAPPING"
    private static let entityType = "XDDEVENTITYMAPPING"

    let mapping: MappingModel
    let defaults: MappingDefaults
    private var objects = ""
    /// The last identifier; Xcode's identifiers start here too.
    private var lastID = 101

    init(mapping: MappingModel, defaults: MappingDefaults) { (self.mapping, self.defaults) = (mapping, defaults) }

    mutating func document(_ models: [Attribute]) throws -> String {
        let root = nextID()
        var ids: [Int] = []
        for (position, entityMapping) in mapping.entityMappings.enumerated() {
            ids.append(try add(entityMapping, number: position + 1, to: root))
        }
        try add(MappingDocument.mappingModel, root, models, [("entitymappings", "0/0", Self.entityType, ids)])
        return Self.head(identifier: Digest.sha256(objects.utf8), lastID: lastID) + objects + "</database>\n"
    }

    private mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    // MARK: Mappings

    private mutating func add(_ mapping: EntityMapping, number: Int, to root: Int) throws -> Int {
        let id = nextID()
        var attributes: [Int] = []
        var relationships: [Int] = []
        for property in mapping.attributeMappings {
            let expression = defaults.expression(forAttribute: property.name, of: mapping)
            attributes.append(
                try add(property, Self.attributeType, to: id, [try stored(property.valueExpression, expression)]))
        }
        for property in mapping.relationshipMappings {
            relationships.append(
                try add(
                    property, Self.relationshipType, to: id,
                    [("autogenerateexpression", "bool", "1")] + (try source(of: property, in: mapping))))
        }
        let name = EntityMapping.defaultName(from: mapping.sourceEntityName, to: mapping.destinationEntityName)
        try add(
            Self.entityType, id,
            [
                ("migrationpolicyclassname", "string", mapping.entityMigrationPolicyClassName),
                ("name", "string", mapping.name == name ? nil : mapping.name),
                ("sourcename", "string", mapping.sourceEntityName),
                ("sourcefilterpredicatestring", "string", mapping.sourcePredicate?.format),
                ("userinfodata", "binary", userInfo(mapping.userInfo)), ("mappingtypename", "string", "Undefined"),
                ("mappingnumber", "int16", String(number)),
                ("destinationname", "string", mapping.destinationEntityName), ("autogenerateexpression", "bool", "1"),
            ],
            [
                ("mappingmodel", "1/1", MappingDocument.mappingModel, [root]),
                ("attributemappings", "0/0", Self.attributeType, attributes),
                ("relationshipmappings", "0/0", Self.relationshipType, relationships),
            ])
        return id
    }

    private mutating func add(
        _ property: PropertyMapping, _ type: String, to owner: Int, _ attributes: [Attribute]
    ) throws -> Int {
        let id = nextID()
        try add(
            type, id, attributes + [("name", "string", property.name)],
            [("entitymapping", "1/1", Self.entityType, [owner])])
        return id
    }

    /// Returns the attributes for an expression. Objects made by another entity mapping are stored as its name and a
    /// key path; anything else is stored as an expression.
    private func source(of property: PropertyMapping, in mapping: EntityMapping) throws -> [Attribute] {
        let expression = defaults.expression(forRelationship: property.name, of: mapping)
        guard property.valueExpression != expression, let made = property.valueExpression?.destinationInstances,
            made.kind == .ofEntityMapping
        else { return [try stored(property.valueExpression, expression)] }
        let path = made.sourceInstances == .source(property.name) ? nil : made.sourceInstances.format
        return [("sourcemappingname", "string", made.name), ("sourcekeypath", "string", path)]
    }

    private func stored(_ expression: Expression?, _ usual: Expression?) throws -> Attribute {
        var data: String?
        if let expression, expression != usual {
            var builder = KeyedArchive.Builder()
            let root = try builder.add(expression)
            data = .lines(of: builder.archive(root: root))
        }
        return ("valueexpressiondata", "binary", data)
    }

    private func userInfo(_ entries: [String: String]) -> String? {
        guard !entries.isEmpty else { return nil }
        var builder = KeyedArchive.Builder()
        let sorted = entries.inByteOrder { $0.key }
        let root = builder.dictionary(sorted.map { ($0.key, builder.string($0.value)) }, isMutable: true)
        return .lines(of: builder.archive(root: root))
    }

    // MARK: Text

    private mutating func add(_ type: String, _ id: Int, _ attributes: [Attribute], _ links: [Link]) throws {
        objects += "    <object type=\"\(type)\" id=\"z\(id)\">\n"
        for case (let name, let type, let value?) in attributes {
            objects += "        <attribute name=\"\(name)\" type=\"\(type)\">"
            objects += "\(type == "binary" ? value : try MarkupWriter.escaped(value))</attribute>\n"
        }
        for link in links {
            let ids = link.ids.map { "z\($0)" }.joined(separator: " ")
            objects += "        <relationship name=\"\(link.name)\" type=\"\(link.type)\" "
            objects += "destination=\"\(link.destination)\"\(ids.isEmpty ? "" : " idrefs=\"\(ids)\"")></relationship>\n"
        }
        objects += "    </object>\n"
    }

    /// Returns the head of the store. The hashes are those of the entities in Xcode's editor, the same in every file.
    private static func head(identifier bytes: [UInt8], lastID: Int) -> String {
        let digits = Array(bytes.hexadecimal.uppercased())
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        let entities = hashes.map { name, hash in
            """
                                <key>\(name)</key>
                                <data>
            \t\t\(hash)
            \t\t</data>

            """
        }
        return """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>134481920</version>
                    <UUID>\(groups.joined(separator: "-"))</UUID>
                    <nextObjectID>\(lastID)</nextObjectID>
                    <metadata>
                        <plist version="1.0">
                            <dict>
                                <key>NSPersistenceFrameworkVersion</key>
                                <integer>1251</integer>
                                <key>NSStoreModelVersionHashes</key>
                                <dict>
            \(entities.joined())                    </dict>
                                <key>NSStoreModelVersionHashesDigest</key>
                                <string>\(digest)</string>
                                <key>NSStoreModelVersionHashesVersion</key>
                                <integer>3</integer>
                                <key>NSStoreModelVersionIdentifiers</key>
                                <array>
                                    <string></string>
                                </array>
                            </dict>
                        </plist>
                    </metadata>
                </databaseInfo>

            """
    }

    private static let hashes = [
        ("XDDevAttributeMapping", "0plcXXRN7XHKl5CcF+fwriFmUpON3ZtcI/AfK748aWc="),
        ("XDDevEntityMapping", "qeN1Ym3TkWN1G6dU9RfX6Kd2ccEvcDVWHpd3LpLgboI="),
        ("XDDevMappingModel", "EqtMzvRnVZWkXwBHu4VeVGy8UyoOe+bi67KC79kphlQ="),
        ("XDDevPropertyMapping", "XN33V44TTGY4JETlMoOB5yyTKxB+u4slvDIinv0rtGA="),
        ("XDDevRelationshipMapping", "akYY9LhehVA/mCb4ATLWuI9XGLcjpm14wWL1oEBtIcs="),
    ]
    private static let digest =
        "+Hmc2uYZK6og+Pvx5GUJ7oW75UG4V/ksQanTjfTKUnxyGWJRMtB5tIRgVwGsrd7lz/QR57++wbvWsr6nxwyS0A=="
}

extension String {
    /// Returns base64 in the form of Core Data's XML stores: 76 characters, and the rest on a second line.
    fileprivate static func lines(of bytes: [UInt8]) -> String {
        let text = bytes.base64
        return "\(text.prefix(76))\n\(text.dropFirst(76))\n"
    }
}
