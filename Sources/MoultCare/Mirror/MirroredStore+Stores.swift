import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore

extension MirroredStore {
    /// Returns the mark of the store that follows, after checking that only the mirror has written to it.
    ///
    /// - Parameter overwriting: whether to discard rows that something else has written there.
    /// - Throws: `fileNotFound`, `mirrorDiverged`.
    func checkReplica(_ route: MirrorMapping, overwriting: Bool) throws -> MirrorMark {
        try requireFile(route.replica)
        let isSeen = try isAsSeen(route.replica)
        let connection = try Self.open(route.replica)
        defer { connection.close() }
        watch(connection)
        let snapshot = try StoreSnapshot(connection)
        guard let mark = MirrorMark(snapshot.metadata), mark.identifier == record.identifier else {
            throw diverged(
                "The store at this path is not the second store of this mirror.", route.replica,
                "Restore that store, or stop the mirror and start a new one.")
        }
        guard snapshot.hashes.isCompatible(with: route.to.hashes) else {
            throw diverged(
                "The store that follows is no longer of version \(route.to.name).", route.replica,
                "Stop the mirror and start a new one.")
        }
        guard !isSeen, !overwriting else { return mark }
        // The file may have changed since. Its rows show whether anything but the mirror has written to it.
        try MirrorContents.register(on: connection)
        let layout = try StoreLayout(actual: snapshot, model: route.to.model)
        let sums = try MirrorContents.sums(connection, MirroredTable.all(of: layout))
        let changed = Set(sums.keys).union(mark.contents.keys).sorted().filter { sums[$0] != mark.contents[$0] }
        guard changed.isEmpty else {
            throw diverged(
                "Something other than the mirror has written to the store that follows, in "
                    + "\(changed.joined(separator: ", ")).", "\(route.replica): \(changed.joined(separator: ", "))",
                "\(.verifyMirror) lists the rows; \(.syncMirror, .overwrite) discards them.")
        }
        return mark
    }

    /// - Throws: `mirrorDiverged` if the store is not the one that the mirror follows; the errors of a store that
    ///   cannot be migrated in its present state.
    func checkPrimary(_ snapshot: StoreSnapshot, _ route: MirrorMapping) throws {
        try PreparedMigration.refuse(snapshot, options)
        guard snapshot.metadata.uuid == record.uuid else {
            throw diverged(
                "The store is not the one with which the mirror was started: its UUID is \(snapshot.metadata.uuid), not "
                    + "\(record.uuid).", route.primary,
                "Restore the store, or stop the mirror and start a new one.")
        }
        guard snapshot.hashes.isCompatible(with: route.from.hashes) else {
            throw diverged(
                "The store is no longer of version \(route.from.name): it was migrated.", route.primary,
                "Stop the mirror and start a new one from the store's current version.")
        }
    }

    /// Checks that neither store was restored from a backup since. A restore leaves the counters as high as they were,
    /// but undoes changes that were already copied.
    ///
    /// - Throws: `mirrorDiverged`.
    func checkRestores(_ primary: StoreSnapshot, _ route: MirrorMapping) throws {
        let replica = try snapshot(of: route.replica)
        guard primary.metadata.entries[RestoreMark.key] != replica.metadata.entries[RestoreMark.key] else { return }
        throw ChangeReader.ahead("One of the two stores was restored from a backup since.")
    }

    func diverged(_ message: String, _ place: String, _ remedy: Remedy) -> MigrationError {
        MigrationError(.mirrorDiverged, message, place: place, remedy: remedy)
    }

    // MARK: - Files as the mirror left them

    /// Notes sizes and times of the files of the store that follows. The note only saves work, so writing it may fail:
    /// if it is missing or does not match the file, the rows are checked.
    func noteSeen(_ path: String) {
        guard let facts = try? facts(of: path) else { return }
        try? system.write(Array(facts.compact.utf8), to: sidecar.mirrorSeen, sidecar.rights)
    }

    private func isAsSeen(_ path: String) throws -> Bool {
        guard try system.exists(sidecar.mirrorSeen) else { return false }
        let bytes = try system.read(sidecar.mirrorSeen)
        return bytes == Array(try facts(of: path).compact.utf8)
    }

