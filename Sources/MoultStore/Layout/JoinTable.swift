import MoultModel

/// The table of a many-to-many relationship, with a row for each pair of objects.
package struct JoinTable: Sendable, Equatable {
    package let name: String
    /// The relationship that the table is named after.
    package let owner: RelationshipReference
    package let columns: [Column]
    /// The `CREATE TABLE` statement; for an existing store, the text in its catalogue.
    package let sql: String

    package init(name: String, owner: RelationshipReference, columns: [Column], sql: String? = nil) {
        (self.name, self.owner, self.columns) = (name, owner, columns)
        self.sql = sql ?? Self.createStatement(name, columns)
    }

    /// Returns the new table with further columns of an app, placed where `ALTER TABLE … ADD COLUMN` places them.
    func adding(_ definitions: [String]) -> JoinTable {
        JoinTable(
            name: name, owner: owner, columns: columns, sql: Self.createStatement(name, columns, adding: definitions))
    }

    package func column(_ role: Column.Role) -> String? { columns.first { $0.role == role }?.name }

    /// The two columns that hold primary keys.
    package var keyColumns: [String] { columns.filter(\.isKey).map(\.name) }

    /// Whether the table may contain a pair more than once, because it has no primary key.
    package var mayRepeat: Bool { !sql.uppercased().contains("PRIMARY KEY") }

    /// Returns an SQL condition, for a row called `alias`, that holds if an earlier row contains the same pair.
    package func isRepeated(_ alias: String) -> String {
        let keys = keyColumns.map { "\(alias).\($0.quotedName)" }
        let present = keys.map { "\($0) IS NOT NULL" }
        let first = """
            SELECT min(rowid) FROM main.\(name.quotedName) GROUP BY \(keyColumns.map(\.quotedName).joined(separator: ", "))
            """
        return (present + ["\(alias).rowid NOT IN (\(first))"]).joined(separator: " AND ")
    }

    /// A column of a join table.
    package struct Column: Sendable, Hashable {
        package let name: String
        package let role: Role

        package init(name: String, role: Role) {
            self.name = name
            self.role = role
        }

        package enum Role: Sendable, Hashable {
            /// The primary key of the object that has the relationship; the other key column contains the destination.
            case source(RelationshipReference)
            /// The destination of a relationship that is its own inverse (`REFLEXIVE`).
            case reflexiveDestination(RelationshipReference)
            /// The destination's position in the relationship's ordered list.
            case order(RelationshipReference)
            case unknown
        }

        var isKey: Bool {
            switch role {
            case .source, .reflexiveDestination: true
            case .order, .unknown: false
            }
        }
    }

    private static func createStatement(_ name: String, _ columns: [Column], adding further: [String] = []) -> String {
        let definitions = (columns.map { "\($0.name.sqlName) INTEGER" } + further).joined(separator: ", ")
        let key = columns.filter(\.isKey).map(\.name).sqlList
        return "CREATE TABLE \(name.sqlName) ( \(definitions), PRIMARY KEY (\(key)) )"
    }
}

/// A reference to a relationship by its declaring entity and its name.
package struct RelationshipReference: Sendable, Hashable {
    package let entity: String
    package let name: String

    package init(entity: String, name: String) {
        self.entity = entity
        self.name = name
    }
}

/// The place where the destinations of a relationship are stored, seen from the object that has the relationship.
package enum RelationshipStorage: Sendable, Hashable {
    /// A to-one: `column` of the object's own row contains the destination's key, `entityColumn` its entity number.
    case foreignKey(table: String, column: String, entityColumn: String?)
    /// A to-many whose inverse is to-one: the rows of the destination's `table` whose `column` contains the object's
    /// key. `entityColumn` next to it contains the object's entity number. Ordered by `orderColumn`.
    case inverseForeignKey(table: String, column: String, entityColumn: String?, orderColumn: String?)
    /// A many-to-many: rows with the object's key in `ownColumn` and the destination's key in `otherColumn`. Ordered by
    /// `orderColumn`; the inverse's list by `inverseOrderColumn`. A reflexive pair is stored in both directions.
    case joinTable(
        table: String, ownColumn: String, otherColumn: String, orderColumn: String?, inverseOrderColumn: String?,
        isReflexive: Bool)
    /// A to-many without an inverse: the rows of the destination's `table` whose `column` contains the object's key.
    case inverseless(table: String, column: String, orderColumn: String?)

    /// Returns the storage of every relationship that the tables have columns for, by its declaring entity.
    static func all(
        of model: ManagedObjectModel, joinTables: [JoinTable], tables: (_ root: String) -> EntityTable?
    ) -> [RelationshipReference: RelationshipStorage] {
        var storages: [RelationshipReference: RelationshipStorage] = [:]
        for joinTable in joinTables { add(joinTable, to: &storages, model) }
        for entity in model.entities {
            guard let own = tables(model.root(of: entity).name) else { continue }
            for relationship in entity.relationships where !relationship.isTransient {
                let reference = RelationshipReference(entity: entity.name, name: relationship.name)
                guard storages[reference] == nil else { continue }
                guard let destination = model.entity(relationship.destinationEntityName) else { continue }
                let there = tables(model.root(of: destination).name)
                storages[reference] =
                    relationship.isToMany
                    ? toMany(relationship, reference, model, destination: destination, table: there)
                    : toOne(reference, table: own)
            }
        }
        return storages
    }

    private static func toOne(_ reference: RelationshipReference, table: EntityTable) -> RelationshipStorage? {
        guard let column = table.column(.toOne(entity: reference.entity, name: reference.name)) else { return nil }
        let entityColumn = table.column(.toOneEntity(entity: reference.entity, name: reference.name))
        return .foreignKey(table: table.name, column: column, entityColumn: entityColumn)
    }

    private static func toMany(
        _ relationship: RelationshipDescription, _ reference: RelationshipReference, _ model: ManagedObjectModel,
        destination: EntityDescription, table: EntityTable?
    ) -> RelationshipStorage? {
        guard let table else { return nil }
        if let inverse = relationship.inverseName,
            let declaring = model.declaringEntity(of: inverse, in: destination),
            let column = table.column(.toOne(entity: declaring.name, name: inverse))
        {
            return .inverseForeignKey(
                table: table.name, column: column,
                entityColumn: table.column(.toOneEntity(entity: declaring.name, name: inverse)),
                orderColumn: table.column(.order(entity: declaring.name, name: inverse)))
        }
        guard let column = table.column(.inverselessToMany(entity: reference.entity, name: reference.name)) else {
            return nil
        }
        let order = table.column(.inverselessOrder(entity: reference.entity, name: reference.name))
        return .inverseless(table: table.name, column: column, orderColumn: order)
    }

    /// Adds a join table for both of its relationships, each seen from its own side.
    private static func add(
        _ joinTable: JoinTable, to storages: inout [RelationshipReference: RelationshipStorage],
        _ model: ManagedObjectModel
    ) {
        for column in joinTable.columns {
            guard case .source(let reference) = column.role else { continue }
            guard let other = joinTable.columns.first(where: { $0.isKey && $0.name != column.name }) else { continue }
            var inverseOrder: String?
            var isReflexive = true
            if case .source(let inverse) = other.role {
                inverseOrder = joinTable.column(.order(inverse))
                isReflexive = false
            }
            storages[reference] = .joinTable(
                table: joinTable.name, ownColumn: column.name, otherColumn: other.name,
                orderColumn: joinTable.column(.order(reference)), inverseOrderColumn: inverseOrder,
                isReflexive: isReflexive)
        }
    }
}
