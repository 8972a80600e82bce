import MoultBasics
import MoultModel
import MoultStore

extension Migrator {
    /// Returns the sidecar with the records that Moult keeps next to a store; the store may be missing or damaged.
    ///
    /// - Throws: `fileNotFound` and `notAStore` if there are no records, no backup folder is named, and there is no
    ///   store at the path.
    package func records(of store: String) throws -> StoreRecords {
        let sidecar = try sidecar(of: store)
        guard options.backupFolder == nil, try !system.exists(sidecar.folder) else { return sidecar }
        do {
            _ = try ReadOnlyStore.checkFile(store, system)
        } catch let error as MigrationError where error.code == .storeCorrupted {
            // There are no records of it.
        }
        return sidecar
    }

    /// Returns the runs on a store, oldest first.
    package func runs(of store: String) throws -> [StoreRun] {
        try RunHistory(try records(of: store), system).records()
    }

    /// Returns the unreadable part of a store's history; nil if all of it is readable.
    package func unreadableRuns(of store: String) throws -> RunHistory.Unreadable? {
        try RunHistory(try records(of: store), system).contents().unreadable
    }

    /// Returns the objects that runs removed from a store, including those of a run that committed and then died. The
    /// store may be gone.
    package func quarantine(of store: String) throws -> Quarantine {
        let hasCommitted = (try? hasCommitted(store)) == true
        return Quarantine(try records(of: store), system, countsUnfinished: hasCommitted)
    }

    /// Returns the folders of a store's backups: the folder of the options; otherwise the one next to the store and
    /// those that its history names. The store may be gone.
    package func backupFolders(of store: String) throws -> [BackupFolder] {
        let runs = try runs(of: store)
        let standard = try backups(of: store)
        guard options.backupFolder == nil else { return [standard] }
        let known = Set(runs.compactMap(\.backups)).subtracting([standard.folder])
        return [standard] + known.sorted().map { BackupFolder($0, system) }
    }

    /// Returns the name of a store's version: from the given versions, otherwise from a backup of the same version,
    /// otherwise from the store's metadata; empty if unknown.
    ///
    /// - Parameter versions: called after the store is read.
    package func versionName(of store: String, in versions: () throws -> ModelVersions?) throws -> String {
        let snapshot = try ReadOnlyStore.read(store, system: system) { try StoreSnapshot($0.connection) }
        let identifiers = snapshot.metadata.versionIdentifiers
        if let versions = try versions(),
            let place = versions.place(of: snapshot.hashes, identifiers: identifiers)
        {
            return place.version.name
        }
        let hashes = snapshot.hashes.entities.mapValues(\.base64)
        if let known = try backups(of: store).list().last(where: { $0.manifest.versionHashes == hashes }) {
            return known.manifest.version
        }
        return identifiers.first { !$0.isEmpty } ?? ""
    }

    /// Returns the backup to restore: the named one, by its name, its path or its version (the newest), otherwise the
    /// backup of the last run that changed the store. If no such run is known, the newest backup that one made: an older
    /// one would undo more than the last run.
    ///
    /// - Parameters:
    ///   - wanted: a backup's name or path, or the name of a version; nil for the last run's.
    ///   - versions: called only if a backup has another name for its version.
    /// - Throws: `backupNotFound`; `deferredWork` if the last run made no backup because no data is gone yet.
    package func backup(
        named wanted: String?, of store: String, in versions: () throws -> ModelVersions?
    ) throws -> StoreBackup {
        let folders = try backupFolders(of: store)
        let (all, unreadable) = try folders.contents()
        guard let wanted else {
            let last = try lastChange(of: store)
            try checkHasBackup(last, store)
            guard try unreadableRuns(of: store)?.isLast != true else {
                throw Self.noBackup(
                    "The end of the history of runs cannot be read, so the last run is unknown.", in: folders)
            }
            guard let last else {
                // The names begin with the time. An older backup would undo more.
                if let newer = unreadable.max(by: { $0.name < $1.name }), newer.name > all.newest?.name ?? "" {
                    throw Self.unreadable(newer, "The newest backup", store)
                }
                if let backup = all.filter(\.isOfRun).newest { return backup }
                guard let other = all.newest else {
                    throw Self.noBackup("There is no backup of this store.", in: folders)
                }
                throw Self.notOfRun(other, store)
            }
            if let backup = all.first(where: { $0.name == last.backup }) { return backup }
            if let damaged = unreadable.first(where: { $0.name == last.backup }) {
                throw Self.unreadable(damaged, "The backup of the last run", store)
            }
            let what = last.backup.map { "Its backup \($0) is gone." } ?? "It made no backup."
            let message = "The last run (\(last.operation.rawValue)) ended at \(last.endTime). \(what)"
            guard let earlier = all.filter(\.isOfRun).newest else { throw Self.noBackup(message, in: folders) }
            throw Self.onlyEarlier(earlier, message, store)
        }
        if wanted.contains("/") { return try folders.backup(named: wanted) }
        if let named = all.last(where: { $0.name == wanted }) { return named }
        if let damaged = unreadable.first(where: { $0.name == wanted }) {
            throw Self.unreadable(damaged, "The backup", store)
        }
        // A backup whose version had no name when it was made is identified by its hashes.
        let hashes = try? versions()?.versions.first { $0.names.contains(wanted) }?.hashes.entities.mapValues(\.base64)
        let matching = all.filter { backup in
            backup.manifest.version == wanted || hashes.map { $0 == backup.manifest.versionHashes } == true
        }
        if let backup = matching.newest { return backup }
        let others =
            unreadable.isEmpty
            ? "" : " Of \(unreadable.map(\.name).joined(separator: ", ")) the manifest cannot be read."
        throw Self.noBackup(
            "There is no backup \(wanted), and no backup of a version of that name.\(others)", in: folders)
    }

