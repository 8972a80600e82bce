/// A mapping of the objects of one model version to another (`NSMappingModel`), as its author wrote it, read from a
/// file or created in code.
///
/// ```swift
/// var ship = EntityMapping(from: "Boat", to: "Ship")
/// ship.attributeMappings = [try PropertyMapping("title", "$source.name")]
/// let mapping = MappingModel([ship, EntityMapping(removing: "Raft")]).completed(from: version2, to: version3)
/// ```
public struct MappingModel: Sendable, Hashable {
    /// The entity mappings in the order in which they run.
    public var entityMappings: [EntityMapping]

    /// Creates a mapping model from entity mappings, in the order in which they run.
    public init(_ entityMappings: [EntityMapping] = []) { self.entityMappings = entityMappings }

    /// The entity mapping of that name, as other expressions refer to it.
    public subscript(name: String) -> EntityMapping? { entityMappings.first { $0.name == name } }

    /// Returns the mapping model completed as Core Data completes one. It adds types instead of `undefined`, version
    /// hashes, and a default expression for each property that an entity mapping does not mention.
    ///
    /// To leave a property at its default value, add a `PropertyMapping` for it that has no expression.
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
    /// The name that other mappings' expressions use; by default `BoatToShip`, or `Ship` for an added entity.
    public var name: String
    /// The type of the mapping, by its effect; `undefined` until ``MappingModel/completed(from:to:)`` sets it.
    public var type: EntityMappingType
    /// The source entity, without the objects of its sub-entities, which have their own mappings; nil for an added
    /// entity.
    public var sourceEntityName: String?
    /// The version hash (32 bytes) of the source entity that the mapping was made for; nil if not specified.
    public var sourceEntityVersionHash: [UInt8]?
    /// The destination entity; nil for a removed entity.
    public var destinationEntityName: String?
    /// The version hash of the destination entity, as ``sourceEntityVersionHash``.
    public var destinationEntityVersionHash: [UInt8]?
    /// The predicate that selects objects of the source entity; nil for all. Together with the source entity's name it
    /// forms Core Data's source expression.
    public var sourcePredicate: Predicate?
    /// The name of the `EntityMigrationPolicy` that creates the objects; nil if the expressions suffice.
    public var entityMigrationPolicyClassName: String?
    /// The mappings of destination attributes; an attribute without one keeps its default value.
    public var attributeMappings: [PropertyMapping]
    /// The mappings of destination relationships; a relationship without one stays empty unless its inverse fills it.
    public var relationshipMappings: [PropertyMapping]
    /// The author's notes, by key; the migration does not read them.
    public var userInfo: [String: String]

    /// Creates a mapping from one entity to another; pass nil for the missing end of an added or removed entity.
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

    /// Creates the mapping of an added entity, which has no source objects.
    public init(adding destinationEntityName: String) { self.init(from: nil, to: destinationEntityName, type: .add) }

    /// Creates the mapping of a removed entity, whose objects are dropped.
    public init(removing sourceEntityName: String) { self.init(from: sourceEntityName, to: nil, type: .remove) }

    /// Returns the name that Xcode gives by default.
    public static func defaultName(from source: String?, to destination: String?) -> String {
        guard let source else { return destination ?? "" }
        return "\(source)To\(destination ?? "")"
    }

    /// Returns the mapping of the destination attribute of that name; nil if there is none.
    public func attributeMapping(_ name: String) -> PropertyMapping? { attributeMappings.first { $0.name == name } }
    /// Returns the mapping of the destination relationship of that name; nil if there is none.
    public func relationshipMapping(_ name: String) -> PropertyMapping? {
        relationshipMappings.first { $0.name == name }
    }

    /// The source expression as Core Data prints it, which fetches the source objects; nil without a source.
    public var sourceExpressionFormat: String? {
        sourceEntityName.map { entity in
            let fetch = Expression.sourceFetch(of: entity, where: sourcePredicate)
            return "FETCH(\(fetch.format), \(Expression.sourceContext.format), NO)"
        }
    }

    /// The method of the migration manager that creates the fetch request of a source expression.
    public static let fetchSelector = "fetchRequestForSourceEntityNamed:predicateString:"

    /// Sets the hashes of both entities from the versions; a hash stays unchanged if its version lacks the entity.
    public mutating func setVersionHashes(from source: ModelVersion, to destination: ModelVersion) {
        if let hash = sourceEntityName.flatMap({ source.hashes.entities[$0] }) { sourceEntityVersionHash = hash }
        if let hash = destinationEntityName.flatMap({ destination.hashes.entities[$0] }) {
            destinationEntityVersionHash = hash
        }
    }
}

/// The type of an entity mapping, by its effect, with the numbers of `NSEntityMappingType`.
public enum EntityMappingType: Int, Sendable, Hashable, CaseIterable {
    case undefined = 0
    /// A migration policy creates the objects.
    case custom = 1
    /// The entity is new and has no objects.
    case add = 2
    /// The objects are dropped.
    case remove = 3
    /// The entity stays the same or gains properties.
    case copy = 4
    /// The entity loses or changes properties.
    case transform = 5
}
