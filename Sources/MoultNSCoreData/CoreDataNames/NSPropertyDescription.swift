import Foundation
import MoultBasics
import MoultCoreData
import MoultModel

/// The common base of attributes, relationships, fetched properties and computed values. A subclass with properties of
/// its own overrides ``copy(with:)``.
open class NSPropertyDescription: NSObject, NSCopying {
    weak var owner: NSEntityDescription?
    /// The name, unique among the entity's properties.
    open var name = "" { willSet { owner?.willChange() } }
    /// Whether the property may have no value; true by default.
    open var isOptional = true { willSet { owner?.willChange() } }
    /// Whether the value is not stored.
    open var isTransient = false { willSet { owner?.willChange() } }
    /// The name in an earlier version; ``name`` unless it is set.
    open var renamingIdentifier: String? {
        get { ownRenamingIdentifier ?? name }
        set {
            owner?.willChange()
            ownRenamingIdentifier = newValue
        }
    }
    /// The renaming identifier if it is set.
    var ownRenamingIdentifier: String?
    /// A string that is part of the version hash.
    open var versionHashModifier: String? { willSet { owner?.willChange() } }
    /// The app's own annotations, with strings as keys and values.
    open var userInfo: [AnyHashable: Any]? { willSet { owner?.willChange() } }
    /// Whether Spotlight should index the value. It has no effect on the store.
    open var isIndexedBySpotlight = false { willSet { owner?.willChange() } }
    /// The entity that declares the property.
    open var entity: NSEntityDescription? { owner }

    /// Creates a property without a name.
    public override init() {}

    /// Returns an independent property that belongs to no entity.
    open func copy(with zone: NSZone? = nil) -> Any { copied(to: NSPropertyDescription()) }

    fileprivate func copied<Copy: NSPropertyDescription>(to copy: Copy) -> Copy {
        (copy.name, copy.isOptional, copy.isTransient) = (name, isOptional, isTransient)
        (copy.ownRenamingIdentifier, copy.versionHashModifier) = (ownRenamingIdentifier, versionHashModifier)
        (copy.userInfo, copy.isIndexedBySpotlight) = (userInfo, isIndexedBySpotlight)
        return copy
    }

    /// Copies what attributes and relationships of a model have in common.
    fileprivate func copyCommonParts(of value: some PropertyDescription) {
        name = value.name
        isOptional = value.isOptional
        isTransient = value.isTransient
        ownRenamingIdentifier = value.renamingIdentifier
        versionHashModifier = value.versionHashModifier
        userInfo = value.userInfo
    }
}

/// Returns an app's annotations in the form that a model stores.
func texts(_ userInfo: [AnyHashable: Any]?) -> [String: String] {
    (userInfo ?? [:]).reduce(into: [:]) { all, entry in
        if let key = entry.key.base as? String { all[key] = "\(entry.value)" }
    }
}

/// An attribute of an entity.
open class NSAttributeDescription: NSPropertyDescription {
    /// The type, with Core Data's numbers.
    open var attributeType = NSAttributeType.undefinedAttributeType { willSet { owner?.willChange() } }
    /// The default value of new objects.
    open var defaultValue: Any? { willSet { owner?.willChange() } }
    /// The class of the value; that of the type unless it is set, and nil for a transformable attribute.
    open var attributeValueClassName: String? {
        get { ownValueClassName ?? attributeType.valueClassName }
        set {
            owner?.willChange()
            ownValueClassName = newValue == attributeType.valueClassName ? nil : newValue
        }
    }
    private var ownValueClassName: String?
    /// The name of the `ValueTransformer` of a transformable attribute.
    open var valueTransformerName: String? { willSet { owner?.willChange() } }
    /// Whether a large value may be stored in a file next to the store.
    open var allowsExternalBinaryDataStorage = false { willSet { owner?.willChange() } }
    /// Whether persistent history preserves the value of a deleted object.
    open var preservesValueInHistoryOnDeletion = false { willSet { owner?.willChange() } }
    /// Whether CloudKit should encrypt the value. It has no effect on the store.
    open var allowsCloudEncryption = false { willSet { owner?.willChange() } }
    /// The validation rules, as predicates about `SELF`.
    open private(set) var validationPredicates: [NSPredicate] = []
    /// The warnings of the validation rules, in the same order.
    open private(set) var validationWarnings: [Any] = []
    private var validation = AttributeDescription.Validation()
    private var usesScalarValueType: Bool?
    /// Returns the parts of a composite attribute.
    fileprivate func parts() throws -> [AttributeDescription] { [] }
    private var compositeName: String?

