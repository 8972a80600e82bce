import Foundation
import MoultCoreData
import MoultModel

/// The operation of an entity mapping, with Core Data's numbers.
public enum NSEntityMappingType: UInt, Sendable {
    case undefinedEntityMappingType = 0
    case customEntityMappingType = 1
    case addEntityMappingType = 2
    case removeEntityMappingType = 3
    case copyEntityMappingType = 4
    case transformEntityMappingType = 5
}

/// The mapping from the objects of one version to those of another.
open class NSMappingModel: NSObject {
    /// The mappings of the entities.
    open var entityMappings: [NSEntityMapping]!

    /// Creates a mapping model without mappings.
    public override init() { entityMappings = [] }

    init(_ value: MappingModel) { entityMappings = value.entityMappings.map(NSEntityMapping.init) }

    /// Reads a mapping model; nil if it cannot be read.
    public convenience init?(contentsOf url: URL?) {
        guard let url, let value = try? MappingModel(contentsOf: url) else { return nil }
        self.init(value)
    }

    /// Finds the mapping model in the bundles that was made for the two models; nil if there is none.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel source: NSManagedObjectModel?,
        destinationModel destination: NSManagedObjectModel?
    ) {
        guard let source = try? source?.value(), let destination = try? destination?.value(),
            let value = try? MappingModel(from: bundles, forSourceModel: source, destinationModel: destination)
        else { return nil }
        self.init(value)
    }

    /// Returns the mapping that a lightweight migration would use.
    ///
    /// - Throws: 134190, listing every change that cannot be inferred.
    open class func inferredMappingModel(
        forSourceModel source: NSManagedObjectModel, destinationModel destination: NSManagedObjectModel
    ) throws -> NSMappingModel {
        try cocoaErrors {
            NSMappingModel(
                try MappingModel.inferredMappingModel(
                    forSourceModel: try source.value(), destinationModel: try destination.value()))
        }
    }

    /// The mappings by their names.
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary(entityMappings.map { ($0.name ?? "", $0) }) { first, _ in first }
    }

    var value: MappingModel { MappingModel(entityMappings.map(\.value)) }
}

/// The mapping from the objects of one entity to those of another.
open class NSEntityMapping: NSObject {
    private var kept: EntityMapping
    /// The mappings for the values of attributes.
    open var attributeMappings: [NSPropertyMapping]?
    /// The mappings for the destinations of relationships.
    open var relationshipMappings: [NSPropertyMapping]?

    /// Creates a mapping without entities.
    public override init() { kept = EntityMapping(from: nil, to: nil) }

    init(_ value: EntityMapping) {
        kept = value
        attributeMappings = value.attributeMappings.map(NSPropertyMapping.init)
        relationshipMappings = value.relationshipMappings.map(NSPropertyMapping.init)
    }

    var value: EntityMapping {
        var value = kept
        value.attributeMappings = (attributeMappings ?? []).map(\.value)
        value.relationshipMappings = (relationshipMappings ?? []).map(\.value)
        if let given { value.sourcePredicate = (try? predicate(of: given)) ?? nil }
        return value
    }

    /// The name by which other mappings refer to it.
    open var name: String! {
        get { kept.name }
        set { kept.name = newValue ?? "" }
    }
    /// The operation that it performs on the objects.
    open var mappingType: NSEntityMappingType {
        get { NSEntityMappingType(rawValue: UInt(kept.type.rawValue)) ?? .undefinedEntityMappingType }
        set { kept.type = EntityMappingType(rawValue: Int(newValue.rawValue)) ?? .undefined }
    }
    /// The entity of the source objects.
    open var sourceEntityName: String? {
        get { kept.sourceEntityName }
        set { kept.sourceEntityName = newValue }
    }
    /// The entity of the destination objects.
    open var destinationEntityName: String? {
        get { kept.destinationEntityName }
        set { kept.destinationEntityName = newValue }
    }
    /// The class name of the policy that creates the objects.
    open var entityMigrationPolicyClassName: String? {
        get { kept.entityMigrationPolicyClassName }
        set { kept.entityMigrationPolicyClassName = newValue }
    }
    /// The version hash of the source entity for which the mapping was made, 32 bytes; nil if it is not specified.
    open var sourceEntityVersionHash: Data? {
        get { kept.sourceEntityVersionHash.map { Data($0) } }
        set { kept.sourceEntityVersionHash = newValue.map(Array.init) }
    }
    /// The version hash of the destination entity for which the mapping was made, 32 bytes; nil if it is not specified.
    open var destinationEntityVersionHash: Data? {
        get { kept.destinationEntityVersionHash.map { Data($0) } }
        set { kept.destinationEntityVersionHash = newValue.map(Array.init) }
    }
    /// The fetch of the source objects, as Xcode writes it; nil without a source entity. A migration with another kind
    /// of expression fails.
    open var sourceExpression: NSExpression? {
        get {
            given
                ?? kept.sourceEntityName.map { entity in
                    NSFetchRequestExpression(
                        NSExpression(moult: .sourceFetch(of: entity, where: kept.sourcePredicate)),
                        NSExpression(moult: .sourceContext), isCountOnly: false)
                }
        }
        set {
            kept.sourcePredicate = nil
            given = newValue
        }
    }
    private var given: NSExpression?

    /// The reason why no migration can run the source expression; nil if it can.
    var sourceFault: (any Error)? {
        do {
            _ = try given.map { try predicate(of: $0) }
            return nil
        } catch {
            return error
        }
    }

    /// Returns the predicate in the fetch of the source entity; nil if it fetches all objects.
    private func predicate(of expression: NSExpression) throws -> MoultModel.Predicate? {
        guard let whole = expression.expression.fetch, let fetch = whole.request.sourceFetch,
            fetch.entity == .constant(.string(sourceEntityName ?? "")), whole.context == .sourceContext,
            !whole.isCountOnly
        else {
            throw MigrationError(
                .unsupported, "The expression is not a fetch of the source entity by \(EntityMapping.fetchSelector).",
                remedy: "Use a predicate to select the objects.")
        }
        let predicate = try MoultModel.Predicate(parsing: fetch.predicate)
        return predicate == .constant(true) ? nil : predicate
    }
    /// The mapping author's annotations, with strings as keys and values. A policy may read them.
    open var userInfo: [AnyHashable: Any]? {
        get { kept.userInfo.isEmpty ? nil : kept.userInfo }
        set { kept.userInfo = texts(newValue) }
    }
}

/// The mapping of one property: the source of its value.
open class NSPropertyMapping: NSObject {
    /// The name of the destination property.
    open var name: String?
    /// The expression for the value, in which `$source` is the source object.
    open var valueExpression: NSExpression?
    /// The mapping author's annotations, with strings as keys and values.
    open var userInfo: [AnyHashable: Any]?

    /// Creates a mapping without a name.
    public override init() {}

    private var kept = PropertyMapping("")

    init(_ value: PropertyMapping) {
        kept = value
        name = value.name
        valueExpression = value.valueExpression.map { NSExpression(moult: $0) }
        userInfo = value.userInfo.isEmpty ? nil : value.userInfo
    }

    var value: PropertyMapping {
        var value = kept
        value.name = name ?? ""
        value.valueExpression = valueExpression?.expression
        value.userInfo = texts(userInfo)
        return value
    }
}
