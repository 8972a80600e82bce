import MoultBasics
import MoultModel

extension ModelArchiveWriter {
    /// Fills in `entity`'s copies of `owner`'s properties.
    mutating func fillProperties(of owner: EntityDescription, in entity: EntityDescription) throws {
        for attribute in owner.attributes { try fill(attribute, isIndexed: owner.indexes(attribute), in: entity) }
        for relationship in owner.relationships { fill(relationship, in: entity) }
        for property in owner.fetchedProperties { try fill(property, in: entity) }
    }

    private mutating func fill(
        _ attribute: AttributeDescription, isIndexed: Bool, in entity: EntityDescription
    ) throws {
        let reference = reference(toProperty: attribute.name, of: entity.name)
        try fill(reference, attribute, isIndexed: isIndexed, in: entity, place: "\(entity.name).\(attribute.name)")
    }

    private mutating func fill(
        _ reference: PropertyList, _ attribute: AttributeDescription, isIndexed: Bool, in entity: EntityDescription,
        place: String
    ) throws {
        var property = Property(name: attribute.name, entity: entity.name)
        property.isOptional = attribute.isOptional
        property.isTransient = attribute.isTransient
        property.isReadOnly = attribute.derivation != nil
        property.isIndexed = isIndexed
        property.isIndexedBySpotlight = attribute.isIndexedBySpotlight
        property.isStoredInExternalRecord = attribute.isStoredInExternalRecord
        property.renamingIdentifier = attribute.renamingIdentifier
        property.versionHashModifier = attribute.versionHashModifier
        property.userInfo = attribute.userInfo
        property.validation = try validation(of: attribute)
        var fields = self.fields(of: property)
        let flags =
            (attribute.allowsExternalBinaryDataStorage ? ModelArchive.externalBinaryDataFlag : 0)
            | (attribute.preservesValueInHistoryOnDeletion ? ModelArchive.preserveAfterDeletionFlag : 0)
        let className = attribute.attributeValueClassName ?? ModelArchive.valueClassNames[attribute.type]
        fields["NSAttributeType"] = .integer(Int64(attribute.type.rawValue))
        // Apple's compiler writes the name of this class again each time.
        fields["NSAttributeValueClassName"] =
            !isCache && className == "NSDecimalNumber"
            ? builder.separateString("NSDecimalNumber") : builder.string(className)
        fields["NSDefaultValue"] = try value(attribute.defaultValue, place: place)
        fields["NSFlagsKey"] = .integer(flags)
        fields["NSValueTransformerName"] = builder.string(attribute.valueTransformerName)
        var classes = ["NSAttributeDescription", "NSPropertyDescription", "NSObject"]
        if let derivation = attribute.derivation {
            classes.insert("NSDerivedAttributeDescription", at: 0)
            fields["NSDerivationExpression"] = try builder.add(Expression(parsing: derivation.expression))
            fields["NSFilteringPredicate"] = try predicate(derivation.filter)
        }
        if attribute.type == .composite {
            classes.insert("NSCompositeAttributeDescription", at: 0)
            let elements = attribute.elements.map { ($0, builder.reserve()) }
            for (element, reference) in elements {
                try fill(reference, element, isIndexed: false, in: entity, place: "\(place).\(element.name)")
            }
            fields["NSCompositeElements"] = builder.array(elements.map(\.1), isMutable: true)
            // The default value of a struct is an empty dictionary; an enum has none.
            if !attribute.isOptional, !attribute.isEnum { fields["NSDefaultValue"] = builder.dictionary([]) }
        }
        builder.fill(reference, classes: classes, fields)
    }

