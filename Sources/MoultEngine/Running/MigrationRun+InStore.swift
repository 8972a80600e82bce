import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

// MARK: - On the store itself

extension MigrationRun {
    /// One transaction, next to the backup. A script that reads rows has it as `source`; they are compared with it.
    func changeStore() throws -> StoreBackup? {
        guard !options.isFrugal, migration.script.needsBackup else {
            try changeInOneTransaction()
            return nil
        }
        return try withDraft { draft in
            let proof = prove(draft)
            defer { _ = try? proof.wait() }
            let isRead = !migration.script.isInPlace
            if isRead {
                try FormatFunctions.register(on: lock.connection)
                try WorkingCopy.limitMemory(of: lock.connection, options)
                try lock.connection.attach(draft.store, as: "source")
            }
            defer { if isRead { try? lock.connection.detach("source") } }
            var backup: StoreBackup?
            try changeInOneTransaction { isVerified in
                // A draft that is not sound explains whatever was found by comparing with it.
                guard isVerified else {
                    _ = try proof.wait()
                    return
                }
                backup = try timings.measure(.backup) { try finish(draft, proof, during: .verify) }
            }
            return backup
        }
    }

    /// - Parameter ended: called when the verification has ended, before the commit, with whether it has found nothing. The
    ///   backup is proven meanwhile, on the other core.
    private func changeInOneTransaction(_ ended: (_ isVerified: Bool) throws -> Void = { _ in }) throws {
        let connection = lock.connection
        try connection.registerCoreDataStubs()
        for function in migration.functions { try connection.register(function) }
        try writeExternalFiles()
        let named = try namedFiles()
        try connection.execute("BEGIN IMMEDIATE")
        do {
            try timings.measure(.change) { try runner.run(on: connection) }
            rows = migration.script.rows
            try migration.settleLosses()
            do { try migration.verify(connection, timings, observer) } catch {
                try ended(false)
                throw error
            }
            try ended(true)
            guard !observer.isCancelled() else { throw MigrationRun.cancelled(sidecar.store) }
            try noteDroppedFiles(from: named, to: connection)
            journal.state = .committing
            journal.losses = migration.ledger.losses
            journal.newChecksum = try distinctState(of: connection).checksum
            try journal.write(sidecar, system)
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
        try timings.measure(.commit) {
            try committing {
                do {
                    try connection.execute("COMMIT")
                } catch {
                    if connection.isInTransaction { try? connection.execute("ROLLBACK") }
                    throw error
                }
            }
        }
        // What was verified was read from the files. All that has been written since is the first page, which is in memory.
        committed = (Result { try PageDigests(connection, again: false) }, nil)
        observer.report(.commit, 1, rows: observer.totalRows)
    }

    /// The state of the new store; a recovery tells it from the old one by its hashes, or by the number of its schema.
    private func distinctState(of connection: Connection) throws -> StoreState {
        let state = try StoreState(connection)
        guard state.checksum == before.checksum, state.schemaVersion == before.schemaVersion else { return state }
        try connection.execute("PRAGMA main.schema_version = \((state.schemaVersion &+ 1) & 0x7FFF_FFFF)")
        return state
    }
}
