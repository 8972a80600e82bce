import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore

/// The changes to the objects of one entity since a backup, counted by their keys and lock counters.
public struct ChangedObjects: Sendable, Hashable {
    /// The name of the entity.
    public package(set) var entityName: String
    /// Objects that were inserted.
    public package(set) var inserted: Int64
    /// Objects that were updated.
    public package(set) var updated: Int64
    /// Objects that were deleted.
    public package(set) var deleted: Int64
    /// The first keys of the inserted and updated objects.
    public package(set) var keys: [Int64]
    /// The first keys of the deleted objects.
    package var deletedKeys: [Int64] = []

    package static let keyLimit = 10

    /// Returns the changes of every changed entity, ordered by name. An entity that the backup lacks has only new
    /// objects.
    ///
    /// - Parameter renamed: by an entity's name in the backup, its name in the store.
    /// - Throws: the errors of reading the store or the backup.
    package static func all(
        in store: String, since backup: StoreBackup, renamed: [String: String] = [:],
        _ system: any System = POSIXSystem()
    ) throws -> [ChangedObjects] {
        try ReadOnlyStore.read(store, system: system) { probe in
            let connection = probe.connection
            let now = try entities(connection, schema: "main")
            try connection.attach(backup.store, as: "backup", mode: .immutable)
            defer { try? connection.detach("backup") }
            let before = try named(entities(connection, schema: "backup"), by: renamed)
            return try Set(now.keys).union(before.keys).inByteOrder().compactMap { name in
                let changed = try changes(of: name, now[name], before[name], connection)
                return changed.inserted + changed.updated + changed.deleted == 0 ? nil : changed
            }
        }
    }

    /// Returns the entities by their names in the store. A renamed entity wins over another that has taken a new name
    /// since.
    private static func named(_ entities: [String: Rows], by renamed: [String: String]) -> [String: Rows] {
        let others = entities.filter { renamed[$0.key] == nil }
        let new = entities.compactMap { name, rows in renamed[name].map { ($0, rows) } }
        return Dictionary(new, uniquingKeysWith: { first, _ in first }).merging(others) { renamed, _ in renamed }
    }

    private struct Rows {
        let table: String
        let number: Int64
    }

    /// Returns the rows of the entities; a sub-entity has the table of its root.
    private static func entities(_ connection: Connection, schema: String) throws -> [String: Rows] {
        var named: [Int64: (name: String, parent: Int64)] = [:]
        try connection.forEachRow("SELECT Z_ENT, Z_NAME, Z_SUPER FROM \(schema).Z_PRIMARYKEY WHERE Z_ENT < 16000") {
            row in
            named[row.integer(0)] = (row.text(1) ?? "", row.integer(2))
        }
        let tables = Set(try connection.catalogue(schema: schema).tables.map(\.name))
        var found: [String: Rows] = [:]
        for (number, entity) in named {
            var (root, steps) = (entity, 0)
            while root.parent != 0, let parent = named[root.parent], steps < named.count {
                (root, steps) = (parent, steps + 1)
            }
            let table = "Z" + root.name.uppercased()
            if tables.contains(table) { found[entity.name] = Rows(table: table, number: number) }
        }
        return found
    }

    private static func changes(of name: String, _ now: Rows?, _ before: Rows?, _ connection: Connection) throws
        -> ChangedObjects
    {
        let empty = "SELECT NULL AS Z_PK, NULL AS Z_OPT WHERE 0"
        func rows(_ rows: Rows?, _ schema: String) -> String {
            rows.map { "SELECT Z_PK, Z_OPT FROM \(schema).\($0.table.quotedName) WHERE Z_ENT = \($0.number)" } ?? empty
        }
        let (new, old) = ("(\(rows(now, "main"))) AS n", "(\(rows(before, "backup"))) AS o")
        let isNew = "NOT EXISTS (SELECT 1 FROM \(old) WHERE o.Z_PK = n.Z_PK)"
        let isOther = "EXISTS (SELECT 1 FROM \(old) WHERE o.Z_PK = n.Z_PK AND o.Z_OPT IS NOT n.Z_OPT)"
        func count(_ sql: String) throws -> Int64 { try connection.integer("SELECT count(*) FROM \(sql)") ?? 0 }
        let isGone = "NOT EXISTS (SELECT 1 FROM \(new) WHERE n.Z_PK = o.Z_PK)"
        func keys(_ sql: String) throws -> [Int64] {
            try connection.rows("SELECT \(sql) ORDER BY 1 LIMIT \(keyLimit)") { $0.integer(0) }
        }
        return try ChangedObjects(
            entityName: name, inserted: count("\(new) WHERE \(isNew)"), updated: count("\(new) WHERE \(isOther)"),
            deleted: count("\(old) WHERE \(isGone)"), keys: keys("n.Z_PK FROM \(new) WHERE \(isNew) OR \(isOther)"),
            deletedKeys: keys("o.Z_PK FROM \(old) WHERE \(isGone)"))
    }
}

