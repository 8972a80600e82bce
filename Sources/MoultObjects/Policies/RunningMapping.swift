import MoultModel
import MoultPlan

/// One entity mapping of a run, with the policy that makes its objects where it has one.
final class RunningMapping {
    /// Its place among the entity mappings of the pass.
    let position: Int
    let mapping: ResolvedEntityMapping
    /// As policies are shown it.
    let entityMapping: EntityMapping
    // A run belongs to one thread, and nobody changes what is unchecked here while it is read, once for each row.
    /// Nil for statements, and when the run is over.
    var policy: EntityMigrationPolicy?
    @exclusivity(unchecked) var counts: InstanceCounts
    /// The number of the destination entity.
    let destinationNumber: Int64?
    /// Whether its objects keep the keys of their source objects.
    let keepsKeys: Bool
    /// The destination entity; known when its instances are made.
    @exclusivity(unchecked) var entity: DestinationEntity?
    /// The plan of the values that a new object takes from the source's row, with the reader of that row; both are made
    /// when the mapping's instances are.
    @exclusivity(unchecked) var plan: InstancePlan?
    @exclusivity(unchecked) var reader: InstanceReader?
    /// The positions of the to-ones that its rows take with the keys of source objects.
    var carried: Set<Int> = []
    /// The relationships that only this mapping fills, which a policy that does not ask for them does not get.
    var ownRelationships: [String] = []
    /// Whether a new object has taken what the mapping's expressions say.
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

/// One relationship of an entity mapping, with what its expression gives.
struct MappedLink {
    let mapping: RunningMapping
    let entity: DestinationEntity
    let name: String
    let position: Int
    let isToMany: Bool
    let isOrdered: Bool
    let destinationEntityName: String
    let inverseName: String?
    /// The relationships of the source that lead to the ends.
    let path: [String]
    /// The mappings whose objects the ends become.
    let targets: [RunningMapping]
    /// The entity numbers that a destination may have, as a list in SQL.
    let numbers: String
    /// Whether the mapping's rows hold keys of source objects.
    let isCarried: Bool
    /// Whether no statement and no other mapping's rows hold the link.
    let isLeftToUs: Bool
    /// Whether the source has many where the destination has one.
    let isNarrowed: Bool
    /// Whether a mapping at the other end gives the inverse too.
    let isMappedElsewhere: Bool
    /// Whether an object at the other end has one owner at most.
    let isInverseToOne: Bool
    /// Whether the rows at the other end hold the links of a to-many, and their own mappings fill them.
    var isHeldByMembers: Bool { isToMany && isInverseToOne && isMappedElsewhere }

    /// Nil for a relationship that the mapping does not fill.
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
        // The pairs of a join table are the statements' where they have a side of it.
        let isPaired = mapping.policy == nil && entity.columns.isManyToMany(position)
        let isBack = Self.isMappedBack(description, from: source, of: mapping, targets, manager)
        isMappedElsewhere = targets.contains { target in
            guard let inverse = description.inverseName else { return false }
            return ![nil, .empty].contains(target.mapping.relationships[inverse])
        }
        isInverseToOne = manager.destinationModel.inverse(of: description)?.isToMany == false
        isLeftToUs = hasPolicy && !(isOwnRow && isCarried) && !isPaired && !isBack
    }

    /// Whether all of the mappings at the other end fill the inverse by the source's inverse, in their own rows or, of
    /// a join table, by statements.
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

    /// The place of the relationship in an object that a policy may have made of another entity; nil if that does not
    /// have it.
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
    /// The entity that a path of relationships leads to; nil if one of them is not there.
    fileprivate func entityName(atEndOf path: [String], from name: String) -> String? {
        path.reduce(Optional(name)) { name, key in
            name.flatMap(entity).flatMap { relationship(key, of: $0) }?.destinationEntityName
        }
    }
}