    /// Returns the newest backup made by hand or imported that is newer than another backup; nil if there is none.
    package func newerByHand(than backup: StoreBackup, of store: String) throws -> StoreBackup? {
        try backupFolders(of: store).contents().backups.filter { $0.isByHand && backup.isOlder(than: $0) }.newest
    }

    /// Returns the error for a last run without a backup, where an earlier run has left one.
    private static func onlyEarlier(_ backup: StoreBackup, _ message: String, _ store: String) -> MigrationError {
        let version = backup.manifest.version.isEmpty ? "" : ", of version \(backup.manifest.version)"
        return MigrationError(
            .backupNotFound, "\(message) The newest backup of an earlier run is \(backup.name)\(version).",
            place: backup.folder,
            remedy: "\(.rollback, .store(store), .to(backup.name)) restores that one, and undoes what came after it.")
    }

    /// Returns the error for a store of which only backups exist that no change of it made.
    private static func notOfRun(_ newest: StoreBackup, _ store: String) -> MigrationError {
        let made = newest.manifest.reason == .imported ? "was imported" : "was made by hand"
        let origin = newest.isByHand ? made : "holds what a rollback replaced"
        return MigrationError(
            .backupNotFound,
            "No migration, and no other run that changes the store, has left a backup. The newest backup, "
                + "\(newest.name), \(origin).", place: newest.folder,
            remedy: "If you mean that one, use \(.rollback, .store(store), .to(newest.name)).")
    }

    /// Returns the error for an existing backup with an unreadable manifest. Its store may be intact.
    private static func unreadable(
        _ backup: (name: String, error: MigrationError), _ what: String, _ store: String
    ) -> MigrationError {
        let place = backup.error.place
        let folder = Path.name(of: place) == backup.name ? place : Path.folder(of: place)
        return MigrationError(
            .backupInvalid, "\(what), \(backup.name), is there, but cannot be used: \(backup.error.message)",
            place: backup.error.place,
            remedy: """
                \(.importBackup, .store(store), .path(Path.join(folder, Path.name(of: store))), .wasClosed) makes another \
                backup of the store in it, after checking it; \(.rollback, .to(nil)) restores that one.
                """,
            cause: backup.error.cause)
    }

    /// Returns the last run that changed the store, which a rollback undoes.
    func lastChange(of store: String) throws -> StoreRun? {
        try RunHistory(try records(of: store), system).last {
            // A move is a change of the place that the store has left, where its backup is.
            ![.rollback, .finish].contains($0.operation) && ($0.operation != .move || $0.backup != nil)
                && [.done, .recovered].contains($0.result)
        }
    }

    private static func noBackup(_ message: String, in folders: [BackupFolder]) -> MigrationError {
        MigrationError(
            .backupNotFound, message, place: folders.map(\.folder).joined(separator: ", "),
            remedy: "\(.listBackups) shows the backups. "
                + "Name one with \(option: .to(nil)); if they are elsewhere, name their folder with "
                + "\(option: .backups(nil)).")
    }

    /// Checks that the last run made a backup. A deferred migration makes none, because no data is gone until its work
    /// is done; an older backup would undo more.
    private func checkHasBackup(_ last: StoreRun?, _ store: String) throws {
        guard let last, last.backup == nil, try hasDeferredWork(store) else { return }
        throw MigrationError(
            .deferredWork, "The last migration made no backup: what it would drop is still in the store.", place: store,
            remedy: "Use \(.downgrade, .to(last.from)), or name a backup with \(option: .to(nil)).")
    }
}

extension [StoreBackup] {
    fileprivate var newest: StoreBackup? { self.max { $0.manifest.createdAt < $1.manifest.createdAt } }
}