    private mutating func fill(_ relationship: RelationshipDescription, in entity: EntityDescription) {
        var property = Property(name: relationship.name, entity: entity.name)
        property.isOptional = relationship.isOptional
        property.isTransient = relationship.isTransient
        property.isIndexed = relationship.isIndexed
        property.isOrdered = relationship.isOrdered
        property.isIndexedBySpotlight = relationship.isIndexedBySpotlight
        property.isStoredInExternalRecord = relationship.isStoredInExternalRecord
        property.renamingIdentifier = relationship.renamingIdentifier
        property.versionHashModifier = relationship.versionHashModifier
        property.userInfo = relationship.userInfo
        var fields = self.fields(of: property)
        let destination = relationship.destinationEntityName
        fields["NSDestinationEntity"] = reference(toEntity: destination)
        fields["_NSDestinationEntityName"] = builder.string(destination)
        fields["NSInverseRelationship"] =
            relationship.inverseName.map { reference(toProperty: $0, of: destination) } ?? KeyedArchive.Builder.null
        fields["_NSInverseRelationshipName"] = builder.string(relationship.inverseName)
        fields["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
        fields["NSMaxCount"] = .integer(Int64(relationship.maxCount))
        fields["NSMinCount"] = .integer(Int64(relationship.minCount))
        builder.fill(
            reference(toProperty: relationship.name, of: entity.name),
            classes: ["NSRelationshipDescription", "NSPropertyDescription", "NSObject"], fields)
    }

    private mutating func fill(_ fetched: FetchedPropertyDescription, in entity: EntityDescription) throws {
        var property = Property(name: fetched.name, entity: entity.name)
        property.isOptional = fetched.isOptional
        property.isTransient = true
        property.isReadOnly = true
        property.renamingIdentifier = fetched.renamingIdentifier
        property.versionHashModifier = fetched.versionHashModifier
        property.userInfo = fetched.userInfo
        var fields = self.fields(of: property)
        fields["_NSFetchRequestEntityName"] = builder.string(fetched.destinationEntityName)
        fields["NSFetchRequest"] = try fetchRequest(
            entity: fetched.destinationEntityName, predicate: fetched.predicate, options: fetched.options)
        builder.fill(
            reference(toProperty: fetched.name, of: entity.name),
            classes: ["NSFetchedPropertyDescription", "NSPropertyDescription", "NSObject"], fields)
    }

    // MARK: Common fields

    private struct Property {
        var name: String
        var entity: String
        var isOptional = false
        var isTransient = false
        var isReadOnly = false
        var isIndexed = false
        var isOrdered = false
        var isIndexedBySpotlight = false
        var isStoredInExternalRecord = false
        var renamingIdentifier: String?
        var versionHashModifier: String?
        var userInfo: [String: String] = [:]
        var validation: (predicates: PropertyList, warnings: PropertyList)?

        /// The value of `_P`: the flags as bits, and a bit for each empty part. Bit 0 is always set.
        var bits: Int64 {
            let flags: [(Int64, Bool)] = [
                (0x1, true), (0x2, isOptional), (0x4, isReadOnly), (0x8, isTransient), (0x10, validation == nil),
                (0x20, validation == nil), (0x40, userInfo.isEmpty), (0x80, versionHashModifier == nil),
                (0x400, isOrdered),
            ]
            return flags.reduce(0) { $1.1 ? $0 | $1.0 : $0 }
        }
    }

    private mutating func fields(of property: Property) -> [String: PropertyList] {
        var fields: [String: PropertyList] = [
            "NSPropertyName": builder.string(property.name),
            "NSRenamingIdentifier": builder.string(property.renamingIdentifier ?? property.name),
            "NSEntity": reference(toEntity: property.entity), "_P": .integer(property.bits),
        ]
        let flags: [(String, Bool)] = [
            ("NSIsOptional", property.isOptional), ("NSIsTransient", property.isTransient),
            ("NSIsReadOnly", property.isReadOnly), ("NSIsIndexed", property.isIndexed),
            ("NSIsOrdered", property.isOrdered), ("NSIsIndexedBySpotlight", property.isIndexedBySpotlight),
            ("NSIsStoredInExternalRecord", property.isStoredInExternalRecord),
        ]
        for (key, isSet) in flags where isSet { fields[key] = .boolean(true) }
        if let modifier = property.versionHashModifier { fields["NSVersionHashModifier"] = builder.string(modifier) }
        if !property.userInfo.isEmpty { fields["NSUserInfo"] = userInfo(property.userInfo) }
        if let validation = property.validation {
            fields["NSValidationPredicates"] = validation.predicates
            fields["NSValidationWarnings"] = validation.warnings
        }
        return fields
    }

    private mutating func validation(
        of attribute: AttributeDescription
    ) throws -> (predicates: PropertyList, warnings: PropertyList)? {
        var predicates: [PropertyList] = []
        var warnings: [PropertyList] = []
        let limits: [(ValidationLimit.Kind, String?)] = [
            (.minimum, attribute.validation.minimum), (.maximum, attribute.validation.maximum),
            (.regularExpression, attribute.validation.regularExpression),
        ]
        for case (let kind, let text?) in limits {
            let limit = ValidationLimit(kind, text).compiled(for: attribute.type)
            predicates.append(try builder.add(limit.predicate))
            warnings.append(builder.leaf(.integer(limit.errorNumber)))
        }
        for rule in attribute.validation.rules {
            predicates.append(try builder.add(Predicate(parsing: rule.predicate)))
            warnings.append(builder.string(rule.warning))
        }
        return predicates.isEmpty ? nil : (builder.array(predicates), builder.array(warnings))
    }

    private mutating func value(_ value: AttributeValue?, place: String) throws -> PropertyList {
        switch value {
        case nil: KeyedArchive.Builder.null
        case .integer(let number): builder.leaf(.integer(number))
        case .boolean(let flag): builder.leaf(.boolean(flag))
        case .double(let number): builder.leaf(.real(number))
        case .decimal(let digits): try builder.add(decimal: spelling.decimalTexts[place] ?? digits, place: place)
        case .string(let text): builder.string(text)
        case .date(let seconds): builder.add(date: seconds)
        case .binary(let bytes): builder.leaf(.data(bytes))
        case .uuid(let bytes): builder.object(classes: ["NSUUID", "NSObject"], ["NS.uuidbytes": .data(bytes)])
        case .uri(let text):
            builder.object(
                classes: ["NSURL", "NSObject"],
                ["NS.base": KeyedArchive.Builder.null, "NS.relative": builder.string(text)])
        case .transformable(let bytes):
            // The output of an app's own transformer need not be an archive.
            (try? builder.embed(archive: bytes)) ?? builder.leaf(.data(bytes))
        }
    }

    // MARK: Fetch requests

    mutating func predicate(_ text: String?) throws -> PropertyList {
        guard let text else { return KeyedArchive.Builder.null }
        return try builder.add(Predicate(parsing: text))
    }

    mutating func fetchRequest(
        entity: String?, predicate text: String?, options: [String: String]
    ) throws -> PropertyList {
        var fields: [String: PropertyList] = [
            "NSEntity": reference(toEntity: entity), "NSPredicate": try predicate(text),
            "NSHasFetchRequestFlags": .boolean(true), "NSAllocationType": .integer(0),
            "NSSortDescriptors": sortDescriptors(options[FetchRequestOption.sortDescriptors]),
        ]
        for (key, name, usual) in FetchRequestOption.numbers {
            fields[key] = .integer(options[name].flatMap { Int64($0) } ?? usual)
        }
        for key in [
            "NSHavingPredicate", "NSValuesToFetch", "NSValuesToGroupBy", "NSRelationshipKeyPathsForPrefetching",
        ] { fields[key] = KeyedArchive.Builder.null }
        return builder.object(classes: ["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"], fields)
    }

    private mutating func sortDescriptors(_ text: String?) -> PropertyList {
        guard let text else { return KeyedArchive.Builder.null }
        let descriptors = text.split(separator: ";").map { part in
            let words = part.split(separator: " ").map(String.init)
            return builder.object(
                classes: ["NSSortDescriptor", "NSObject"],
                [
                    "NSAscending": .boolean(words.first != "descending"), "NSReverseNullOrder": .boolean(false),
                    "NSKey": builder.string(words.count > 1 ? words[1] : nil),
                    "NSSelector": builder.string(words.count > 2 ? words[2] : "compare:"),
                ])
        }
        return builder.array(descriptors)
    }
}
