import MoultBasics
import MoultModel

/// A complete mapping between two versions: one entity mapping for each entity of either side, with a source for each
/// stored property.
///
/// Inference makes one for each edge, composition combines consecutive ones, and lowering turns the result into SQL
/// statements. A mapping written by a person, which may leave most to defaults, is a `MappingModel`.
package struct ResolvedMapping: Sendable, Hashable {
    /// Ordered by destination entity name, then the removed entities by source name.
    package var entityMappings: [ResolvedEntityMapping]
    /// Whether it leads to an older version: the rows decide what fits, and no code runs that could fill in missing
    /// values.
    package var isWayBack = false

    package init(entityMappings: [ResolvedEntityMapping]) { self.entityMappings = entityMappings }

    package func mapping(toEntity name: String) -> ResolvedEntityMapping? {
        entityMappings.first { $0.destinationEntityName == name }
    }

    /// Returns the entity mapping that expressions of a mapping model call by that name.
    package func mapping(named name: String) -> ResolvedEntityMapping? {
        entityMappings.first { !$0.name.isEmpty && $0.name == name }
    }

    /// Returns the mappings from an entity. An entity may feed several entities of the destination.
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
    /// The condition that selects the source entity's objects; nil for all.
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
        (self.sourceEntityName, self.destinationEntityName) = (sourceEntityName, destinationEntityName)
        (self.attributes, self.relationships) = (attributes, relationships)
    }

    /// Whether it has a source for each property that another mapping to the same or an identical entity has.
    func hasProperties(of other: ResolvedEntityMapping) -> Bool {
        attributes.count == other.attributes.count && relationships.count == other.relationships.count
    }
}

/// The source of an attribute's value.
package enum AttributeSource: Sendable, Hashable {
    /// The source entity's attribute of that name. Where it is nil, `ifNil` takes its place if given (an optional
    /// attribute that became required). Lowering converts the value if its type was widened, and moves the bytes if
    /// external storage differs.
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
    /// path ends at the source object itself. `by` names the entity mapping that makes the objects; nil means any.
    case path([String], by: String?)
}

extension ResolvedMapping {
    /// A hierarchy of the destination that takes objects from several hierarchies of the source, and so from several
    /// tables.
    package struct MergedHierarchy: Sendable, Equatable {
        package var root: String
        /// By root entity of the source, the destination entities that its objects become, in order.
        package var members: [String: [String]]
    }

    /// Returns the destination hierarchies that merge several source hierarchies, ordered by the names of their roots.
    /// Not every object of such a hierarchy keeps its key.
    package func mergedHierarchies(from source: ManagedObjectModel, to destination: ManagedObjectModel)
        -> [MergedHierarchy]
    {
        // Most models have no hierarchies, and most mappings have one source for each entity.
        let names = entityMappings.compactMap(\.destinationEntityName)
        let haveOneSourceEach = names == destination.entities.map(\.name) || Set(names).count == names.count
        guard destination.entities.contains(where: { $0.superentityName != nil }) || !haveOneSourceEach else {
            return []
        }
        var hierarchies: [String: MergedHierarchy] = [:]
        for mapping in entityMappings {
            guard let old = mapping.sourceEntityName.flatMap(source.entity), !old.isAbstract,
                let new = mapping.destinationEntityName.flatMap(destination.entity)
            else { continue }
            let root = destination.root(of: new).name
            hierarchies[root, default: MergedHierarchy(root: root, members: [:])]
                .members[source.root(of: old).name, default: []].append(new.name)
        }
        return hierarchies.values.filter { $0.members.count > 1 }.inByteOrder { $0.root }
    }

    /// Returns the entities of the source whose objects move into another hierarchy, where they get new keys.
    package func movedEntities(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Set<String> {
        let roots = mergedHierarchies(from: source, to: destination).flatMap { hierarchy in
            let own = mapping(toEntity: hierarchy.root)?.sourceEntityName ?? hierarchy.root
            return hierarchy.members.keys.filter { $0 != own }
        }
        return Set(source.entities.filter { roots.contains(source.root(of: $0).name) }.map(\.name))
    }

    /// The mapping in readable form, one line for each entity and property; equal mappings have equal text.
    package var lines: [String] { entityMappings.flatMap(\.lines) }
}

extension ResolvedEntityMapping {
    /// `Cat from Kitty`, and below it `name from title`.
    package var lines: [String] {
        let condition = (predicate.map { " where \($0.format)" } ?? "") + (policy.map { " by \($0)" } ?? "")
        switch (sourceEntityName, destinationEntityName) {
        case (let source?, nil): return ["\(source)\(condition) is removed"]
        case (nil, let destination): return ["\(destination ?? "")\(condition) is new"]
        case (let source?, let destination?):
            let properties = attributes.map { ($0.key, $0.value.text) } + relationships.map { ($0.key, $0.value.text) }
            return ["\(destination) from \(source)\(condition)"]
                + properties.inByteOrder { $0.0 }.map { "  \($0.0) \($0.1)" }
        }
    }
}

extension AttributeSource {
    /// `from title`, `from title, or "none" where there is no value`, `is 3`.
    package var text: String {
        switch self {
        case .attribute(let name, nil): "from \(name)"
        case .attribute(let name, let value?): "from \(name), or \(value.text) where there is no value"
        case .constant(let value): "is \(value?.text ?? "nil")"
        case .expression(let expression): "is \(expression.format)"
        }
    }
}

extension RelationshipSource {
    package var text: String {
        switch self {
        case .relationship(let name): "from \(name)"
        case .empty: "starts empty, or as its inverse has it"
        case .path(let path, let mapping):
            "from what became of \((["$source"] + path).joined(separator: "."))" + (mapping.map { " by \($0)" } ?? "")
        }
    }
}

extension ResolvedMapping {
    /// The result of composing two mappings.
    package enum Composition: Sendable, Equatable {
        case joined(ResolvedMapping)
        /// The two must run one after the other, for the reason given.
        case apart(reason: String)
    }

