import MoultModel

/// The table of one root entity: the rows of that entity and of every entity below it.
package struct EntityTable: Sendable, Equatable {
    package let name: String
    package let rootEntityName: String
    /// In the order of the table.
    package let columns: [Column]
    /// Uniqueness inside the table, as frameworks before 865 wrote it.
    package let constraints: [UniqueConstraint]
    /// The `CREATE TABLE` statement: for a real store the text its catalogue holds.
    package let sql: String

    /// The first column of each role.
    private let names = Once<[Column.Role: String]>()

    package init(
        name: String, rootEntityName: String, columns: [Column], constraints: [UniqueConstraint] = [],
        sql: String? = nil
    ) {
        self.name = name
        self.rootEntityName = rootEntityName
        self.columns = columns
        self.constraints = constraints
        self.sql = sql ?? Self.createStatement(name, columns, constraints)
    }

    /// The new table with further columns of an app's own, placed as `ALTER TABLE … ADD COLUMN` places them.
    func adding(_ definitions: [String]) -> EntityTable {
        EntityTable(
            name: name, rootEntityName: rootEntityName, columns: columns, constraints: constraints,
            sql: Self.createStatement(name, columns, constraints, adding: definitions))
    }

    /// The declared types of the columns, by name.
    package var types: [String: String] { Dictionary(columns.map { ($0.name, $0.type) }) { first, _ in first } }

    /// The name of the column that plays `role`.
    package func column(_ role: Column.Role) -> String? {
        names.value {
            Dictionary(columns.map { ($0.role, $0.name) }, uniquingKeysWith: { first, _ in first })
        }[role]
    }

    /// One column of an entity's table.
    package struct Column: Sendable, Hashable {
        package let name: String
        /// The declared type: `INTEGER`, `FLOAT`, `TIMESTAMP`, `DECIMAL`, `VARCHAR` or `BLOB`.
        package let type: String
        package let role: Role

        package init(name: String, type: String, role: Role) {
            self.name = name
            self.type = type
            self.role = role
        }

        /// The role of a column. `entity` is the entity that declares the property, not one that inherits it.
        package enum Role: Sendable, Hashable {
            /// `Z_PK`
            case primaryKey
            /// `Z_ENT`, the number of the row's entity.
            case entity
            /// `Z_OPT`, how often the row was written.
            case optimisticLock
            /// A value. An element of a composite attribute is named by its path, `attribute.element`.
            case attribute(entity: String, name: String)
            /// The primary key of a to-one relationship's destination.
            case toOne(entity: String, name: String)
            /// The entity number of that destination.
            case toOneEntity(entity: String, name: String)
            /// In the destination's table, the primary key of the object that holds the to-many relationship,
            /// which has no inverse; `entity` declares the relationship.
            case inverselessToMany(entity: String, name: String)
            /// The row's place in that relationship, when it is ordered.
            case inverselessOrder(entity: String, name: String)
            /// The row's place in the ordered to-many that is the inverse of this to-one relationship.
            case order(entity: String, name: String)
            /// A column that no part of the model explains.
            case unknown
        }
    }

    /// One uniqueness constraint, by its columns.
    package struct UniqueConstraint: Sendable, Hashable {
        package let columns: [String]
        package init(columns: [String]) { self.columns = columns }
    }

    private static func createStatement(
        _ name: String, _ columns: [Column], _ constraints: [UniqueConstraint], adding further: [String] = []
    ) -> String {
        let alone = Set(constraints.filter { $0.columns.count == 1 }.flatMap(\.columns))
        var sql = "CREATE TABLE \(name.sqlName) ( "
        sql.reserveCapacity(40 * columns.count)
        for (position, column) in columns.enumerated() {
            if position > 0 { sql += ", " }
            sql += column.name.sqlName
            sql += " "
            sql += column.type
            if column.role == .primaryKey {
                sql += " PRIMARY KEY"
            } else if !alone.isEmpty, alone.contains(column.name) {
                sql += " UNIQUE"
            }
        }
        let compound = constraints.filter { $0.columns.count > 1 }.map { constraint in
            let label = constraint.columns.joined(separator: "_")
            return ", CONSTRAINT \(label.sqlName) UNIQUE (\(constraint.columns.sqlList))"
        }
        let space = compound.isEmpty ? " " : ""
        let added = further.map { ", \($0)" }.joined()
        return sql + "\(space)\(added)\(compound.joined()))"
    }
}
