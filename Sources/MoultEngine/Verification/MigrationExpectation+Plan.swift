import MoultModel
import MoultPlan
import MoultStore
import MoultVerify

extension MigrationExpectation {
    /// Derives the data that a plan must carry over from the models and the mapping alone, independently of the
    /// statements. Expects nothing of objects that policies make.
    ///
    /// - Parameter own: the app's own columns, by each table that stays.
    init(_ plan: BoundPlan, keeping own: [String: [String]]) {
        self.init()
        self.own = own.filter { !$0.value.isEmpty }.map(Own.init).sorted { $0.table < $1.table }
        let plan = ExpectedPlan(plan)
        var byTables: [String: Rows] = [:]
        for (position, mapping) in plan.mapping.entityMappings.enumerated() {
            guard mapping.policy == nil else {
                if let name = mapping.destinationEntityName { open.insert(name) }
                continue
            }
            guard let from = mapping.sourceEntityName, let old = plan.source.model.entity(from),
                let number = plan.source.entityNumbers[from], let table = plan.source.table(for: old)?.name
            else { continue }
            guard let to = mapping.destinationEntityName, let new = plan.destination.model.entity(to),
                let newNumber = plan.destination.entityNumbers[to],
                let newTable = plan.destination.table(for: new)?.name
            else {
                removed.append((name: from, number: number, table: table))
                continue
            }
            let entity = Entity(
                sourceName: from, sourceNumber: number, name: to, number: newNumber,
                columns: Self.columns(mapping, old, new, plan), isPicked: mapping.predicate != nil)
            let shift = plan.plan.keyShifts[position]
            // Rows selected by a condition are counted separately; several conditions with the same target are counted
            // together.
            let group = mapping.predicate == nil ? "" : " \(from) \(to)"
            let key = "\(table) \(newTable) \(shift)\(group)"
            if mapping.predicate != nil, byTables[key]?.entities.isEmpty == false {
                byTables[key]?.entities[0].alternatives.append(entity.columns)
            } else {
                byTables[key, default: Rows(sourceTable: table, table: newTable, entities: [], keyShift: shift)]
                    .entities.append(entity)
            }
            pairs += Self.pairs(mapping, old, new, plan)
        }
        rows = byTables.sorted { $0.key < $1.key }.map(\.value)
        var seen: Set<[Pairs.Place]> = []
        let bySource = Dictionary(grouping: rows, by: \.sourceTable)
        let byDestination = Dictionary(grouping: rows, by: \.table)
        let shrinking = Set(removed.map(\.table))
        pairs = pairs.filter { pairs in
            guard seen.insert([pairs.source, pairs.destination]).inserted else { return false }
            let (source, destination) = (pairs.source.table, pairs.destination.table)
            return shrinking.contains(source)
                || !isCompared(pairs, by: (bySource[source] ?? []) + (byDestination[destination] ?? []))
        }
    }

    /// Whether the pairs are a column that is compared row by row for every row of its table: then exactly these pairs
    /// exist.
    ///
    /// - Parameter compared: the columns compared in both tables.
    private func isCompared(_ pairs: Pairs, by compared: [Rows]) -> Bool {
        let (source, destination) = (pairs.source, pairs.destination)
        let column: Column
        switch (source.owner, source.destination, destination.owner, destination.destination) {
        case ("Z_PK", let before, "Z_PK", let after), (let before, "Z_PK", let after, "Z_PK"):
            column = Column(source: before, destination: after)
        default: return false
        }
        return open.isEmpty && !compared.isEmpty
            && compared.allSatisfy { rows in
                rows.sourceTable == source.table && rows.table == destination.table && rows.keyShift == 0
                    && rows.entities.allSatisfy { entity in
                        !entity.isPicked && entity.alternatives.isEmpty && entity.columns.contains(column)
                    }
            }
    }

