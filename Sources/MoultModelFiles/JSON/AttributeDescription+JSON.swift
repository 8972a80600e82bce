import MoultBasics
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension AttributeDescription {
    var json: JSONValue {
        var members = JSONMembers()
        members.set("name", name)
        members.set("type", type.name)
        members.set("isOptional", isOptional, unless: true)
        members.set("isTransient", isTransient, unless: false)
        members.set("derivation", derivation?.json)
        members.set("compositeName", compositeName)
        members.set("elements", compositeName == nil ? elements : [], \.json)
        members.set("uncertainty", uncertainty)
        members.set("defaultValue", defaultValue?.json)
        members.set("allowsExternalBinaryDataStorage", allowsExternalBinaryDataStorage, unless: false)
        members.set("preservesValueInHistoryOnDeletion", preservesValueInHistoryOnDeletion, unless: false)
        members.set("allowsCloudEncryption", allowsCloudEncryption, unless: false)
        members.set("valueTransformerName", valueTransformerName)
        members.set("attributeValueClassName", attributeValueClassName)
        members.set("usesScalarValueType", usesScalarValueType)
        members.set("isIndexed", isIndexed, unless: false)
        members.set("isIndexedBySpotlight", isIndexedBySpotlight, unless: false)
        members.set("isStoredInExternalRecord", isStoredInExternalRecord, unless: false)
        members.set("validation", validation == Validation() ? nil : validation.json)
        members.set("renamingIdentifier", renamingIdentifier)
        members.set("versionHashModifier", versionHashModifier)
        members.set("userInfo", userInfo)
        members.set("isSyncable", isSyncable, unless: true)
        return members.value
    }

    private static let keys: Set<String> = [
        "name", "type", "isOptional", "isTransient", "derivation", "compositeName", "elements", "uncertainty",
        "defaultValue",
        "allowsExternalBinaryDataStorage", "preservesValueInHistoryOnDeletion", "allowsCloudEncryption",
        "valueTransformerName", "attributeValueClassName", "usesScalarValueType", "isIndexed", "isIndexedBySpotlight",
        "isStoredInExternalRecord", "validation", "renamingIdentifier", "versionHashModifier", "userInfo",
        "isSyncable",
    ]

    init(_ fields: JSONFields, noting unknown: inout UnknownMembers) throws {
        unknown.inspect(fields, Self.keys)
        guard let type = AttributeType(name: try fields.required("type")) else {
            throw fields.invalid("has a type that is not one of Core Data's")
        }
        self.init(
            name: try fields.required("name"),
            type: type,
            isOptional: try fields.flag("isOptional") ?? true,
            isTransient: try fields.flag("isTransient") ?? false,
            derivation: try fields.object("derivation").map { try Derivation($0, noting: &unknown) },
            compositeName: try fields.text("compositeName"),
            elements: try fields.objects("elements") { try AttributeDescription($0, noting: &unknown) },
            uncertainty: try fields.text("uncertainty"),
            defaultValue: try fields.object("defaultValue").map(AttributeValue.init),
            allowsExternalBinaryDataStorage: try fields.flag("allowsExternalBinaryDataStorage") ?? false,
            preservesValueInHistoryOnDeletion: try fields.flag("preservesValueInHistoryOnDeletion") ?? false,
            allowsCloudEncryption: try fields.flag("allowsCloudEncryption") ?? false,
            valueTransformerName: try fields.text("valueTransformerName"),
            attributeValueClassName: try fields.text("attributeValueClassName"),
            usesScalarValueType: try fields.flag("usesScalarValueType"),
            isIndexed: try fields.flag("isIndexed") ?? false,
            isIndexedBySpotlight: try fields.flag("isIndexedBySpotlight") ?? false,
            isStoredInExternalRecord: try fields.flag("isStoredInExternalRecord") ?? false,
            validation: try fields.object("validation").map { try Validation($0, noting: &unknown) } ?? Validation(),
            renamingIdentifier: try fields.text("renamingIdentifier"),
            versionHashModifier: try fields.text("versionHashModifier"),
            userInfo: try fields.dictionary("userInfo"),
            isSyncable: try fields.flag("isSyncable") ?? true)
    }
}

extension AttributeDescription.Derivation {
    fileprivate var json: JSONValue {
        var members = JSONMembers()
        members.set("expression", expression)
        members.set("filter", filter)
        return members.value
    }

    fileprivate init(_ fields: JSONFields, noting unknown: inout UnknownMembers) throws {
        unknown.inspect(fields, ["expression", "filter"])
        self.init(expression: try fields.required("expression"), filter: try fields.text("filter"))
    }
}

extension AttributeDescription.Validation {
    fileprivate var json: JSONValue {
        var members = JSONMembers()
        members.set("minimum", minimum)
        members.set("maximum", maximum)
        members.set("regularExpression", regularExpression)
        members.set("rules", rules) {
            .object([.init("predicate", .string($0.predicate)), .init("warning", .string($0.warning))])
        }
        return members.value
    }

    fileprivate init(_ fields: JSONFields, noting unknown: inout UnknownMembers) throws {
        unknown.inspect(fields, ["minimum", "maximum", "regularExpression", "rules"])
        self.init(
            minimum: try fields.text("minimum"), maximum: try fields.text("maximum"),
            regularExpression: try fields.text("regularExpression"),
            rules: try fields.objects("rules") {
                Rule(predicate: try $0.required("predicate"), warning: try $0.required("warning"))
            })
    }
}

extension AttributeValue {
    /// An object of one member, whose name is the kind of value: `{"integer":5}`, `{"binary":"AAE="}`.
    var json: JSONValue {
        switch self {
        case .integer(let number): ["integer": .integer(number)]
        case .boolean(let isTrue): ["boolean": .bool(isTrue)]
        case .double(let number): ["double": .double(number)]
        case .decimal(let text): ["decimal": .string(text)]
        case .string(let text): ["string": .string(text)]
        case .date(let seconds): ["date": .double(seconds)]
        case .binary(let bytes): ["binary": .string(bytes.base64)]
        case .uuid(let bytes): ["uuid": .string(bytes.base64)]
        case .uri(let text): ["uri": .string(text)]
        case .transformable(let bytes): ["transformable": .string(bytes.base64)]
        }
    }

    init(_ fields: JSONFields) throws {
        if let number = fields.member("integer")?.integer {
            self = .integer(number)
        } else if let isTrue = fields.member("boolean")?.bool {
            self = .boolean(isTrue)
        } else if let number = fields.member("double")?.number {
            self = .double(number)
        } else if let seconds = fields.member("date")?.number {
            self = .date(seconds)
        } else if let text = fields.member("decimal")?.string {
            self = .decimal(text)
        } else if let text = fields.member("string")?.string {
            self = .string(text)
        } else if let text = fields.member("uri")?.string {
            self = .uri(text)
        } else if let bytes = fields.member("binary")?.bytes {
            self = .binary(bytes)
        } else if let bytes = fields.member("uuid")?.bytes, bytes.count == 16 {
            self = .uuid(bytes)
        } else if let bytes = fields.member("transformable")?.bytes {
            self = .transformable(bytes)
        } else {
            throw fields.invalid("is not a value")
        }
    }
}

extension JSONValue {
    /// A number; JSON has no word for NaN and the infinities, which are strings.
    fileprivate var number: Double? { double ?? string.flatMap(Double.init) }

    /// The bytes of base64.
    fileprivate var bytes: [UInt8]? { string.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) } }
}
