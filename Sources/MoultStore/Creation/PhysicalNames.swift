import MoultBasics
import MoultModel
import MoultPlan

/// The names that a store has chosen where the model leaves them open.
///
/// These are the relationship that names a join table, the suffixed one of two clashing columns, and the order of the
/// position columns. No rule for them is known, so the choices of an existing store are kept.
struct PhysicalNames: Sendable, Equatable {
    /// The relationships that name a join table between two relationships of one entity.
    var owners: Set<RelationshipReference> = []
    /// The suffix of each relationship's key column in a join table; 0 for none.
    var suffixes: [RelationshipReference: Int] = [:]
    /// The index of each to-one relationship's position column in the entity's table.
    var orderPositions: [RelationshipReference: Int] = [:]
    /// The relationships in ``owners`` whose entity had other properties when the table was named.
    var uncertain: Set<RelationshipReference> = []
    /// The relationships whose columns clash in a different way than before, in a store that does not number such
    /// columns by name.
    private(set) var uncertainColumns: [[RelationshipReference]] = []

    /// Reads the names from an existing store.
    init(of layout: StoreLayout) {
        for join in layout.joinTables {
            if join.isWithinOneEntity { owners.insert(join.owner) }
            for (reference, suffix) in join.suffixes { suffixes[reference] = suffix }
        }
        for table in layout.tables {
            for (position, column) in table.columns.enumerated() {
                guard case .order(let entity, let name) = column.role else { continue }
                orderPositions[RelationshipReference(entity: entity, name: name)] = position
            }
        }
    }

    /// Creates the empty set of choices of a new store.
    init() {}

    /// Returns whether Core Data may look for the table under the name of the other relationship.
    func isUncertain(_ join: JoinTable) -> Bool {
        join.isWithinOneEntity && (!owners.contains(join.owner) || uncertain.contains(join.owner))
    }

    /// Returns the same choices for the destination of a mapping, whose relationships may have other names.
    ///
    /// The choices are always kept. They are certain if the entity has the same properties as before.
    func carried(by mapping: ResolvedMapping, from source: ManagedObjectModel, to destination: ManagedObjectModel)
        -> PhysicalNames
    {
        var names = PhysicalNames()
        var formers: [RelationshipReference: RelationshipReference] = [:]
        for entity in mapping.entityMappings {
            guard let from = entity.sourceEntityName.flatMap(source.entity),
                let to = entity.destinationEntityName.flatMap(destination.entity)
            else { continue }
            let isUnchanged = source.propertyKinds(of: from) == destination.propertyKinds(of: to)
            let earlier = Set(source.relationships(of: from).map(\.name))
            for relationship in destination.relationships(of: to) {
                let name = relationship.name
                guard let former = entity.formerName(of: name, in: earlier),
                    let old = source.declaringEntity(of: former, in: from)?.name,
                    let new = destination.declaringEntity(of: name, in: to)?.name
                else { continue }
                let before = RelationshipReference(entity: old, name: former)
                let after = RelationshipReference(entity: new, name: name)
                formers[after] = before
                if owners.contains(before) { names.owners.insert(after) }
                // The declaring entity decides, not an entity that inherits the relationships.
                if owners.contains(before), !isUnchanged, to.name == new { names.uncertain.insert(after) }
                if let suffix = suffixes[before] { names.suffixes[after] = suffix }
                if let position = orderPositions[before] { names.orderPositions[after] = position }
            }
        }
        names.forgetClashes(source, destination, formers, in: self)
        return names
    }

    /// Removes the suffixes of columns whose clashes have changed; Core Data names these as in a new store.
    private mutating func forgetClashes(
        _ source: ManagedObjectModel, _ destination: ManagedObjectModel,
        _ formers: [RelationshipReference: RelationshipReference], in store: PhysicalNames
    ) {
        let before = source.entities.flatMap { JoinTable.endsByColumnName(of: $0, in: source) }
        for family in destination.entities.flatMap({ JoinTable.endsByColumnName(of: $0, in: destination) }) {
            let former = Set(family.compactMap { formers[$0] })
            guard former.count < family.count || !before.contains(where: { Set($0) == former }) else { continue }
            for reference in family { suffixes[reference] = nil }
            let isNumberedOtherwise = before.contains { earlier in
                let numbers = earlier.compactMap { store.suffixes[$0] }
                return !former.isDisjoint(with: earlier) && numbers != numbers.sorted()
            }
            if family.count > 1, isNumberedOtherwise { uncertainColumns.append(family) }
        }
        let lists = Dictionary(grouping: source.entities.flatMap { $0.listedToOnes(in: source) }, by: \.entity)
        for (_, ends) in Dictionary(
            grouping: destination.entities.flatMap { $0.listedToOnes(in: destination) }, by: \.entity)
        {
            let former = Set(ends.compactMap { formers[$0] })
            guard former.count < ends.count || !lists.values.contains(where: { Set($0) == former }) else { continue }
            for reference in ends { orderPositions[reference] = nil }
        }
    }