    func facts(of path: String) throws -> JSONValue {
        .array(
            try [path, path + "-wal", path + "-journal"].map { name in
                // SQLite may leave an empty WAL or none; both mean the same.
                guard let status = try system.status(of: name), name == path || status.size > 0 else { return .null }
                return .array([
                    .integer(status.size), .integer(status.modified.seconds),
                    .integer(Int64(status.modified.nanoseconds)), .integer(Int64(truncatingIfNeeded: status.inode)),
                ])
            })
    }

    /// Returns the layout of the store that follows, as it is.
    func replicaLayout(_ route: MirrorMapping) throws -> StoreLayout {
        try StoreLayout(actual: snapshot(of: route.replica), model: route.to.model)
    }

    /// Copies a store as it is at one moment, with its files of external data. Apps may write to it in the meantime.
    ///
    /// - Parameter external: the store that has these files next to it.
    func copy(_ path: String, besideDataOf external: String, to copy: String) throws {
        try requireFile(path)
        let source = try Self.open(path)
        defer { source.close() }
        // An open read transaction pins the pages, so that writes do not restart the copy.
        try source.execute("BEGIN; SELECT count(*) FROM sqlite_master")
        try BackupFolder(Path.folder(of: copy), system).copyPages(from: source, to: copy, .like(external), observer)
        try synchroniseLog(of: path)
        try source.execute("COMMIT")
        let (from, to) = (ExternalStorage(store: external), ExternalStorage(store: copy))
        guard try system.exists(from.folder) else { return }
        try system.copyTree(from.supportFolder, to: to.supportFolder, to.rights)
    }

    /// Makes the commits in a store's WAL durable, while a transaction reads them. An app's SQLite may not have done so:
    /// after a power cut, the store that follows would have rows that the one that it follows has lost.
    func synchroniseLog(of path: String) throws {
        // SQLite has no locks on this file, and no process removes it while a transaction reads.
        let log = path + "-wal"
        guard try system.exists(log) else { return }
        try system.synchronise(log)
        try system.synchronise(Path.folder(of: log))
    }

    /// Milliseconds to wait for a writer's transaction.
    static let patience: Int32 = 10_000

    /// Opens a database of the mirror: with write access, in which SQLite recovers what a killed app has left, and proven.
    static func open(_ path: String) throws -> Connection {
        try Connection(path, mode: .readWrite, busyTimeout: patience, isProven: true)
    }

    func requireFile(_ path: String) throws {
        guard try !system.exists(path) else { return }
        let isFirst = path == store
        throw MigrationError(
            .fileNotFound, "The \(isFirst ? "first" : "second") store of the mirror is missing.", place: path,
            remedy: isFirst
                ? "Restore it, or end the mirror: \(.stopMirror)."
                : "Name its new path: \(.syncMirror, .anyStore, .at("PATH")); or stop the mirror and start a new one.")
    }

    /// Returns the path for a fresh migration, named like the store that follows, and makes its folder.
    func freshPath(for route: MirrorMapping, in folder: String) throws -> String {
        let own = Path.join(folder, "fresh")
        try system.makeFolder(own)
        return Path.join(own, Path.name(of: route.replica))
    }

    /// Migrates a copy along a route, as the engine would migrate the store itself, and verifies it.
    func migrate(_ path: String, by route: MirrorMapping) throws {
        var run = run
        (run.keepsBackup, run.backupFolder) = (false, nil)
        guard route.keepsUnfilled, let mapping = route.mapping else {
            // The copy has no records of its own.
            try KeptKeys.copy(
                StoreRecords(store: route.primary), to: StoreRecords(store: path), of: record.uuid, system)
            _ = try StoreSession(StoreRequest(path, to: record.to, .migrate, run), context, on: system).run(observer)
            return
        }
        let bound = try ReadOnlyStore.read(path, system: system) { probe in
            try BoundPlan(
                mapping, from: route.from, to: route.to, over: StoreSnapshot(probe.connection),
                connection: probe.connection, experimental: true)
        }
        let migration = try Pass(bound, on: system.resolve(path), from: route.from.name, system: system)
        _ = try run.migrator(on: system).run(migration, on: path, observer)
    }
}