    /// Composes this mapping and `next` into one mapping that takes a single pass over a store.
    ///
    /// The result does to every store what the two mappings do one after the other. If no single mapping can, for
    /// example because a relationship is to-one only in the intermediate version, the two stay apart.
    package func composed(
        with next: ResolvedMapping, from source: ManagedObjectModel, through middle: ManagedObjectModel,
        to destination: ManagedObjectModel
    ) -> Composition {
        Composer(
            self, next, from: ResolvedModel(source), through: ResolvedModel(middle), to: ResolvedModel(destination)
        ).compose()
    }

    /// Creates the mapping that keeps every object unchanged.
    package init(identityOf model: ManagedObjectModel) { self.init(identityOf: ResolvedModel(model)) }

    /// Creates the mapping that keeps every object unchanged, including derived attributes, so that the next mapping
    /// can read them.
    init(identityOf model: ResolvedModel) {
        self.init(
            entityMappings: model.names.compactMap { model[$0] }.map { entity in
                ResolvedEntityMapping(
                    sourceEntityName: entity.name, destinationEntityName: entity.name,
                    attributes: entity.attributes.filter(\.value.isStored).mapValues {
                        .attribute($0.name, ifNil: nil)
                    },
                    relationships: entity.same.relationships)
            })
    }

    var byDestination: [String: ResolvedEntityMapping] {
        var mappings: [String: ResolvedEntityMapping] = [:]
        mappings.reserveCapacity(entityMappings.count)
        for mapping in entityMappings {
            if let name = mapping.destinationEntityName { mappings[name] = mapping }
        }
        return mappings
    }

    /// The entity mappings by source entity, without removed entities.
    var bySource: [String: ResolvedEntityMapping] {
        var mappings: [String: ResolvedEntityMapping] = [:]
        for mapping in entityMappings where mapping.destinationEntityName != nil {
            if let name = mapping.sourceEntityName { mappings[name] = mapping }
        }
        return mappings
    }

    /// Returns the reverse mapping; nil if this mapping does more than keep, rename, add and remove.
    ///
    /// The reverse mapping cannot restore a removed property: it starts with its default value, or empty.
    package func inverse(to source: ManagedObjectModel) -> ResolvedMapping? {
        var back: [ResolvedEntityMapping] = []
        for mapping in entityMappings {
            guard mapping.policy == nil, mapping.predicate == nil, mapping.written == nil,
                let inverse = mapping.inverse(to: source)
            else { return nil }
            back.append(inverse)
        }
        let made = back.filter { $0.destinationEntityName != nil }
        guard Set(made.map(\.destinationEntityName)).count == made.count else { return nil }
        return ResolvedMapping(
            entityMappings: made.sorted {
                ($0.destinationEntityName ?? "").precedesInByteOrder($1.destinationEntityName ?? "")
            } + back.filter { $0.destinationEntityName == nil })
    }
}

extension ResolvedEntityMapping {
    fileprivate func inverse(to source: ManagedObjectModel) -> ResolvedEntityMapping? {
        guard let name = sourceEntityName, let entity = source.entity(name) else {
            return ResolvedEntityMapping(sourceEntityName: destinationEntityName, destinationEntityName: nil)
        }
        var values: [String: AttributeSource] = [:]
        for attribute in source.leaves(of: entity) where attribute.isStored && attribute.derivation == nil {
            values[attribute.name] = .constant(attribute.isOptional ? nil : attribute.defaultValue)
        }
        for (own, value) in attributes {
            guard case .attribute(let other, _) = value else { continue }
            guard case .constant? = values.updateValue(.attribute(own, ifNil: nil), forKey: other) else { return nil }
        }
        var links: [String: RelationshipSource] = [:]
        for relationship in source.relationships(of: entity) where !relationship.isTransient {
            links[relationship.name] = .empty
        }
        for (own, value) in relationships {
            guard case .relationship(let other) = value else { continue }
            guard links.updateValue(.relationship(own), forKey: other) == .empty else { return nil }
        }
        return ResolvedEntityMapping(
            sourceEntityName: destinationEntityName, destinationEntityName: name, attributes: values,
            relationships: links)
    }
}
