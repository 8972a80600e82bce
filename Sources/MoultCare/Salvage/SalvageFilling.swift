import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// Fills the tables of a new store with the recovered rows.
struct SalvageFilling {
    let files: SalvageFiles
    let source: DamagedStore
    /// The layout of the damaged store: which data is in which table and column.
    let damaged: StoreLayout
    let maker: StoreCreator
    let losses: SalvageLosses
    /// Nil if external data is not requested.
    let data: SalvagedData?
    let system: any System

    private var layout: StoreLayout { maker.layout }

    func run(_ version: String) throws -> SalvageReport {
        let connection = try Connection(files.new, mode: .readWrite, isProven: true)
        defer { connection.close() }
        try connection.registerCoreDataStubs()
        try connection.attach(files.recovered, as: "damaged", mode: .immutable)
        // The file is empty, which SQLite reads as an empty database.
        try connection.attach(files.aside, as: "aside", mode: .readWrite)
        try connection.execute("PRAGMA main.synchronous = OFF; PRAGMA aside.journal_mode = OFF")
        // The rows already contain the values that the triggers maintain.
        for trigger in layout.triggers { try connection.execute("DROP TRIGGER main.\(trigger.name.quotedName)") }
        var placement = SalvagePlacement(connection, source, layout)
        let tables = try connection.transaction {
            let tables = try WorkMeter.part(upTo: 0.7) { try place(&placement) }
            for fill in layout.virtualTables.compactMap(\.fillStatement) { try connection.execute(fill) }
            try placement.keepOrphans(losses.rowsAside)
            try setCounters(connection)
            try source.metadata?.keepApplicationEntries(in: maker.metadata).write(to: connection)
            return tables
        }
        for trigger in layout.triggers { try connection.execute(trigger.sql) }
        let foreign = try placement.keepDefinitions()
        try connection.detach("damaged")
        try connection.detach("aside")
        var remarks = try losses.remarks + missingValues(connection)
        if !foreign.isEmpty {
            remarks.append(
                "The new store does not have what an app has made by itself: \(foreign.joined(separator: ", ")). "
                    + "The definitions are kept next to it, in \(RecoveredDatabase.schema).")
        }
        if !placement.keepsAnything { _ = try system.remove(files.aside) }
        let rows = tables.reduce(0) { $0 + $1.rows }
        let check: WorkMeter.Piece<Void> = (
            rows,
            {
                try connection.execute("PRAGMA main.synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)")
                try connection.proveWrites()
                try connection.checkSoundness(place: files.new)
                return []
            }
        )
        _ = try WorkMeter.each([check])
        return SalvageReport(
            store: files.new, version: version, tables: tables, pages: losses.pages,
            notes: source.notes + losses.notes, remarks: remarks, unplaced: placement.unplaced,
            missingData: try data?.missing(from: connection, layout) ?? [], externalFiles: data?.count ?? 0)
    }

    /// The number of columns of the version that the damaged store's tables lack.
    var missingColumns: Int {
        layout.tables.reduce(0) { count, table in
            let old = damaged.table(forEntity: table.rootEntityName)
            return count + table.columns.count { column in old.map { $0.column(column.role) == nil } ?? false }
        }
    }

