import MoultModel
import MoultPlan
import MoultSQLite

extension StoreLowering {
    /// The pairs that fill a relationship of the destination, seen from its owner: its own source's, or where it has
    /// none, its inverse's.
    func pairs(for name: String, of contribution: Contribution) -> RelationshipPairs? {
        if let own = ownPairs(for: name, of: contribution) { return own }
        guard let relationship = destination.model.relationship(name, of: contribution.destination),
            let inverse = relationship.inverseName
        else { return nil }
        return pairs(ofInverse: inverse, in: relationship.destinationEntityName).flatMap {
            onRow($0.flipped, contribution)
        }
    }

    /// The pairs that the mapping gives the relationship itself; nil where it leaves it to its inverse.
    private func ownPairs(for name: String, of contribution: Contribution) -> RelationshipPairs? {
        // A policy makes the links of its objects.
        if contribution.mapping.policy != nil { return nil }
        switch contribution.mapping.relationships[name] {
        case .relationship(let old): return RelationshipPairs(old, of: contribution.source, in: source)
        case .path(let keys, let name):
            let entity = name.flatMap { mapping.mapping(named: $0)?.sourceEntityName }
            return RelationshipPath(keys, of: contribution.source, to: entity, in: source).map(RelationshipPairs.init)
        case .empty, nil: return nil
        }
    }

    /// The pairs, unless they lie in rows of another table than the contribution's.
    private func onRow(_ pairs: RelationshipPairs, _ contribution: Contribution) -> RelationshipPairs? {
        pairs.row == .owner && pairs.table != source.table(for: contribution.source)?.name ? nil : pairs
    }

    /// The pairs that fill the relationship `name` of the destination's entity, by whichever of its entities maps it.
    private func pairs(ofInverse name: String, in entityName: String) -> RelationshipPairs? {
        guard let entity = destination.model.entity(entityName) else { return nil }
        return contributions.lazy
            .filter { destination.model.isKind($0.destination, of: entity) }
            .compactMap { ownPairs(for: name, of: $0) }.first
    }

    /// The pairs that fill a relationship which `entity` of the destination declares, over all entities that have it,
    /// each with the source numbers of the owners it is for.
    func pairsByOwners(of reference: RelationshipReference) -> [(pairs: RelationshipPairs, owners: [Int])] {
        guard let entity = destination.model.entity(reference.entity) else { return [] }
        var order: [RelationshipPairs] = []
        var owners: [RelationshipPairs: [Int]] = [:]
        for contribution in carriers where destination.model.isKind(contribution.destination, of: entity) {
            guard let pairs = pairs(for: reference.name, of: contribution) else { continue }
            if owners[pairs] == nil { order.append(pairs) }
            owners[pairs, default: []].append(contribution.sourceNumber)
        }
        return order.map { ($0, owners[$0, default: []]) }
    }

    /// The entity number of the object with key `key` of the source entity `entity`, as SQL.
    func entityNumber(ofKey key: String, in entity: String) -> String {
        guard let table = source.table(forEntity: entity) else { return "NULL" }
        return "(SELECT t.Z_ENT FROM source.\(table.name.quotedName) AS t WHERE t.Z_PK = \(key))"
    }

    /// The condition that the destination of a pair is carried over to `destinationEntity`; nil where all are. The
    /// pair is a row called `alias`.
    func condition(_ pairs: RelationshipPairs, fits destinationEntity: String, alias: String = "p") -> String? {
        numbersThatFit(sourceEntity: pairs.destinationEntity, destinationEntity: destinationEntity).map { numbers in
            let key = "\(alias).\(pairs.destinationColumn.quotedName)"
            return "\(entityNumber(ofKey: key, in: pairs.destinationEntity)) IN (\(numbers.sqlList))"
        }
    }
}

// MARK: - Columns of a row

