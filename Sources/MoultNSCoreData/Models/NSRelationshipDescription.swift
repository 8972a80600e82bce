import Foundation
import MoultBasics
import MoultModel

/// A relationship of an entity.
open class NSRelationshipDescription: NSPropertyDescription {
    /// The entity that it leads to.
    open weak var destinationEntity: NSEntityDescription? { willSet { owner?.willChange() } }
    /// The relationship that leads back.
    open weak var inverseRelationship: NSRelationshipDescription? { willSet { owner?.willChange() } }
    /// The rule for the destinations when an object is deleted.
    open var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { owner?.willChange() } }
    /// The least number of destinations; 0 for no limit.
    open var minCount = 0 { willSet { owner?.willChange() } }
    /// 1 for a to-one relationship, 0 for a to-many without limit.
    open var maxCount = 0 { willSet { owner?.willChange() } }
    /// Whether the destinations have an order.
    open var isOrdered = false { willSet { owner?.willChange() } }
    /// Whether an object may have several destinations.
    open var isToMany: Bool { maxCount != 1 }

    convenience init(_ value: RelationshipDescription) {
        self.init()
        name = value.name
        isOptional = value.isOptional
        isTransient = value.isTransient
        renamingIdentifier = value.renamingIdentifier
        versionHashModifier = value.versionHashModifier
        userInfo = value.userInfo
        isIndexedBySpotlight = value.isIndexedBySpotlight
        deleteRule = NSDeleteRule(rawValue: UInt(value.deleteRule.rawValue)) ?? .nullifyDeleteRule
        minCount = value.minCount
        maxCount = value.maxCount
        isOrdered = value.isOrdered
    }

    func value() throws -> RelationshipDescription {
        guard let destination = destinationEntity?.name else {
            throw MigrationError(
                .modelInvalid, "The relationship \(owner?.name ?? "").\(name) has no destination.",
                place: "\(owner?.name ?? "").\(name)",
                remedy: "Set destinationEntity to an entity of the model, which keeps it.")
        }
        return RelationshipDescription(
            name: name, destinationEntityName: destination, inverseName: inverseRelationship?.name,
            isOptional: isOptional, isTransient: isTransient, maxCount: maxCount, minCount: minCount,
            isOrdered: isOrdered, deleteRule: DeleteRule(rawValue: Int(deleteRule.rawValue)) ?? .nullify,
            isIndexedBySpotlight: isIndexedBySpotlight, renamingIdentifier: renamingIdentifier,
            versionHashModifier: versionHashModifier, userInfo: texts(userInfo))
    }
}

/// A stored query that hangs on an entity.
open class NSFetchedPropertyDescription: NSPropertyDescription {
    /// The request that finds its objects; `$FETCH_SOURCE` is the object itself.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { willSet { owner?.willChange() } }

    convenience init(_ value: FetchedPropertyDescription) {
        self.init()
        name = value.name
        isOptional = value.isOptional
        userInfo = value.userInfo
        renamingIdentifier = value.renamingIdentifier
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
            renamingIdentifier: renamingIdentifier, userInfo: texts(userInfo))
    }
}

/// A column of dictionary results that is computed.
open class NSExpressionDescription: NSPropertyDescription {
    /// The expression that computes the value.
    open var expression: NSExpression?
    /// The type of the value; the store says it by itself, so it may be left out.
    open var expressionResultType = NSAttributeType.undefinedAttributeType
    /// The type of the value, as attributes have it.
    open var resultType: NSAttributeDescription.AttributeType {
        get { .init(rawValue: expressionResultType.rawValue) }
        set { expressionResultType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
    }
}
