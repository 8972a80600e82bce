import MoultModel
import MoultPropertyList

extension MappingModel {
    /// The mapping model as a `.cdm` file holds it.
    ///
    /// - Throws: `MigrationError` with code `unsupported` for an expression without a known archived form.
    package func compiled() throws(MigrationError) -> [UInt8] {
        var writer = MappingArchiveWriter()
        return try writer.archive(of: self)
    }
}

/// Lays a mapping model out as the objects of its archive.
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
            "NSMappingName": builder.string(mapping.name),
            "NSMappingType": .integer(Int64(mapping.type.rawValue)),
            "NSSourceEntityName": builder.string(mapping.sourceEntityName),
            "NSDestinationEntityName": builder.string(mapping.destinationEntityName),
            "NSSourceEntityVersionHash": data(mapping.sourceEntityVersionHash),
            "NSDestinationEntityVersionHash": data(mapping.destinationEntityVersionHash),
            "NSSourceExpression": try sourceExpression(of: mapping),
            "NSEntityMigrationPolicyClassName": builder.string(mapping.entityMigrationPolicyClassName),
            "NSAttributeMappings": try add(mapping.attributeMappings),
            "NSRelationshipMappings": try add(mapping.relationshipMappings),
            "NSUserInfo": userInfo(mapping.userInfo),
        ]
        return builder.object(classes: ["NSEntityMapping", "NSObject"], fields)
    }

    private mutating func data(_ bytes: [UInt8]?) -> PropertyList {
        bytes.map { builder.leaf(.data($0)) } ?? Self.null
    }

    private mutating func userInfo(_ entries: [String: String]) -> PropertyList {
        guard !entries.isEmpty else { return Self.null }
        let sorted = entries.sorted { $0.key.precedesInByteOrder($1.key) }
        return builder.dictionary(sorted.map { ($0.key, builder.string($0.value)) })
    }

    /// The fetch that gives the source objects.
    private mutating func sourceExpression(of mapping: EntityMapping) throws(MigrationError) -> PropertyList {
        guard let entity = mapping.sourceEntityName else { return Self.null }
        let predicate = mapping.sourcePredicate?.format ?? "TRUEPREDICATE"
        let request = try builder.add(
            .message(
                EntityMapping.fetchSelector, to: .variable("manager"),
                [.constant(.string(entity)), .constant(.string(predicate))]))
        let context = try builder.add(.keyPath("sourceContext", of: .variable("manager")))
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
