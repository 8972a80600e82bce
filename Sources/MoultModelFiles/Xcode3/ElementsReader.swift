import MoultBasics
import MoultModel

extension ManagedObjectModel {
    /// Reads the `elements` file of an `.xcdatamodel` folder written by Xcode 3.
    /// - Throws: `MigrationError`: `propertyListInvalid` for bytes that are not an archive, `modelInvalid` for an
    ///   archive without a model or with an inconsistent one.
    package init(elements bytes: [UInt8], findings: inout [Finding]) throws {
        guard let root = try KeyedArchive(parsing: bytes).root else {
            throw MigrationError.modelInvalid(
                "The archive is empty.", place: "the archive's root", remedy: "Give a model that Xcode wrote.")
        }
        try self.init(modelDocument: root, findings: &findings)
    }

    /// Reads the `XDPMModel` of Xcode's model editor, which mapping models also contain.
    init(modelDocument root: KeyedArchive.Value, findings: inout [Finding]) throws {
        guard let entities = root["_xd_rootPackage"]?["XDBucketForClassesstorage"]?.entries else {
            throw MigrationError.modelInvalid(
                "The archive contains no model of Xcode's editor.", place: root.className ?? "the archive's root",
                remedy: "Give the elements file of an .xcdatamodel folder.")
        }
        var reader = ElementsReader()
        let descriptions = try entities.map { try reader.entity($0.value, name: $0.key) }
        if root["_configurationsByName"]?.entries?.isEmpty == false {
            reader.report("The configurations of the model are not read.", place: "")
        }
        let identifier = root["_modelVersionIdentifier"]?.string ?? ""
        self = try ManagedObjectModel(entities: descriptions, versionIdentifiers: [identifier])
        findings += reader.findings
    }
}

/// Creates descriptions from the objects of Xcode's model editor. Most details of an object are in its stereotypes,
/// which are named groups of named values.
struct ElementsReader {
    private(set) var findings: [Finding] = []

    mutating func entity(_ value: KeyedArchive.Value, name key: String) throws -> EntityDescription {
        let name = value["_name"]?.string ?? key
        let facts = Self.facts(of: value)
        let parent = value["XDBucketForGeneralizationsstorage"]?.elements?.first?["_general"]
        var attributes: [AttributeDescription] = []
        var relationships: [RelationshipDescription] = []
        for (propertyName, property) in value["XDBucketForOwnedAttributesstorage"]?.entries ?? [] {
            let place = "\(name).\(propertyName)"
            switch property.className {
            case "XDPMAttribute": attributes.append(try attribute(property, name: propertyName, place: place))
            case "XDPMRelationship": relationships.append(relationship(property, name: propertyName, place: place))
            default:
                report("The property \(place) is a \(property.className ?? "nil"), which is not read.", place: place)
            }
        }
        if facts["XD_PSK_fetchRequestsArray"]?.elements?.isEmpty == false {
            report("The fetch requests of \(name) are not read.", place: name)
        }
        return EntityDescription(
            name: name, managedObjectClassName: facts["XD_PSK_entityClassName"]?.string,
            isAbstract: facts["XD_PSK_isAbstract"]?.boolean ?? value["_isAbstract"]?.boolean ?? false,
            superentityName: parent?["_name"]?.string, attributes: attributes, relationships: relationships,
            compoundIndexes: Self.nameLists(facts["XDPMCompoundIndexes"]),
            uniquenessConstraints: Self.nameLists(facts["XDPMUniquenessConstraints"]),
            renamingIdentifier: facts["XD_PSK_elementID"]?.string,
            versionHashModifier: facts["XD_PSK_versionHashModifier"]?.string,
            userInfo: userInfo(facts["XD_PSK_userInfo"], place: name),
            isSyncable: Self.isSyncable(facts["XD_PSK_userInfo"]))
    }

    private mutating func attribute(
        _ value: KeyedArchive.Value, name: String, place: String
    ) throws -> AttributeDescription {
        let facts = Self.facts(of: value)
        let number = facts["XD_PAttK_attributeType"]?.integer ?? 0
        guard let type = Int32(exactly: number).flatMap(AttributeType.init(rawValue:)) else {
            throw MigrationError.modelInvalid(
                "The attribute \(place) is of the unknown type \(number).", place: place,
                remedy: "Save the model with a newer Xcode, as XML.")
        }
        return AttributeDescription(
            name: name, type: type,
            isOptional: facts["XD_PPSK_isOptional"]?.boolean ?? true,
            isTransient: facts["XD_PPSK_isTransient"]?.boolean ?? false,
            defaultValue: defaultValue(facts["XD_PAttK_defaultValueAsString"]?.string, type: type, place: place),
            allowsExternalBinaryDataStorage: facts["XD_PAttK_allowsExternalBinaryDataStorage"]?.boolean ?? false,
            valueTransformerName: facts["XD_PAttK_valueTransformerName"]?.string,
            isIndexed: facts["XD_PPSK_isIndexed"]?.boolean ?? false,
            isIndexedBySpotlight: facts["XD_PPSK_isSpotlightIndexed"]?.boolean ?? false,
            isStoredInExternalRecord: facts["XD_PPSK_isStoredInTruthFile"]?.boolean ?? false,
            validation: .init(
                minimum: facts["XD_PAttK_minValueString"]?.string, maximum: facts["XD_PAttK_maxValueString"]?.string,
                regularExpression: facts["XD_PAttK_regularExpressionString"]?.string),
            renamingIdentifier: facts["XD_PPSK_elementID"]?.string,
            versionHashModifier: facts["XD_PPSK_versionHashModifier"]?.string,
            userInfo: userInfo(facts["XD_PPSK_userInfo"], place: place),
            isSyncable: Self.isSyncable(facts["XD_PPSK_userInfo"]))
    }

