import MoultBasics
import MoultModel

extension EntityDescription: JSONPart {
    static var blank: Self { Self(name: "") }

    static var members: [JSONMember<Self>] {
        [
            .required("name", \.name), .text("managedObjectClassName", \.managedObjectClassName),
            .flag("isAbstract", \.isAbstract, unless: false), .text("superentityName", \.superentityName),
            .parts("attributes", \.attributes), .parts("relationships", \.relationships),
            .parts("fetchedProperties", \.fetchedProperties), .parts("fetchIndexes", \.fetchIndexes),
            .lists("compoundIndexes", \.compoundIndexes), .lists("uniquenessConstraints", \.uniquenessConstraints),
            .text("renamingIdentifier", \.renamingIdentifier), .text("versionHashModifier", \.versionHashModifier),
            .entries("userInfo", \.userInfo), .flag("isSyncable", \.isSyncable, unless: true),
            .text("coreSpotlightDisplayNameExpression", \.coreSpotlightDisplayNameExpression),
            .text("codeGenerationType", \.codeGenerationType),
        ]
    }
}

extension FetchIndexDescription: JSONPart {
    static var blank: Self { Self(name: "", elements: []) }

    static var members: [JSONMember<Self>] {
        [
            .required("name", \.name), .parts("elements", \.elements),
            .text("partialIndexPredicate", \.partialIndexPredicate),
        ]
    }
}

extension FetchIndexDescription.Element: JSONPart {
    static var blank: Self { Self(subject: .property("")) }

    static var members: [JSONMember<Self>] {
        [
            .init(
                key: "property", write: { if case .property(let name) = $0.subject { .string(name) } else { nil } },
                read: { element, fields, _ in
                    let property = try fields.text("property").map(FetchIndexDescription.Subject.property)
                    let expression = try fields.text("expression").map(FetchIndexDescription.Subject.expression)
                    guard let subject = property ?? expression else {
                        throw fields.invalid("has neither property nor expression")
                    }
                    element.subject = subject
                }),
            .init(
                key: "expression",
                write: { if case .expression(let text) = $0.subject { .string(text) } else { nil } },
                // Read together with the property.
                read: { _, _, _ in }),
            .init(
                key: "isRTree", write: { $0.kind == .rTree ? true : nil },
                read: { element, fields, _ in
                    element.kind = try fields.flag("isRTree") ?? false ? .rTree : .binary
                }),
            .flag("isAscending", \.isAscending, unless: true), .text("expressionType", \.expressionType),
        ]
    }
}

extension RelationshipDescription: JSONPart {
    static var blank: Self { Self(name: "", destinationEntityName: "") }

    static var members: [JSONMember<Self>] {
        [
            .init(
                key: "deleteRule", write: { .string($0.deleteRule.name) },
                read: { relationship, fields, _ in
                    guard let rule = DeleteRule(name: try fields.required("deleteRule")) else {
                        throw fields.invalid("has a deleteRule that is not one of Core Data's")
                    }
                    relationship.deleteRule = rule
                }),
            .required("name", \.name), .required("destinationEntityName", \.destinationEntityName),
            .text("inverseName", \.inverseName), .flag("isOptional", \.isOptional, unless: true),
            .flag("isTransient", \.isTransient, unless: false), .number("maxCount", \.maxCount, unless: 1),
            .number("minCount", \.minCount, unless: 0), .flag("isOrdered", \.isOrdered, unless: false),
            .flag("isIndexed", \.isIndexed, unless: false),
            .flag("isIndexedBySpotlight", \.isIndexedBySpotlight, unless: false),
            .flag("isStoredInExternalRecord", \.isStoredInExternalRecord, unless: false),
            .text("renamingIdentifier", \.renamingIdentifier), .text("versionHashModifier", \.versionHashModifier),
            .entries("userInfo", \.userInfo), .flag("isSyncable", \.isSyncable, unless: true),
        ]
    }
}

extension FetchedPropertyDescription: JSONPart {
    static var blank: Self { Self(name: "") }

    static var members: [JSONMember<Self>] {
        [
            .required("name", \.name), .flag("isOptional", \.isOptional, unless: true),
            .text("destinationEntityName", \.destinationEntityName), .text("predicate", \.predicate),
            .entries("options", \.options), .flag("isTransient", \.isTransient, unless: false),
            .text("renamingIdentifier", \.renamingIdentifier), .text("versionHashModifier", \.versionHashModifier),
            .entries("userInfo", \.userInfo), .flag("isSyncable", \.isSyncable, unless: true),
        ]
    }
}
