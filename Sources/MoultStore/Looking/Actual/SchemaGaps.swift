import MoultModel

/// What a store lacks of the tables, columns and indexes that its model needs.
package struct SchemaGaps: Sendable, Equatable {
    /// A column that one of the store's tables lacks.
    package struct Column: Sendable, Hashable {
        package let table: String
        package let column: EntityTable.Column

        package init(table: String, column: EntityTable.Column) {
            self.table = table
            self.column = column
        }
    }

    /// Entities that `Z_PRIMARYKEY` does not name, each with the number that it gets.
    package var numbers: [PrimaryKeyRow] = []
    package var tables: [EntityTable] = []
    package var joinTables: [JoinTable] = []
    package var columns: [Column] = []
    package var indexes: [IndexDefinition] = []
    /// Triggers and R-trees of the missing tables and columns.
    package var triggers: [TriggerDefinition] = []
    package var virtualTables: [VirtualTable] = []

    package init() {}

    /// Whether objects cannot be read before something is made.
    package var breaksReading: Bool {
        !(numbers.isEmpty && tables.isEmpty && joinTables.isEmpty && columns.isEmpty)
    }

    /// The names of the missing tables.
    package var tableNames: Set<String> { Set(tables.map(\.name) + joinTables.map(\.name)) }

    /// - Throws: `storeCorrupted` where a table or an entity's number is missing.
    func requireTables() throws {
        if let row = numbers.first {
            throw Self.missing("The store has no number for the entity \(row.name).", "Z_PRIMARYKEY")
        }
        if let table = tables.first {
            throw Self.missing(
                "The table \(table.name) of the entity \(table.rootEntityName) is missing.", table.name)
        }
        if let table = joinTables.first {
            throw Self.missing("The table \(table.name) of \(table.owner.place) is missing.", table.name)
        }
    }

    private static func missing(_ message: String, _ place: String) -> MigrationError {
        MigrationError(.storeCorrupted, message, place: place, remedy: Finding.schemaRemedy)
    }

    /// An error for each missing table and number.
    var findings: [Finding] {
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
        return unnumbered + lacking + unjoined
    }
}

extension Finding {
    static let schemaRemedy =
        "Name the model that made the store; else moult repair makes what is missing, or restore a backup."

    fileprivate static func missing(_ message: String, code: String, _ place: String) -> Finding {
        Finding(code: code, severity: .error, place: place, message: message, remedy: schemaRemedy)
    }
}
