import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// What a rollback has done.
package struct RollbackOutcome: Sendable, Equatable {
    package var run: String
    package var restored: StoreBackup
    /// The backup of the state that was there before; nil where there was no store that could be read.
    package var saved: StoreBackup?
    /// Where the files of a store that could not be read were put.
    package var setAside: String?
    package var seconds: Double
}

extension Migrator {
    /// Puts a backup back in place of a store: by SQLite, into the same file, after backing up the present state.
    ///
    /// The backup is proven first, and the rows of the restored store are counted against its manifest (W-40).
    /// A store that is no database any more is set aside, never removed (B-24); one that is gone is made.
    ///
    /// - Parameter currentVersion: the name of the present version, for the backup that is made of it.
    /// - Throws: `backupInvalid` before anything is done; `verificationFailed` where the restored store differs.
    package func rollback(
        _ store: String, to backup: StoreBackup, currentVersion: String = "", _ observer: MigrationObserver = .none
    ) throws -> RollbackOutcome {
        let startedAt = system.now
        try backups(of: store).verify(backup)
        let folder = try system.resolve(Path.folder(of: store))
        let path = try system.exists(store) ? system.resolve(store) : Path.join(folder, Path.name(of: store))
        let isMissing = try !system.exists(path)
        if !isMissing { try Preflight.checkFile(path, system) }
        let setAside = try isMissing ? setAsideStrays(beside: path) : setAsideUnlessReadable(path)
        let isNew = isMissing || setAside != nil
        let lock = try StoreLock(path, system, patience: options.patience, makesStore: isNew)
        defer { lock.release() }
        _ = try Recovery.heal(lock, system, isEmpty: isNew)
        let observer = observer.timed(
            by: RunEstimate(
                restoring: backup.manifest.size, over: isNew ? 0 : try StoreState(lock.connection).size), system)
        let saved =
            try isNew ? nil : backups(of: path).make(of: lock, version: currentVersion, for: .rollback, observer)
        if let saved { observer.report(.backup, 1, "Made the backup \(saved.name)") }
        let run = "\(startedAt.iso8601Basic)-\(system.uniqueName().prefix(8))"
        do {
            guard !observer.isCancelled() else { throw MigrationRun.cancelled(path) }
            try restore(backup, run, from: currentVersion, isNew ? nil : StoreState(lock.connection), lock, observer)
        } catch {
            if isNew { takeBack(lock, setAside: setAside) }
            if let saved, (error as? MigrationError)?.code == .cancelled { try? backups(of: path).remove(saved) }
            throw error
        }
        let seconds = system.now.seconds(since: startedAt)
        record(backup, run, startedAt, seconds, saved, lock, from: currentVersion)
        observer.report(.done, 1, "The store is the one of \(backup.name)")
        return RollbackOutcome(run: run, restored: backup, saved: saved, setAside: setAside, seconds: seconds)
    }

    private func restore(
        _ backup: StoreBackup, _ run: String, from version: String, _ before: StoreState?, _ lock: StoreLock,
        _ observer: MigrationObserver
    ) throws {
        let sidecar = lock.sidecar
        let source = try Connection(backup.store, mode: .immutable)
        defer { source.close() }
        let journal = Journal(
            run: run, operation: .rollback, state: .committing, from: version, to: backup.manifest.version,
            startedAt: system.now.iso8601, schemaVersion: before?.schemaVersion ?? 0,
            oldChecksum: before?.checksum ?? "",
            newChecksum: try StoreState(source).checksum, backup: backup.name, backups: Path.folder(of: backup.folder),
            newExternalFiles: [])
        try journal.write(sidecar, system)
        try restoreExternalFiles(backup, sidecar)
        do {
            try Backup(from: source, to: lock.connection).run(stepPages: 4_096) { done, all in
                observer.report(.commit, Double(done) / Double(max(all, 1)), bytes: Int64(done) * 4096)
                return true
            }
        } catch {
            // Where nobody can tell, the journal stays, and the next run finds out.
            try? lock.settle()
            guard let state = try? StoreState(lock.connection), Recovery.isNew(state, journal) else { throw error }
            MigrationLog(sidecar, system).append("The restore reported an error, but the store is restored: \(error)")
        }
        try finish(backup, lock)
    }

    /// The store is the restored one: nothing fails any more but the proof that it is; what cannot be tidied is logged,
    /// and the journal stays, so that the next run tidies it.
    private func finish(_ backup: StoreBackup, _ lock: StoreLock) throws {
        do {
            try check(lock.connection, backup)
            try lock.connection.keepWALOnClose(false)
            try Quarantine(lock.sidecar, system).forgetRestorations(since: backup.manifest.createdAt)
            try Journal.remove(lock.sidecar, system)
        } catch let error as MigrationError where error.code == .verificationFailed {
            throw error
        } catch {
            MigrationLog(lock.sidecar, system).append("The store is restored, but tidying up failed: \(error)")
        }
    }

