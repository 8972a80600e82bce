import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultPlan
import MoultSQLite
import MoultSession
import MoultStore

extension MirroredStore {
    /// Creates the second store, as a request to migrate into another file describes it, and starts to follow the
    /// first.
    ///
    /// The first store is only read, and may be open and written to in the meantime. When this throws, there is neither
    /// a second store nor a mirror. The record keeps the request, with the full paths of its models.
    ///
    /// - Throws: `usage` if there is a mirror already, or a file at the path; `lockFileMismatch` if a released version
    ///   has changed; `insufficientStorage` before anything is made; the errors of planning and of the migration.
    package static func start(
        _ request: StoreRequest, _ context: StoreSession.Context, on system: any System = POSIXSystem(),
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> MirroredStore {
        guard case .migrateInto(let destination) = request.work else {
            throw MigrationError(
                .internal, "The request names no place for the second store.", place: request.store,
                remedy: "Please report this.")
        }
        try request.check()
        try context.versions.checkReleased()
        var (kept, planned) = (request, request)
        kept.models = try request.models?.resolved(system)
        let path = try ReadOnlyStore.checkFile(request.store, system)
        let second = Path.join(try system.resolve(Path.folder(of: destination)), Path.name(of: destination))
        (planned.store, planned.work) = (path, .plan)
        let prepared = try StoreSession(planned, context, on: system).prepared
        guard !prepared.plan.isEmpty else {
            throw MigrationError(
                .usage, "The store is already of version \(prepared.plan.to.name).", place: request.store,
                remedy: "Name another version with \(option: .to(nil)).")
        }
        let uuid = try ReadOnlyStore.read(path, system: system) { try StoreMetadata(from: $0.connection).uuid }
        var record = MirrorRecord(
            identifier: system.uniqueName(), state: .starting, second: second, uuid: uuid,
            from: prepared.plan.from.name, to: prepared.plan.to.name, plan: prepared.plan.digest.hexadecimal,
            startedAt: system.now.iso8601, request: kept)
        if case .configuration(let name) = prepared.plan.part { record.configuration = name }
        var mirror = MirroredStore(path, record, context, RunOptions(), system)
        mirror.isCancelled = isCancelled
        mirror.warnings = prepared.warnings
        // Check first, so that a refusal creates nothing next to the second path. A start that died is handled under
        // the lock.
        if try MirrorRecord.read(mirror.sidecar, system)?.state != .starting { try mirror.checkFree() }
        try mirror.checkSpace(prepared)
        try mirror.locked {
            try mirror.checkFree()
            try mirror.begin()
        }
        return mirror
    }

    private func checkSpace(_ prepared: PreparedMigration) throws {
        guard let migration = try prepared.migration() else { return }
        if let refusal = migration.lossRefusal { throw refusal }
        try SpaceRequirement(mirroring: sidecar, at: record.second, by: migration, system)
            .check(for: "The mirror", system)
    }

    private func checkFree() throws {
        let present = try MirrorRecord.read(sidecar, system)
        if let present, present.state != .starting {
            throw MigrationError(
                .usage, "The store already has a mirror, at \(present.second).", place: store,
                remedy: "Use it, or end it first: \(.stopMirror).")
        }
        if let present { try removeUnfinished(present) }
        try system.checkNewPath(record.second, isStore: true, apartFrom: store)
        try system.checkNewPath(StoreRecords(store: record.second).support)
    }

    /// Removes the files of a start that died. A store with the mirror's identifier can only come from that start.
    /// Without a store, the folder of external data does too, because nothing was there when the start began.
    func removeUnfinished(_ dead: MirrorRecord) throws {
        let support = StoreRecords(store: dead.second).support
        func removeSupport() throws { if support != sidecar.support { try system.removeTree(support) } }
        if try !system.exists(dead.second) {
            try removeSupport()
        } else {
            if try MirrorMark.read(in: dead.second, system)?.identifier == dead.identifier {
                try system.remove(dead.second)
                try removeSupport()
            }
        }
        try MirrorRecord.remove(sidecar, system)
    }

    private mutating func begin() throws {
        try record.write(sidecar, system)
        do {
            try withWorkFolder { folder in
                let copy = Path.join(folder, Path.name(of: record.second))
                try self.copy(store, besideDataOf: store, to: copy)
                let route = try forward()
                // Read before the migration, whose code may write history of its own.
                let transaction = try Self.lastTransaction(of: copy)
                try migrate(copy, by: route)
                try mark(copy, of: route.to, at: transaction)
                try checkCancelled()
                try putInPlace(copy)
                try KeptKeys.copy(sidecar, to: StoreRecords(store: record.second), of: record.uuid, system)
            }
            record.state = .mirroring
            try record.write(sidecar, system)
        } catch {
            do {
                try removeUnfinished(record)
            } catch let obstacle {
                throw Self.left(record.second, after: error, obstacle)
            }
            throw error
        }
        noteSeen(record.second)
    }

    /// Returns the error for files that could not be removed. The record stays too, so the next start removes them.
    private static func left(_ second: String, after error: any Error, _ obstacle: any Error) -> MigrationError {
        var error = error as? MigrationError ?? MigrationError(.inputOutput, "\(error)", place: second, remedy: "")
        error.message += " What was made at \(second) could not be removed: \(obstacle)"
        error.remedy = "Repair the disk, then start the mirror again, which removes it first, or remove it yourself."
        return error
    }

    static func lastTransaction(of path: String) throws -> Int64? {
        let connection = try Self.open(path)
        defer { connection.close() }
        return try connection.lastTransaction()
    }

    /// Writes the mark into a store's own metadata: the store follows, and this is its progress.
    ///
    /// - Parameter transaction: the last transaction of persistent history that its rows include.
    func mark(_ path: String, of version: ModelVersion, at transaction: Int64?) throws {
        let connection = try Self.open(path)
        defer { connection.close() }
        try MirrorContents.register(on: connection)
        try connection.execute("PRAGMA synchronous = FULL")
        let layout = try StoreLayout(actual: StoreSnapshot(connection), model: version.model)
        try connection.transaction {
            var metadata = try StoreMetadata(from: connection)
            metadata.entries[MirrorMark.key] =
                MirrorMark(
                    identifier: record.identifier, transaction: transaction,
                    contents: try MirrorContents.sums(connection, MirroredTable.all(of: layout))
                ).entry
            try metadata.write(to: connection)
        }
        try connection.writeBackLog(system)
    }

    private func putInPlace(_ copy: String) throws {
        let (from, to) = (StoreRecords(store: copy), StoreRecords(store: record.second))
        try system.synchronise(copy)
        let hasFiles = try system.exists(from.support)
        if hasFiles {
            for name in try system.files(below: from.support) { try system.synchronise(Path.join(from.support, name)) }
            try system.rename(from.support, toUnused: to.support)
        }
        do {
            try system.rename(copy, toUnused: record.second)
        } catch {
            // Left there, the folder would seem to belong to the store that another process has made.
            if hasFiles { try system.rename(to.support, to: from.support) }
            throw error
        }
        try system.synchronise(Path.folder(of: record.second))
    }
}

extension Connection {
    /// Returns the number of the last transaction of persistent history, even if it was pruned; nil without history.
    func lastTransaction(schema: String = "main") throws -> Int64? {
        let name = schema.quotedName
        let tables = "type = 'table' AND name IN ('ACHANGE', 'ATRANSACTION')"
        guard try integer("SELECT count(*) FROM \(name).sqlite_master WHERE \(tables)") == 2 else { return nil }
        return try integer(
            """
            SELECT max(coalesce((SELECT max(Z_PK) FROM \(name).ATRANSACTION), 0), \
            coalesce((SELECT \(PrimaryKeyRow.highestSQL) FROM \(name).Z_PRIMARYKEY WHERE Z_NAME = 'TRANSACTION' AND Z_ENT > 16000), 0))
            """)
    }
}
