import MoultEngine
import MoultModel
import MoultPlan
import MoultReport
import MoultSQLite
import MoultStore
import MoultSystem

extension MirroredStore {
    /// Copies a store that apps may write to, as it is at one moment, with its files of external data.
    ///
    /// - Parameter external: the store next to which these files lie.
    func copy(_ path: String, besideDataOf external: String, to copy: String) throws {
        try requireFile(path)
        let source = try Connection(path, mode: .readWrite, busyTimeout: Self.patience)
        defer { source.close() }
        // A read that is open keeps the pages as they are: the copy does not begin again at each write.
        try source.execute("BEGIN; SELECT count(*) FROM sqlite_master")
        try BackupFolder(Path.folder(of: copy), system).copyPages(from: source, to: copy, .like(external), observer)
        try source.execute("COMMIT")
        let (from, to) = (ExternalStorage(store: external), ExternalStorage(store: copy))
        guard try system.exists(from.folder) else { return }
        try system.copyTree(from.supportFolder, to: to.supportFolder, to.rights)
    }

    /// Milliseconds to wait for a writer's transaction.
    static let patience: Int32 = 10_000

    func requireFile(_ path: String) throws {
        guard try !system.exists(path) else { return }
        let isFirst = path == store
        throw MigrationError(
            .fileNotFound, "The \(isFirst ? "first" : "second") store of the mirror is missing.", place: path,
            remedy: isFirst
                ? "Restore it, or end the mirror: \(.stopMirror)."
                : "Name its new path: \(.syncMirror, .anyStore, .at("PATH")); or stop the mirror and start a new one.")
    }

    /// Returns the path for a fresh migration, under the name of the store that follows; makes its folder.
    func freshPath(for route: MirrorRoute, in folder: String) throws -> String {
        let own = Path.join(folder, "fresh")
        try system.makeFolder(own)
        return Path.join(own, Path.name(of: route.replica))
    }

    /// Migrates a copy by the way of a route, as the engine would the store itself; verified.
    func migrate(_ path: String, by route: MirrorRoute) throws {
        var run = RunOptions()
        run.keepsBackup = false
        guard route.keepsUnfilled, let mapping = route.mapping else {
            _ = try StoreSession(StoreRequest(path, to: record.to, .migrate, run), versions, options, on: system)
                .run(observer)
            return
        }
        let bound = try StoreProbe.read(path, system: system) { probe in
            try BoundPlan(
                mapping, from: route.from, to: route.to, over: StoreSnapshot(probe.connection),
                connection: probe.connection, experimental: true)
        }
        let migration = try Migration(bound, on: system.resolve(path), from: route.from.name, system: system)
        _ = try run.migrator(on: system).run(migration, on: path, observer)
    }
}
