import MoultModel
import MoultSQLite
import MoultStore

/// The statements that fill the gaps in a store's tables.
///
/// Existing tables keep their rows and columns. A missing column is added at the end of its table, as in Core Data's
/// own in-place migration.
package struct SchemaScript: Sendable {
    package let gaps: SchemaGaps
    package let fills: [ColumnFill]
    private let triggers: [Catalogue.Entry]
    /// The existing table of each root entity, which may have rows.
    private let counted: [String: EntityTable]

    /// - Parameter layout: the layout of the store with its gaps filled.
    package init(_ gaps: SchemaGaps, layout: StoreLayout, catalogue: Catalogue) {
        self.gaps = gaps
        fills = gaps.columns.map { ColumnFill($0, in: layout) }
        let present = layout.tables.filter { catalogue.table($0.name) != nil }
        counted = Dictionary(present.map { ($0.rootEntityName, $0) }, uniquingKeysWith: { first, _ in first })
        let writes = gaps.breaksReading || !gaps.history.isEmpty
        triggers = writes ? catalogue.entries.filter { $0.kind == .trigger && $0.sql != nil } : []
    }

    package var statements: [StoreScript.Statement] {
        let away = triggers.map(StoreScript.Statement.dropTrigger)
        let back = triggers.compactMap { StoreScript.Statement.putBack($0) }
        let new = gaps.triggers.map(StoreScript.Statement.createTrigger)
        return away + tables + gaps.history.statements + columns + indexes + back + new
    }

    private var tables: [StoreScript.Statement] {
        let numbers = gaps.numbers.map { row in
            // A row may have lost only its name.
            StoreScript.Statement(
                .metadata, "Z_PRIMARYKEY",
                """
                INSERT INTO main.Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (\(row.number), \
                \(row.name.quotedLiteral), \(row.superNumber), \(counted[row.name]?.highestKeySQL ?? "0")) \
                ON CONFLICT (Z_ENT) DO UPDATE SET Z_NAME = excluded.Z_NAME, Z_SUPER = excluded.Z_SUPER, \
                Z_MAX = max(\(PrimaryKeyRow.highestSQL), excluded.Z_MAX)
                """, "Number the entity \(row.name) \(row.number).")
        }
        let tables = gaps.tables.map { StoreScript.Statement.createTable($0.name, $0.sql) }
        let joins = gaps.joinTables.map { StoreScript.Statement.createTable($0.name, $0.sql) }
        return numbers + tables + joins
    }

    private var columns: [StoreScript.Statement] {
        let added = gaps.columns.map { gap in
            StoreScript.Statement.addColumn(gap.column.name, gap.column.type, to: gap.table)
        }
        // Add all columns before any of them is computed from another.
        return added + fills.compactMap(fill)
    }

    private func fill(_ fill: ColumnFill) -> StoreScript.Statement? {
        let table = "main.\(fill.table.quotedName)"
        switch fill.value {
        case .unknown: return nil
        case .expression(let value):
            return .init(
                .update, fill.table,
                """
                UPDATE \(table) AS t SET \(fill.column.name.quotedName) = \(value) \
                WHERE t.Z_ENT IN (\(fill.numbers.sqlList))
                """, "Give the rows of \(fill.table) a value in \(fill.column.name).", rows: .unknown)
        case .places(let key):
            return StoreLowering.makeOrder(table: fill.table, order: fill.column.name, key: key)
        }
    }

    private var indexes: [StoreScript.Statement] {
        let gone = gaps.indexes.filter { gaps.differing.contains($0.name) }.map {
            StoreScript.Statement.dropIndex($0.name, of: $0.table, "Take the index \($0.name) away.")
        }
        return gone + gaps.indexes.map { .createIndex($0, rows: .unknown) } + gaps.virtualTables.flatMap(\.statements)
    }
}

