import MoultModel

/// A complete mapping between two versions: one entity mapping for each entity of either side, with a source for each
/// stored property.
///
/// Inference makes one for each edge, composition combines consecutive ones, and lowering turns the result into SQL
/// statements. A mapping written by a person, which may leave most to defaults, is a `MappingModel`.
package struct ResolvedMapping: Sendable, Hashable {
    /// Ordered by destination entity name, then the removed entities by source name.
    package var entityMappings: [ResolvedEntityMapping]
    /// Whether it leads to an older version: the rows say what fits, and no code runs that could fill in what is missing.
    package var isWayBack = false

    package init(entityMappings: [ResolvedEntityMapping]) {
        self.entityMappings = entityMappings
    }

    package func mapping(toEntity name: String) -> ResolvedEntityMapping? {
        entityMappings.first { $0.destinationEntityName == name }
    }

    /// The entity mapping that expressions of a mapping model call by that name.
    package func mapping(named name: String) -> ResolvedEntityMapping? {
        entityMappings.first { !$0.name.isEmpty && $0.name == name }
    }

    /// An entity may feed several entities of the destination.
    package func mappings(fromEntity name: String) -> [ResolvedEntityMapping] {
        entityMappings.filter { $0.sourceEntityName == name }
    }
}

/// The mapping of the objects of one source entity (without its sub-entities) to objects of one destination entity.
package struct ResolvedEntityMapping: Sendable, Hashable {
    /// The name in the mapping model; empty for an inferred mapping.
    package var name = ""
    /// Nil for an added entity.
    package var sourceEntityName: String?
    /// The condition for the source entity's objects that the mapping takes; nil for all.
    package var predicate: Predicate?
    /// The name of the migration policy that makes the objects; nil if statements do.
    package var policy: String?
    /// The mapping as written, with all expressions and user info; nil for an inferred mapping.
    package var written: EntityMapping?
    /// Nil for a removed entity.
    package var destinationEntityName: String?
    /// One for each stored attribute of the destination, inherited ones included, by name. Derived attributes are left
    /// out: their values are computed.
    package var attributes: [String: AttributeSource]
    /// One for each stored relationship of the destination, inherited ones included, by name.
    package var relationships: [String: RelationshipSource]

    package init(
        sourceEntityName: String?, destinationEntityName: String?,
        attributes: [String: AttributeSource] = [:], relationships: [String: RelationshipSource] = [:]
    ) {
        self.sourceEntityName = sourceEntityName
        self.destinationEntityName = destinationEntityName
        self.attributes = attributes
        self.relationships = relationships
    }

    /// Whether it has a source for each property that another mapping to the same entity, or to an identical one, has.
    func hasProperties(of other: ResolvedEntityMapping) -> Bool {
        attributes.count == other.attributes.count && relationships.count == other.relationships.count
    }
}

/// The source of an attribute's value.
package enum AttributeSource: Sendable, Hashable {
    /// The source entity's attribute of that name. Where it is nil and `ifNil` is given, that value takes its place
    /// (an optional attribute that became required). A difference of type is a lossless widening, which lowering
    /// converts; a difference in external storage moves the bytes.
    case attribute(String, ifNil: AttributeValue?)
    /// The same value for every object: a new attribute's default, or nil.
    case constant(AttributeValue?)
    /// The result of an expression of a mapping model, evaluated with `$source`.
    case expression(Expression)
}

/// The source of a relationship's destinations.
package enum RelationshipSource: Sendable, Hashable {
    /// The source entity's relationship of that name, whatever its cardinality and order.
    case relationship(String)
    /// None: a new relationship, which its inverse may still fill.
    case empty
    /// The objects made from those at the end of a path of relationships that starts at the source object. An empty
    /// path ends at the source object itself. They are made by the entity mapping of that name, or by any where it is
    /// nil.
    case path([String], by: String?)
}
