import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite

// Losses of data that is migrated for some of the objects only.

extension LossCount {
    /// Returns the losses of properties that some of an entity's mappings migrate, while others, which take other
    /// objects, do not.
    func partlyCarried() throws -> [MigrationLoss] {
        let groups = Dictionary(grouping: contributions, by: \.source.name)
        return try groups.inByteOrder { $0.key }.flatMap { name, all -> [MigrationLoss] in
            guard all.count > 1, all.allSatisfy({ $0.values.condition != nil }),
                !lowering.carriers.contains(where: { $0.source.name == name && $0.mapping.policy != nil })
            else { return [] }
            let carried = all.map { $0.mapping.carried(from: source.model) }
            return try source.model.leaves(of: all[0].source).compactMap { leaf -> MigrationLoss? in
                guard leaf.isStored, leaf.derivation == nil else { return nil }
                let carriers = carried.map { $0.contains(PropertyPlace(name, leaf.name)) }
                guard carriers.contains(true), carriers.contains(false) else { return nil }
                return try loss(of: leaf, all, carriers)
            }
        }
    }

    private func loss(
        of leaf: AttributeDescription, _ all: [StoreLowering.RowSource], _ isCarrier: [Bool]
    ) throws -> MigrationLoss? {
        guard let column = source.column(forAttribute: leaf.name, in: all[0].source) else { return nil }
        func any(_ wanted: Bool) -> SQLText {
            let conditions = zip(all, isCarrier).filter { $1 == wanted }.compactMap { $0.0.values.condition }
            return "(\(conditions.map { "(\($0))" as SQLText }.conditions(joinedBy: "OR")))"
        }
        var whole = all[0]
        whole.values.takeAll()
        let lost: SQLText = "s.\(name: column) IS NOT NULL AND \(any(true)) IS NOT TRUE AND \(any(false))"
        guard let count = try lowering.count(whole, lost, connection), count > 0 else { return nil }
        let isInBoth = zip(all, isCarrier).contains { contribution, isCarrier in
            !isCarrier && lowering.destination.model.attribute(leaf.name, of: contribution.destination) != nil
        }
        var loss = MigrationLoss(
            .values, isInBoth ? .dropped : .removed, entity: all[0].source.name, property: leaf.name, count: count,
            version: version)
        loss.isInBoth = isInBoth
        return loss
    }

    /// Returns the repeated links between kept objects in a join table without a primary key; one of each is kept.
    func repeated() throws -> [MigrationLoss] {
        try carriedRelationships { new, pairs, contribution in
            guard case .relationship(let old)? = contribution.mapping.relationships[new.name], pairs.row == .neither,
                source.joinTable(named: pairs.table)?.mayRepeat == true,
                let declaring = lowering.destination.model.declaringEntity(of: new.name, in: contribution.destination),
                lowering.destination.joinTables.contains(where: {
                    $0.owner == RelationshipReference(entity: declaring.name, name: new.name)
                }),
                let found = lowering.links(new.name, of: contribution).first,
                let own = source.table(for: contribution.source)?.name
            else { return nil }
            let owner: SQLText = "p.\(name: pairs.ownerColumn)"
            let destination: SQLText = "p.\(name: pairs.destinationColumn)"
            let condition: SQLText = contribution.values.condition.map { " AND (\($0))" } ?? ""
            var stay: [SQLText] = [
                """
                \(owner) IN (SELECT s.Z_PK FROM main.\(table: own) AS s \
                WHERE s.Z_ENT = \(contribution.sourceNumber)\(condition))
                """, "\(destination) IS NOT NULL",
            ]
            if let numbers = lowering.numbers(of: pairs.destinationEntity, carriedBy: found.destinations),
                let table = source.table(forEntity: pairs.destinationEntity)?.name
            {
                stay.append(
                    "\(destination) IN (SELECT Z_PK FROM main.\(table: table) WHERE Z_ENT IN (\(list: numbers)))")
            }
            let count = try connection.integer(
                """
                SELECT COALESCE(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM \(pairs.rows(in: "main")) AS p \
                WHERE \(stay.conditions(joinedBy: "AND")) GROUP BY \(owner), \(destination))
                """)
            return MigrationLoss(
                .links, .repeated, entity: contribution.source.name, property: old, count: count, version: version)
        }
    }

    /// Returns the links to kept objects that are not of the relationship's new destination entity.
    func redirected() throws -> [MigrationLoss] {
        let staying = Set(lowering.carriers.map(\.sourceNumber))
        return try carriedRelationships { new, pairs, contribution in
            guard case .relationship(let old)? = contribution.mapping.relationships[new.name],
                let found = lowering.links(new.name, of: contribution).first,
                let numbers = lowering.numbers(of: pairs.destinationEntity, carriedBy: found.destinations),
                let table = source.table(forEntity: pairs.destinationEntity)?.name,
                let own = source.table(for: contribution.source)?.name
            else { return nil }
            let staying = staying.intersection(source.numbers(inTable: table)).sorted()
            let count = try connection.integer(
                """
                SELECT count(*) FROM \(pairs.rows(in: "main")) AS p \
                JOIN main.\(table: table) AS d ON d.Z_PK = p.\(name: pairs.destinationColumn) \
                WHERE d.Z_ENT IN (\(list: staying)) AND d.Z_ENT NOT IN (\(list: numbers)) \
                AND p.\(name: pairs.ownerColumn) IN (SELECT Z_PK FROM main.\(table: own) WHERE Z_ENT = \(contribution.sourceNumber))
                """)
            return MigrationLoss(
                .links, .redirected, entity: contribution.source.name, property: old, count: count, version: version)
        }
    }
}

extension ResolvedMapping {
    /// Returns the mapping between parts of two models. Entities outside the source's part count as added, those
    /// outside the destination's part as removed.
    package func restricted(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> ResolvedMapping {
        var restricted = self
        restricted.entityMappings = entityMappings.compactMap { mapping in
            let from = mapping.sourceEntityName.flatMap { source.entity($0)?.name }
            let to = mapping.destinationEntityName.flatMap { destination.entity($0)?.name }
            if from == mapping.sourceEntityName, to == mapping.destinationEntityName { return mapping }
            guard let to else {
                return from.map { ResolvedEntityMapping(sourceEntityName: $0, destinationEntityName: nil) }
            }
            guard from == nil else { return mapping }
            return ResolvedEntityMapping(
                sourceEntityName: nil, destinationEntityName: to,
                attributes: mapping.attributes.mapValues { _ in .constant(nil) },
                relationships: mapping.relationships.mapValues { _ in .empty })
        }
        return restricted
    }
}

extension MigrationLoss {
    /// Returns the loss with the place of its entity in the new version, if the entity is there but outside the part
    /// that the store should contain.
    ///
    /// - Parameters:
    ///   - mapping: the mapping between the whole models.
    ///   - target: the whole model of the new version.
    func placed(by mapping: ResolvedMapping, in target: ManagedObjectModel) -> MigrationLoss {
        guard kind == .rows, reason == .removed,
            let heir = mapping.mappings(fromEntity: entityName).compactMap(\.destinationEntityName).first,
            target.entity(heir) != nil
        else { return self }
        var loss = self
        loss.reason = .otherConfiguration
        loss.isInBoth = true
        loss.detail = target.configurations.first { $0.entityNames.contains(heir) }?.name
        return loss
    }
}