extension StoreLowering {
    /// The key of a to-one relationship's destination.
    func toOneKey(_ name: String, _ contribution: Contribution) -> String {
        guard let pairs = pairs(for: name, of: contribution),
            let relationship = destination.model.relationship(name, of: contribution.destination)
        else { return "NULL" }
        let key = key(pairs, fits: relationship.destinationEntityName)
        return agreed(key, key: key, pairs, of: relationship, contribution)
    }

    /// The first destination of the pairs, or NULL where that is not carried over to `destinationEntity`.
    func key(_ pairs: RelationshipPairs, fits destinationEntity: String) -> String {
        let key = pairs.value(pairs.destinationColumn, filter: condition(pairs, fits: destinationEntity))
        guard pairs.row == .owner, let onRow = condition(pairs, fits: destinationEntity, alias: "s") else { return key }
        return "CASE WHEN \(onRow) THEN \(key) END"
    }

    /// The entity number of a to-one relationship's destination, in the destination's numbering.
    func toOneEntity(_ name: String, _ contribution: Contribution) -> String {
        guard let pairs = pairs(for: name, of: contribution),
            let relationship = destination.model.relationship(name, of: contribution.destination)
        else { return "NULL" }
        let key = key(pairs, fits: relationship.destinationEntityName)
        let number = agreed(
            sourceEntityNumber(pairs, contribution, fits: relationship.destinationEntityName), key: key, pairs,
            of: relationship, contribution)
        let fitting = numbersThatFit(
            sourceEntity: pairs.destinationEntity, destinationEntity: relationship.destinationEntityName)
        let candidates =
            fitting ?? source.model.entity(pairs.destinationEntity).map(source.numbers(ofEntityAndDescendants:)) ?? []
        return renumbered(
            number, candidates: candidates, by: numberMap(into: relationship.destinationEntityName),
            mayPassThrough: fitting == nil)
    }

    /// A source entity number as the destination's; the value itself where no number changes.
    func renumbered(_ number: String, candidates: [Int], by map: [Int: Int], mayPassThrough: Bool) -> String {
        if mayPassThrough && candidates.allSatisfy({ map[$0] == nil || map[$0] == $0 }) { return number }
        let cases = candidates.compactMap { old in map[old].map { " WHEN \(old) THEN \($0)" } }
        return cases.isEmpty ? "NULL" : "CASE \(number)\(cases.joined()) END"
    }

    private func sourceEntityNumber(
        _ pairs: RelationshipPairs, _ contribution: Contribution, fits destinationEntity: String
    ) -> String {
        if pairs.row == .owner, let table = source.tables.first(where: { $0.name == pairs.table }),
            let column = table.entityColumn(besideKey: pairs.destinationColumn)
        {
            return "s.\(column.quotedName)"
        }
        let key = pairs.value(
            pairs.destinationColumn, filter: condition(pairs, fits: destinationEntity))
        return entityNumber(ofKey: key, in: pairs.destinationEntity)
    }

    /// The place of a row in the ordered list that is the inverse of its to-one relationship; nil where the source
    /// holds no order, so that one has to be made.
    func toOneOrder(_ name: String, _ contribution: Contribution) -> String? {
        guard let pairs = pairs(for: name, of: contribution), let column = pairs.destinationOrderColumn,
            let relationship = destination.model.relationship(name, of: contribution.destination)
        else { return nil }
        return pairs.value(column, filter: condition(pairs, fits: relationship.destinationEntityName))
    }

    /// The pairs of a to-many relationship without inverse, seen from its destination, whose row holds the key.
    func inverselessPairs(_ reference: RelationshipReference, _ contribution: Contribution) -> RelationshipPairs? {
        pairsByOwners(of: reference).lazy.compactMap { onRow($0.pairs.flipped, contribution) }.first
    }
}

extension EntityTable {
    /// The column with the entity number of the object whose key is in `column`.
    func entityColumn(besideKey column: String) -> String? {
        guard case .toOne(let entity, let name)? = columns.first(where: { $0.name == column })?.role else { return nil }
        return self.column(.toOneEntity(entity: entity, name: name))
    }
}
