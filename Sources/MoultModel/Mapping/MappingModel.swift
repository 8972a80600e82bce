/// A mapping of the objects of one version of a model to those of another, in the words of whoever wrote it
/// (`NSMappingModel`): read from a mapping model file, or made in code.
///
/// ```swift
/// var ship = EntityMapping(from: "Boat", to: "Ship")
/// ship.attributeMappings = [try PropertyMapping("title", "$source.name")]
/// let mapping = MappingModel([ship, EntityMapping(removing: "Raft")]).completed(from: version2, to: version3)
/// ```
public struct MappingModel: Sendable, Hashable {
    /// In the order in which they run.
    public var entityMappings: [EntityMapping]

    /// A mapping model of these entity mappings, in the order in which they run.
    public init(_ entityMappings: [EntityMapping] = []) { self.entityMappings = entityMappings }

    /// The entity mapping of that name, by which the expressions of others refer to it.
    public subscript(name: String) -> EntityMapping? { entityMappings.first { $0.name == name } }

    /// The completed mapping model, as Core Data completes one: types instead of `undefined`, version hashes, and a
    /// default expression for each property that an entity mapping does not name.
    ///
    /// To leave a property at its default value, name it with a `PropertyMapping` that has no expression.
    public func completed(from source: ModelVersion, to destination: ModelVersion) -> MappingModel {
        let defaults = MappingDefaults(from: source.model, to: destination.model, entityMappings)
        return MappingModel(
            entityMappings.map { mapping in
                var mapping = mapping
                if mapping.type == .undefined { mapping.type = defaults.type(of: mapping) }
                mapping.setVersionHashes(from: source, to: destination)
                defaults.addMissingProperties(to: &mapping)
                return mapping
            })
    }
}

/// A mapping of the objects of one source entity to objects of one destination entity (`NSEntityMapping`).
public struct EntityMapping: Sendable, Hashable {
    /// The name by which expressions of other mappings refer to it; by default `BoatToShip`, for an added entity
    /// `Ship`.
    public var name: String
    /// The type of the mapping, by what it does with the objects; `undefined` until
    /// ``MappingModel/completed(from:to:)`` sets it.
    public var type: EntityMappingType
    /// Its objects are taken without those of its sub-entities, which have mappings of their own. Nil for an added
    /// entity.
    public var sourceEntityName: String?
    /// The version hash (32 bytes) of the source entity that the mapping was made for; nil if it is not said.
    public var sourceEntityVersionHash: [UInt8]?
    /// Nil for a removed entity.
    public var destinationEntityName: String?
    /// As ``sourceEntityVersionHash``, of the destination entity.
    public var destinationEntityVersionHash: [UInt8]?
    /// The predicate for the source entity's objects that the mapping takes; all where it is nil. With the source
    /// entity's name it is what Core Data calls the source expression.
    public var sourcePredicate: Predicate?
    /// The name of the `EntityMigrationPolicy` that makes the objects; nil if the expressions say everything.
    public var entityMigrationPolicyClassName: String?
    /// By destination attribute; one that has no mapping keeps its default value.
    public var attributeMappings: [PropertyMapping]
    /// By destination relationship; one that has no mapping stays empty unless its inverse fills it.
    public var relationshipMappings: [PropertyMapping]
    /// Notes of whoever wrote the mapping, by key; the migration does not read them.
    public var userInfo: [String: String]

    /// A mapping from one entity to another; nil for an end that an added or removed entity does not have.
    public init(
        from sourceEntityName: String?, to destinationEntityName: String?, name: String? = nil,
        type: EntityMappingType = .undefined, sourcePredicate: Predicate? = nil,
        entityMigrationPolicyClassName: String? = nil, attributeMappings: [PropertyMapping] = [],
        relationshipMappings: [PropertyMapping] = [], userInfo: [String: String] = [:]
    ) {
        self.name = name ?? Self.defaultName(from: sourceEntityName, to: destinationEntityName)
        (self.type, self.sourceEntityName) = (type, sourceEntityName)
        (self.destinationEntityName, self.sourcePredicate) = (destinationEntityName, sourcePredicate)
        self.entityMigrationPolicyClassName = entityMigrationPolicyClassName
        (self.attributeMappings, self.relationshipMappings) = (attributeMappings, relationshipMappings)
        self.userInfo = userInfo
    }

    /// An entity that no object of the source becomes.
    public init(adding destinationEntityName: String) { self.init(from: nil, to: destinationEntityName, type: .add) }

    /// An entity whose objects are dropped.
    public init(removing sourceEntityName: String) { self.init(from: sourceEntityName, to: nil, type: .remove) }

    /// The name that Xcode gives.
    public static func defaultName(from source: String?, to destination: String?) -> String {
        guard let source else { return destination ?? "" }
        return "\(source)To\(destination ?? "")"
    }

    /// The mapping of a destination attribute of that name; nil where there is none.
    public func attributeMapping(_ name: String) -> PropertyMapping? { attributeMappings.first { $0.name == name } }
    /// The mapping of a destination relationship of that name; nil where there is none.
    public func relationshipMapping(_ name: String) -> PropertyMapping? {
        relationshipMappings.first { $0.name == name }
    }

    /// The source expression as Core Data prints it: the fetch that gives the source objects; nil if the mapping takes
    /// none.
    public var sourceExpressionFormat: String? {
        sourceEntityName.map { entity in
            let arguments = [entity, sourcePredicate?.format ?? "TRUEPREDICATE"].map {
                Expression.constant(.string($0)).format
            }
            return "FETCH(FUNCTION($manager, \"\(Self.fetchSelector)\", \(arguments.joined(separator: ", "))), "
                + "$manager.sourceContext, NO)"
        }
    }

    /// The method of the migration manager that makes the request of a source expression.
    public static let fetchSelector = "fetchRequestForSourceEntityNamed:predicateString:"

    /// Sets the hashes of the two entities to those of the versions; leaves one alone that its version does not have.
    public mutating func setVersionHashes(from source: ModelVersion, to destination: ModelVersion) {
        if let hash = sourceEntityName.flatMap({ source.hashes.entities[$0] }) { sourceEntityVersionHash = hash }
        if let hash = destinationEntityName.flatMap({ destination.hashes.entities[$0] }) {
            destinationEntityVersionHash = hash
        }
    }
}

/// The type of an entity mapping, by what it does, with the numbers of `NSEntityMappingType`.
public enum EntityMappingType: Int, Sendable, Hashable, CaseIterable {
    case undefined = 0
    /// A migration policy makes the objects.
    case custom = 1
    /// A new entity, without objects.
    case add = 2
    /// The objects are dropped.
    case remove = 3
    /// The entity stays as it is, or gains properties.
    case copy = 4
    /// Properties of the entity leave or change.
    case transform = 5
}
