/// An attribute as a model declares it.
public struct AttributeDescription: Sendable, Hashable {
    /// The attribute's name, unique among the entity's own and inherited properties.
    public var name: String
    /// The type of its values.
    public var type: AttributeType
    /// Whether an object without a value is valid.
    public var isOptional: Bool
    /// Whether the value is never stored; a transient attribute has no column.
    public var isTransient: Bool
    /// The expressions that compute a derived attribute; nil for an ordinary attribute.
    public var derivation: Derivation?
    /// The name of the composite type in a model source, for an attribute of type `composite`; compiled models and
    /// SwiftData have none. A model fills ``elements`` from the type of that name.
    public var compositeName: String?
    /// The elements of an attribute of type `composite`, in order of declaration. An element may be composite itself.
    public var elements: [AttributeDescription]
    /// The reason why the attribute's stored form is uncertain; nil if stores made by Apple confirm it.
    public var uncertainty: String?
    /// The initial value of new objects; nil for no value.
    public var defaultValue: AttributeValue?
    /// Whether a large value may be stored in a file next to the store instead of the row.
    public var allowsExternalBinaryDataStorage: Bool
    /// Whether persistent history keeps the value of a deleted object.
    public var preservesValueInHistoryOnDeletion: Bool
    /// Whether CloudKit encrypts the value. It does not affect the store.
    public var allowsCloudEncryption: Bool
    /// The name of the transformer that turns a transformable attribute's values into data; nil for none.
    public var valueTransformerName: String?
    /// The class of a transformable attribute's value, as `customClassName` in a model file.
    public var attributeValueClassName: String?
    /// Whether the generated class uses a scalar type; nil if the model does not specify it.
    public var usesScalarValueType: Bool?
    /// The indexed switch of models before 2017.
    public var isIndexed: Bool
    /// Whether Spotlight indexes the value. It does not affect the store.
    public var isIndexedBySpotlight: Bool
    /// Whether Core Data also stores the value in external records. It does not affect the store.
    public var isStoredInExternalRecord: Bool
    /// The rules for a valid value, as written in a model file.
    public var validation: Validation
    /// The attribute's name in an earlier version, as `elementID` in a model file.
    public var renamingIdentifier: String?
    /// A text that is part of the version hash, to tell apart versions with equal models; nil for none.
    public var versionHashModifier: String?
    /// Notes on the attribute, by key, mostly the app's own; not part of the version hash.
    public var userInfo: [String: String]
    /// Whether the attribute takes part in Sync Services, as `syncable` in a model file. It does not affect the store.
    public var isSyncable: Bool

    /// Creates an attribute, by default optional and stored.
    public init(
        name: String, type: AttributeType, isOptional: Bool = true, isTransient: Bool = false,
        derivation: Derivation? = nil, compositeName: String? = nil, elements: [AttributeDescription] = [],
        uncertainty: String? = nil, defaultValue: AttributeValue? = nil, allowsExternalBinaryDataStorage: Bool = false,
        preservesValueInHistoryOnDeletion: Bool = false, allowsCloudEncryption: Bool = false,
        valueTransformerName: String? = nil, attributeValueClassName: String? = nil, usesScalarValueType: Bool? = nil,
        isIndexed: Bool = false, isIndexedBySpotlight: Bool = false, isStoredInExternalRecord: Bool = false,
        validation: Validation = Validation(), renamingIdentifier: String? = nil, versionHashModifier: String? = nil,
        userInfo: [String: String] = [:], isSyncable: Bool = true
    ) {
        (self.name, self.type, self.isOptional, self.isTransient) = (name, type, isOptional, isTransient)
        (self.derivation, self.compositeName, self.elements) = (derivation, compositeName, elements)
        (self.uncertainty, self.defaultValue) = (uncertainty, defaultValue)
        self.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        self.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        (self.allowsCloudEncryption, self.valueTransformerName) = (allowsCloudEncryption, valueTransformerName)
        (self.attributeValueClassName, self.usesScalarValueType) = (attributeValueClassName, usesScalarValueType)
        (self.isIndexed, self.isIndexedBySpotlight) = (isIndexed, isIndexedBySpotlight)
        (self.isStoredInExternalRecord, self.validation) = (isStoredInExternalRecord, validation)
        (self.renamingIdentifier, self.versionHashModifier) = (renamingIdentifier, versionHashModifier)
        (self.userInfo, self.isSyncable) = (userInfo, isSyncable)
    }

