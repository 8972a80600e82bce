import MoultBasics
import MoultModel
import MoultModelFiles

/// A mapping model compiled as Apple's `mapc` does: a `.cdm`.
package struct CompiledMapping: Sendable {
    /// The name of the `.cdm`, without extension.
    package let name: String
    package let bytes: [UInt8]
    package let warnings: [ModelFault]

    /// Compiles an `.xcmappingmodel`.
    ///
    /// - Throws: `ModelFaults` for errors in the source; `fileNotFound`, `fileNotReadable`; `usage` for a `.cdm`.
    package init(compiling path: String) throws {
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        guard path.fileExtension != "cdm" else {
            throw MigrationError(
                .usage, "The mapping model is compiled already.", place: path, remedy: "Give its .xcmappingmodel.")
        }
        let file = path.fileExtension == "xcmappingmodel" ? path + "/xcmapping.xml" : path
        do {
            let source = try MappingModelFile(contentsOf: path)
            name = source.name
            bytes = try source.mapping.compiled()
            warnings = source.findings.filter { $0.severity > .note }.map { ModelFault($0, file: file) }
        } catch let error as MigrationError
            where [.modelInvalid, .propertyListInvalid, .invalidPredicate, .unsupported].contains(error.code)
        {
            throw ModelFaults(faults: [ModelFault(error, file: file)])
        }
    }
}

extension MappingModel {
    /// Returns the mapping model as a `.cdm` file.
    ///
    /// - Throws: `MigrationError` with code `unsupported` for an expression without a known archived form.
    package func compiled() throws(MigrationError) -> [UInt8] {
        var writer = MappingArchiveWriter()
        return try writer.archive(of: self)
    }
}

/// Lays out a mapping model as the objects of its archive.
private struct MappingArchiveWriter {
    private static let null = KeyedArchive.Builder.null
    private var builder = KeyedArchive.Builder()

    mutating func archive(of mapping: MappingModel) throws(MigrationError) -> [UInt8] {
        let root = builder.reserve()
        var references: [PropertyList] = []
        for entityMapping in mapping.entityMappings { references.append(try add(entityMapping)) }
        let names = mapping.entityMappings.map(\.name)
        let byName = builder.dictionary(Array(zip(names, references)), isMutable: true)
        builder.fill(
            root, classes: ["NSMappingModel", "NSObject"],
            ["NSEntityMappings": builder.array(references), "NSEntityMappingsByName": byName])
        return builder.archive(root: root)
    }

    private mutating func add(_ mapping: EntityMapping) throws(MigrationError) -> PropertyList {
        let fields: [String: PropertyList] = [
            "NSMappingName": builder.string(mapping.name), "NSMappingType": .integer(Int64(mapping.type.rawValue)),
            "NSSourceEntityName": builder.string(mapping.sourceEntityName),
            "NSDestinationEntityName": builder.string(mapping.destinationEntityName),
            "NSSourceEntityVersionHash": data(mapping.sourceEntityVersionHash),
            "NSDestinationEntityVersionHash": data(mapping.destinationEntityVersionHash),
            "NSSourceExpression": try sourceExpression(of: mapping),
            "NSEntityMigrationPolicyClassName": builder.string(mapping.entityMigrationPolicyClassName),
            "NSAttributeMappings": try add(mapping.attributeMappings),
            "NSRelationshipMappings": try add(mapping.relationshipMappings), "NSUserInfo": userInfo(mapping.userInfo),
        ]
        return builder.object(classes: ["NSEntityMapping", "NSObject"], fields)
    }

    private mutating func data(_ bytes: [UInt8]?) -> PropertyList { bytes.map { builder.leaf(.data($0)) } ?? Self.null }

    private mutating func userInfo(_ entries: [String: String]) -> PropertyList {
        guard !entries.isEmpty else { return Self.null }
        let sorted = entries.inByteOrder { $0.key }
        return builder.dictionary(sorted.map { ($0.key, builder.string($0.value)) })
    }

    /// Returns the expression that fetches the source objects.
    private mutating func sourceExpression(of mapping: EntityMapping) throws(MigrationError) -> PropertyList {
        guard let entity = mapping.sourceEntityName else { return Self.null }
        let request = try builder.add(.sourceFetch(of: entity, where: mapping.sourcePredicate))
        let context = try builder.add(.sourceContext)
        return builder.object(
            classes: ["NSFetchRequestExpression", "NSExpression", "NSObject"],
            [
                "NSExpressionType": .integer(50), "NSFRExpression": request, "NSMOCExpression": context,
                "NSCountOnlyFlag": .boolean(false),
            ])
    }

    private mutating func add(_ properties: [PropertyMapping]) throws(MigrationError) -> PropertyList {
        var references: [PropertyList] = []
        for property in properties {
            var expression = Self.null
            if let value = property.valueExpression { expression = try builder.add(value) }
            references.append(
                builder.object(
                    classes: ["NSPropertyMapping", "NSObject"],
                    [
                        "NSDestinationPropertyName": builder.string(property.name), "NSValueExpression": expression,
                        "NSPropertyTransforms": Self.null, "NSUserInfo": userInfo(property.userInfo),
                    ]))
        }
        return builder.array(references)
    }
}
