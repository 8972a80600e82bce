import MoultBasics
import MoultModel

/// One fact about an entity, attribute or relationship, and the effect of a change.
struct ComparedProperty<Subject: Sendable>: Sendable {
    var kind: ModelChange.Kind
    /// Whether the version hash includes it.
    var isHashed = false
    /// The fact in readable form; nil if it is absent.
    var read: @Sendable (Subject) -> String?
    var losesData: @Sendable (Subject, Subject) -> Bool = { _, _ in false }
    var mayFail: @Sendable (Subject, Subject) -> Bool = { _, _ in false }
}

extension [String: String] {
    /// The entries ordered by name, as in `a = 1, b = 2`; nil if empty.
    var listed: String? {
        isEmpty
            ? nil
            : inByteOrder { $0.key }.map { "\($0.key) = \($0.value)" }.joined(separator: ", ")
    }
}

extension AttributeValue {
    /// The value in readable form.
    package var text: String {
        switch self {
        case .integer(let value): String(value)
        case .boolean(let value): value ? "YES" : "NO"
        case .double(let value): "\(value)"
        case .decimal(let digits): digits
        case .string(let text): "\"\(text)\""
        case .date(let seconds): "\(seconds) s since 2001-01-01"
        case .binary(let bytes), .transformable(let bytes): "\(Quantity.count(bytes.count, "byte"))"
        case .uuid(let bytes): bytes.hexadecimal
        case .uri(let text): text
        }
    }
}

/// All facts about an attribute except its name.
let attributeFacts: [ComparedProperty<AttributeDescription>] = [
    .init(
        kind: .type, isHashed: true, read: { $0.type.name },
        losesData: { $0.isStored && !$0.type.widens(to: $1.type) }),
    .init(
        kind: .optional, isHashed: true, read: { $0.isOptional ? "optional" : "required" },
        mayFail: { $0.isOptional && !$1.isOptional && $1.defaultValue == nil }),
    .init(
        kind: .transient, isHashed: true, read: { $0.isTransient ? "transient" : "stored" },
        losesData: { $0.isStored && $1.isTransient }),
    .init(
        kind: .derivation, isHashed: true,
        read: { $0.derivation.map { [$0.expression, $0.filter].compactMap { $0 }.joined(separator: " where ") } },
        losesData: { $0.derivation == nil && $0.isStored && $1.derivation != nil }),
    .init(
        kind: .externalStorage, isHashed: true,
        read: { $0.allowsExternalBinaryDataStorage ? "stored in files of its own" : "stored in the row" }),
    .init(
        kind: .preservesValueInHistory, isHashed: true,
        read: { $0.preservesValueInHistoryOnDeletion ? "preserved in history" : "not preserved in history" }),
    .init(kind: .modifier, isHashed: true, read: { $0.versionHashModifier }),
    .init(kind: .defaultValue, read: { $0.defaultValue?.text }),
    .init(
        kind: .cloudEncryption,
        read: { $0.allowsCloudEncryption ? "encrypted in CloudKit" : "not encrypted in CloudKit" }
    ),
    .init(kind: .valueTransformer, read: { $0.valueTransformerName }, mayFail: { old, _ in old.isStored }),
    .init(kind: .valueClass, read: { $0.attributeValueClassName }, mayFail: { old, _ in old.isStored }),
    .init(kind: .scalar, read: { ["an object in code", "a scalar in code"][$0.usesScalarValueType == true ? 1 : 0] }),
    .init(kind: .validation, read: { $0.validation.text }),
    .init(kind: .indexed, read: { $0.isIndexed ? "indexed" : "not indexed" }),
    .init(kind: .spotlight, read: { $0.isIndexedBySpotlight ? "indexed by Spotlight" : "not indexed by Spotlight" }),
    .init(
        kind: .externalRecord,
        read: { $0.isStoredInExternalRecord ? "stored in an external record" : "not stored in an external record" }),
    .init(kind: .renamingIdentifier, read: { $0.renamingIdentifier }),
    .init(kind: .userInfo, read: { $0.userInfo.listed }),
    .init(kind: .syncable, read: { $0.isSyncable ? "syncable" : "not syncable" }),
]

/// All facts about a relationship except its name, its destination and its inverse.
let relationshipFacts: [ComparedProperty<RelationshipDescription>] = [
    .init(
        kind: .cardinality, isHashed: true, read: { $0.isToMany ? "to-many" : "to-one" },
        losesData: { $0.isToMany && !$1.isToMany }),
    .init(
        kind: .order, isHashed: true, read: { $0.isOrdered ? "ordered" : "unordered" },
        losesData: { $0.isOrdered && !$1.isOrdered }),
    .init(
        kind: .optional, isHashed: true, read: { $0.isOptional ? "optional" : "required" },
        mayFail: { $0.mayBeEmpty && !$1.mayBeEmpty }),
    .init(
        kind: .transient, isHashed: true, read: { $0.isTransient ? "transient" : "stored" },
        losesData: { !$0.isTransient && $1.isTransient }),
    .init(
        kind: .minimumCount, isHashed: true, read: { String($0.minCount) },
        mayFail: { $0.minCount < $1.minCount && $1.isToMany }),
    .init(
        kind: .maximumCount, isHashed: true, read: { $0.maxCount < 1 ? "unlimited" : String($0.maxCount) },
        mayFail: { $0.isToMany && $1.isToMany && $1.maxCount > 0 && ($0.maxCount < 1 || $1.maxCount < $0.maxCount) }),
    .init(kind: .modifier, isHashed: true, read: { $0.versionHashModifier }),
    .init(kind: .deleteRule, read: { $0.deleteRule.name }),
    .init(kind: .indexed, read: { $0.isIndexed ? "indexed" : "not indexed" }),
    .init(kind: .spotlight, read: { $0.isIndexedBySpotlight ? "indexed by Spotlight" : "not indexed by Spotlight" }),
    .init(
        kind: .externalRecord,
        read: { $0.isStoredInExternalRecord ? "stored in an external record" : "not stored in an external record" }),
    .init(kind: .renamingIdentifier, read: { $0.renamingIdentifier }),
    .init(kind: .userInfo, read: { $0.userInfo.listed }),
    .init(kind: .syncable, read: { $0.isSyncable ? "syncable" : "not syncable" }),
]

/// All facts about an entity except its name, its parent and its parts.
let entityFacts: [ComparedProperty<EntityDescription>] = [
    .init(
        kind: .abstract, isHashed: true, read: { $0.isAbstract ? "abstract" : "concrete" },
        mayFail: { !$0.isAbstract && $1.isAbstract }),
    .init(kind: .modifier, isHashed: true, read: { $0.versionHashModifier }),
    .init(kind: .className, read: { $0.managedObjectClassName }),
    .init(kind: .spotlight, read: { $0.coreSpotlightDisplayNameExpression ?? "without a Spotlight name" }),
    .init(kind: .renamingIdentifier, read: { $0.renamingIdentifier }),
    .init(kind: .userInfo, read: { $0.userInfo.listed }),
    .init(kind: .syncable, read: { $0.isSyncable ? "syncable" : "not syncable" }),
]

extension AttributeDescription.Validation {
    /// `from 0 to 10, matching [a-z]+`; nil if there is none.
    fileprivate var text: String? {
        let parts = [
            minimum.map { "from \($0)" }, maximum.map { "to \($0)" }, regularExpression.map { "matching \($0)" },
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }
}
