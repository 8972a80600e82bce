import MoultModel
import MoultSQLite

/// The tables of persistent history.
package struct PersistentHistory: Sendable, Equatable {
    package let level: FrameworkLevel
    /// The largest number of attributes that any entity preserves after deletion.
    package let tombstones: Int

    package init(of layout: StoreLayout) {
        level = layout.level
        tombstones =
            layout.model.entities.map { entity in
                layout.model.attributes(of: entity).filter(\.preservesValueInHistoryOnDeletion).count
            }.max() ?? 0
    }

    package var createStatements: [String] { tables.map(\.sql) + indexes.map(\.sql) }

    /// A table, with its number in `Z_PRIMARYKEY`.
    package struct Table: Sendable, Hashable {
        package let name: String
        package let number: Int
        package let columns: [Catalogue.Column]

        fileprivate init(_ name: String, number: Int, _ columns: [(String, String)]) {
            self.name = name
            self.number = number
            let keys = ["Z_PK", "Z_ENT", "Z_OPT"].map { ($0, "INTEGER") }
            self.columns = (keys + columns).map { Catalogue.Column(name: $0, declaredType: $1) }
        }

        /// The name of the table in `Z_PRIMARYKEY`.
        package var entityName: String { String(name.dropFirst()) }

        package var sql: String {
            let columns = columns.map { "\($0.name) \($0.declaredType)\($0.name == "Z_PK" ? " PRIMARY KEY" : "")" }
            return "CREATE TABLE \(name) ( \(columns.joined(separator: ", ")) )"
        }
    }

    package var tables: [Table] { [changes, transactions] + (level.hasHistoryStrings ? [strings] : []) }

    package var primaryKeyRows: [PrimaryKeyRow] {
        tables.map { PrimaryKeyRow(number: $0.number, name: $0.entityName, superNumber: 0, max: 0) }
    }

    private var changes: Table {
        Table(
            "ACHANGE", number: 16_001,
            ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"].map { ($0, "INTEGER") } + [("ZCOLUMNS", "BLOB")]
                + (0..<tombstones).map { ("ZTOMBSTONE\($0)", "BLOB") })
    }

    private var transactions: Table {
        Table(
            "ATRANSACTION", number: 16_002,
            references.map { ($0, "INTEGER") } + [("ZTIMESTAMP", "FLOAT")]
                + ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"].map { ($0, "VARCHAR") }
                + [("ZQUERYGEN", "BLOB")])
    }

    private var strings: Table { Table("ATRANSACTIONSTRING", number: 16_003, [("ZNAME", "VARCHAR")]) }

    /// The columns of a transaction that contain keys of strings.
    package static let references = ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"]
    private var references: [String] { level.hasHistoryStrings ? Self.references : [] }

    package var indexes: [IndexDefinition] {
        let fetch = [("TransactionAuthorIndex", "ZAUTHOR"), ("TransactionTimestampIndex", "ZTIMESTAMP")]
        return [index("ACHANGE_ZTRANSACTIONID_INDEX", "ACHANGE", "ZTRANSACTIONID")]
            + references.map { index("ATRANSACTION_\($0)_INDEX", "ATRANSACTION", $0) }
            + fetch.map { index("Z_TRANSACTION_\($0)", "ATRANSACTION", "\($1) COLLATE BINARY ASC") }
            + (level.hasHistoryStrings
                ? [
                    index(
                        "Z_TRANSACTIONSTRING_UNIQUE_NAME", "ATRANSACTIONSTRING", "ZNAME COLLATE BINARY ASC",
                        isUnique: true)
                ] : [])
    }

    private func index(_ name: String, _ table: String, _ column: String, isUnique: Bool = false) -> IndexDefinition {
        let kind = isUnique ? "UNIQUE INDEX" : "INDEX"
        return IndexDefinition(
            name: name, table: table, isUnique: isUnique, sql: "CREATE \(kind) \(name) ON \(table) (\(column))")
    }
}

/// The slots of one entity in persistent history's bit set of changed columns (`ACHANGE.ZCOLUMNS`), in order.
package struct HistorySlots: Sendable {
    package enum Slot: Sendable, Hashable {
        case toOne(String)
        /// The `Z<n>_NAME` column next to a to-one.
        case toOneEntity(String)
        /// The `Z_FOK_` column of a to-one.
        case order(String)
        /// An attribute, or a leaf of a composite one by its path. Updates of a store whose enum has four cases set the
        /// bits of a layout with a slot for each case.
        case attribute(String)
        case toMany(String)
    }

    package let slots: [Slot]
    /// The names of the to-many relationships, as a set if there are two or more: the order of their slots is not
    /// predictable.
    package let toManyNames: [String]

    package init(of entity: EntityDescription, in layout: StoreLayout) {
        let levels = layout.model.lineage(of: entity).reversed()
        let relationships = levels.flatMap(\.relationships).filter { !$0.isTransient }
        let toOnes = relationships.filter { !$0.isToMany }.map(\.name)
        let table = layout.table(for: entity)
        let has = { (role: (String, String) -> EntityTable.Column.Role) in
            toOnes.filter { name in
                layout.model.declaringEntity(of: name, in: entity).flatMap { table?.column(role($0.name, name)) } != nil
            }
        }
        toManyNames = relationships.filter(\.isToMany).map(\.name)
        slots =
            toOnes.map(Slot.toOne)
            + has { .toOneEntity(entity: $0, name: $1) }.map(Slot.toOneEntity)
            + has { .order(entity: $0, name: $1) }.map(Slot.order)
            + levels.flatMap(\.attributes).flatMap(\.leaves).filter(\.isStored).map { Slot.attribute($0.name) }
            + toManyNames.map(Slot.toMany)
    }
}