    /// The type of an attribute: `.string`, `.integer64`.
    public struct AttributeType: RawRepresentable, Sendable, Hashable {
        /// Core Data's number.
        public let rawValue: UInt
        /// Creates a type from Core Data's number.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// No type; nothing is stored.
        public static let undefined = AttributeType(rawValue: 0)
        /// A 16-bit integer.
        public static let integer16 = AttributeType(rawValue: 100)
        /// A 32-bit integer.
        public static let integer32 = AttributeType(rawValue: 200)
        /// A 64-bit integer.
        public static let integer64 = AttributeType(rawValue: 300)
        /// A decimal number.
        public static let decimal = AttributeType(rawValue: 400)
        /// A double-precision number.
        public static let double = AttributeType(rawValue: 500)
        /// A single-precision number.
        public static let float = AttributeType(rawValue: 600)
        /// A string.
        public static let string = AttributeType(rawValue: 700)
        /// True or false.
        public static let boolean = AttributeType(rawValue: 800)
        /// A date.
        public static let date = AttributeType(rawValue: 900)
        /// Bytes.
        public static let binaryData = AttributeType(rawValue: 1000)
        /// A UUID.
        public static let uuid = AttributeType(rawValue: 1100)
        /// A URI.
        public static let uri = AttributeType(rawValue: 1200)
        /// A value that a transformer converts to and from bytes.
        public static let transformable = AttributeType(rawValue: 1800)
        /// An identity; nothing is stored.
        public static let objectID = AttributeType(rawValue: 2000)
        /// Several attributes stored together.
        public static let composite = AttributeType(rawValue: 2100)
    }

    /// The type of the attribute.
    open var type: AttributeType {
        get { AttributeType(rawValue: attributeType.rawValue) }
        set { attributeType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
    }

    /// Sets the validation rules for the value.
    open func setValidationPredicates(_ predicates: [NSPredicate]?, withValidationWarnings warnings: [String]?) {
        owner?.willChange()
        validationPredicates = predicates ?? []
        validationWarnings = warnings ?? []
        validation.rules = orRaise(
            "NSAttributeDescription.setValidationPredicates(_:withValidationWarnings:) of \(name)"
        ) {
            try zip(validationPredicates, warnings ?? []).map { predicate, warning in
                .init(predicate: try predicate.moult(for: name).predicate.format, warning: warning)
            }
        }
    }

    /// Returns an independent attribute that belongs to no entity.
    open override func copy(with zone: NSZone? = nil) -> Any { copiedAttribute(to: NSAttributeDescription()) }

    fileprivate func copiedAttribute<Copy: NSAttributeDescription>(to copy: Copy) -> Copy {
        (copy.attributeType, copy.defaultValue) = (attributeType, defaultValue)
        copy.ownValueClassName = ownValueClassName
        copy.valueTransformerName = valueTransformerName
        copy.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        copy.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        copy.allowsCloudEncryption = allowsCloudEncryption
        (copy.validation, copy.validationPredicates) = (validation, validationPredicates)
        copy.validationWarnings = validationWarnings
        (copy.usesScalarValueType, copy.compositeName) = (usesScalarValueType, compositeName)
        return copied(to: copy)
    }

    convenience init(_ value: AttributeDescription) {
        self.init()
        copyCommonParts(of: value)
        isIndexedBySpotlight = value.isIndexedBySpotlight
        attributeType = NSAttributeType(rawValue: UInt(value.type.rawValue)) ?? .undefinedAttributeType
        defaultValue = value.defaultValue.flatMap(foundationValue)
        ownValueClassName = value.attributeValueClassName
        valueTransformerName = value.valueTransformerName
        allowsExternalBinaryDataStorage = value.allowsExternalBinaryDataStorage
        preservesValueInHistoryOnDeletion = value.preservesValueInHistoryOnDeletion
        allowsCloudEncryption = value.allowsCloudEncryption
        validation = value.validation
        validationWarnings = value.validation.rules.map(\.warning)
        validationPredicates = value.validation.rules.compactMap {
            (try? MoultModel.Predicate(parsing: $0.predicate)).map { NSPredicate(moult: $0) }
        }
        usesScalarValueType = value.usesScalarValueType
        compositeName = value.compositeName
    }

    func value() throws -> AttributeDescription {
        let place = "\(owner?.name ?? "").\(name)"
        let type = MoultModel.AttributeType(rawValue: Int32(attributeType.rawValue)) ?? .undefined
        return try AttributeDescription(
            name: name, type: type, isOptional: isOptional, isTransient: isTransient, derivation: derivation,
            compositeName: compositeName, elements: parts(),
            defaultValue: storedDefault(type, place),
            allowsExternalBinaryDataStorage: allowsExternalBinaryDataStorage,
            preservesValueInHistoryOnDeletion: preservesValueInHistoryOnDeletion,
            allowsCloudEncryption: allowsCloudEncryption, valueTransformerName: valueTransformerName,
            attributeValueClassName: ownValueClassName, usesScalarValueType: usesScalarValueType,
            isIndexedBySpotlight: isIndexedBySpotlight, validation: validation,
            renamingIdentifier: ownRenamingIdentifier, versionHashModifier: versionHashModifier,
            userInfo: texts(userInfo))
    }

    /// The expression of a derived attribute.
    var derivation: AttributeDescription.Derivation? { nil }

    private func storedDefault(_ type: MoultModel.AttributeType, _ place: String) throws -> AttributeValue? {
        guard let defaultValue else { return nil }
        if type == .transformable {
            return .transformable([UInt8](try TransformerBridge(valueTransformerName).data(from: defaultValue)))
        }
        return try attributeValue(defaultValue, type, place)
    }
}

extension NSAttributeType {
    /// The class of the values; nil if it is not the type that determines it.
    fileprivate var valueClassName: String? {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .booleanAttributeType:
            "NSNumber"
        case .decimalAttributeType: "NSDecimalNumber"
        case .stringAttributeType: "NSString"
        case .dateAttributeType: "NSDate"
        case .binaryDataAttributeType: "NSData"
        case .UUIDAttributeType: "NSUUID"
        case .URIAttributeType: "NSURL"
        default: nil
        }
    }
}

