/// The names of attributes that XML models have, as one byte each: a file says them tens of thousands of times.
enum ModelKey: UInt8, CaseIterable, Sendable {
    // Anything
    case name, elementID, renamingIdentifier, versionHashModifier, syncable, value, key
    // <entity>
    case representedClassName, isAbstract, parentEntity, codeGenerationType, coreSpotlightDisplayNameExpression
    // <attribute>
    case attributeType, optional, transient, indexed, derived, derivationExpression, filteringPredicate, composite
    case defaultValueString, defaultDateTimeInterval, allowsExternalBinaryDataStorage, preserveAfterDeletion
    case allowsCloudEncryption, valueTransformerName, customClassName, usesScalarValueType
    case spotlightIndexingEnabled, storedInTruthFile, minValueString, maxValueString, minDateTimeInterval
    case maxDateTimeInterval, regularExpressionString
    // <relationship>
    case toMany, maxCount, minCount, ordered, deletionRule, destinationEntity, inverseName, inverseEntity
    // <fetchRequest>, <fetchIndex>, <fetchIndexElement>
    case entity, predicateString, partialIndexPredicate, property, expression, expressionType, type, order
    // <model>, <configuration>
    case userDefinedModelVersionIdentifier, usedWithCloudKit

    static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ("\($0)", $0) })
}

/// A set of keys as bits.
struct ModelKeySet: ExpressibleByArrayLiteral, Sendable {
    private var bits: UInt64 = 0

    init(arrayLiteral keys: ModelKey...) {
        for key in keys { bits |= 1 << UInt64(key.rawValue) }
    }

    func contains(_ key: ModelKey) -> Bool { bits & (1 << UInt64(key.rawValue)) != 0 }
}
