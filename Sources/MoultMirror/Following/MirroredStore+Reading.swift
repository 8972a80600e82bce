import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem
import MoultVerify

extension MirroredStore {
    /// A value that the other version requires and that the new rows lack, as an error; nil if there is none.
    func missingValue(in step: MirrorStep, _ route: MirrorRoute) throws -> MigrationError? {
        let layout = try StoreLayout(actual: snapshot(of: route.replica), model: route.to.model)
        let connection = try Connection(step.fresh, mode: .readWrite)
        defer { connection.close() }
        for column in StoreShape(layout, withObjects: false).required
        where step.tables.contains(where: { $0.name == column.table && !$0.kept.contains(column.column) }) {
            let numbers = column.numbers.map(String.init).joined(separator: ", ")
            let key = try connection.integer(
                "SELECT Z_PK FROM \(column.table.quotedName) WHERE Z_ENT IN (\(numbers)) "
                    + "AND \(column.column.quotedName) IS NULL LIMIT 1")
            guard let key else { continue }
            return MigrationError(
                .dataConflict, "The object \(key) has no value for \(column.place), which is required.",
                place: column.place, remedy: "Give it one. Both stores are unchanged.")
        }
        return nil
    }

    func cannotGoBack(_ reason: String) -> MigrationError {
        MigrationError(
            .unsupported, "What is written to the second store cannot be copied to the first. \(reason)",
            place: record.second,
            remedy: "Use the second store; \(.stopMirror) ends the mirror.")
    }

    func readParts(
        _ route: MirrorRoute, _ script: PartialScript, _ snapshot: StoreSnapshot, _ source: String, _ mark: MirrorMark,
        in folder: String, all: Bool, overwriting: Bool
    ) throws -> MirrorStep {
        let path = Path.join(folder, "rows")
        try system.makeFile(path, .own)
        let connection = try Connection(path, mode: .readWrite, busyTimeout: Self.patience)
        defer { connection.close() }
        watch(connection)
        try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE")
        try connection.attach(source, as: "source", mode: .readWrite)
        try connection.attach(route.replica, as: "replica", mode: .readWrite)
        try FormatFunctions.register(on: connection)
        let external = ExternalStorage(store: route.primary)
        for function in script.script.functions(externalFile: { [system] name in
            guard StoreVerification.isPlainName(name) else {
                throw StoreVerification.strangeFile(name, route.primary)
            }
            return try external.contents(of: name, on: system) ?? system.read(Path.join(external.folder, name))
        }) { try connection.register(function) }
        var reading = MirrorReading(connection, script, mark)
        return try connection.transaction(.deferred) {
            guard try connection.catalogue(schema: "source").digest == snapshot.catalogueDigest else {
                throw MigrationError(
                    .planStale, "The tables of the store have changed in the meantime.", place: source,
                    remedy: "Run the command again.")
            }
            try reading.list(all: all)
            let tables = try reading.makeRows(keepsUnfilled: route.keepsUnfilled)
            return MirrorStep(
                means: reading.means, fresh: path, tables: tables,
                metadata: try StoreMetadata(from: connection, schema: "source"), transaction: reading.transaction,
                highestKeys: try highestKeys(script, connection), external: [external])
        }
    }

    private func highestKeys(_ script: PartialScript, _ connection: Connection) throws -> [(root: Int, highest: Int64)]
    {
        let entities = try script.sources.map { source in
            let highest = try connection.integer(
                "SELECT \(PrimaryKeyRow.highestSQL) FROM source.Z_PRIMARYKEY WHERE Z_ENT = ?",
                [.integer(Int64(source.rootNumber))])
            return (root: source.destinationRootNumber, highest: highest ?? 0)
        }
        let history = try connection.rows(
            "SELECT Z_ENT, \(PrimaryKeyRow.highestSQL) FROM source.Z_PRIMARYKEY WHERE Z_ENT BETWEEN 16001 AND 16003"
        ) { (root: Int($0.integer(0)), highest: $0.integer(1)) }
        return entities + history
    }

    /// The whole store is migrated afresh, and every row of that compared.
    func readWhole(
        _ route: MirrorRoute, _ source: String, _ mark: MirrorMark, in folder: String, overwriting: Bool, fresh: String?
    ) throws -> MirrorStep {
        let path = try fresh ?? freshPath(for: route, in: folder)
        var transaction: Int64?
        if fresh == nil {
            try copy(source, besideDataOf: route.primary, to: path)
            transaction = try Self.lastTransaction(of: path)
            try migrate(path, by: route)
        } else {
            transaction = try Self.lastTransaction(of: source)
        }
        if let last = transaction, let known = mark.transaction, known > last, !overwriting {
            throw MirrorReading.ahead(
                "It has the transaction \(known), but the store that it follows ends with \(last).")
        }
        let connection = try Connection(path, mode: .readWrite)
        defer { connection.close() }
        let layout = try StoreLayout(actual: StoreSnapshot(connection), model: route.to.model)
        let history = try PartialScript.historyTables.compactMap { name -> MirroredTable? in
            let columns = try connection.columns(of: name).map(\.name)
            return columns.isEmpty ? nil : MirroredTable(name: name, columns: columns, key: ["Z_PK"])
        }
        return MirrorStep(
            means: .comparison, fresh: path, tables: MirroredTable.all(of: layout) + history,
            metadata: try StoreMetadata(from: connection), transaction: transaction,
            highestKeys: try connection.rows(
                "SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY WHERE typeof(Z_MAX) = 'integer' AND Z_MAX > 0"
            ) {
                (root: Int($0.integer(0)), highest: $0.integer(1))
            }, external: [ExternalStorage(store: path), ExternalStorage(store: route.primary)])
    }
}