/// The values that the rows of a table get in a missing column.
package struct ColumnFill: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        /// The same expression, over the row `t`, for every row of the entities.
        case expression(String)
        /// A position in an ordered list, assigned by key; the column `key` identifies the list.
        case places(key: String)
        /// The value cannot be determined.
        case unknown
    }

    package let table: String
    package let column: EntityTable.Column
    /// The entity numbers of the rows that have a value in the column.
    package let numbers: [Int]
    package let value: Value
    /// Whether every object must have a value.
    package let isRequired: Bool

    /// `TABLE.COLUMN`
    package var place: String { "\(table).\(column.name)" }

    /// - Parameter layout: the layout, including the column.
    init(_ gap: SchemaGaps.Column, in layout: StoreLayout) {
        let own = layout.table(named: gap.table)
        switch gap.column.role {
        case .attribute(let entity, let name):
            self.init(attribute: name, of: entity, gap, layout)
        case .toOne(let entity, let name):
            self.init(gap, of: entity, .unknown, layout, isRequired: layout.isRequired(name, of: entity))
        case .toOneEntity(let entity, let name):
            let number = layout.entityNumber(of: name, of: entity, in: own)
            self.init(gap, of: entity, number.map(Value.expression) ?? .unknown, layout)
        case .order(let entity, let name):
            let pairs = layout.joinTable(named: gap.table)
            let key =
                own?.column(.toOne(entity: entity, name: name))
                ?? pairs?.column(.source(RelationshipReference(entity: entity, name: name)))
            self.init(gap, of: entity, key.map(Value.places) ?? .unknown, layout)
        case .inverselessToMany(let entity, let name):
            self.init(gap, of: layout.destination(of: name, of: entity), .unknown, layout)
        case .inverselessOrder(let entity, let name):
            let key = own?.column(.inverselessToMany(entity: entity, name: name))
            self.init(gap, of: layout.destination(of: name, of: entity), key.map(Value.places) ?? .unknown, layout)
        case .optimisticLock:
            self.init(gap, of: own?.rootEntityName ?? "", .expression("1"), layout)
        case .primaryKey, .entity, .unknown:
            self.init(gap, of: "", .unknown, layout)
        }
    }

    private init(
        _ gap: SchemaGaps.Column, of entity: String, _ value: Value, _ layout: StoreLayout, isRequired: Bool = false
    ) {
        (table, column, self.value, self.isRequired) = (gap.table, gap.column, value, isRequired)
        numbers = layout.model.entity(entity).map(layout.numbers(ofEntityAndDescendants:)) ?? []
    }

    /// Fills an attribute with the model's default, or with its derived value.
    private init(attribute name: String, of entity: String, _ gap: SchemaGaps.Column, _ layout: StoreLayout) {
        guard let owner = layout.model.entity(entity),
            let attribute = layout.model.storedAttributes(declaredBy: owner).first(where: { $0.name == name })?
                .description
        else {
            self.init(gap, of: entity, .unknown, layout)
            return
        }
        if let derivation = attribute.derivation {
            let shape = derivation.filter == nil ? DerivationShape(derivation.expression) : nil
            let value = shape.flatMap { $0 == .now ? nil : layout.expression(for: $0, in: owner) }
            self.init(gap, of: entity, value.map(Value.expression) ?? .unknown, layout)
            return
        }
        // The same value in all rows would make every object but one a duplicate.
        let standard = layout.model.isUnique(name, of: owner) ? nil : attribute.defaultValue
        let value = standard.map { Value.expression($0.stored(for: attribute).literal) }
        self.init(gap, of: entity, value ?? .unknown, layout, isRequired: !attribute.isOptional && value == nil)
    }
}

extension ManagedObjectModel {
    /// Returns whether a uniqueness constraint of the entity, its ancestors or its descendants contains the attribute.
    fileprivate func isUnique(_ name: String, of owner: EntityDescription) -> Bool {
        entities.contains { entity in
            entity.uniquenessConstraints.contains { $0.contains(name) }
                && (isKind(entity, of: owner) || isKind(owner, of: entity))
        }
    }
}

extension StoreLayout {
    fileprivate func relationship(_ name: String, of entity: String) -> RelationshipDescription? {
        model.entity(entity)?.relationship(name)
    }

    fileprivate func isRequired(_ name: String, of entity: String) -> Bool {
        relationship(name, of: entity).map { !$0.isOptional } ?? false
    }

    fileprivate func destination(of name: String, of entity: String) -> String {
        relationship(name, of: entity)?.destinationEntityName ?? ""
    }

    /// Returns the entity number of a to-one relationship's destination, over the row `t`.
    fileprivate func entityNumber(of name: String, of entity: String, in own: EntityTable?) -> String? {
        guard let key = own?.column(.toOne(entity: entity, name: name)),
            let target = table(forEntity: destination(of: name, of: entity))?.name
        else { return nil }
        return "(SELECT d.Z_ENT FROM main.\(target.quotedName) AS d WHERE d.Z_PK = t.\(key.quotedName))"
    }
}
