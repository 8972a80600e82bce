import MoultBasics
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension AttributeDescription: JSONPart {
    static var blank: Self { Self(name: "", type: .undefined) }

    static var members: [JSONMember<Self>] {
        [
            .init(
                key: "type", write: { .string($0.type.name) },
                read: { attribute, fields, _ in
                    guard let type = AttributeType(name: try fields.required("type")) else {
                        throw fields.invalid("has a type that is not one of Core Data's")
                    }
                    attribute.type = type
                }),
            .required("name", \.name), .flag("isOptional", \.isOptional, unless: true),
            .flag("isTransient", \.isTransient, unless: false),
            .init(
                key: "derivation", write: { $0.derivation?.json },
                read: { attribute, fields, unknown in
                    attribute.derivation = try fields.object("derivation").map { try Derivation($0, noting: &unknown) }
                }),
            .text("compositeName", \.compositeName),
            .parts("elements", \.elements) { $0.compositeName == nil }, .text("uncertainty", \.uncertainty),
            .init(
                key: "defaultValue", write: { $0.defaultValue?.json },
                read: { attribute, fields, _ in
                    attribute.defaultValue = try fields.object("defaultValue").map(AttributeValue.init)
                }),
            .flag("allowsExternalBinaryDataStorage", \.allowsExternalBinaryDataStorage, unless: false),
            .flag("preservesValueInHistoryOnDeletion", \.preservesValueInHistoryOnDeletion, unless: false),
            .flag("allowsCloudEncryption", \.allowsCloudEncryption, unless: false),
            .text("valueTransformerName", \.valueTransformerName),
            .text("attributeValueClassName", \.attributeValueClassName),
            .choice("usesScalarValueType", \.usesScalarValueType), .flag("isIndexed", \.isIndexed, unless: false),
            .flag("isIndexedBySpotlight", \.isIndexedBySpotlight, unless: false),
            .flag("isStoredInExternalRecord", \.isStoredInExternalRecord, unless: false),
            .init(
                key: "validation", write: { $0.validation == Validation() ? nil : $0.validation.json },
                read: { attribute, fields, unknown in
                    let validation = try fields.object("validation").map { try Validation($0, noting: &unknown) }
                    attribute.validation = validation ?? Validation()
                }),
            .text("renamingIdentifier", \.renamingIdentifier), .text("versionHashModifier", \.versionHashModifier),
            .entries("userInfo", \.userInfo), .flag("isSyncable", \.isSyncable, unless: true),
        ]
    }
}

extension AttributeDescription.Derivation: JSONPart {
    static var blank: Self { Self(expression: "") }
    static var members: [JSONMember<Self>] { [.required("expression", \.expression), .text("filter", \.filter)] }
}

extension AttributeDescription.Validation: JSONPart {
    static var blank: Self { Self() }

    static var members: [JSONMember<Self>] {
        [
            .text("minimum", \.minimum), .text("maximum", \.maximum),
            .text("regularExpression", \.regularExpression),
            .init(
                key: "rules",
                write: { validation in
                    let rules = validation.rules.map { rule -> JSONValue in
                        ["predicate": .string(rule.predicate), "warning": .string(rule.warning)]
                    }
                    return rules.isEmpty ? nil : .array(rules)
                },
                read: { validation, fields, _ in
                    validation.rules = try fields.objects("rules") {
                        Rule(predicate: try $0.required("predicate"), warning: try $0.required("warning"))
                    }
                }),
        ]
    }
}

extension AttributeValue {
    /// The value as an object with one member, named after its kind: `{"integer":5}`, `{"binary":"AAE="}`.
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
    /// The number. JSON has no NaN and no infinities; they are strings.
    fileprivate var number: Double? { double ?? string.flatMap(Double.init) }

    /// The bytes of a base64 string.
    fileprivate var bytes: [UInt8]? { string.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) } }
}
