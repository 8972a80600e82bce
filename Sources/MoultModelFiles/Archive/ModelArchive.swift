import MoultModel
import MoultPropertyList

extension ManagedObjectModel {
    /// Reads a compiled model, the content of a `.mom` file.
    ///
    /// What Moult does not know of it becomes a finding (`unknown-element`) and is left out.
    /// - Throws: `MigrationError`: `propertyListInvalid` for bytes that are no archive, `modelInvalid` for an archive
    ///   that holds no model or one that contradicts itself.
    package init(compiled bytes: [UInt8], findings: inout [Finding]) throws {
        var reader = ModelArchiveReader(archive: try KeyedArchive(parsing: bytes))
        self = try reader.model()
        findings += reader.findings
    }

    /// Reads the model that a store carries in itself, the content of `Z_MODELCACHE.Z_CONTENT`.
    ///
    /// It is a compiled model in raw DEFLATE whose entities repeat what they inherit.
    /// - Throws: as ``init(compiled:findings:)``.
    package init(modelCache bytes: [UInt8], findings: inout [Finding]) throws {
        // Real caches shrink to a tenth; the largest known model unfolds to three megabytes.
        let archive = try RawDeflate.inflate(bytes, limit: 64 << 20)
        try self.init(compiled: archive, findings: &findings)
    }
}

/// Numbers, bits, class names and keys that compiled models use.
enum ModelArchive {
    /// `NSFlagsKey` of an attribute.
    static let externalBinaryDataFlag: Int64 = 4
    static let preserveAfterDeletionFlag: Int64 = 16

    /// The class that `NSAttributeValueClassName` names for each type; none for those not here.
    static let valueClassNames: [AttributeType: String] = [
        .integer16: "NSNumber", .integer32: "NSNumber", .integer64: "NSNumber", .decimal: "NSDecimalNumber",
        .double: "NSNumber", .float: "NSNumber", .string: "NSString", .boolean: "NSNumber", .date: "NSDate",
        .binary: "NSData", .uuid: "NSUUID", .uri: "NSURL", .composite: "NSDictionary",
    ]

    /// The keys that Moult reads or knows to repeat something else, by class.
    static let knownKeys: [String: Set<String>] = [
        "NSManagedObjectModel": [
            "NSEntities", "NSFetchRequestTemplates", "NSVersionIdentifiers", "NSConfigurations",
            "CDMCompilerToolVersion", "CDMCompilerXcodeVersion",
        ],
        "NSEntityDescription": [
            "NSEntityName", "NSClassNameForEntity", "NSUserInfo", "NSSubentities", "NSVersionHashModifier",
            "NSProperties", "NSRenamingIdentifier", "NSManagedObjectModel", "NSSuperentity", "NSIsAbstract",
            "NSUniqueTuples", "NSCompoundIndexes", "NSFetchIndexDescriptions",
        ],
        "NSAttributeDescription": attributeKeys,
        "NSDerivedAttributeDescription": attributeKeys.union(["NSDerivationExpression", "NSFilteringPredicate"]),
        "NSCompositeAttributeDescription": attributeKeys.union(["NSCompositeElements"]),
        "NSRelationshipDescription": propertyKeys.union([
            "NSDeleteRule", "NSDestinationEntity", "NSInverseRelationship", "NSIsOrdered", "NSMaxCount", "NSMinCount",
            "_NSDestinationEntityName", "_NSInverseRelationshipName",
        ]),
        "NSFetchedPropertyDescription": propertyKeys.union(["NSFetchRequest", "_NSFetchRequestEntityName"]),
        "NSFetchIndexDescription": ["NSEntity", "NSIndexElements", "NSIndexName", "NSPartialIndexPredicate"],
        "NSFetchIndexElementDescription": [
            "NSAscending", "NSFetchIndexDescription", "NSFetchIndexElementType", "NSPropertyName",
        ],
        "NSFetchRequest": [
            "NSAllocationType", "NSBatchSize", "NSEntity", "NSFetchLimit", "NSFetchOffset", "NSFetchRequestFlags",
            "NSHasFetchRequestFlags", "NSPredicate", "NSResultType", "NSSortDescriptors",
        ],
    ]

    /// The order in which the classes of a model encode their fields, as the numbers and the order of keys in compiled
    /// models show it. Classes that no compiled model of the newest compilers shows are not named.
    static let encoding = KeyedArchive.Encoding(
        fields: [
            "NSManagedObjectModel": [
                "NSEntities", "NSFetchRequestTemplates", "NSConfigurations", "NSVersionIdentifiers",
                "CDMCompilerToolVersion", "CDMCompilerXcodeVersion",
            ],
            "NSEntityDescription": [
                "NSEntityName", "NSClassNameForEntity", "NSManagedObjectModel", "NSIsAbstract", "NSSubentities",
                "NSSuperentity", "NSProperties", "NSUserInfo", "NSVersionHashModifier", "NSRenamingIdentifier",
                "NSCompoundIndexes", "NSUniqueTuples", "NSFetchIndexDescriptions",
            ],
            "NSPropertyDescription": [
                "NSPropertyName", "NSRenamingIdentifier", "_P", "NSIsOptional", "NSIsReadOnly", "NSEntity",
                "NSIsTransient", "NSIsIndexedBySpotlight", "NSIsStoredInExternalRecord", "NSIsOrdered", "NSUserInfo",
                "NSValidationPredicates", "NSValidationWarnings", "NSVersionHashModifier",
            ],
            "NSAttributeDescription": [
                "NSAttributeType", "NSAttributeValueClassName", "NSDefaultValue", "NSIsIndexed",
                "NSValueTransformerName", "NSFlagsKey",
            ],
            "NSRelationshipDescription": [
                "NSIsIndexed", "NSDestinationEntity", "_NSDestinationEntityName", "NSInverseRelationship",
                "_NSInverseRelationshipName", "NSMaxCount", "NSMinCount", "NSDeleteRule",
            ],
            "NSFetchIndexDescription": ["NSIndexName", "NSIndexElements", "NSPartialIndexPredicate", "NSEntity"],
            "NSFetchIndexElementDescription": [
                "NSFetchIndexElementType", "NSAscending", "NSFetchIndexDescription", "NSPropertyName",
            ],
            "NSDecimalNumber": [
                "NS.exponent", "NS.length", "NS.negative", "NS.compact", "NS.mantissa.bo", "NS.mantissa",
            ],
        ],
        conditional: [
            "NSManagedObjectModel", "NSSuperentity", "NSEntity", "NSDestinationEntity", "NSInverseRelationship",
            "NSFetchIndexDescription",
        ])

    private static let propertyKeys: Set<String> = [
        "NSEntity", "NSIsIndexed", "NSIsOptional", "NSIsReadOnly", "NSIsTransient", "NSPropertyName",
        "NSRenamingIdentifier", "NSUserInfo", "NSVersionHashModifier", "_P", "NSIsIndexedBySpotlight",
        "NSIsStoredInExternalRecord", "NSValidationPredicates", "NSValidationWarnings",
    ]

    private static let attributeKeys: Set<String> = propertyKeys.union([
        "NSAttributeType", "NSAttributeValueClassName", "NSDefaultValue", "NSFlagsKey", "NSValueTransformerName",
    ])
}
