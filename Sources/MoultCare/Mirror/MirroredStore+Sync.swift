import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore
import MoultVerify

extension MirroredStore {
    /// Copies the changes since the last sync.
    ///
    /// The store that is followed is only read, at one moment; apps may write to it in the meantime. One transaction
    /// writes the rows and the mark to the other store. When this throws, both stores are unchanged.
    ///
    /// - Parameters:
    ///   - all: compare every row, whatever history and counters say.
    ///   - overwriting: discard what something else has written to the store that follows.
    /// - Throws: `locked`, `fileNotFound`, `mirrorDiverged`; `dataConflict` if rows do not fit the other version.
    package mutating func synchronise(all: Bool = false, overwriting: Bool = false) throws -> MirrorSync {
        let route = try route()
        let all = all || overwriting || record.comparesAll
        let outcome = try locked {
            try withWorkFolder { folder in
                try follow(route, reading: route.primary, in: folder, all: all, overwriting: overwriting)
            }
        }
        if record.comparesAll {
            record.comparesAll = false
            try record.write(sidecar, system)
        }
        return outcome
    }

    /// - Parameters:
    ///   - source: the store that is followed, or a copy of it.
    ///   - fresh: the path of a fresh migration of `source`; nil to make one if it is needed.
    func follow(
        _ route: MirrorMapping, reading source: String, in folder: String, all: Bool, overwriting: Bool,
        fresh: String? = nil
    ) throws -> MirrorSync {
        let start = system.monotonicNanoseconds
        try checkCancelled()
        let mark = try checkReplica(route, overwriting: overwriting)
        try requireFile(source)
        let snapshot = try snapshot(of: source)
        try checkPrimary(snapshot, route)
        if !overwriting { try checkRestores(snapshot, route) }
        let (script, obstacle) = try self.script(of: route, over: snapshot)
        var reason = obstacle
        var parts = try script.map {
            try readParts(route, $0, snapshot, source, mark, in: folder, all: all, overwriting: overwriting)
        }
        if let missing = try parts.flatMap({ try missingValue(in: $0, route) }) {
            // Only the engine, which sees the whole store, can tell whether the source already lacked the value.
            guard !route.keepsUnfilled else { throw missing }
            (parts, reason) = (nil, missing.message)
        }
        if route.keepsUnfilled, parts == nil { throw cannotGoBack(reason ?? "") }
        let step = try parts ?? readWhole(route, source, mark, in: folder, overwriting: overwriting, fresh: fresh)
        try bringFiles(of: step, route)
        let changes = try write(step, route, mark)
        noteSeen(route.replica)
        return MirrorSync(means: step.means, changes: changes, reason: reason, seconds: system.seconds(since: start))
    }

    func snapshot(of path: String) throws -> StoreSnapshot {
        // With write access, SQLite recovers what a killed app has left.
        let connection = try Self.open(path)
        defer { connection.close() }
        return try StoreSnapshot(connection)
    }

    /// Returns the statements that sync single objects, or the reason why there are none.
    func script(of route: MirrorMapping, over snapshot: StoreSnapshot) throws -> (PartialScript?, String?) {
        guard let script = try partialScript(of: route, over: snapshot) else { return (nil, route.obstacle) }
        return script.obstacle.map { (nil, $0) } ?? (script, nil)
    }

    /// Returns the mapping of a route, lowered for single objects; nil if the route has none, or an obstacle.
    func partialScript(of route: MirrorMapping, over snapshot: StoreSnapshot) throws -> PartialScript? {
        guard let mapping = route.mapping, route.obstacle == nil else { return nil }
        return try PartialScript(
            mapping, from: StoreLayout(actual: snapshot, model: route.from.model), to: replicaLayout(route),
            catalogue: snapshot.catalogue)
    }

    /// Returns an error about a value that the other version requires and the new rows lack; nil if there is none.
    func missingValue(in step: MirrorStep, _ route: MirrorMapping) throws -> MigrationError? {
        let connection = try Connection(step.fresh, mode: .readWrite, isProven: true)
        defer { connection.close() }
        for column in try StoreShape(replicaLayout(route), withObjects: false).required {
            guard let table = step.tables.first(where: { $0.name == column.table }) else { continue }
            let kept = table.kept.first { $0.column == column.column }?.numbers ?? []
            let numbers = column.numbers.filter { !kept.contains($0) }.map(String.init).joined(separator: ", ")
            guard !numbers.isEmpty else { continue }
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
            place: record.second, remedy: "Use the second store; \(.stopMirror) ends the mirror.")
    }

    func readParts(
        _ route: MirrorMapping, _ script: PartialScript, _ snapshot: StoreSnapshot, _ source: String,
        _ mark: MirrorMark,
        in folder: String, all: Bool, overwriting: Bool
    ) throws -> MirrorStep {
        let path = Path.join(folder, "rows")
        try system.makeFile(path, .own)
        let connection = try Self.open(path)
        defer { connection.close() }
        watch(connection)
        try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE")
        try connection.attach(source, as: "source", mode: .readWrite)
        try connection.attach(route.replica, as: "replica", mode: .readWrite)
        try FormatFunctions.register(on: connection)
        // The files of a copy are those of its moment.
        let external = ExternalStorage(store: source)
        for function in script.script.functions(externalFile: { [system] name in
            guard StoreVerification.isPlainName(name) else { throw StoreVerification.strangeFile(name, route.primary) }
            return try external.contents(of: name, on: system) ?? system.read(Path.join(external.folder, name))
        }) { try connection.register(function) }
        var reading = ChangeReader(connection, script, mark)
        return try connection.transaction(.deferred) {
            guard try connection.catalogue(schema: "source").digest == snapshot.catalogueDigest else {
                throw MigrationError(
                    .planStale, "The tables of the store have changed in the meantime.", place: source,
                    remedy: "Run the command again.")
            }
            try reading.list(all: all)
            var tables = try reading.makeRows(keepsUnfilled: route.keepsUnfilled)
            let layout = try replicaLayout(route)
            let standIns = standIns(of: route, in: layout)
            for index in tables.indices {
                tables[index].standIns = standIns.filter { $0.table == tables[index].name && $0.isOptional }
                if route.keepsUnfilled { tables[index].external = layout.externalColumns(of: tables[index].name) }
            }
            try synchroniseLog(of: source)
            return MirrorStep(
                means: reading.means, fresh: path, tables: tables,
                metadata: try StoreMetadata(from: connection, schema: "source"), transaction: reading.transaction,
                highestKeys: try highestKeys(script, connection), external: [external])
        }
    }

