import MoultBasics
import MoultModel

/// Creates the values of a model from the objects of its archive.
struct ModelArchiveReader {
    private let archive: KeyedArchive
    var findings: [Finding] = []
    private var reported: Set<String> = []
    /// The number of composite elements left to read, because an archive may refer to one element from many places.
    var elementsLeft = 20_000
    /// Whether any entity has fetch indexes, which make the older kinds of index redundant.
    private var hasFetchIndexes = false

    init(archive: KeyedArchive) { self.archive = archive }

    mutating func model() throws -> ManagedObjectModel {
        guard let root = archive.root, let entries = root["NSEntities"]?.entries else {
            throw MigrationError.modelInvalid(
                "The archive contains no managed object model.", place: archive.root?.className ?? "the archive's root",
                remedy: "Give a compiled model (.mom) or a model bundle.")
        }
        reportUnknown(in: root, place: "")
        hasFetchIndexes = entries.contains { $0.value["NSFetchIndexDescriptions"] != nil }
        var entities: [EntityDescription] = []
        for entry in entries { entities.append(try entity(entry.value, name: entry.key)) }
        var model = try ManagedObjectModel(
            entities: entities,
            configurations: (root["NSConfigurations"]?.entries ?? []).map { name, members in
                let names = (members.elements ?? []).compactMap { $0["NSEntityName"]?.string }
                return Configuration(name: name, entityNames: names.inByteOrder())
            },
            fetchRequestTemplates: (root["NSFetchRequestTemplates"]?.entries ?? []).map { name, request in
                FetchRequestTemplate(
                    name: name, entityName: request["NSEntity"]?["NSEntityName"]?.string ?? "",
                    predicate: predicate(request["NSPredicate"], place: name),
                    options: options(of: request, place: name))
            },
            versionIdentifiers: (root["NSVersionIdentifiers"]?.elements ?? []).compactMap(\.string)
                .inByteOrder())
        model.describesCloudEncryption = false
        return model
    }

    // MARK: Entities

    private mutating func entity(_ value: KeyedArchive.Value, name key: String) throws -> EntityDescription {
        let name = value["NSEntityName"]?.string ?? key
        reportUnknown(in: value, place: name)
        let parents = superentities(of: value)
        // A cache repeats inherited properties in each entity, some of them behind a proxy.
        let inherited = Set(parents.flatMap { ($0["NSProperties"]?.entries ?? []).map(\.key) })
        var entity = EntityDescription(
            name: name, managedObjectClassName: value["NSClassNameForEntity"]?.string,
            isAbstract: value["NSIsAbstract"]?.boolean ?? false,
            superentityName: value["NSSuperentity"]?["NSEntityName"]?.string,
            compoundIndexes: nameLists(value["NSCompoundIndexes"]),
            uniquenessConstraints: nameLists(value["NSUniqueTuples"]),
            renamingIdentifier: renamingIdentifier(of: value, name: name),
            versionHashModifier: value["NSVersionHashModifier"]?.string, userInfo: userInfo(of: value, place: name))
        let properties = value["NSProperties"]?.entries ?? []
        let order = properties.indices.sorted { properties[$0].key.precedesInByteOrder(properties[$1].key) }
        for position in order where !inherited.contains(properties[position].key) {
            let (propertyName, property) = properties[position]
            try add(property["NSUnderlyingProperty"] ?? property, named: propertyName, to: &entity)
        }
        let own = inherited.union(entity.propertyNames)
        let inheritedIndexes = parents.flatMap { $0["NSFetchIndexDescriptions"]?.elements ?? [] }.compactMap(\.identity)
        for index in value["NSFetchIndexDescriptions"]?.elements ?? [] {
            if let identity = index.identity, inheritedIndexes.contains(identity) { continue }
            entity.fetchIndexes.append(fetchIndex(index, of: name, properties: own))
        }
        if hasFetchIndexes { removeTranslatedIndexes(from: &entity) }
        return entity
    }

    /// Removes redundant indexes. Core Data creates only the fetch indexes of such an archive.
    private mutating func removeTranslatedIndexes(from entity: inout EntityDescription) {
        for index in entity.removeTranslatedIndexes() {
            findings.append(
                Finding(
                    code: "index-ignored", severity: .note, place: "\(entity.name).\(index)",
                    message:
                        "The compiled model marks \(index) of \(entity.name) as indexed and has no fetch index for it.",
                    remedy: "Core Data makes no index; add a fetch index to the model if you want one."))
        }
    }

    /// Returns the ancestors, nearest first. It stops at a cycle, which the model then rejects.
    private func superentities(of value: KeyedArchive.Value) -> [KeyedArchive.Value] {
        var above: [KeyedArchive.Value] = []
        var seen: Set<Int?> = [value.identity]
        var current = value
        while above.count <= ManagedObjectModel.lineageLimit, let parent = current["NSSuperentity"],
            seen.insert(parent.identity).inserted
        {
            above.append(parent)
            current = parent
        }
        return above
    }

