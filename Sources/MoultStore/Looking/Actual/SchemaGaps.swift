import MoultModel
import MoultSQLite

/// The tables, columns and indexes of the model that a store lacks.
package struct SchemaGaps: Sendable, Equatable {
    /// A column that one of the store's tables lacks.
    package struct Column: Sendable, Hashable {
        package let table: String
        package let column: EntityTable.Column
        /// Whether the table is that of a relationship, whose pairs cannot be read without it.
        package let isOfPairs: Bool

        package init(table: String, column: EntityTable.Column, isOfPairs: Bool = false) {
            self.table = table
            self.column = column
            self.isOfPairs = isOfPairs
        }
    }

    /// Entities that `Z_PRIMARYKEY` does not name, each with the number that it gets.
    package var numbers: [PrimaryKeyRow] = []
    package var tables: [EntityTable] = []
    package var joinTables: [JoinTable] = []
    package var columns: [Column] = []
    /// Missing key columns of join tables. Nothing tells their contents.
    package var keys: [Column] = []
    /// Objects that have the name of a missing table and are not tables.
    package var strangers: [Catalogue.Entry] = []
    package var indexes: [IndexDefinition] = []
    /// Of these indexes the names of those that the store has on something else.
    package var differing: Set<String> = []
    package var history = HistoryGaps()
    /// Triggers and R-trees of the missing tables and columns.
    package var triggers: [TriggerDefinition] = []
    package var virtualTables: [VirtualTable] = []

    package init() {}

    /// Whether objects cannot be read before something is made.
    package var breaksReading: Bool {
        !(numbers.isEmpty && tables.isEmpty && joinTables.isEmpty && columns.isEmpty && keys.isEmpty)
    }

    /// The names of the missing tables.
    package var tableNames: Set<String> { Set(tables.map(\.name) + joinTables.map(\.name)) }

    /// Without what the ``obstacles`` keep from being made, and everything on it; of history then nothing is made.
    package var possible: SchemaGaps {
        let taken = Set(strangers.map { $0.name.uppercased() })
        func isTaken(_ table: String) -> Bool { taken.contains(table.uppercased()) }
        let lost = tableNames.filter(isTaken)
        func hasNoKey(_ sql: String) -> Bool {
            keys.contains { sql.names($0.table) && sql.names($0.column.name) }
        }
        var gaps = self
        (gaps.keys, gaps.strangers) = ([], [])
        gaps.tables.removeAll { isTaken($0.name) }
        gaps.joinTables.removeAll { isTaken($0.name) }
        gaps.indexes.removeAll { isTaken($0.table) || hasNoKey($0.sql) }
        gaps.triggers.removeAll { trigger in lost.contains { trigger.sql.names($0) } || hasNoKey(trigger.sql) }
        gaps.virtualTables.removeAll { table in !gaps.triggers.contains { $0.sql.names(table.name) } }
        if gaps.history.tables.contains(where: { isTaken($0.name) }) { gaps.history = HistoryGaps() }
        return gaps
    }

    /// - Throws: `storeCorrupted` if a table or an entity's number is missing.
    func requireTables() throws {
        guard let first = findings.first else { return }
        throw MigrationError(.storeCorrupted, first.message, place: first.place, remedy: first.advice)
    }

    /// One for each missing table, number and index: errors, but for an index that only makes the store slow.
    package var findings: [Finding] {
        let unnumbered = numbers.map { row in
            Finding.missing(
                "The store has no number for the entity \(row.name).", code: "entity-number", "Z_PRIMARYKEY")
        }
        let lacking = tables.map { table in
            Finding.missing(
                "The table \(table.name) of the entity \(table.rootEntityName) is missing.", code: "table-missing",
                table.name)
        }
        let unjoined = joinTables.map { table in
            Finding.missing(
                "The table \(table.name) of \(table.owner.place) is missing.", code: "table-missing", table.name)
        }
        let unpaired = columns.filter(\.isOfPairs).map { gap in
            Finding.missing(
                "The table \(gap.table) has no column \(gap.column.name), which the model needs.",
                code: "column-missing", "\(gap.table).\(gap.column.name)")
        }
        return unnumbered + lacking + unjoined + unpaired + obstacles + history.findings + indexFindings
    }

    /// The findings that prevent a repair.
    package var obstacles: [Finding] {
        keys.map { gap in
            Finding(
                code: "column-missing", severity: .error, place: "\(gap.table).\(gap.column.name)",
                message: "The table \(gap.table) has no column \(gap.column.name), which held one end of each of its "
                    + "pairs.",
                remedy: "Restore a backup, or use \(.salvage) to copy every object into a new store, without these "
                    + "pairs.")
        }
            + strangers.map(Finding.nameTaken)
    }
}

extension Finding {
    /// Something that is no table and has the name of one of Core Data's.
    static func nameTaken(_ entry: Catalogue.Entry) -> Finding {
        Finding(
            code: "name-taken", severity: .error, place: entry.name,
            message: "The \(entry.kind.rawValue) \(entry.name) has the name of one of Core Data's tables.",
            remedy: "Drop the \(entry.kind.rawValue), or rename it; then run \(.repair), which "
                + "creates the table.")
    }
}

extension SchemaGaps {
    /// An index that went with its table is no finding of its own.
    private var indexFindings: [Finding] {
        let tables = tableNames.union(history.tables.map(\.name))
        return indexes.filter { !tables.contains($0.table) }.map(finding)
    }

    private func finding(_ index: IndexDefinition) -> Finding {
        let isDiffering = differing.contains(index.name)
        let what =
            isDiffering
            ? "The index \(index.name) is not the one that the model defines"
            : "The index \(index.name) of the model is missing in the store"
        return Finding(
            code: isDiffering ? "index-differs" : "index-missing", severity: index.isUnique ? .error : .note,
            place: index.name, message: index.isUnique ? "\(what): nothing keeps its values unique." : "\(what).",
            remedy: "\(.repair) creates it\(index.isUnique ? ", if no value occurs twice" : "").")
    }
}

extension Finding {
    static let schemaRemedy: Remedy =
        "Name the model that made the store; otherwise run \(.repair), which creates what is missing, or restore a backup."

    static func missing(_ message: String, code: String, _ place: String) -> Finding {
        Finding(code: code, severity: .error, place: place, message: message, remedy: schemaRemedy)
    }
}
