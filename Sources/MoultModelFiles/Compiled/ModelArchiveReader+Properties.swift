import MoultBasics
import MoultModel

extension ModelArchiveReader {
    mutating func attribute(
        _ value: KeyedArchive.Value, name: String, place: String, depth: Int = 0
    ) throws -> AttributeDescription {
        let number = value["NSAttributeType"]?.integer ?? 0
        guard let type = Int32(exactly: number).flatMap(AttributeType.init(rawValue:)) else {
            throw MigrationError.modelInvalid(
                "The attribute \(place) is of the unknown type \(number).", place: place,
                remedy: "Read the model with a newer release of Moult.")
        }
        let flags = value["NSFlagsKey"]?.integer ?? 0
        if flags & ~(ModelArchive.externalBinaryDataFlag | ModelArchive.preserveAfterDeletionFlag) != 0 {
            report("The attribute \(place) has unknown flags (\(flags)).", place: place)
        }
        let className = value["NSAttributeValueClassName"]?.string
        return AttributeDescription(
            name: name, type: type,
            isOptional: value["NSIsOptional"]?.boolean ?? false,
            isTransient: value["NSIsTransient"]?.boolean ?? false,
            derivation: expression(value["NSDerivationExpression"], place: place).map {
                .init(expression: $0, filter: predicate(value["NSFilteringPredicate"], place: place))
            },
            elements: type == .composite ? try elements(of: value, place: place, depth: depth) : [],
            defaultValue: defaultValue(value["NSDefaultValue"], type: type, place: place),
            allowsExternalBinaryDataStorage: flags & ModelArchive.externalBinaryDataFlag != 0,
            preservesValueInHistoryOnDeletion: flags & ModelArchive.preserveAfterDeletionFlag != 0,
            valueTransformerName: value["NSValueTransformerName"]?.string,
            attributeValueClassName: className == ModelArchive.valueClassNames[type] ? nil : className,
            isIndexed: value["NSIsIndexed"]?.boolean ?? false,
            isIndexedBySpotlight: value["NSIsIndexedBySpotlight"]?.boolean ?? false,
            isStoredInExternalRecord: value["NSIsStoredInExternalRecord"]?.boolean ?? false,
            validation: validation(of: value, place: place),
            renamingIdentifier: renamingIdentifier(of: value, name: name),
            versionHashModifier: value["NSVersionHashModifier"]?.string,
            userInfo: userInfo(of: value, place: place))
    }

    /// Reads the elements of a composite attribute, in declaration order.
    private mutating func elements(
        of value: KeyedArchive.Value, place: String, depth: Int
    ) throws -> [AttributeDescription] {
        guard let elements = value["NSCompositeElements"]?.elements, !elements.isEmpty else {
            throw MigrationError.modelInvalid(
                "The composite attribute \(place) has no elements.", place: place,
                remedy: "Compile the model again, or name a model source.")
        }
        elementsLeft -= elements.count
        guard depth < AttributeDescription.compositeDepthLimit, elementsLeft >= 0 else {
            throw MigrationError.endlessComposite(place, remedy: "Compile the model again, or name a model source.")
        }
        return try elements.map { element in
            let name = element["NSPropertyName"]?.string ?? ""
            reportUnknown(in: element, place: "\(place).\(name)")
            return try attribute(element, name: name, place: "\(place).\(name)", depth: depth + 1)
        }
    }

    private mutating func defaultValue(
        _ value: KeyedArchive.Value?, type: AttributeType, place: String
    ) -> AttributeValue? {
        // The default value of a required struct is an empty dictionary.
        guard let value, type != .composite || value.entries?.isEmpty != true else { return nil }
        let result: AttributeValue? =
            switch type {
            case .integer16, .integer32, .integer64, .boolean, .double, .float, .decimal:
                AttributeValue(archivedNumber: value, type: type)
            case .string: value.string.map(AttributeValue.string)
            case .date: value.date.map(AttributeValue.date)
            case .binary: value.data.map(AttributeValue.binary)
            case .uuid: value.uuid.map(AttributeValue.uuid)
            case .uri: value["NS.relative"]?.string.map(AttributeValue.uri)
            case .transformable: .transformable(value.archived)
            case .undefined, .objectID, .composite: nil
            }
        if result == nil {
            let text = value.string.map { "\"\($0)\"" } ?? value.className ?? "it has"
            findings.append(.defaultNotRead(text, of: type, place: place))
        }
        return result
    }

