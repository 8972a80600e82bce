import MoultModel

extension AttributeDescription {
    private static let knownAttributes: ModelKeySet = [
        .name, .attributeType, .optional, .transient, .indexed, .derived, .derivationExpression,
        .filteringPredicate, .composite, .defaultValueString, .defaultDateTimeInterval,
        .allowsExternalBinaryDataStorage, .preserveAfterDeletion, .allowsCloudEncryption, .valueTransformerName,
        .customClassName, .usesScalarValueType, .spotlightIndexingEnabled, .storedInTruthFile, .minValueString,
        .maxValueString, .minDateTimeInterval, .maxDateTimeInterval, .regularExpressionString, .elementID,
        .renamingIdentifier, .versionHashModifier, .syncable,
    ]

    /// Stores prove how composite attributes are compiled; no model source with one has been seen.
    static let unseenSpelling = "is a composite attribute in a model source, whose form is not verified"

    /// Reads `<attribute>` of an entity or a composite.
    init(_ element: ModelElement, noting unknown: inout UnknownMarkup) throws {
        unknown.inspect(element, attributes: Self.knownAttributes, children: ["userInfo"])
        let type = try AttributeType(element)
        self.init(
            name: try element.required(.name),
            type: type,
            isOptional: element.flag(.optional, noting: &unknown),
            isTransient: element.flag(.transient, noting: &unknown),
            derivation: try Derivation(element, noting: &unknown),
            compositeName: element.text(.composite),
            uncertainty: type == .composite || element.text(.composite) != nil ? Self.unseenSpelling : nil,
            defaultValue: AttributeValue(defaultOf: element, type: type, noting: &unknown),
            allowsExternalBinaryDataStorage: element.flag(.allowsExternalBinaryDataStorage, noting: &unknown),
            preservesValueInHistoryOnDeletion: element.flag(.preserveAfterDeletion, noting: &unknown),
            allowsCloudEncryption: element.flag(.allowsCloudEncryption, noting: &unknown),
            valueTransformerName: element.text(.valueTransformerName),
            attributeValueClassName: element.text(.customClassName),
            usesScalarValueType: element.switchIfPresent(.usesScalarValueType, noting: &unknown),
            isIndexed: element.flag(.indexed, noting: &unknown),
            isIndexedBySpotlight: element.flag(.spotlightIndexingEnabled, noting: &unknown),
            isStoredInExternalRecord: element.flag(.storedInTruthFile, noting: &unknown),
            validation: Validation(
                minimum: element.text(.minValueString) ?? element.text(.minDateTimeInterval),
                maximum: element.text(.maxValueString) ?? element.text(.maxDateTimeInterval),
                regularExpression: element.text(.regularExpressionString)),
            renamingIdentifier: element.text(.elementID) ?? element.text(.renamingIdentifier),
            versionHashModifier: element.text(.versionHashModifier),
            userInfo: element.userInfo(noting: &unknown),
            isSyncable: element.switchIfPresent(.syncable, noting: &unknown) ?? true)
    }

    func write(to writer: inout MarkupWriter) throws {
        guard validation.rules.isEmpty else {
            throw MigrationError.modelInvalid(
                "The attribute \(name) has validation rules that only code can set; XML has no form for them.",
                place: name, remedy: "Keep the model as JSON.")
        }
        let isDate = type == .date
        let attributes: [(key: String, value: String?)] = [
            ("name", name),
            ("optional", MarkupWriter.flag(isOptional)),
            ("transient", MarkupWriter.flag(isTransient)),
            ("attributeType", type == .undefined ? nil : type.name),
            ("composite", compositeName),
            ("minValueString", isDate ? nil : validation.minimum),
            ("maxValueString", isDate ? nil : validation.maximum),
            ("minDateTimeInterval", isDate ? validation.minimum : nil),
            ("maxDateTimeInterval", isDate ? validation.maximum : nil),
            (isDate ? "defaultDateTimeInterval" : "defaultValueString", defaultValue?.modelEditorText),
            ("usesScalarValueType", usesScalarValueType.map { $0 ? "YES" : "NO" }),
            ("regularExpressionString", validation.regularExpression),
            ("derived", MarkupWriter.flag(derivation != nil)),
            ("derivationExpression", derivation?.expression),
            ("filteringPredicate", derivation?.filter),
            ("indexed", MarkupWriter.flag(isIndexed)),
            ("allowsExternalBinaryDataStorage", MarkupWriter.flag(allowsExternalBinaryDataStorage)),
            ("allowsCloudEncryption", MarkupWriter.flag(allowsCloudEncryption)),
            ("spotlightIndexingEnabled", MarkupWriter.flag(isIndexedBySpotlight)),
            ("storedInTruthFile", MarkupWriter.flag(isStoredInExternalRecord)),
            ("elementID", renamingIdentifier),
            ("preserveAfterDeletion", MarkupWriter.flag(preservesValueInHistoryOnDeletion)),
            ("valueTransformerName", valueTransformerName),
            ("customClassName", attributeValueClassName),
            ("versionHashModifier", versionHashModifier),
            ("syncable", isSyncable ? nil : "NO"),
        ]
        guard !userInfo.isEmpty else { return try writer.element("attribute", attributes) }
        try writer.element("attribute", attributes) { try $0.userInfo(userInfo) }
    }
}

extension AttributeType {
    /// An attribute without a type is normal where it is transient.
    fileprivate init(_ element: ModelElement) throws {
        guard let word = element.text(.attributeType) else {
            self = .undefined
            return
        }
        guard let type = AttributeType(name: word) else {
            throw element.invalid(
                "The attribute type \"\(word)\" is not one of Core Data's.",
                remedy: "Write one of: \(AttributeType.allCases.map(\.name).joined(separator: ", ")).")
        }
        self = type
    }
}

extension AttributeDescription.Derivation {
    fileprivate init?(_ element: ModelElement, noting unknown: inout UnknownMarkup) throws {
        guard element.flag(.derived, noting: &unknown) else { return nil }
        guard let expression = element.text(.derivationExpression) else {
            throw element.invalid(
                "The attribute is derived but has no derivationExpression.",
                remedy: "Add the expression, or make it a plain attribute.")
        }
        self.init(expression: expression, filter: element.text(.filteringPredicate))
    }
}
