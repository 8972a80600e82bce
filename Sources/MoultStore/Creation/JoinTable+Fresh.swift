import MoultBasics
import MoultModel

extension JoinTable {
    /// Returns the join tables Core Data creates for a model, in the order of their owners' numbers.
    ///
    /// - Parameter stored: the names chosen by an existing store.
    static func all(
        of model: ManagedObjectModel, numbering: EntityNumbering, keeping stored: PhysicalNames = PhysicalNames()
    ) -> [JoinTable] {
        let columnNames = keyColumnNames(of: model, numbering: numbering, keeping: stored)
        var tables: [JoinTable] = []
        for entity in numbering.entities {
            // In descending order by name, as observed in stores that have several.
            for relationship in entity.relationships.reversed() {
                let reference = RelationshipReference(entity: entity.name, name: relationship.name)
                guard let inverse = manyToManyInverse(of: relationship, in: model),
                    owns(reference, over: inverse, in: model, keeping: stored)
                else { continue }
                tables.append(JoinTable(reference, inverse, model: model, numbering: numbering, names: columnNames))
            }
        }
        return tables
    }

    /// Returns the other end of a many-to-many relationship, with the entity that declares it; nil for any other
    /// relationship.
    private static func manyToManyInverse(of relationship: RelationshipDescription, in model: ManagedObjectModel)
        -> RelationshipReference?
    {
        guard relationship.isToMany, !relationship.isTransient, let inverse = model.inverse(of: relationship),
            inverse.isToMany, let destination = model.entity(relationship.destinationEntityName),
            let declaring = model.declaringEntity(of: inverse.name, in: destination)
        else { return nil }
        return RelationshipReference(entity: declaring.name, name: inverse.name)
    }

    /// Returns whether `reference` names the join table rather than its inverse. The owner is the entity whose name, or
    /// the name of a sub-entity, comes first in byte order; of an entity and its ancestor, the one whose own name comes
    /// first. Within one entity, the owner is the relationship that owns the table in the store, or else the one with
    /// the greater name.
    private static func owns(
        _ reference: RelationshipReference, over inverse: RelationshipReference, in model: ManagedObjectModel,
        keeping stored: PhysicalNames
    ) -> Bool {
        if reference.entity == inverse.entity {
            let isGreater = !reference.name.precedesInByteOrder(inverse.name)
            let (isOwner, isOwned) = (stored.owners.contains(reference), stored.owners.contains(inverse))
            return isOwner == isOwned ? isGreater : isOwner
        }
        let own = smallestName(atOrBelow: reference.entity, in: model)
        let other = smallestName(atOrBelow: inverse.entity, in: model)
        return own == other ? reference.entity.precedesInByteOrder(inverse.entity) : own.precedesInByteOrder(other)
    }

    private static func smallestName(atOrBelow name: String, in model: ManagedObjectModel) -> String {
        let below = model.entity(name).map { model.descendants(of: $0).map(\.name) } ?? []
        return below.reduce(name) { $1.precedesInByteOrder($0) ? $1 : $0 }
    }

    /// Returns the key column of each relationship's own object, which is named after the inverse. Two such names in
    /// one entity may clash. The column that has the suffix in the store keeps it; otherwise the second relationship by
    /// name gets it.
    private static func keyColumnNames(
        of model: ManagedObjectModel, numbering: EntityNumbering, keeping stored: PhysicalNames
    ) -> [RelationshipReference: String] {
        var columns: [RelationshipReference: String] = [:]
        for entity in numbering.entities {
            var names = ColumnNames()
            let number = numbering.numbers[entity.name] ?? 0
            let ends = entity.relationships.enumerated().compactMap { position, relationship in
                manyToManyInverse(of: relationship, in: model).map { inverse in
                    (position, RelationshipReference(entity: entity.name, name: relationship.name), inverse)
                }
            }
            let sorted = ends.sorted { left, right in
                let (first, second) = (stored.suffixes[left.1] ?? .max, stored.suffixes[right.1] ?? .max)
                return first == second ? left.0 < right.0 : first < second
            }
            for (_, reference, inverse) in sorted {
                columns[reference] = names.claim("Z_\(number)\(inverse.name.uppercased())")
            }
        }
        return columns
    }

    /// Returns the many-to-many relationships declared by an entity, grouped by the name their key columns share, in
    /// the order in which a new store numbers them.
    static func endsByColumnName(of entity: EntityDescription, in model: ManagedObjectModel)
        -> [[RelationshipReference]]
    {
        var groups: [(name: String, ends: [RelationshipReference])] = []
        for relationship in entity.relationships {
            guard let inverse = manyToManyInverse(of: relationship, in: model) else { continue }
            let reference = RelationshipReference(entity: entity.name, name: relationship.name)
            let name = inverse.name.uppercased()
            if let place = groups.firstIndex(where: { $0.name == name }) {
                groups[place].ends.append(reference)
            } else {
                groups.append((name, [reference]))
            }
        }
        return groups.map(\.ends)
    }

    private init(
        _ owner: RelationshipReference, _ inverse: RelationshipReference, model: ManagedObjectModel,
        numbering: EntityNumbering, names: [RelationshipReference: String]
    ) {
        let isReflexive = owner == inverse
        let first = names[owner] ?? ""
        let second = isReflexive ? "REFLEXIVE" : names[inverse] ?? ""
        var columns = [
            Column(name: first, role: .source(owner)),
            Column(name: second, role: isReflexive ? .reflexiveDestination(owner) : .source(inverse)),
        ]
        // The position column is named after the key column of the objects in the list: the other one, or, where a
        // relationship is its own inverse, the first.
        if !isReflexive, model.isOrdered(inverse) {
            columns.append(Column(name: "Z_FOK_\(first.dropFirst(2))", role: .order(inverse)))
        }
        if model.isOrdered(owner) {
            let name = isReflexive ? "Z_FOK_\(first.dropFirst(2))" : "Z_FOK_\(second.dropFirst(2))"
            columns.append(Column(name: name, role: .order(owner)))
        }
        let number = numbering.numbers[owner.entity] ?? 0
        self.init(name: "Z_\(number)\(owner.name.uppercased())", owner: owner, columns: columns)
    }
}

extension ManagedObjectModel {
    fileprivate func isOrdered(_ reference: RelationshipReference) -> Bool {
        entity(reference.entity)?.relationship(reference.name)?.isOrdered ?? false
    }
}
