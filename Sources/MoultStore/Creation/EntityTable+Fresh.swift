import MoultBasics
import MoultModel

extension EntityTable {
    /// Creates the table that Core Data makes for the tree of entities below `root`.
    init(
        root: EntityDescription, in model: ManagedObjectModel, numbering: EntityNumbering, level: FrameworkLevel,
        keeping stored: PhysicalNames = PhysicalNames()
    ) {
        let tree = numbering.tree(of: root, in: model)
        var names = ColumnNames(taken: ["Z_PK", "Z_ENT", "Z_OPT"])
        // Column names are claimed in the order of the entities; positions follow the groups.
        var groups = [[Column]](repeating: [], count: PlannedColumn.Group.allCases.count)
        for entity in tree {
            for planned in PlannedColumn.columns(declaredBy: entity, in: model, numbering: numbering, keeping: stored) {
                groups[planned.group.rawValue].append(planned.column(named: names.claim(planned.baseName)))
            }
        }
        var columns = [
            Column(name: "Z_PK", type: "INTEGER", role: .primaryKey),
            Column(name: "Z_ENT", type: "INTEGER", role: .entity),
            Column(name: "Z_OPT", type: "INTEGER", role: .optimisticLock),
        ]
        for group in groups { columns += group }
        self.init(
            name: "Z" + root.name.uppercased(), rootEntityName: root.name, columns: columns,
            constraints: level.hasUniqueIndexes ? [] : Self.constraints(of: tree, in: model, columns: columns))
    }

    private static func constraints(
        of tree: [EntityDescription], in model: ManagedObjectModel, columns: [Column]
    ) -> [UniqueConstraint] {
        let byRole = Dictionary(columns.map { ($0.role, $0.name) }, uniquingKeysWith: { first, _ in first })
        var constraints: [UniqueConstraint] = []
        for entity in tree {
            for constraint in entity.uniquenessConstraints {
                let names = constraint.compactMap { property -> String? in
                    guard let declaring = model.declaringEntity(of: property, in: entity)?.name else { return nil }
                    return byRole[.attribute(entity: declaring, name: property)]
                        ?? byRole[.toOne(entity: declaring, name: property)]
                }
                let unique = UniqueConstraint(columns: names)
                if names.count == constraint.count, !names.isEmpty, !constraints.contains(unique) {
                    constraints.append(unique)
                }
            }
        }
        return constraints
    }
}

/// The names in use in one table. The second column with a name gets the suffix 1, the third gets 2.
struct ColumnNames {
    private var taken: Set<String>

    init(taken: Set<String> = []) { self.taken = taken }

    mutating func claim(_ name: String) -> String {
        var candidate = name
        var suffix = 0
        while !taken.insert(candidate).inserted {
            suffix += 1
            candidate = "\(name)\(suffix)"
        }
        return candidate
    }
}

/// A column that an entity contributes to its table, before it has its final name and position.
struct PlannedColumn {
    let baseName: String
    let type: String
    let group: Group
    let role: EntityTable.Column.Role

    /// The groups of columns, in the order of the table.
    enum Group: Int, CaseIterable {
        case integers, orders, floats, decimals, strings, uris, uuids, transformables, binaries
    }

    func column(named name: String) -> EntityTable.Column { EntityTable.Column(name: name, type: type, role: role) }

    /// Returns the columns for an entity's own properties: its attributes by name, then its block of foreign keys.
    static func columns(
        declaredBy entity: EntityDescription, in model: ManagedObjectModel, numbering: EntityNumbering,
        keeping stored: PhysicalNames
    ) -> [PlannedColumn] {
        var columns = attributeColumns(of: entity)
        columns += toOneColumns(of: entity, model, numbering)
        columns += inverselessColumns(into: entity, model, numbering)
        columns += orderColumns(of: entity, model, numbering, stored)
        return columns
    }

    private init(_ baseName: String, _ group: Group, _ role: EntityTable.Column.Role) {
        self.baseName = baseName
        type = "INTEGER"
        self.group = group
        self.role = role
    }

    private init?(_ attribute: AttributeDescription, named leafName: Substring, of entity: EntityDescription) {
        guard attribute.isStored, let type = attribute.type.columnType, let group = attribute.type.group else {
            return nil
        }
        baseName = "Z" + leafName.uppercased()
        self.type = type
        self.group = group
        role = .attribute(entity: entity.name, name: attribute.name)
    }