    private mutating func defaultValue(_ text: String?, type: AttributeType, place: String) -> AttributeValue? {
        guard let text, !text.isEmpty || type == .string else { return nil }
        if let value = AttributeValue(modelFileText: text, type: type) { return value }
        findings.append(.defaultNotRead("\"\(text)\"", of: type, place: place))
        return nil
    }

    private mutating func relationship(
        _ value: KeyedArchive.Value, name: String, place: String
    ) -> RelationshipDescription {
        let facts = Self.facts(of: value)
        let isToMany = facts["XD_PRK_isToMany"]?.boolean ?? false
        let rule = facts["XD_PRK_deleteRule"]?.integer ?? 1
        return RelationshipDescription(
            name: name, destinationEntityName: facts["XD_PRK_destination"]?["_name"]?.string ?? "",
            inverseName: facts["XD_PRK_inverseRelationship"]?["_name"]?.string,
            isOptional: facts["XD_PPSK_isOptional"]?.boolean ?? true,
            isTransient: facts["XD_PPSK_isTransient"]?.boolean ?? false,
            maxCount: Int(clamping: facts["XD_PRK_maxCount"]?.integer ?? (isToMany ? 0 : 1)),
            minCount: Int(clamping: facts["XD_PRK_minCount"]?.integer ?? 0),
            isOrdered: facts["XD_PRK_ordered"]?.boolean ?? false,
            deleteRule: Int(exactly: rule).flatMap(DeleteRule.init(rawValue:)) ?? .nullify,
            isIndexed: facts["XD_PPSK_isIndexed"]?.boolean ?? false,
            isIndexedBySpotlight: facts["XD_PPSK_isSpotlightIndexed"]?.boolean ?? false,
            isStoredInExternalRecord: facts["XD_PPSK_isStoredInTruthFile"]?.boolean ?? false,
            renamingIdentifier: facts["XD_PPSK_elementID"]?.string,
            versionHashModifier: facts["XD_PPSK_versionHashModifier"]?.string,
            userInfo: userInfo(facts["XD_PPSK_userInfo"], place: place),
            isSyncable: Self.isSyncable(facts["XD_PPSK_userInfo"]))
    }

    // MARK: Stereotypes

    /// Returns the values in all stereotypes of an object by key; the keys are unique.
    private static func facts(of value: KeyedArchive.Value) -> [String: KeyedArchive.Value] {
        let stereotypes = value["XDBucketForStereotypesstorage"]?.entries ?? []
        var facts: [String: KeyedArchive.Value] = [:]
        for (_, stereotype) in stereotypes {
            for (key, property) in stereotype["XDBucketForOwnedAttributesstorage"]?.entries ?? [] {
                facts[key] = property["_default"]
            }
        }
        return facts
    }

    private static func nameLists(_ value: KeyedArchive.Value?) -> [[String]] {
        (value?.elements ?? []).map { list in
            (list.elements ?? []).compactMap { $0.string ?? $0["_name"]?.string }
        }
    }

    /// The prefix of Sync Services settings, which Xcode 3 stored in the user info.
    private static let syncPrefix = "com.apple.syncservices."

    private static func isSyncable(_ value: KeyedArchive.Value?) -> Bool {
        value?.entries?.first { $0.key == syncPrefix + "Syncable" }?.value.string != "NO"
    }

    private mutating func userInfo(_ value: KeyedArchive.Value?, place: String) -> [String: String] {
        var userInfo: [String: String] = [:]
        for (key, entry) in value?.entries ?? [] where !key.hasPrefix(Self.syncPrefix) {
            if let text = entry.string {
                userInfo[key] = text
            } else {
                report("The user info \(key) of \(place) is not a string.", place: place)
            }
        }
        return userInfo
    }

    mutating func report(_ message: String, place: String) {
        findings.append(
            Finding(
                code: "unknown-element", severity: .warning, place: place, message: message,
                remedy: "Check whether the omitted part of the model matters for this store."))
    }
}
