import Foundation
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

    /// A mapping model without mappings.
    public override init() { entityMappings = [] }

    init(_ value: MappingModel) { entityMappings = value.entityMappings.map(NSEntityMapping.init) }

    /// Reads a mapping model; nil if it cannot be read.
    public convenience init?(contentsOf url: URL?) {
        guard let url, let value = try? MappingModel(contentsOf: url) else { return nil }
        self.init(value)
    }

    /// The mapping model in the bundles that was made for the two models; nil if there is none.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel source: NSManagedObjectModel?,
        destinationModel destination: NSManagedObjectModel?
    ) {
        guard let source = try? source?.value(), let destination = try? destination?.value(),
            let value = try? MappingModel(from: bundles, forSourceModel: source, destinationModel: destination)
        else { return nil }
        self.init(value)
    }

    /// The mapping that a lightweight migration would follow.
    ///
    /// - Throws: 134190 with every change that cannot be inferred.
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
    /// The mappings that give the values of attributes.
    open var attributeMappings: [NSPropertyMapping]?
    /// The mappings that give the destinations of relationships.
    open var relationshipMappings: [NSPropertyMapping]?

    /// A mapping without entities.
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
    /// The entity of the objects that it takes.
    open var sourceEntityName: String? {
        get { kept.sourceEntityName }
        set { kept.sourceEntityName = newValue }
    }
    /// The entity of the objects that it makes.
    open var destinationEntityName: String? {
        get { kept.destinationEntityName }
        set { kept.destinationEntityName = newValue }
    }
    /// The name of the policy that makes the objects.
    open var entityMigrationPolicyClassName: String? {
        get { kept.entityMigrationPolicyClassName }
        set { kept.entityMigrationPolicyClassName = newValue }
    }
    /// The version hash of the source entity that the mapping was made for, 32 bytes; nil if it is not said.
    open var sourceEntityVersionHash: Data? {
        get { kept.sourceEntityVersionHash.map { Data($0) } }
        set { kept.sourceEntityVersionHash = newValue.map(Array.init) }
    }
    /// The same of the destination entity.
    open var destinationEntityVersionHash: Data? {
        get { kept.destinationEntityVersionHash.map { Data($0) } }
        set { kept.destinationEntityVersionHash = newValue.map(Array.init) }
    }
    /// Notes of whoever wrote the mapping, with texts as keys and values: a policy may read them.
    open var userInfo: [AnyHashable: Any]? {
        get { kept.userInfo.isEmpty ? nil : kept.userInfo }
        set { kept.userInfo = texts(newValue) }
    }
}

/// The mapping of one property: where its value comes from.
open class NSPropertyMapping: NSObject {
    /// The property of the destination.
    open var name: String?
    /// The value for a source object, which it calls `$source`.
    open var valueExpression: NSExpression?
    /// Notes of whoever wrote the mapping, with texts as keys and values.
    open var userInfo: [AnyHashable: Any]?

    /// A mapping without a name.
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
