import MoultModel

extension RelationshipDescription {
    var json: JSONValue {
        var members = JSONMembers()
        members.set("name", name)
        members.set("destinationEntityName", destinationEntityName)
        members.set("inverseName", inverseName)
        members.set("isOptional", isOptional, unless: true)
        members.set("isTransient", isTransient, unless: false)
        members.set("maxCount", maxCount, unless: 1)
        members.set("minCount", minCount, unless: 0)
        members.set("isOrdered", isOrdered, unless: false)
        members.set("deleteRule", deleteRule.name)
        members.set("isIndexed", isIndexed, unless: false)
        members.set("isIndexedBySpotlight", isIndexedBySpotlight, unless: false)
        members.set("isStoredInExternalRecord", isStoredInExternalRecord, unless: false)
        members.set("renamingIdentifier", renamingIdentifier)
        members.set("versionHashModifier", versionHashModifier)
        members.set("userInfo", userInfo)
        members.set("isSyncable", isSyncable, unless: true)
        return members.value
    }

    private static let keys: Set<String> = [
        "name", "destinationEntityName", "inverseName", "isOptional", "isTransient", "maxCount", "minCount",
        "isOrdered", "deleteRule", "isIndexed", "isIndexedBySpotlight", "isStoredInExternalRecord",
        "renamingIdentifier", "versionHashModifier", "userInfo", "isSyncable",
    ]

    init(_ fields: JSONFields, noting unknown: inout UnknownMembers) throws {
        unknown.inspect(fields, Self.keys)
        guard let deleteRule = DeleteRule(name: try fields.required("deleteRule")) else {
            throw fields.invalid("has a deleteRule that is not one of Core Data's")
        }
        self.init(
            name: try fields.required("name"),
            destinationEntityName: try fields.required("destinationEntityName"),
            inverseName: try fields.text("inverseName"),
            isOptional: try fields.flag("isOptional") ?? true,
            isTransient: try fields.flag("isTransient") ?? false,
            maxCount: try fields.integer("maxCount") ?? 1,
            minCount: try fields.integer("minCount") ?? 0,
            isOrdered: try fields.flag("isOrdered") ?? false,
            deleteRule: deleteRule,
            isIndexed: try fields.flag("isIndexed") ?? false,
            isIndexedBySpotlight: try fields.flag("isIndexedBySpotlight") ?? false,
            isStoredInExternalRecord: try fields.flag("isStoredInExternalRecord") ?? false,
            renamingIdentifier: try fields.text("renamingIdentifier"),
            versionHashModifier: try fields.text("versionHashModifier"),
            userInfo: try fields.dictionary("userInfo"),
            isSyncable: try fields.flag("isSyncable") ?? true)
    }
}

extension FetchedPropertyDescription {
    var json: JSONValue {
        var members = JSONMembers()
        members.set("name", name)
        members.set("isOptional", isOptional, unless: true)
        members.set("destinationEntityName", destinationEntityName)
        members.set("predicate", predicate)
        members.set("options", options)
        members.set("isTransient", isTransient, unless: false)
        members.set("renamingIdentifier", renamingIdentifier)
        members.set("versionHashModifier", versionHashModifier)
        members.set("userInfo", userInfo)
        members.set("isSyncable", isSyncable, unless: true)
        return members.value
    }

    private static let keys: Set<String> = [
        "name", "isOptional", "destinationEntityName", "predicate", "options", "isTransient", "renamingIdentifier",
        "versionHashModifier", "userInfo", "isSyncable",
    ]

    init(_ fields: JSONFields, noting unknown: inout UnknownMembers) throws {
        unknown.inspect(fields, Self.keys)
        self.init(
            name: try fields.required("name"),
            isOptional: try fields.flag("isOptional") ?? true,
            destinationEntityName: try fields.text("destinationEntityName"),
            predicate: try fields.text("predicate"),
            options: try fields.dictionary("options"),
            isTransient: try fields.flag("isTransient") ?? false,
            renamingIdentifier: try fields.text("renamingIdentifier"),
            versionHashModifier: try fields.text("versionHashModifier"),
            userInfo: try fields.dictionary("userInfo"),
            isSyncable: try fields.flag("isSyncable") ?? true)
    }
}
