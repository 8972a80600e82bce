import MoultModel

extension EntityTable {
    /// The table Core Data makes for the tree of entities below `root`.
    init(
        root: EntityDescription, in model: ManagedObjectModel, numbering: EntityNumbering, level: FrameworkLevel,
        keeping stored: StoredNames = StoredNames()
    ) {
        let tree = numbering.tree(of: root, in: model)
        var names = ColumnNames(taken: ["Z_PK", "Z_ENT", "Z_OPT"])
        // Names are given in the order of the entities, places by group.
        var groups = [[Column]](repeating: [], count: PlannedColumn.Group.allCases.count)
        for entity in tree {
            for planned in PlannedColumn.columns(
                declaredBy: entity, in: model, numbering: numbering, keeping: stored)
            {
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

/// The names in use in one table. A second column of the same name gets the suffix 1, a third 2.
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
