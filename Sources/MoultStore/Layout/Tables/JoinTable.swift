/// The table of a many-to-many relationship: a row for each pair of objects.
package struct JoinTable: Sendable, Equatable {
    package let name: String
    /// The relationship the table is named after.
    package let owner: RelationshipReference
    package let columns: [Column]
    /// The `CREATE TABLE` statement: for a real store the text its catalogue holds.
    package let sql: String

    package init(name: String, owner: RelationshipReference, columns: [Column], sql: String? = nil) {
        self.name = name
        self.owner = owner
        self.columns = columns
        self.sql = sql ?? Self.createStatement(name, columns)
    }

    /// The new table with further columns of an app's own, placed as `ALTER TABLE … ADD COLUMN` places them.
    func adding(_ definitions: [String]) -> JoinTable {
        JoinTable(
            name: name, owner: owner, columns: columns,
            sql: Self.createStatement(name, columns, adding: definitions))
    }

    package func column(_ role: Column.Role) -> String? { columns.first { $0.role == role }?.name }

    /// The two columns that hold primary keys.
    package var keyColumns: [String] { columns.filter(\.isKey).map(\.name) }

    /// Whether it may hold a pair more than once, because it has no primary key.
    package var mayRepeat: Bool { !sql.uppercased().contains("PRIMARY KEY") }

    /// That a row holds a pair which an earlier row holds, as SQL over a row called `alias`.
    package func isRepeated(_ alias: String) -> String {
        let keys = keyColumns.map { "\(alias).\($0.quotedName)" }
        let present = keys.map { "\($0) IS NOT NULL" }
        let first = """
            SELECT min(rowid) FROM main.\(name.quotedName) GROUP BY \(keyColumns.map(\.quotedName).joined(separator: ", "))
            """
        return (present + ["\(alias).rowid NOT IN (\(first))"]).joined(separator: " AND ")
    }

    /// One column of a join table.
    package struct Column: Sendable, Hashable {
        package let name: String
        package let role: Role

        package init(name: String, role: Role) {
            self.name = name
            self.role = role
        }

        package enum Role: Sendable, Hashable {
            /// The primary key of the object that has `relationship`; the other key column holds its destination.
            case source(RelationshipReference)
            /// The destination of a relationship that is its own inverse (`REFLEXIVE`).
            case reflexiveDestination(RelationshipReference)
            /// The destination's place in the ordered list that `relationship` holds.
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

    private static func createStatement(
        _ name: String, _ columns: [Column], adding further: [String] = []
    ) -> String {
        let definitions = (columns.map { "\($0.name.sqlName) INTEGER" } + further).joined(separator: ", ")
        let key = columns.filter(\.isKey).map(\.name).sqlList
        return "CREATE TABLE \(name.sqlName) ( \(definitions), PRIMARY KEY (\(key)) )"
    }
}

/// A relationship by the entity that declares it and its name.
package struct RelationshipReference: Sendable, Hashable {
    package let entity: String
    package let name: String

    package init(entity: String, name: String) {
        self.entity = entity
        self.name = name
    }
}
