import MoultModel
import MoultPlan

/// An entity mapping of a run, with the policy that makes its objects, if it has one.
final class RunningMapping {
    /// Its index among the entity mappings of the pass.
    let position: Int
    let mapping: ResolvedEntityMapping
    /// The mapping as policies see it.
    let entityMapping: EntityMapping
    // A run belongs to one thread, so exclusivity is not checked for each row in the properties marked as unchecked.
    /// The policy; nil for statements, and once the run is over.
    var policy: EntityMigrationPolicy?
    @exclusivity(unchecked) var counts: InstanceCounts
    /// The number of the destination entity.
    let destinationNumber: Int64?
    /// Whether its objects keep the keys of their source objects.
    let keepsKeys: Bool
    /// The destination entity; set before the mapping's instances are made.
    @exclusivity(unchecked) var entity: DestinationEntity?
    /// The plan of the values that a new object takes from the source's row, and the reader of that row; both are set
    /// before the mapping's instances are made.
    @exclusivity(unchecked) var plan: InstancePlan?
    @exclusivity(unchecked) var reader: InstanceReader?
    /// The positions of the to-one relationships that its rows take over with the keys of source objects.
    var carried: Set<Int> = []
    /// The relationships that only this mapping fills. Objects whose policy does not ask for them do not get them.
    var ownRelationships: [String] = []
    /// Whether a new object was made with the mapping's expressions.
    @exclusivity(unchecked) var hasMadeInstances = false
    /// Whether the policy has asked for the mapping's relationships.
    @exclusivity(unchecked) var hasMadeRelationships = false

    var policyName: String { mapping.policy ?? "" }

    init(
        _ mapping: ResolvedEntityMapping, at position: Int, policy: EntityMigrationPolicy?, destinationNumber: Int64?,
        keepsKeys: Bool
    ) {
        (self.position, self.mapping, self.policy) = (position, mapping, policy)
        (self.destinationNumber, self.keepsKeys) = (destinationNumber, keepsKeys)
        entityMapping =
            mapping.written
            ?? EntityMapping(
                from: mapping.sourceEntityName, to: mapping.destinationEntityName,
                name: mapping.name.isEmpty ? nil : mapping.name, type: policy == nil ? .undefined : .custom,
                sourcePredicate: mapping.predicate, entityMigrationPolicyClassName: mapping.policy)
        counts = InstanceCounts(
            mapping: entityMapping.name, policy: mapping.policy ?? "", entityName: mapping.sourceEntityName)
    }
}

/// A relationship of an entity mapping, resolved from its expression.
struct MappedLink {
    let mapping: RunningMapping
    let entity: DestinationEntity
    let name: String
    let position: Int
    let isToMany: Bool
    let isOrdered: Bool
    let destinationEntityName: String
    let inverseName: String?
    /// The source's relationships that lead to the ends.
    let path: [String]
    /// The mappings that make objects from the ends.
    let targets: [RunningMapping]
    /// The entity numbers that a destination may have, as a list in SQL.
    let numbers: String
    /// Whether the mapping's rows hold keys of source objects.
    let isCarried: Bool
    /// Whether neither a statement nor the rows of another mapping hold the link, so that the run must make it.
    let isLeftToUs: Bool
    /// Whether the relationship is to-many in the source and to-one in the destination.
    let isNarrowed: Bool
    /// Whether a mapping at the other end fills the inverse too.
    let isMappedElsewhere: Bool
    /// Whether an object at the other end has at most one owner.
    let isInverseToOne: Bool
    /// The work on the links, in one sentence.
    var sentence: String { "Make the links \(name) of \(mapping.entityMapping.name)." }
    /// Whether a to-many relationship is stored in the rows at the other end, and their own mappings fill it.
    var isHeldByMembers: Bool { isToMany && isInverseToOne && isMappedElsewhere }