    /// The values that the store that is followed has where the other one has none.
    ///
    /// - Parameter layout: that of the store that follows.
    func standIns(of route: MirrorMapping, in layout: StoreLayout) -> [StandIn] {
        route.standIns.sorted { $0.key < $1.key }.flatMap { name, values -> [StandIn] in
            guard let entity = layout.model.entity(name), let table = layout.table(forEntity: name),
                let number = layout.entityNumbers[name]
            else { return [] }
            return values.sorted { $0.key < $1.key }.compactMap { name, value in
                guard let attribute = layout.model.attribute(name, of: entity),
                    let column = layout.column(forAttribute: name, in: entity)
                else { return nil }
                return StandIn(
                    table: table.name, column: column, number: number, value: value.stored(for: attribute).literal,
                    isOptional: attribute.isOptional)
            }
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

    /// Migrates the whole store afresh, so that every row is compared.
    func readWhole(
        _ route: MirrorMapping, _ source: String, _ mark: MirrorMark, in folder: String, overwriting: Bool,
        fresh: String?
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
            throw ChangeReader.ahead(
                "It has the transaction \(known), but the store that it follows ends with \(last).")
        }
        let connection = try Connection(path, mode: .readWrite, isProven: true)
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

    /// Writes the rows, the metadata and the mark in one transaction.
    func write(_ step: MirrorStep, _ route: MirrorMapping, _ mark: MirrorMark) throws -> MirrorChanges {
        let connection = try Self.open(route.replica)
        defer { connection.close() }
        watch(connection)
        try connection.execute("PRAGMA synchronous = FULL; PRAGMA temp_store = FILE")
        try connection.registerCoreDataStubs()
        try MirrorContents.register(on: connection)
        try connection.register(ExternalStorage(store: route.replica).keptCells(on: system))
        try connection.attach(step.fresh, as: "fresh", mode: .readWrite)
        // Only the store that follows must be durable.
        try connection.execute("PRAGMA fresh.journal_mode = OFF; PRAGMA fresh.synchronous = OFF")
        do {
            let application = try connection.transaction(.immediate) { try write(step, route, mark, connection) }
            removeFiles(application.files, route, connection)
            return application.changes
        } catch let error as MigrationError where error.code == .sqlite && error.cause?.contains("constraint") == true {
            throw MigrationError(
                .dataConflict, "Two objects would have the same value, which must be unique in \(route.to.name).",
                place: route.primary, remedy: "Change one of them. Both stores are unchanged.", cause: error.cause)
        } catch {
            // If syncing the WAL failed, it still holds the transaction, and the next process would find it there.
            try? connection.settleCommit(system)
            throw error
        }
    }

    private func write(_ step: MirrorStep, _ route: MirrorMapping, _ mark: MirrorMark, _ connection: Connection) throws
        -> MirrorApplication
    {
        let present = try StoreMetadata(from: connection)
        let layout = try StoreLayout(actual: StoreSnapshot(connection), model: route.to.model)
        let all = MirroredTable.all(of: layout)
        let sums = step.means == .comparison ? try MirrorContents.sums(connection, all) : mark.contents
        var application = try MirrorApplication(connection, sums: sums)
        // Triggers that maintain derived values would count twice. Those of R-trees must run.
        let triggers = try connection.catalogue().triggers.filter { $0.kind != .rTree }.map(\.entry)
        try connection.withoutTriggers(triggers) {
            WorkMeter.expect(pieces: step.tables.count)
            for table in step.tables {
                try application.apply(table)
                WorkMeter.current?.advance()
            }
            let names = Set(all.map(\.name))
            let contents = application.sums.filter { names.contains($0.key) }
            for (root, highest) in step.highestKeys {
                try connection.run(
                    "UPDATE Z_PRIMARYKEY SET Z_MAX = ?2 WHERE Z_ENT = ?1 AND (typeof(Z_MAX) <> 'integer' OR Z_MAX < ?2)",
                    [.integer(Int64(root)), .integer(highest)])
            }
            var metadata = merged(step.metadata, into: present, route)
            metadata.entries[MirrorMark.key] =
                MirrorMark(identifier: record.identifier, transaction: step.transaction, contents: contents).entry
            if metadata != present { try metadata.write(to: connection) }
        }
        try checkCancelled()
        return application
    }

    /// Returns the present metadata with the application's entries of the source. The entries that identify the version
    /// stay.
    private func merged(_ source: StoreMetadata, into present: StoreMetadata, _ route: MirrorMapping) -> StoreMetadata {
        var metadata = present
        for key in present.applicationEntries.keys where source.entries[key] == nil { metadata.entries[key] = nil }
        for (key, value) in source.applicationEntries { metadata.entries[key] = value }
        return metadata
    }
}