    /// Returns the attributes whose stored form stays, and `Z_OPT`, which counts only the app's writes.
    private static func columns(
        _ mapping: ResolvedEntityMapping, _ old: EntityDescription, _ new: EntityDescription, _ plan: ExpectedPlan
    ) -> [Column] {
        var columns = [Column(source: "Z_OPT", destination: "Z_OPT")]
        for (name, value) in mapping.attributes {
            guard case .attribute(let from, let substitute) = value, substitute == nil,
                let before = plan.source.model.attribute(from, of: old),
                let after = plan.destination.model.attribute(name, of: new),
                before.allowsExternalBinaryDataStorage == after.allowsExternalBinaryDataStorage,
                let source = plan.source.column(forAttribute: from, in: old),
                let destination = plan.destination.column(forAttribute: name, in: new)
            else { continue }
            columns.append(Column(source: source, destination: destination))
        }
        return columns + keys(mapping, old, new, plan).map { Column(source: $0.source, destination: $0.destination) }
    }

    /// Returns the to-one keys that stay in their rows. None if objects are left out, because a key may then be dropped
    /// too; none whose inverse becomes to-one, which keeps one of many.
    private static func keys(
        _ mapping: ResolvedEntityMapping, _ old: EntityDescription, _ new: EntityDescription, _ plan: ExpectedPlan
    ) -> [(name: String, source: String, destination: String)] {
        guard plan.keepsObjects, !plan.losesObjects else { return [] }
        return mapping.relationships.compactMap { name, value in
            guard case .relationship(let from) = value, !isByPolicy(name, of: new, plan),
                case .foreignKey(_, let source, _)? = plan.source.storage(ofRelationship: from, in: old),
                case .foreignKey(_, let destination, _)? = plan.destination.storage(ofRelationship: name, in: new),
                !narrowsInverse(from, of: old, to: name, of: new, plan)
            else { return nil }
            return (name, source, destination)
        }
    }

    private static func pairs(
        _ mapping: ResolvedEntityMapping, _ old: EntityDescription, _ new: EntityDescription, _ plan: ExpectedPlan
    ) -> [Pairs] {
        guard plan.keepsObjects || plan.shiftsObjects else { return [] }
        let compared = Set(keys(mapping, old, new, plan).map(\.name))
        return mapping.relationships.compactMap { name, value in
            guard !compared.contains(name), case .relationship(let from) = value, !isByPolicy(name, of: new, plan),
                let before = plan.source.model.relationship(from, of: old),
                let after = plan.destination.model.relationship(name, of: new),
                let source = place(of: from, in: old, plan.source),
                let destination = place(of: name, in: new, plan.destination),
                let ownerTable = plan.destination.table(for: new)?.name,
                let target = plan.destination.table(forEntity: after.destinationEntityName)?.name
            else { return nil }
            // Objects that the new destination entity does not hold are left out, as the plan has reported.
            let isNarrowed =
                before.isToMany && !after.isToMany || narrowsInverse(from, of: old, to: name, of: new, plan)
            return Pairs(
                place: "\(new.name).\(name)", source: source, destination: destination, ownerTable: ownerTable,
                destinationTable: target, isLossy: isNarrowed, ownerShifts: shifts(from: old, to: new, plan),
                destinationShifts: plan.source.model.entity(before.destinationEntityName).flatMap { old in
                    plan.destination.model.entity(after.destinationEntityName).flatMap { new in
                        shifts(from: old, to: new, plan)
                    }
                })
        }
    }

    /// Returns the numbers added to the keys of the objects in the tables of two entities; nil if all keys are kept.
    private static func shifts(from old: EntityDescription, to new: EntityDescription, _ plan: ExpectedPlan)
        -> Pairs.KeyShifts?
    {
        guard !plan.keepsKeys, let sourceTable = plan.source.table(for: old)?.name,
            let table = plan.destination.table(for: new)?.name
        else { return nil }
        let shifts = Pairs.KeyShifts(
            sourceTable: sourceTable, table: table, bySource: plan.shiftsBySource[sourceTable] ?? [:],
            byDestination: plan.shiftsByDestination[table] ?? [:])
        let isKept = [shifts.bySource, shifts.byDestination].allSatisfy { $0.values.allSatisfy { $0 == 0 } }
        return isKept ? nil : shifts
    }