    /// Returns nil for a relationship that the mapping does not fill.
    init?(
        _ name: String, of mapping: RunningMapping, _ source: RelationshipSource, _ manager: MigrationManager
    ) throws {
        guard let from = mapping.mapping.sourceEntityName, let to = mapping.mapping.destinationEntityName,
            let description = manager.destinationModel.entity(to).flatMap({
                manager.destinationModel.relationship(name, of: $0)
            })
        else { return nil }
        var only: String?
        switch source {
        case .empty: return nil
        case .relationship(let old): path = [old]
        case .path(let keys, let by): (path, only) = (keys, by)
        }
        guard let end = manager.sourceModel.entityName(atEndOf: path, from: from) else { return nil }
        let (first, length) = (path.first ?? "", path.count)
        let old = manager.sourceModel.entity(from).flatMap { manager.sourceModel.relationship(first, of: $0) }
        isNarrowed = length == 1 && old?.isToMany == true && !description.isToMany
        inverseName = description.inverseName
        entity = try manager.entity(to)
        guard let position = entity.columns.shape.position(of: name) else { return nil }
        (self.name, self.position, self.mapping) = (name, position, mapping)
        isToMany = description.isToMany
        isOrdered = description.isToMany && description.isOrdered
        let destinationEntityName = description.destinationEntityName
        self.destinationEntityName = destinationEntityName
        targets = manager.mappings.filter { target in
            guard let taken = target.mapping.sourceEntityName, let made = target.mapping.destinationEntityName,
                only == nil || target.mapping.name == only
            else { return false }
            return manager.sourceModel.isKind(taken, of: end)
                && (manager.destinationModel.isKind(made, of: destinationEntityName) || target.policy != nil)
        }
        numbers = manager.numbers(atOrBelow: destinationEntityName)
        isCarried = mapping.policy == nil ? true : mapping.carried.contains(position)
        let isOwnRow = entity.columns.toOne(at: position) != nil
        let hasPolicy = mapping.policy != nil || targets.contains { $0.policy != nil }
        // Statements make the pairs of a join table if they have one side of it.
        let isPaired = mapping.policy == nil && entity.columns.isManyToMany(position)
        let isBack = Self.isMappedBack(description, from: source, of: mapping, targets, manager)
        isMappedElsewhere = targets.contains { target in
            guard let inverse = description.inverseName else { return false }
            return ![nil, .empty].contains(target.mapping.relationships[inverse])
        }
        isInverseToOne = manager.destinationModel.inverse(of: description)?.isToMany == false
        isLeftToUs = hasPolicy && !(isOwnRow && isCarried) && !isPaired && !isBack
    }

    /// Whether every mapping at the other end fills the inverse from the source's inverse: in its own rows or, for a
    /// join table, with statements.
    private static func isMappedBack(
        _ new: RelationshipDescription, from source: RelationshipSource, of mapping: RunningMapping,
        _ targets: [RunningMapping], _ manager: MigrationManager
    ) -> Bool {
        guard case .relationship(let old) = source, let inverse = new.inverseName,
            let oldEntity = mapping.mapping.sourceEntityName.flatMap(manager.sourceModel.entity),
            let oldRelationship = manager.sourceModel.relationship(old, of: oldEntity),
            let oldInverse = manager.sourceModel.inverse(of: oldRelationship)
        else { return false }
        let other = manager.destinationModel.entity(new.destinationEntityName)
            .flatMap { manager.destinationModel.relationship(inverse, of: $0) }
        return targets.allSatisfy { target in
            guard target.mapping.relationships[inverse] == .relationship(oldInverse.name), let other else {
                return false
            }
            if !other.isToMany, new.isToMany {
                guard target.policy != nil else { return true }
                return (try? manager.entity(target.mapping.destinationEntityName ?? ""))
                    .flatMap { $0.columns.shape.position(of: inverse) }
                    .map(target.carried.contains) ?? false
            }
            return other.isToMany && new.isToMany && target.policy == nil
        }
    }

    /// Returns the position of the relationship in an object, which a policy may have made of another entity; nil if
    /// that entity does not have it.
    func position(in object: DestinationObject) -> Int? {
        if object.entity === entity { return position }
        let shape = object.entity.columns.shape
        guard let position = shape.position(of: name), case .relationship(let other, _) = shape.properties[position],
            other.isToMany == isToMany
        else { return nil }
        return position
    }
}

extension ManagedObjectModel {
    /// Returns the entity at the end of a path of relationships; nil if one of them does not exist.
    fileprivate func entityName(atEndOf path: [String], from name: String) -> String? {
        path.reduce(Optional(name)) { name, key in
            name.flatMap(entity).flatMap { relationship(key, of: $0) }?.destinationEntityName
        }
    }
}