    private mutating func add(
        _ value: KeyedArchive.Value, named name: String, to entity: inout EntityDescription
    ) throws {
        let place = "\(entity.name).\(name)"
        reportUnknown(in: value, place: place)
        switch value.className {
        case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
            entity.attributes.append(try attribute(value, name: name, place: place))
        case "NSRelationshipDescription":
            entity.relationships.append(try relationship(value, name: name, place: place))
        case "NSFetchedPropertyDescription":
            entity.fetchedProperties.append(fetchedProperty(value, name: name, place: place))
        default: report("The property \(place) is of the unknown class \(value.className ?? "none").", place: place)
        }
    }

    private mutating func fetchIndex(
        _ value: KeyedArchive.Value, of entity: String, properties: Set<String>
    ) -> FetchIndexDescription {
        let name = value["NSIndexName"]?.string ?? ""
        reportUnknown(in: value, place: "\(entity).\(name)")
        var elements: [FetchIndexDescription.Element] = []
        for element in value["NSIndexElements"]?.elements ?? [] {
            reportUnknown(in: element, place: "\(entity).\(name)")
            let subject = element["NSPropertyName"]?.string ?? ""
            elements.append(
                FetchIndexDescription.Element(
                    subject: properties.contains(subject) ? .property(subject) : .expression(subject),
                    kind: element["NSFetchIndexElementType"]?.integer == 1 ? .rTree : .binary,
                    isAscending: element["NSAscending"]?.boolean ?? true))
        }
        return FetchIndexDescription(
            name: name, elements: elements,
            partialIndexPredicate: predicate(value["NSPartialIndexPredicate"], place: "\(entity).\(name)"))
    }

    // MARK: Common fields

    /// Returns nil if it equals the name, which is what Core Data writes for a model without one.
    func renamingIdentifier(of value: KeyedArchive.Value, name: String) -> String? {
        value["NSRenamingIdentifier"]?.string.flatMap { $0 == name ? nil : $0 }
    }

    mutating func userInfo(of value: KeyedArchive.Value, place: String) -> [String: String] {
        var userInfo: [String: String] = [:]
        for (key, entry) in value["NSUserInfo"]?.entries ?? [] {
            if let text = entry.string {
                userInfo[key] = text
            } else if key == AttributeDescription.enumTypeKey, entry.boolean == true {
                userInfo[key] = "1"
            } else if key == AttributeDescription.enumCasesKey, let cases = entry.elements {
                userInfo[key] = cases.compactMap(\.string).joined(separator: ",")
            } else {
                report("The user info \(key) of \(place) is not a string.", place: place)
            }
        }
        return userInfo
    }

    private func nameLists(_ value: KeyedArchive.Value?) -> [[String]] {
        // Old models list the properties themselves and not their names.
        (value?.elements ?? []).map { list in
            (list.elements ?? []).compactMap { $0.string ?? $0["NSPropertyName"]?.string }
        }
    }

    mutating func predicate(_ value: KeyedArchive.Value?, place: String) -> String? {
        guard let value else { return nil }
        if let predicate = Predicate(archived: value) { return predicate.format }
        report("A predicate of \(place) has parts that Moult does not know.", place: place)
        return nil
    }

    mutating func expression(_ value: KeyedArchive.Value?, place: String) -> String? {
        guard let value else { return nil }
        if ArchivedExpression(value).isSmall, let expression = Expression(archived: value) { return expression.format }
        report("An expression of \(place) has parts that Moult does not know.", place: place)
        return nil
    }

    // MARK: Findings

    /// Reports each unknown key of a class once, at its first place.
    mutating func reportUnknown(in value: KeyedArchive.Value, place: String) {
        let className = value.className ?? ""
        guard let known = ModelArchive.knownKeys[className] else { return }
        for key in value.keys(outside: known) where value[key] != nil {
            guard reported.insert("\(className).\(key)").inserted else { continue }
            report("The compiled model has the key \(key) in \(className), which Moult does not know.", place: place)
        }
    }

    mutating func report(_ message: String, place: String) {
        findings.append(
            Finding(
                code: "unknown-element", severity: .warning, place: place, message: message,
                remedy: "Check whether the omitted part of the model matters for this store."))
    }
}

extension AttributeValue {
    /// Reads the archived default value of an attribute with a numeric type, from any kind of number or text.
    ///
    /// An attribute whose type was changed keeps the old kind of value: a Boolean that was a Double has the real 0.0.
    /// Returns nil for a value that the type cannot represent exactly.
    init?(archivedNumber value: KeyedArchive.Value, type: AttributeType) {
        if type == .decimal, let number = DecimalNumber(archived: value) {
            self = .decimal(number.text)
            return
        }
        let text: String? =
            if let whole = value.integer {
                String(whole)
            } else if let real = value.real {
                real.description
            } else {
                DecimalNumber(archived: value)?.text ?? value.string
            }
        guard let text else { return nil }
        // The shortest text that reads back as the same number, so that nothing is lost.
        self.init(modelFileText: text, type: type)
    }
}

extension Finding {
    /// Returns the finding for a default value of the wrong type; the attribute is read without it.
    static func defaultNotRead(_ text: String, of type: AttributeType, place: String) -> Finding {
        Finding(
            code: "default-not-read", severity: .warning, place: place,
            message:
                "The default value \(text) is not a value of type \(type.name); the attribute is read without one.",
            remedy: "Correct the default value or the type.")
    }
}