/// The losses of one earlier run, and the objects that it quarantined. A reverse mapping restores neither.
public struct EarlierLosses: Sendable, Equatable {
    /// The run.
    public let run: StoreRun
    /// The run's backup, if it still holds the lost data; nil if the run made none, or if it is gone or damaged. One
    /// that cannot be read now, and may be whole, has the error.
    public let backup: StoreBackup?

    /// The number of objects that the run quarantined.
    public var quarantined: Int64 { run.quarantined }
    /// The losses of the run, without deferred ones: they are lost only when the deferred work is done.
    public var losses: [MigrationLoss] { run.losses.filter { !$0.isPutOff } }

    /// Returns the earlier losses of every run that led from a version to a newer one and is still in effect, oldest
    /// first.
    ///
    /// - Parameters:
    ///   - goal: the version to go back to. Losses on the way to this version itself are not included.
    ///   - system: reads the history next to the store.
    /// - Throws: the errors of reading the history or the list of backups.
    static func all(
        of store: String, since goal: ModelVersion, in versions: ModelVersions, _ migrator: Migrator
    ) throws -> [EarlierLosses] {
        let system = migrator.system
        let runs = RunHistory.inForce(try RunHistory(StoreRecords(store: try system.resolve(store)), system).records())
        let folder = try migrator.backups(of: store)
        let backups = try [folder].all(of: store)
        let position = versions.position(named: goal.name)
        return try runs.compactMap { run in
            if let position, let reached = versions.position(named: run.to), reached <= position { return nil }
            let backup = backups.first { $0.name == run.backup }
            let earlier = EarlierLosses(run: run, backup: try backup.flatMap { try unlessDamaged($0, in: folder) })
            guard try earlier.losses.contains(where: { $0.count != 0 }) || earlier.quarantined(migrator, store) > 0
            else { return nil }
            return earlier
        }
    }

    private static func unlessDamaged(_ backup: StoreBackup, in folder: BackupFolder) throws -> StoreBackup? {
        do {
            if let error = backup.error { throw error }
            return try folder.isWhole(backup) ? backup : nil
        } catch let error as MigrationError {
            if BackupFolder.isFault(error) { return nil }
            return StoreBackup(folder: backup.folder, manifest: backup.manifest, error: error)
        }
    }

    /// Returns the number of objects of the run that are still in the quarantine.
    private func quarantined(_ migrator: Migrator, _ store: String) throws -> Int64 {
        guard run.quarantined > 0 else { return 0 }
        return try Quarantine(StoreRecords(store: try migrator.system.resolve(store)), migrator.system).count(
            run: run.run)
    }
}

extension RunHistory {
    /// Returns the runs whose results the store still has: a rollback undoes the runs after its backup.
    static func inForce(_ records: [StoreRun]) -> [StoreRun] {
        // The runs in effect before each record.
        var before: [[StoreRun]] = []
        var now: [StoreRun] = []
        for record in records {
            before.append(now)
            guard [.done, .recovered].contains(record.result) else { continue }
            guard record.operation == .rollback else {
                now.append(record)
                continue
            }
            // A run's backup is the store before that run. Any other backup is as old as its name says.
            if let restored = record.restored {
                if let maker = records.firstIndex(where: { $0.backup == restored && $0.run != record.run }),
                    before.indices.contains(maker)
                {
                    now = before[maker]
                } else {
                    let time = restored.prefix { $0 != "-" }
                    now = now.filter { $0.endTime.filter { $0 != "-" && $0 != ":" } <= time }
                }
            } else if let left = now.lastIndex(where: { $0.from == record.to }) {
                now.removeSubrange(left...)
            }
        }
        return now
    }
}