    /// Whether the attribute has a column: it is not transient, and its type stores a value.
    public var isStored: Bool { !isTransient && type != .undefined }

    /// The two expressions of a derived attribute, in Core Data's format language.
    public struct Derivation: Sendable, Hashable {
        /// The expression that computes the value, such as `items.@count` or `canonical:(name)`.
        public var expression: String
        /// The condition for objects to be included in an aggregate; nil for all objects.
        public var filter: String?

        /// Creates the derivation of an attribute. Both texts are parsed only when needed.
        public init(expression: String, filter: String? = nil) {
            self.expression = expression
            self.filter = filter
        }
    }

    /// Limits on an attribute's value, stored as the text of a model file; nil means no limit.
    public struct Validation: Sendable, Hashable {
        /// The minimum value, or the minimum length of a string.
        public var minimum: String?
        /// The maximum value, or the maximum length of a string.
        public var maximum: String?
        /// The pattern that a whole string must match.
        public var regularExpression: String?
        /// Further rules, which can only be set in code (`setValidationPredicates(_:withValidationWarnings:)`).
        public var rules: [Rule]

        /// Creates limits on a value, by default none.
        public init(
            minimum: String? = nil, maximum: String? = nil, regularExpression: String? = nil, rules: [Rule] = []
        ) {
            (self.minimum, self.maximum) = (minimum, maximum)
            (self.regularExpression, self.rules) = (regularExpression, rules)
        }

        /// A predicate over the value, in Core Data's format language, and the warning for a value that breaks it.
        public struct Rule: Sendable, Hashable {
            /// The condition for a valid value, which the predicate calls `SELF`.
            public var predicate: String
            /// The warning for a value that breaks the rule.
            public var warning: String

            /// Creates a rule. The predicate is parsed only when a value is checked.
            public init(predicate: String, warning: String) {
                self.predicate = predicate
                self.warning = warning
            }
        }
    }
}

/// The types of attributes, with Core Data's numbers (`NSAttributeType`).
public enum AttributeType: Int32, Sendable, Hashable, CaseIterable {
    case undefined = 0
    case integer16 = 100
    case integer32 = 200
    case integer64 = 300
    case decimal = 400
    case double = 500
    case float = 600
    case string = 700
    case boolean = 800
    case date = 900
    case binary = 1000
    case uuid = 1100
    case uri = 1200
    case transformable = 1800
    case objectID = 2000
    case composite = 2100

    /// The name of the type in a model file's `attributeType`.
    package var name: String {
        switch self {
        case .undefined: "Undefined"
        case .integer16: "Integer 16"
        case .integer32: "Integer 32"
        case .integer64: "Integer 64"
        case .decimal: "Decimal"
        case .double: "Double"
        case .float: "Float"
        case .string: "String"
        case .boolean: "Boolean"
        case .date: "Date"
        case .binary: "Binary"
        case .uuid: "UUID"
        case .uri: "URI"
        case .transformable: "Transformable"
        case .objectID: "ObjectID"
        case .composite: "Composite"
        }
    }

    package init?(name: String) {
        guard let type = Self.byName[name] else { return nil }
        self = type
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })
}

extension [String] {
    /// The names of stored attributes without repetition, in the same order. SwiftData stores an enum as a composite
    /// whose only element has the attribute's name, so `ice.ice` becomes `ice`.
    package var withoutRepetition: [String] {
        let beginnings = Dictionary(grouping: self) { name in
            name.split(separator: ".").dropLast().joined(separator: ".")
        }
        let all = Set(self)
        return map { name in
            let parts = name.split(separator: ".")
            let short = parts.dropLast().joined(separator: ".")
            guard parts.count > 1, parts[parts.count - 1] == parts[parts.count - 2], beginnings[short]?.count == 1,
                !all.contains(short)
            else { return name }
            return short
        }
    }
}