    /// Whether a policy makes objects of either end's entity: links then lead to the policy's objects.
    private static func isByPolicy(_ name: String, of entity: EntityDescription, _ plan: ExpectedPlan) -> Bool {
        let model = plan.destination.model
        let ends = [entity.name, model.relationship(name, of: entity)?.destinationEntityName].compactMap {
            $0.flatMap(model.entity)
        }
        return plan.madeByPolicies.contains { made in
            ends.contains { model.isKind(made, of: $0) || model.isKind($0, of: made) }
        }
    }

    /// Whether many objects could lead to one destination before, but at most one can after.
    private static func narrowsInverse(
        _ oldName: String, of old: EntityDescription, to newName: String, of new: EntityDescription,
        _ plan: ExpectedPlan
    ) -> Bool {
        guard let before = plan.source.model.relationship(oldName, of: old),
            let after = plan.destination.model.relationship(newName, of: new)
        else { return false }
        return plan.destination.model.isTakenOnce(by: after) && !plan.source.model.isTakenOnce(by: before)
    }

    private static func place(of name: String, in entity: EntityDescription, _ layout: StoreLayout) -> Pairs.Place? {
        switch layout.storage(ofRelationship: name, in: entity) {
        case .foreignKey(let table, let column, _): Pairs.Place(table: table, owner: "Z_PK", destination: column)
        case .inverseForeignKey(let table, let column, _, _), .inverseless(let table, let column, _):
            Pairs.Place(table: table, owner: column, destination: "Z_PK")
        case .joinTable(let table, let own, let other, _, _, _):
            Pairs.Place(table: table, owner: own, destination: other)
        case nil: nil
        }
    }
}

/// A plan, with the properties of all its mappings that every relationship depends on.
private struct ExpectedPlan {
    let plan: BoundPlan
    /// Whether every link leads to an object that has kept its key; otherwise links are followed in memory
    /// (``MappingVerification``).
    let keepsObjects: Bool
    /// Whether every object becomes one object whose new key follows from its entity, because an entity moves to
    /// another hierarchy.
    let shiftsObjects: Bool
    let losesObjects: Bool
    let keepsKeys: Bool
    /// The numbers added to the keys of each entity's objects, by the tables of either store.
    private(set) var shiftsBySource: [String: [Int: Int64]] = [:]
    private(set) var shiftsByDestination: [String: [Int: Int64]] = [:]
    /// The entities of the destination whose objects are made by policies.
    let madeByPolicies: [EntityDescription]

    init(_ plan: BoundPlan) {
        let mappings = plan.mapping.entityMappings
        self.plan = plan
        keepsKeys = plan.keepsKeys
        keepsObjects = keepsKeys && mappings.allSatisfy { $0.predicate == nil }
        losesObjects = mappings.contains { $0.destinationEntityName == nil }
        madeByPolicies = mappings.filter { $0.policy != nil }.compactMap {
            $0.destinationEntityName.flatMap(plan.destination.model.entity)
        }
        let carried = mappings.filter { $0.sourceEntityName != nil && $0.destinationEntityName != nil }
        shiftsObjects =
            carried.allSatisfy { mapping in
                mapping.predicate == nil && mapping.policy == nil
                    && mapping.relationships.values.allSatisfy { if case .path = $0 { false } else { true } }
            } && Set(carried.map(\.sourceEntityName)).count == carried.count
            && Set(carried.map(\.destinationEntityName)).count == carried.count
        guard !keepsKeys else { return }
        for (mapping, shift) in zip(mappings, plan.keyShifts) {
            guard let from = mapping.sourceEntityName, let to = mapping.destinationEntityName else { continue }
            if let table = plan.source.table(forEntity: from)?.name, let number = plan.source.entityNumbers[from] {
                shiftsBySource[table, default: [:]][number] = shift
            }
            if let table = plan.destination.table(forEntity: to)?.name, let number = plan.destination.entityNumbers[to]
            {
                shiftsByDestination[table, default: [:]][number] = shift
            }
        }
    }

    var mapping: ResolvedMapping { plan.mapping }
    var source: StoreLayout { plan.source }
    var destination: StoreLayout { plan.destination }
}
