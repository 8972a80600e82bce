import MoultBasics
import MoultModel

/// Creates a mapping model from a compiled one, an archive of `NSMappingModel`.
struct CompiledMappingReader {
    private(set) var findings: [Finding] = []

    mutating func mapping(of archive: KeyedArchive) throws(MigrationError) -> MappingModel {
        guard let root = archive.root, root.className == "NSMappingModel",
            let elements = root["NSEntityMappings"]?.elements
        else {
            throw .modelInvalid(
                "The archive contains no mapping model.", place: archive.root?.className ?? "the archive's root",
                remedy: "Give a compiled mapping model (.cdm).")
        }
        var mappings: [EntityMapping] = []
        for element in elements { mappings.append(try entityMapping(element)) }
        return MappingModel(mappings)
    }

    private mutating func entityMapping(_ value: KeyedArchive.Value) throws(MigrationError) -> EntityMapping {
        guard let name = value["NSMappingName"]?.string, !name.isEmpty else {
            throw invalid("An entity mapping has no name", "NSEntityMapping")
        }
        let source = value["NSSourceEntityName"]?.string
        let destination = value["NSDestinationEntityName"]?.string
        guard source != nil || destination != nil else {
            throw invalid("The entity mapping has neither a source nor a destination", name)
        }
        let number = value["NSMappingType"]?.integer ?? 0
        guard let type = Int(exactly: number).flatMap(EntityMappingType.init(rawValue:)) else {
            throw invalid("The entity mapping is of the unknown type \(number)", name)
        }
        var mapping = EntityMapping(
            from: source, to: destination, name: name, type: type,
            sourcePredicate: try sourcePredicate(value["NSSourceExpression"], of: source, place: name),
            entityMigrationPolicyClassName: value["NSEntityMigrationPolicyClassName"]?.string,
            attributeMappings: try properties(value["NSAttributeMappings"], of: name),
            relationshipMappings: try properties(value["NSRelationshipMappings"], of: name),
            userInfo: userInfo(value["NSUserInfo"], place: name))
        mapping.sourceEntityVersionHash = try hash(value["NSSourceEntityVersionHash"], place: name)
        mapping.destinationEntityVersionHash = try hash(value["NSDestinationEntityVersionHash"], place: name)
        return mapping
    }

    /// Reads the predicate of the fetch in a source expression; nil if it fetches all objects.
    private func sourcePredicate(
        _ value: KeyedArchive.Value?, of entity: String?, place: String
    ) throws(MigrationError) -> Predicate? {
        guard let value else { return nil }
        guard value.className == "NSFetchRequestExpression",
            let fetch = value["NSFRExpression"].flatMap({ Expression(archived: $0) })?.sourceFetch,
            fetch.entity == .constant(.string(entity ?? ""))
        else {
            throw MigrationError(
                .unsupported,
                "The source expression of \(place) is not a fetch of its source entity: \(ArchivedExpression(value)).",
                place: place, remedy: "Use a predicate in the mapping model to select its objects.")
        }
        do {
            let predicate = try Predicate(parsing: fetch.predicate)
            return predicate == .constant(true) ? nil : predicate
        } catch {
            throw .modelInvalid(
                error.message, place: "\(place): \(fetch.predicate): \(error.place)", remedy: error.remedy)
        }
    }

    private mutating func properties(
        _ value: KeyedArchive.Value?, of mapping: String
    ) throws(MigrationError) -> [PropertyMapping] {
        var properties: [PropertyMapping] = []
        for element in value?.elements ?? [] {
            guard let name = element["NSDestinationPropertyName"]?.string else {
                throw invalid("A property mapping has no name", mapping)
            }
            let place = "\(mapping).\(name)"
            guard !properties.contains(where: { $0.name == name }) else {
                throw invalid("The property is mapped twice", place)
            }
            if element["NSPropertyTransforms"] != nil { report("The property transforms are not read.", place: place) }
            let expression = try element["NSValueExpression"].map { (value) throws(MigrationError) in
                try Expression(mapped: value, place: place)
            }
            properties.append(
                PropertyMapping(name, expression, userInfo: userInfo(element["NSUserInfo"], place: place)))
        }
        return properties
    }

    private mutating func userInfo(_ value: KeyedArchive.Value?, place: String) -> [String: String] {
        var userInfo: [String: String] = [:]
        for (key, entry) in value?.entries ?? [] {
            if let text = entry.string {
                userInfo[key] = text
            } else {
                report("The user info \(key) is not a string and is not read.", place: place)
            }
        }
        return userInfo
    }

    private func hash(_ value: KeyedArchive.Value?, place: String) throws(MigrationError) -> [UInt8]? {
        guard let value else { return nil }
        guard let bytes = value.data, bytes.count == 32 else {
            throw invalid("A version hash does not have 32 bytes", place)
        }
        return bytes
    }

    private func invalid(_ what: String, _ place: String) -> MigrationError {
        .modelInvalid("\(what).", place: place, remedy: "Compile the mapping model again from its .xcmappingmodel.")
    }

    private mutating func report(_ message: String, place: String) {
        findings.append(
            Finding(
                code: "unknown-element", severity: .warning, place: place, message: message,
                remedy: "Check whether the omitted part matters for this mapping."))
    }
}