    /// Returns the columns of an entity's attributes. A leaf of a composite attribute is named by a path, whose last
    /// component names the column.
    private static func attributeColumns(of entity: EntityDescription) -> [PlannedColumn] {
        var columns: [PlannedColumn] = []
        columns.reserveCapacity(entity.attributes.count + entity.relationships.count)
        for attribute in entity.attributes {
            if attribute.type != .composite {
                if let column = PlannedColumn(attribute, named: attribute.name[...], of: entity) {
                    columns.append(column)
                }
                continue
            }
            columns += attribute.leaves.compactMap { leaf in
                PlannedColumn(leaf, named: leaf.name.split(separator: ".").last ?? "", of: entity)
            }
        }
        return columns
    }

    /// Returns a key column for each to-one, by name, followed by a column for the destination's entity number if the
    /// destination has sub-entities.
    private static func toOneColumns(
        of entity: EntityDescription, _ model: ManagedObjectModel, _ numbering: EntityNumbering
    ) -> [PlannedColumn] {
        entity.relationships.filter { !$0.isToMany && !$0.isTransient }.flatMap { relationship -> [PlannedColumn] in
            let name = relationship.name.uppercased()
            let key = PlannedColumn("Z\(name)", .integers, .toOne(entity: entity.name, name: relationship.name))
            guard let destination = model.entity(relationship.destinationEntityName),
                !model.subentities(of: destination).isEmpty, let number = numbering.numbers[destination.name]
            else { return [key] }
            let role = EntityTable.Column.Role.toOneEntity(entity: entity.name, name: relationship.name)
            return [key, PlannedColumn("Z\(number)_\(name)", .integers, role)]
        }
    }

    /// Returns the key columns of to-many relationships without an inverse, which are in the table of the destination.
    private static func inverselessColumns(
        into entity: EntityDescription, _ model: ManagedObjectModel, _ numbering: EntityNumbering
    ) -> [PlannedColumn] {
        numbering.inverselessToManys[entity.name, default: []].flatMap { reference -> [PlannedColumn] in
            let (source, relationship) = (reference.entity, reference.name)
            guard let number = numbering.numbers[source] else { return [] }
            let name = "\(number)\(relationship.uppercased())"
            let key = PlannedColumn("Z\(name)", .integers, .inverselessToMany(entity: source, name: relationship))
            guard model.entity(source)?.relationship(relationship)?.isOrdered == true else { return [key] }
            let role = EntityTable.Column.Role.inverselessOrder(entity: source, name: relationship)
            return [key, PlannedColumn("Z_FOK_\(name)", .integers, role)]
        }
    }

    /// Returns the columns for a row's position in an ordered to-many, the inverse of its to-one. They are sorted by
    /// the number of the destination, then by the inverse's name in descending order, unless the store has another
    /// order.
    private static func orderColumns(
        of entity: EntityDescription, _ model: ManagedObjectModel, _ numbering: EntityNumbering, _ stored: PhysicalNames
    ) -> [PlannedColumn] {
        let ordered = entity.relationships.filter { !$0.isToMany && !$0.isTransient }
            .compactMap { relationship -> (relationship: RelationshipDescription, number: Int, inverse: String)? in
                guard let inverse = model.inverse(of: relationship), inverse.isToMany, inverse.isOrdered else {
                    return nil
                }
                return (relationship, numbering.numbers[relationship.destinationEntityName] ?? 0, inverse.name)
            }
        let fresh = ordered.sorted {
            $0.number == $1.number ? $1.inverse.precedesInByteOrder($0.inverse) : $0.number < $1.number
        }
        let positions = fresh.map {
            stored.orderPositions[RelationshipReference(entity: entity.name, name: $0.relationship.name)] ?? .max
        }
        return fresh.enumerated().sorted {
            (positions[$0.offset], $0.offset) < (positions[$1.offset], $1.offset)
        }.map(\.element).map {
            PlannedColumn(
                "Z_FOK_\($0.relationship.name.uppercased())", .orders,
                .order(entity: entity.name, name: $0.relationship.name))
        }
    }
}

extension AttributeType {
    fileprivate var group: PlannedColumn.Group? {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: .integers
        case .double, .float, .date: .floats
        case .decimal: .decimals
        case .string: .strings
        case .uri: .uris
        case .uuid: .uuids
        case .transformable: .transformables
        case .binary: .binaries
        case .undefined, .objectID, .composite: nil
        }
    }
}

extension RelationshipDescription {
    /// Whether the relationship has no inverse and keeps its key in a separate column of the destination's table.
    var isInverselessToMany: Bool { isToMany && !isTransient && inverseName == nil }
}