/// An attribute that the store computes from an expression.
open class NSDerivedAttributeDescription: NSAttributeDescription {
    /// The expression that computes the value, such as `canonical:(name)` or `items.@count`.
    open var derivationExpression: NSExpression? { willSet { owner?.willChange() } }

    /// Returns an independent attribute that belongs to no entity.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = copiedAttribute(to: NSDerivedAttributeDescription())
        copy.derivationExpression = derivationExpression
        return copy
    }

    override var derivation: AttributeDescription.Derivation? {
        derivationExpression.map { AttributeDescription.Derivation(expression: $0.expression.format) }
    }
}

/// An attribute composed of several attributes that are stored together.
open class NSCompositeAttributeDescription: NSAttributeDescription {
    /// The attributes in the composite, which may be composite themselves.
    open var elements: [NSAttributeDescription] = [] { willSet { owner?.willChange() } }

    /// Creates a composite attribute without a name.
    public override init() {
        super.init()
        attributeType = .compositeAttributeType
    }

    /// Returns an independent attribute, with copies of its elements, that belongs to no entity.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = copiedAttribute(to: NSCompositeAttributeDescription())
        copy.elements = elements.compactMap { $0.copy() as? NSAttributeDescription }
        return copy
    }

    fileprivate override func parts() throws -> [AttributeDescription] { try elements.map { try $0.value() } }
}

extension NSAttributeDescription {
    /// Returns the attribute as an object of the matching class.
    static func of(_ value: AttributeDescription) -> NSAttributeDescription {
        if let derivation = value.derivation {
            let derived = NSDerivedAttributeDescription(value)
            derived.derivationExpression = (try? MoultModel.Expression(parsing: derivation.expression))
                .map { NSExpression(moult: $0) }
            return derived
        }
        guard value.type == .composite else { return NSAttributeDescription(value) }
        let composite = NSCompositeAttributeDescription(value)
        composite.elements = value.elements.map(of)
        return composite
    }
}