    /// Takes back what a failed restore has made where no store could be read: an empty one would be opened as new.
    private func takeBack(_ lock: StoreLock, setAside: String?) {
        // The file lock stays: nobody else may come in between.
        lock.connection.close()
        let store = lock.sidecar.store
        do {
            for suffix in [""] + StoreProbe.sideFileSuffixes {
                try system.remove(store + suffix)
                guard let kept = setAside.map({ Path.join($0, Path.name(of: store) + suffix) }),
                    try system.exists(kept)
                else { continue }
                try system.rename(kept, to: store + suffix)
            }
            try system.synchronise(Path.folder(of: store))
            if let setAside { try system.remove(setAside) }
            let damaged = lock.sidecar.damaged
            if try system.exists(damaged), try system.list(damaged).isEmpty { try system.remove(damaged) }
            try Journal.remove(lock.sidecar, system)
        } catch {
            MigrationLog(lock.sidecar, system).append("Taking back a failed restore failed: \(error)")
        }
    }

    /// Files that the backup does not know stay: the present state's backup may need them, and nobody reads them.
    private func restoreExternalFiles(_ backup: StoreBackup, _ sidecar: Sidecar) throws {
        let storeFolder = Path.folder(of: sidecar.store)
        // A store may have been renamed since; its folder of external data is named after it.
        let oldRoot = Sidecar.supportName(ofStore: backup.manifest.storeName)
        for file in backup.manifest.externalFiles where file.path.hasPrefix(oldRoot + "/") {
            let destination = sidecar.support + file.path.dropFirst(oldRoot.count)
            if try system.status(of: destination)?.size == file.size,
                try system.digest(of: destination).hexadecimal == file.sha256
            {
                continue
            }
            try makeFolders(from: storeFolder, to: Path.folder(of: destination))
            let part = "\(destination).\(system.uniqueName()).part"
            try system.copy(Path.join(backup.folder, file.path), to: part)
            try system.synchronise(part)
            try system.rename(part, to: destination)
            try system.synchronise(Path.folder(of: destination))
        }
    }

    private func makeFolders(from root: String, to folder: String) throws {
        guard folder != root, folder.hasPrefix(root), try !system.exists(folder) else { return }
        try makeFolders(from: root, to: Path.folder(of: folder))
        try system.makeFolder(folder)
        try system.synchronise(Path.folder(of: folder))
    }

    private func check(_ connection: Connection, _ backup: StoreBackup) throws {
        let hashes = try StoreState(connection).hashes?.entities ?? [:]
        guard hashes.mapValues(\.base64) == backup.manifest.versionHashes,
            try connection.rowCounts() == backup.manifest.rows
        else {
            throw MigrationError(
                .verificationFailed, "The restored store is not what the backup's manifest says.",
                place: connection.path,
                remedy: "Restore another backup; \(backup.name) itself has been proven sound.")
        }
    }

    private func record(
        _ backup: StoreBackup, _ run: String, _ startedAt: Timestamp, _ seconds: Double, _ saved: StoreBackup?,
        _ lock: StoreLock, from version: String
    ) {
        // The store is restored, whether its history can be written or not.
        try? RunHistory(lock.sidecar, system).append(
            RunRecord(
                run: run, operation: .rollback, result: .done, from: version, to: backup.manifest.version,
                startedAt: startedAt.iso8601, endedAt: system.now.iso8601, seconds: seconds, backup: saved?.name,
                rows: 0, bytes: backup.manifest.size, error: nil))
        MigrationLog(lock.sidecar, system).append("Run \(run): restored the backup \(backup.name).")
    }
}

// MARK: - A store that cannot be read

extension Migrator {
    /// Moves a file that is no sound database to the sidecar, with its side files; nil where the store can be read.
    ///
    /// It is looked at before any connection is open, for a connection's locks would not outlive the look.
    private func setAsideUnlessReadable(_ store: String) throws -> String? {
        do {
            try StoreProbe.read(store, system: system) { probe in
                try probe.connection.checkSoundness(place: store)
            }
            return nil
        } catch let error as MigrationError where [.notAStore, .storeCorrupted, .metadataInvalid].contains(error.code) {
            return try setAside(store, because: "the store is damaged: \(error)")
        }
    }

    /// Moves side files that lie where a store was, and which SQLite would mix into the one that takes its place or
    /// remove (B-25); nil where there are none.
    private func setAsideStrays(beside store: String) throws -> String? {
        guard try StoreProbe.sideFileSuffixes.contains(where: { try system.exists(store + $0) }) else { return nil }
        return try setAside(store, because: "the store is gone")
    }

    private func setAside(_ store: String, because reason: String) throws -> String {
        let sidecar = Sidecar(store: store)
        try sidecar.make(system)
        let file = try RunOwner.take(sidecar, system)
        defer { withExtendedLifetime(file) {} }
        try system.makeFolder(sidecar.damaged)
        let folder = Path.join(sidecar.damaged, "\(system.now.iso8601Basic)-\(system.uniqueName().prefix(8))")
        try system.makeFolder(folder)
        // Before anything lies in them, the folders must be there after a power cut.
        for parent in [sidecar.folder, sidecar.damaged] { try system.synchronise(parent) }
        for suffix in [""] + StoreProbe.sideFileSuffixes where try system.exists(store + suffix) {
            try system.rename(store + suffix, to: Path.join(folder, Path.name(of: store) + suffix))
        }
        try system.synchronise(folder)
        try system.synchronise(Path.folder(of: store))
        MigrationLog(sidecar, system).append("Set what was there aside in \(folder), for \(reason)")
        return folder
    }
}
