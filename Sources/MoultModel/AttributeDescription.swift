/// An attribute as a model declares it.
public struct AttributeDescription: Sendable, Hashable {
    public var name: String
    public var type: AttributeType
    public var isOptional: Bool
    public var isTransient: Bool
    /// How a derived attribute is computed; nil for one that is stored as set.
    public var derivation: Derivation?
    /// The name that a model source gives the composite type of an attribute of type `composite`; compiled models and
    /// SwiftData give none. A model fills ``elements`` from the type of that name.
    public var compositeName: String?
    /// What an attribute of type `composite` consists of, in order of declaration. An element may be composite itself.
    public var elements: [AttributeDescription]
    /// Why the stored form of the attribute is not known for certain; nil if Apple's own stores prove it.
    public var uncertainty: String?
    public var defaultValue: AttributeValue?
    public var allowsExternalBinaryDataStorage: Bool
    public var preservesValueInHistoryOnDeletion: Bool
    public var allowsCloudEncryption: Bool
    public var valueTransformerName: String?
    /// The class of a transformable's value, as `customClassName` in a model file.
    public var attributeValueClassName: String?
    /// Nil if the model says nothing of it.
    public var usesScalarValueType: Bool?
    /// The indexed switch of models before 2017.
    public var isIndexed: Bool
    public var isIndexedBySpotlight: Bool
    public var isStoredInExternalRecord: Bool
    /// The rules a value must keep, as a model file spells them.
    public var validation: Validation
    /// The attribute's name in an earlier version, as `elementID` in a model file.
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var userInfo: [String: String]
    public var isSyncable: Bool

    public init(
        name: String,
        type: AttributeType,
        isOptional: Bool = true,
        isTransient: Bool = false,
        derivation: Derivation? = nil,
        compositeName: String? = nil,
        elements: [AttributeDescription] = [],
        uncertainty: String? = nil,
        defaultValue: AttributeValue? = nil,
        allowsExternalBinaryDataStorage: Bool = false,
        preservesValueInHistoryOnDeletion: Bool = false,
        allowsCloudEncryption: Bool = false,
        valueTransformerName: String? = nil,
        attributeValueClassName: String? = nil,
        usesScalarValueType: Bool? = nil,
        isIndexed: Bool = false,
        isIndexedBySpotlight: Bool = false,
        isStoredInExternalRecord: Bool = false,
        validation: Validation = Validation(),
        renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil,
        userInfo: [String: String] = [:],
        isSyncable: Bool = true
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.derivation = derivation
        self.compositeName = compositeName
        self.elements = elements
        self.uncertainty = uncertainty
        self.defaultValue = defaultValue
        self.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        self.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        self.allowsCloudEncryption = allowsCloudEncryption
        self.valueTransformerName = valueTransformerName
        self.attributeValueClassName = attributeValueClassName
        self.usesScalarValueType = usesScalarValueType
        self.isIndexed = isIndexed
        self.isIndexedBySpotlight = isIndexedBySpotlight
        self.isStoredInExternalRecord = isStoredInExternalRecord
        self.validation = validation
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
        self.isSyncable = isSyncable
    }

    /// Whether the attribute has a column: neither transient nor of a type that stores nothing.
    public var isStored: Bool { !isTransient && type != .undefined }
}

extension AttributeDescription {
    /// The two expressions of a derived attribute, in Core Data's format language.
    public struct Derivation: Sendable, Hashable {
        public var expression: String
        public var filter: String?

        public init(expression: String, filter: String? = nil) {
            self.expression = expression
            self.filter = filter
        }
    }

    /// Limits on an attribute's value, kept as the text a model file holds; nil means no limit.
    public struct Validation: Sendable, Hashable {
        /// The least value, or the least length of a string.
        public var minimum: String?
        /// The greatest value, or the greatest length of a string.
        public var maximum: String?
        public var regularExpression: String?
        /// Further rules, which only code can give (`setValidationPredicates(_:withValidationWarnings:)`).
        public var rules: [Rule]

        public init(
            minimum: String? = nil, maximum: String? = nil, regularExpression: String? = nil, rules: [Rule] = []
        ) {
            self.minimum = minimum
            self.maximum = maximum
            self.regularExpression = regularExpression
            self.rules = rules
        }

        /// A predicate over the value, in Core Data's format language, and the warning for a value that breaks it.
        public struct Rule: Sendable, Hashable {
            public var predicate: String
            public var warning: String

            public init(predicate: String, warning: String) {
                self.predicate = predicate
                self.warning = warning
            }
        }
    }
}