    private func place(_ placement: inout SalvagePlacement) throws -> [SalvageReport.Table] {
        var places = placement
        defer { placement = places }
        var seen = Set(StoreSnapshot.coreTables + StoreSnapshot.historyTables + shadows)
        func piece(
            _ name: String, from old: String?, counter: Int64? = nil, _ place: @escaping () throws -> Int64?
        ) -> WorkMeter.Piece<SalvageReport.Table> {
            if let old { seen.insert(old) }
            let size = old.flatMap { losses.tables[$0]?.rows } ?? 1
            return (size, { [report(name, from: old, try place(), counter, places)] })
        }
        let counterparts = Dictionary(damaged.joinTables.map { ($0.ends, $0) }, uniquingKeysWith: { first, _ in first })
        let tables = layout.tables.map { table in
            let old = damaged.table(forEntity: table.rootEntityName)
            return piece(table.name, from: old?.name, counter: source.counter(of: table, in: layout.model)) {
                try old.map { try places.place(table, from: $0) }
            }
        }
        let joins = layout.joinTables.map { join in
            let old = counterparts[join.ends]
            return piece(join.name, from: old?.name) { try old.map { try places.place(join, from: $0) } }
        }
        var reports = try WorkMeter.each(tables + joins)
        for table in source.catalogue.tables.map(\.name) where seen.insert(table).inserted {
            try places.placeNowhere(table)
            let one = report(table, from: table, 0, nil, places)
            if !one.lostKeys.isEmpty || !one.partialKeys.isEmpty { reports.append(one) }
        }
        return reports
    }

    /// The shadow tables of the model's virtual tables, which SQLite fills by itself in a fresh store.
    private var shadows: [String] {
        layout.virtualTables.flatMap { table in ["_rowid", "_node", "_parent"].map { table.name + $0 } }
    }

    private func report(
        _ name: String, from old: String?, _ rows: Int64?, _ counter: Int64?, _ placement: SalvagePlacement
    ) -> SalvageReport.Table {
        guard let old, let rows, var report = losses.tables[old] else {
            // A table of the name is there, and its rows are kept next to the new store.
            let lacking = source.catalogue.table(name) == nil ? nil : placement.lackingKey(of: name)
            return SalvageReport.Table(
                name: name, rows: 0, partialKeys: [], lostKeys: [],
                cause: lacking.map { "The table has no column \($0)." } ?? "The damaged store has no such table.",
                isMissing: lacking == nil)
        }
        report.name = name
        report.rows = rows
        report.counter = report.counter ?? counter
        return report
    }

    /// Returns the required attributes and relationships that lack a value. Core Data's tables accept such rows, but
    /// saving them fails.
    private func missingValues(_ connection: Connection) throws -> [String] {
        try layout.tables.flatMap { table in
            try table.columns.compactMap { column in
                guard let (entity, name) = required(column.role) else { return nil }
                let numbers = layout.numbers(ofEntityAndDescendants: entity).map(String.init).joined(separator: ", ")
                let rows =
                    try connection.integer(
                        """
                        SELECT count(*) FROM main.\(table.name.quotedName) WHERE \(column.name.quotedName) IS NULL \
                        AND Z_ENT IN (\(numbers))
                        """) ?? 0
                guard rows > 0 else { return nil }
                let lacking = Quantity.count(rows, "row of \(table.name) lacks", plural: "rows of \(table.name) lack")
                return "\(lacking) \(entity.name).\(name), which is required."
            }
        }
    }

    /// Returns the entity and property of a column, if the property is required.
    private func required(_ role: EntityTable.Column.Role) -> (EntityDescription, String)? {
        switch role {
        case .attribute(let entity, let name):
            guard let entity = layout.model.entity(entity),
                entity.attributes.contains(where: { $0.name == name && !$0.isOptional })
            else { return nil }
            return (entity, name)
        case .toOne(let entity, let name):
            guard let entity = layout.model.entity(entity),
                entity.relationships.contains(where: { $0.name == name && !$0.isOptional })
            else { return nil }
            return (entity, name)
        default: return nil
        }
    }

    /// Sets the key counters, so that no key is ever reused.
    private func setCounters(_ connection: Connection) throws {
        for table in layout.tables {
            guard let number = layout.entityNumbers[table.rootEntityName] else { continue }
            try connection.run(
                """
                UPDATE main.Z_PRIMARYKEY SET Z_MAX = max(\(table.highestKeySQL), ?) \
                WHERE Z_ENT = ?
                """, [.integer(source.numbers[table.rootEntityName]?.max ?? 0), .integer(Int64(number))])
        }
    }
}
