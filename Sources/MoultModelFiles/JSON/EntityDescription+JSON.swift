import MoultBasics
import MoultModel

extension EntityDescription {
    var json: JSONValue {
        var members = JSONMembers()
        members.set("name", name)
        members.set("managedObjectClassName", managedObjectClassName)
        members.set("isAbstract", isAbstract, unless: false)
        members.set("superentityName", superentityName)
        members.set("attributes", attributes, \.json)
        members.set("relationships", relationships, \.json)
        members.set("fetchedProperties", fetchedProperties, \.json)
        members.set("fetchIndexes", fetchIndexes, \.json)
        members.set("compoundIndexes", compoundIndexes)
        members.set("uniquenessConstraints", uniquenessConstraints)
        members.set("renamingIdentifier", renamingIdentifier)
        members.set("versionHashModifier", versionHashModifier)
        members.set("userInfo", userInfo)
        members.set("isSyncable", isSyncable, unless: true)
        members.set("coreSpotlightDisplayNameExpression", coreSpotlightDisplayNameExpression)
        members.set("codeGenerationType", codeGenerationType)
        return members.value
    }

    private static let keys: Set<String> = [
        "name", "managedObjectClassName", "isAbstract", "superentityName", "attributes", "relationships",
        "fetchedProperties", "fetchIndexes", "compoundIndexes", "uniquenessConstraints", "renamingIdentifier",
        "versionHashModifier", "userInfo", "isSyncable", "coreSpotlightDisplayNameExpression", "codeGenerationType",
    ]

    init(_ fields: JSONFields, noting unknown: inout UnknownMembers) throws {
        unknown.inspect(fields, Self.keys)
        self.init(
            name: try fields.required("name"),
            managedObjectClassName: try fields.text("managedObjectClassName"),
            isAbstract: try fields.flag("isAbstract") ?? false,
            superentityName: try fields.text("superentityName"),
            attributes: try fields.objects("attributes") { try AttributeDescription($0, noting: &unknown) },
            relationships: try fields.objects("relationships") { try RelationshipDescription($0, noting: &unknown) },
            fetchedProperties: try fields.objects("fetchedProperties") {
                try FetchedPropertyDescription($0, noting: &unknown)
            },
            fetchIndexes: try fields.objects("fetchIndexes") { try FetchIndexDescription($0, noting: &unknown) },
            compoundIndexes: try fields.textLists("compoundIndexes"),
            uniquenessConstraints: try fields.textLists("uniquenessConstraints"),
            renamingIdentifier: try fields.text("renamingIdentifier"),
            versionHashModifier: try fields.text("versionHashModifier"),
            userInfo: try fields.dictionary("userInfo"),
            isSyncable: try fields.flag("isSyncable") ?? true,
            coreSpotlightDisplayNameExpression: try fields.text("coreSpotlightDisplayNameExpression"),
            codeGenerationType: try fields.text("codeGenerationType"))
    }
}

extension FetchIndexDescription {
    fileprivate var json: JSONValue {
        var members = JSONMembers()
        members.set("name", name)
        members.set("elements", elements, \.json)
        members.set("partialIndexPredicate", partialIndexPredicate)
        return members.value
    }

    fileprivate init(_ fields: JSONFields, noting unknown: inout UnknownMembers) throws {
        unknown.inspect(fields, ["name", "elements", "partialIndexPredicate"])
        self.init(
            name: try fields.required("name"),
            elements: try fields.objects("elements") { try Element($0, noting: &unknown) },
            partialIndexPredicate: try fields.text("partialIndexPredicate"))
    }
}

extension FetchIndexDescription.Element {
    fileprivate var json: JSONValue {
        var members = JSONMembers()
        switch subject {
        case .property(let name): members.set("property", name)
        case .expression(let text): members.set("expression", text)
        }
        members.set("isRTree", kind == .rTree, unless: false)
        members.set("isAscending", isAscending, unless: true)
        members.set("expressionType", expressionType)
        return members.value
    }

    fileprivate init(_ fields: JSONFields, noting unknown: inout UnknownMembers) throws {
        unknown.inspect(fields, ["property", "expression", "isRTree", "isAscending", "expressionType"])
        let property = try fields.text("property").map(FetchIndexDescription.Subject.property)
        let expression = try fields.text("expression").map(FetchIndexDescription.Subject.expression)
        guard let subject = property ?? expression else { throw fields.invalid("has neither property nor expression") }
        self.init(
            subject: subject, kind: try fields.flag("isRTree") ?? false ? .rTree : .binary,
            isAscending: try fields.flag("isAscending") ?? true,
            expressionType: try fields.text("expressionType"))
    }
}

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