    mutating func relationship(
        _ value: KeyedArchive.Value, name: String, place: String
    ) throws -> RelationshipDescription {
        let destination = value["_NSDestinationEntityName"]?.string
        let inverse = value["_NSInverseRelationshipName"]?.string
        let rule = value["NSDeleteRule"]?.integer ?? 1
        return RelationshipDescription(
            name: name,
            destinationEntityName: destination ?? value["NSDestinationEntity"]?["NSEntityName"]?.string ?? "",
            inverseName: inverse ?? value["NSInverseRelationship"]?["NSPropertyName"]?.string,
            isOptional: value["NSIsOptional"]?.boolean ?? false, isTransient: value["NSIsTransient"]?.boolean ?? false,
            maxCount: Int(clamping: value["NSMaxCount"]?.integer ?? 0),
            minCount: Int(clamping: value["NSMinCount"]?.integer ?? 0),
            isOrdered: value["NSIsOrdered"]?.boolean ?? false,
            deleteRule: Int(exactly: rule).flatMap(DeleteRule.init(rawValue:)) ?? .nullify,
            isIndexed: value["NSIsIndexed"]?.boolean ?? false,
            isIndexedBySpotlight: value["NSIsIndexedBySpotlight"]?.boolean ?? false,
            isStoredInExternalRecord: value["NSIsStoredInExternalRecord"]?.boolean ?? false,
            renamingIdentifier: renamingIdentifier(of: value, name: name),
            versionHashModifier: value["NSVersionHashModifier"]?.string, userInfo: userInfo(of: value, place: place))
    }

    mutating func fetchedProperty(
        _ value: KeyedArchive.Value, name: String, place: String
    ) -> FetchedPropertyDescription {
        let request = value["NSFetchRequest"]
        return FetchedPropertyDescription(
            name: name,
            isOptional: value["NSIsOptional"]?.boolean ?? false,
            destinationEntityName: request?["NSEntity"]?["NSEntityName"]?.string
                ?? value["_NSFetchRequestEntityName"]?.string,
            predicate: predicate(request?["NSPredicate"], place: place),
            options: request.map { options(of: $0, place: place) } ?? [:],
            userInfo: userInfo(of: value, place: place))
    }

    // MARK: Fetch requests

    /// Returns the settings of a fetch request, besides entity and predicate, that differ from a new request's.
    mutating func options(of request: KeyedArchive.Value, place: String) -> [String: String] {
        var options: [String: String] = [:]
        for (key, name, usual) in FetchRequestOption.numbers {
            guard let number = request[key]?.integer, number != usual else { continue }
            options[name] = String(number)
        }
        let descriptors = (request["NSSortDescriptors"]?.elements ?? []).map { descriptor in
            let direction = descriptor["NSAscending"]?.boolean ?? true ? "ascending" : "descending"
            let selector = descriptor["NSSelector"]?.string.map { " " + $0 } ?? ""
            return "\(direction) \(descriptor["NSKey"]?.string ?? "SELF")\(selector)"
        }
        if !descriptors.isEmpty { options[FetchRequestOption.sortDescriptors] = descriptors.joined(separator: "; ") }
        return options
    }

    // MARK: Validation

    /// Reads the limits of the model editor, each a predicate with an error number; other predicates stay as they are.
    private mutating func validation(of value: KeyedArchive.Value, place: String) -> AttributeDescription.Validation {
        var validation = AttributeDescription.Validation()
        let predicates = value["NSValidationPredicates"]?.elements ?? []
        let warnings = value["NSValidationWarnings"]?.elements ?? []
        for (position, archived) in predicates.enumerated() {
            let warning = position < warnings.count ? warnings[position] : nil
            guard let predicate = Predicate(archived: archived) else {
                report("A validation rule of \(place) has parts that Moult does not know.", place: place)
                continue
            }
            if let limit = ValidationLimit(predicate, errorNumber: warning?.integer) {
                validation[keyPath: limit.kind.field] = limit.text
            } else {
                let text = warning?.string ?? warning?.integer.map { String($0) } ?? ""
                validation.rules.append(.init(predicate: predicate.format, warning: text))
            }
        }
        return validation
    }
}

/// The numeric options of a fetch request: the archive's key, the model file's name, the default value.
enum FetchRequestOption {
    static let numbers: [(key: String, name: String, usual: Int64)] = [
        ("NSFetchLimit", "fetchLimit", 0), ("NSFetchOffset", "fetchOffset", 0), ("NSBatchSize", "fetchBatchSize", 0),
        ("NSResultType", "resultType", 0), ("NSFetchRequestFlags", "flags", 30),
    ]
    static let sortDescriptors = "sortDescriptors"
}
