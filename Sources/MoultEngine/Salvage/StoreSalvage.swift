import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// Reads what SQLite can still read of a damaged store into a new one; the damaged store stays as it is.
///
/// The new store's tables are made by the model, so that no damage of the old catalogue comes along. Rows are read by
/// ranges of keys; what leads to rows that are lost is for a repair afterwards.
package struct StoreSalvage {
    private let version: ModelVersion?
    private let system: any System

    /// - Parameter version: that of the store; nil for the model that it carries itself.
    package init(_ version: ModelVersion? = nil, system: any System = POSIXSystem()) {
        self.version = version
        self.system = system
    }

    /// - Parameters:
    ///   - store: the damaged store.
    ///   - path: where the new one is made; nothing may be there.
    /// - Throws: `usage` where the path is taken; `storeCorrupted` where not even the catalogue can be read;
    ///   `modelNotFound`, `modelInvalid` where the store's own model is to be taken and there is none; then, as after any
    ///   other error, nothing is made.
    package func run(_ store: String, into path: String, isCancelled: @escaping () -> Bool = { false }) throws
        -> SalvageReport
    {
        guard let status = try system.status(of: store), status.kind == .file else {
            throw MigrationError(
                .fileNotFound, "There is no file at \(store).", place: store, remedy: "Check the path of the store.")
        }
        let store = try system.resolve(store)
        let work = "\(path).\(system.uniqueName()).salvage"
        try system.checkNewPath(path)
        try system.makeFolder(work)
        defer { _ = try? system.removeTree(work) }
        let copy = Path.join(work, "damaged")
        // SQLite heals a WAL in the copy; where that is damaged too, the main file alone is read.
        for suffix in ["", "-wal", "-journal"] where try system.exists(store + suffix) {
            try system.copy(store + suffix, to: copy + suffix)
            try system.setMode(0o600, of: copy + suffix)
        }
        // A process that dies leaves nothing that looks like a store.
        let made = Path.join(work, "new")
        var report = try read(copy, of: store, into: made, isCancelled)
        report.store = path
        report.externalFiles = try copyExternalFiles(of: store, to: path)
        try system.synchronise(made)
        try system.rename(made, to: path)
        try system.synchronise(Path.folder(of: path))
        return report
    }

    private func read(_ copy: String, of store: String, into path: String, _ isCancelled: @escaping () -> Bool) throws
        -> SalvageReport
    {
        let source = try DamagedStore(copy, place: store, system)
        let version = try version ?? source.ownVersion()
        let damaged = source.layout(of: version.model)
        let maker = try StoreMaker(
            version, framework: source.framework ?? FrameworkLevel.newest.number, history: source.hasHistory,
            uuid: source.uuid, experimental: true, namesOf: damaged)
        try maker.make(at: path, on: POSIXSystem())
        let connection = try Connection(path, mode: .readWrite)
        defer { connection.close() }
        try connection.registerCoreDataStubs()
        try connection.attach(copy, as: "damaged", mode: .readWrite)
        try connection.execute("PRAGMA main.synchronous = OFF")
        // What the triggers keep in step comes along with the rows.
        for trigger in maker.layout.triggers { try connection.execute("DROP TRIGGER main.\(trigger.name.quotedName)") }
        // Each statement is a transaction of its own: inside of one SQLite writes nothing more once it has found damage.
        let tables = try maker.layout.tables.map { table in
            let old = damaged.tables.first { $0.rootEntityName == table.rootEntityName }
            return try salvage(table, from: old, source, maker.layout, connection, isCancelled)
        }
        let joins = try maker.layout.joinTables.map { join in
            let old = damaged.joinTables.first(where: join.isCounterpart)
            return try salvage(join, from: old, source, connection, isCancelled)
        }
        try connection.detach("damaged")
        try setCounters(maker.layout, source, connection)
        try source.metadata?.keepApplicationEntries(in: maker.metadata).write(to: connection)
        for trigger in maker.layout.triggers { try connection.execute(trigger.sql) }
        try connection.execute("PRAGMA main.synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)")
        try connection.checkSoundness(place: path)
        return SalvageReport(
            store: path, version: version.name, tables: tables + joins, notes: source.notes, externalFiles: 0)
    }

    /// - Parameter old: the table in the damaged store; nil where it has none.
    private func salvage(
        _ table: EntityTable, from old: EntityTable?, _ source: DamagedStore, _ layout: StoreLayout,
        _ connection: Connection, _ isCancelled: @escaping () -> Bool
    ) throws -> SalvageReport.Table {
        guard let old else { return Self.missing(table.name) }
        let columns = table.columns.compactMap { column -> (name: String, expression: String)? in
            guard let name = old.column(column.role)?.quotedName else { return nil }
            switch column.role {
            case .entity, .toOneEntity: return (column.name, source.number(name, in: layout))
            default: return (column.name, name)
            }
        }
        let counted = source.numbers[table.rootEntityName]?.max ?? 0
        return try TableSalvage(
            connection: connection, table: table.name, source: old.name, key: "Z_PK", columns: columns,
            highest: max(counted, source.highest(old.name)), isCancelled: isCancelled
        ).run()
    }

    private func salvage(
        _ join: JoinTable, from old: JoinTable?, _ source: DamagedStore, _ connection: Connection,
        _ isCancelled: @escaping () -> Bool
    ) throws -> SalvageReport.Table {
        guard let old else { return Self.missing(join.name) }
        let columns = join.columns.compactMap { column in
            old.column(column.role).map { (name: column.name, expression: $0.quotedName) }
        }
        return try TableSalvage(
            connection: connection, table: join.name, source: old.name, key: "rowid", columns: columns,
            highest: source.highest(old.name), isCancelled: isCancelled
        ).run()
    }

    private static func missing(_ table: String) -> SalvageReport.Table {
        SalvageReport.Table(
            name: table, rows: 0, partial: 0, lost: [], cause: "The damaged store has no such table.",
            isCutShort: true)
    }

    /// No key that was ever handed out is handed out again.
    private func setCounters(_ layout: StoreLayout, _ source: DamagedStore, _ connection: Connection) throws {
        for table in layout.tables {
            guard let number = layout.entityNumbers[table.rootEntityName] else { continue }
            try connection.run(
                """
                UPDATE main.Z_PRIMARYKEY SET Z_MAX = max(ifnull((SELECT max(Z_PK) FROM main.\(table.name.quotedName)), 0), ?) \
                WHERE Z_ENT = ?
                """, [.integer(source.numbers[table.rootEntityName]?.max ?? 0), .integer(Int64(number))])
        }
    }

    private func copyExternalFiles(of store: String, to path: String) throws -> Int {
        let (old, new) = (Sidecar(store: store).support, Sidecar(store: path).support)
        guard old != new, try system.exists(old) else { return 0 }
        try system.copyTree(old, to: new)
        return try system.files(below: new).count
    }
}
