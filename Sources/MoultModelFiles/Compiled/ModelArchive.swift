import MoultBasics
import MoultModel

extension ManagedObjectModel {
    /// Reads a compiled model, the contents of a `.mom` file.
    ///
    /// Parts that Moult does not know become findings (`unknown-element`) and are skipped.
    /// - Throws: `MigrationError`: `propertyListInvalid` for bytes that are not an archive, `modelInvalid` for an
    ///   archive without a model or with an inconsistent one.
    package init(compiled bytes: [UInt8], findings: inout [Finding]) throws {
        var reader = ModelArchiveReader(archive: try KeyedArchive(parsing: bytes))
        self = try reader.model()
        findings += reader.findings
    }

    /// Reads the model inside a store, the contents of `Z_MODELCACHE.Z_CONTENT`.
    ///
    /// It is a compiled model in raw DEFLATE, in which entities repeat their inherited properties.
    /// - Throws: see ``init(compiled:findings:)``.
    package init(modelCache bytes: [UInt8], findings: inout [Finding]) throws {
        // Real caches compress to a tenth; the largest known model has three megabytes uncompressed.
        let archive = try RawDeflate.inflate(bytes, limit: 64 << 20)
        try self.init(compiled: archive, findings: &findings)
    }
}

/// Numbers, bits, class names and keys in compiled models.
enum ModelArchive {
    /// Bits of an attribute's `NSFlagsKey`.
    static let externalBinaryDataFlag: Int64 = 4
    static let preserveAfterDeletionFlag: Int64 = 16

    /// The class in `NSAttributeValueClassName` for each type; types that are not listed have none.
    static let valueClassNames: [AttributeType: String] = [
        .integer16: "NSNumber", .integer32: "NSNumber", .integer64: "NSNumber", .decimal: "NSDecimalNumber",
        .double: "NSNumber", .float: "NSNumber", .string: "NSString", .boolean: "NSNumber", .date: "NSDate",
        .binary: "NSData", .uuid: "NSUUID", .uri: "NSURL", .composite: "NSDictionary",
    ]

    /// The keys, by class, that Moult reads or knows to be redundant.
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

    /// The order in which the classes of a model encode their fields, derived from the object numbers and key order of
    /// compiled models. Classes that the newest compilers never write are not listed.
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

/// A limit from the model editor in compiled form: a predicate over the value, and an error number.
///
/// The numbers are Core Data's (`NSValidationNumberTooLargeError` and the following ones).
struct ValidationLimit {
    enum Kind {
        case minimum, maximum, regularExpression

        var field: WritableKeyPath<AttributeDescription.Validation, String?> & Sendable {
            switch self {
            case .minimum: \.minimum
            case .maximum: \.maximum
            case .regularExpression: \.regularExpression
            }
        }
    }

    var kind: Kind
    var text: String

    private static let errorNumbers: [Int64: Kind] = [
        1610: .maximum, 1620: .minimum, 1630: .maximum, 1640: .minimum, 1660: .maximum, 1670: .minimum,
        1680: .regularExpression,
    ]

    /// Returns nil for a predicate that is not such a limit.
    init?(_ predicate: Predicate, errorNumber: Int64?) {
        guard let kind = errorNumber.flatMap({ Self.errorNumbers[$0] }),
            case .comparison(let comparison) = predicate, case .constant(let constant) = comparison.right
        else { return nil }
        let expected: Predicate.Operator =
            switch kind {
            case .minimum: .greaterThanOrEqual
            case .maximum: .lessThanOrEqual
            case .regularExpression: .matches
            }
        guard comparison.operator == expected, let text = constant.limitText else { return nil }
        self.kind = kind
        self.text = text
    }

    init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    /// Returns the predicate and error number of the limit for an attribute of a type.
    func compiled(for type: AttributeType) -> (predicate: Predicate, errorNumber: Int64) {
        let isString = type == .string
        let subject: Expression = isString && kind != .regularExpression ? .keyPath("length") : .evaluatedObject
        let number: Expression = .constant(constant(for: type))
        switch kind {
        case .minimum:
            let error: Int64 = isString ? 1670 : type == .date ? 1640 : 1620
            return (.comparison(.init(subject, .greaterThanOrEqual, number)), error)
        case .maximum:
            let error: Int64 = isString ? 1660 : type == .date ? 1630 : 1610
            return (.comparison(.init(subject, .lessThanOrEqual, number)), error)
        case .regularExpression:
            return (.comparison(.init(subject, .matches, .constant(.string(text)))), 1680)
        }
    }

    private func constant(for type: AttributeType) -> ExpressionValue {
        if type == .decimal, DecimalNumber(text)?.text == text { return .decimal(text) }
        if let number = Int64(text), String(number) == text { return .integer(number) }
        if let number = Double(text), String(describing: number) == text { return .real(number) }
        return .string(text)
    }
}

extension ExpressionValue {
    fileprivate var limitText: String? {
        switch self {
        case .integer(let number): String(number)
        case .real(let number): String(describing: number)
        case .decimal(let text), .string(let text): text
        case .date(let seconds): String(describing: seconds)
        case .null, .boolean, .data, .uuid, .uri, .object, .collection: nil
        }
    }
}
