/// An attribute as a model declares it.
package struct AttributeDescription: Sendable, Hashable {
    package var name: String
    package var type: AttributeType
    package var isOptional: Bool
    package var isTransient: Bool
    /// How a derived attribute is computed; nil for one that is stored as set.
    package var derivation: Derivation?
    /// The name of the composite type, for an attribute of type `composite`.
    package var compositeName: String?
    package var defaultValue: AttributeValue?
    package var allowsExternalBinaryDataStorage: Bool
    package var preservesValueInHistoryOnDeletion: Bool
    package var allowsCloudEncryption: Bool
    package var valueTransformerName: String?
    /// The class of a transformable's value, as `customClassName` in a model file.
    package var attributeValueClassName: String?
    /// Nil where the model says nothing of it.
    package var usesScalarValueType: Bool?
    /// The indexed switch of models before 2017.
    package var isIndexed: Bool
    package var isIndexedBySpotlight: Bool
    package var isStoredInExternalRecord: Bool
    /// The rules a value must keep, as a model file spells them.
    package var validation: Validation
    /// The attribute's name in an earlier version, as `elementID` in a model file.
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var userInfo: [String: String]
    package var isSyncable: Bool

    package init(
        name: String,
        type: AttributeType,
        isOptional: Bool = true,
        isTransient: Bool = false,
        derivation: Derivation? = nil,
        compositeName: String? = nil,
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
    package var isStored: Bool { !isTransient && type != .undefined }
}

extension AttributeDescription {
    /// The two expressions of a derived attribute, in Core Data's format language.
    package struct Derivation: Sendable, Hashable {
        package var expression: String
        package var filter: String?

        package init(expression: String, filter: String? = nil) {
            self.expression = expression
            self.filter = filter
        }
    }

    /// Limits on an attribute's value, kept as the text a model file holds; nil means no limit.
    package struct Validation: Sendable, Hashable {
        /// The least value, or the least length of a string.
        package var minimum: String?
        /// The greatest value, or the greatest length of a string.
        package var maximum: String?
        package var regularExpression: String?
        /// Further rules, which only code can give (`setValidationPredicates(_:withValidationWarnings:)`).
        package var rules: [Rule]

        package init(
            minimum: String? = nil, maximum: String? = nil, regularExpression: String? = nil, rules: [Rule] = []
        ) {
            self.minimum = minimum
            self.maximum = maximum
            self.regularExpression = regularExpression
            self.rules = rules
        }

        /// A predicate over the value, in Core Data's format language, and the warning for a value that breaks it.
        package struct Rule: Sendable, Hashable {
            package var predicate: String
            package var warning: String

            package init(predicate: String, warning: String) {
                self.predicate = predicate
                self.warning = warning
            }
        }
    }
}