    /// Findings for columns of clashing relationships, whose naming rule is not known.
    var columnFindings: [Finding] {
        uncertainColumns.map { family in
            let names = family.map(\.place).joined(separator: " and ")
            return Finding(
                code: "join-name-uncertain", severity: .warning, place: family[0].place,
                message:
                    "It is not known which suffixes the join table columns of \(names) get: the store does not number "
                    + "them by name, and the relationships whose columns would have one name change. Moult numbers them by "
                    + "name. Core Data may expect other names.",
                remedy:
                    "Open the store with Core Data once and check these relationships before you ship it. No rows are lost."
            )
        }
    }
}

extension JoinTable {
    /// Whether the table joins two relationships of the same entity.
    var isWithinOneEntity: Bool {
        let ends = relationships
        return ends.count == 2 && ends[0].entity == ends[1].entity
    }

    /// The suffix of each relationship's key column: in `Z_17USERS1` it is 1 if the inverse is `users`.
    fileprivate var suffixes: [(RelationshipReference, Int)] {
        let ends = relationships
        guard ends.count == 2 else { return [] }
        return zip(ends, ends.reversed()).compactMap { reference, inverse in
            guard let column = column(.source(reference))?.uppercased() else { return nil }
            let numbered = column.dropFirst(2).drop { $0.isASCII && $0.isNumber }
            let suffix = numbered.dropFirst(inverse.name.uppercased().count)
            return numbered.hasPrefix(inverse.name.uppercased()) ? (reference, Int(suffix) ?? 0) : nil
        }
    }

    /// Returns the finding that no rule for the table's name is known.
    ///
    /// - Parameter isKept: whether the name comes from the store.
    func uncertainty(isKept: Bool) -> Finding {
        let other = relationships.first { $0 != owner }?.name ?? ""
        let reason =
            isKept
            ? "it keeps the orientation in the store, although the properties of \(owner.entity) change"
            : "Moult uses the greater name"
        return Finding(
            code: "join-name-uncertain", severity: .warning, place: owner.place,
            message: "It is not known whether \(owner.name) or \(other) names their join table: \(reason) (\(name)). "
                + "Core Data may expect the other name.",
            remedy:
                "Open the store with Core Data once and check both relationships before you ship it. No rows are lost."
        )
    }
}

extension EntityDescription {
    /// Returns the to-one relationships declared by the entity whose inverse is an ordered to-many.
    fileprivate func listedToOnes(in model: ManagedObjectModel) -> [RelationshipReference] {
        relationships.filter { relationship in
            guard !relationship.isToMany, !relationship.isTransient, let inverse = model.inverse(of: relationship)
            else { return false }
            return inverse.isToMany && inverse.isOrdered
        }.map { RelationshipReference(entity: name, name: $0.name) }
    }
}

extension ManagedObjectModel {
    /// Returns the facts that determine the names: every property of an entity, including inherited ones, with its
    /// kind.
    fileprivate func propertyKinds(of entity: EntityDescription) -> Set<[String]> {
        let attributes = attributes(of: entity).map { [$0.name, "attribute", $0.isTransient ? "transient" : ""] }
        let relationships = relationships(of: entity).map {
            [$0.name, $0.isToMany ? "to-many" : "to-one", $0.isTransient ? "transient" : ""]
        }
        return Set(attributes + relationships)
    }
}

extension ResolvedEntityMapping {
    /// Returns the source relationship that a destination relationship continues: the one that fills it, or else the
    /// one with the same name, which a policy may use to fill it.
    fileprivate func formerName(of name: String, in relationships: Set<String>) -> String? {
        switch self.relationships[name] {
        case .relationship(let former): return former
        case .path(let path, _) where path.count == 1: return path[0]
        case .path, .empty, nil: return relationships.contains(name) ? name : nil
        }
    }
}