/// A relationship of an entity.
open class NSRelationshipDescription: NSPropertyDescription {
    /// The destination entity.
    open weak var destinationEntity: NSEntityDescription? { willSet { owner?.willChange() } }
    /// The inverse relationship.
    open weak var inverseRelationship: NSRelationshipDescription? { willSet { owner?.willChange() } }
    /// The rule for the destinations when an object is deleted.
    open var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { owner?.willChange() } }
    /// The minimum number of destinations; 0 for no limit.
    open var minCount = 0 { willSet { owner?.willChange() } }
    /// The maximum number of destinations: 1 for a to-one relationship, 0 for a to-many relationship without a limit.
    open var maxCount = 0 { willSet { owner?.willChange() } }
    /// Whether the destinations are ordered.
    open var isOrdered = false { willSet { owner?.willChange() } }
    /// Whether an object may have several destinations.
    open var isToMany: Bool { maxCount != 1 }

    /// Returns an independent relationship that belongs to no entity. It has the same destination and inverse.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = copied(to: NSRelationshipDescription())
        (copy.destinationEntity, copy.inverseRelationship) = (destinationEntity, inverseRelationship)
        (copy.deleteRule, copy.minCount, copy.maxCount) = (deleteRule, minCount, maxCount)
        copy.isOrdered = isOrdered
        return copy
    }

    convenience init(_ value: RelationshipDescription) {
        self.init()
        copyCommonParts(of: value)
        isIndexedBySpotlight = value.isIndexedBySpotlight
        deleteRule = NSDeleteRule(rawValue: UInt(value.deleteRule.rawValue)) ?? .nullifyDeleteRule
        minCount = value.minCount
        maxCount = value.maxCount
        isOrdered = value.isOrdered
    }

    func value(requiringDestination: Bool = true) throws -> RelationshipDescription {
        guard let destination = destinationEntity?.name ?? (requiringDestination ? nil : "") else {
            throw MigrationError(
                .modelInvalid, "The relationship \(owner?.name ?? "").\(name) has no destination.",
                place: "\(owner?.name ?? "").\(name)",
                remedy: "Set destinationEntity to an entity of the model, which keeps it.")
        }
        return RelationshipDescription(
            name: name, destinationEntityName: destination, inverseName: inverseRelationship?.name,
            isOptional: isOptional, isTransient: isTransient, maxCount: maxCount, minCount: minCount,
            isOrdered: isOrdered, deleteRule: DeleteRule(rawValue: Int(deleteRule.rawValue)) ?? .nullify,
            isIndexedBySpotlight: isIndexedBySpotlight, renamingIdentifier: ownRenamingIdentifier,
            versionHashModifier: versionHashModifier, userInfo: texts(userInfo))
    }
}

/// A stored query that belongs to an entity.
open class NSFetchedPropertyDescription: NSPropertyDescription {
    /// The request for its objects, in which `$FETCH_SOURCE` is the object itself.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { willSet { owner?.willChange() } }

    /// Returns an independent property, with a copy of its request, that belongs to no entity.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = copied(to: NSFetchedPropertyDescription())
        copy.fetchRequest = fetchRequest?.copyOfRequest()
        return copy
    }

    convenience init(_ value: FetchedPropertyDescription) {
        self.init()
        name = value.name
        isOptional = value.isOptional
        userInfo = value.userInfo
        ownRenamingIdentifier = value.renamingIdentifier
        guard let destination = value.destinationEntityName else { return }
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: destination)
        request.predicate = value.predicate.flatMap { try? MoultModel.Predicate(parsing: $0) }
            .map { NSPredicate(moult: $0) }
        request.fetchLimit = value.options["fetchLimit"].flatMap { Int($0) } ?? 0
        fetchRequest = request
    }

    func value() throws -> FetchedPropertyDescription {
        FetchedPropertyDescription(
            name: name, isOptional: isOptional, destinationEntityName: fetchRequest?.entityName,
            predicate: try fetchRequest?.predicate?.moult(for: name).predicate.format,
            options: fetchRequest.map { $0.fetchLimit > 0 ? ["fetchLimit": "\($0.fetchLimit)"] : [:] } ?? [:],
            renamingIdentifier: ownRenamingIdentifier, userInfo: texts(userInfo))
    }
}

/// A computed column of dictionary results.
open class NSExpressionDescription: NSPropertyDescription {
    /// The expression that computes the value.
    open var expression: NSExpression?
    /// The type of the value. It is optional, because the store determines the type.
    open var expressionResultType = NSAttributeType.undefinedAttributeType
    /// The type of the value, as an attribute type.
    open var resultType: NSAttributeDescription.AttributeType {
        get { .init(rawValue: expressionResultType.rawValue) }
        set { expressionResultType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
    }

    /// Returns an independent column.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = copied(to: NSExpressionDescription())
        (copy.expression, copy.expressionResultType) = (expression, expressionResultType)
        return copy
    }
}
