import MoultBasics
import MoultSQLite
import MoultStore

/// The result of a rollback.
public struct RollbackReport: Sendable, Equatable {
    /// The name of the run in the store's history.
    public package(set) var run: String
    /// The backup that was restored.
    public package(set) var restored: StoreBackup
    /// The backup of the previous state; nil if there was no readable store.
    public package(set) var saved: StoreBackup?
    /// A newer backup that was made by hand or imported, if no backup was named; nil if there is none.
    public package(set) var newer: StoreBackup?
    /// The folder with the files of an unreadable store; nil if there was none.
    public package(set) var setAside: String?
    package var seconds: Double

    /// The time that the rollback took.
    public var duration: Duration { .seconds(seconds) }
}

extension Migrator {
    /// Restores a backup over a store: by SQLite, into the same file, after backing up the present state.
    ///
    /// In the same transaction, keeps the counters of keys and of persistent history at least as high as they were, so
    /// that no number is used twice.
    ///
    /// Verifies the backup first, and compares every page of the restored store with it. Sets aside a file that is no
    /// longer a database, and never removes it; makes a missing store anew.
    ///
    /// - Parameter currentVersion: the name of the present version, for the backup of it.
    /// - Throws: `backupInvalid` before any change; `verificationFailed` if the restored store differs.
    package func rollback(
        _ store: String, to backup: StoreBackup, currentVersion: String = "", _ observer: MigrationObserver = .none
    ) throws -> RollbackReport {
        let startedAt = system.now
        let sidecar = try sidecar(of: store)
        let hasMoved = try finishMove(sidecar) != nil
        // The end of a move removes the backups at the old place that came with the store.
        let backup =
            try hasMoved && !system.exists(backup.folder)
            ? backupFolders(of: store).backup(named: backup.name) : backup
        try backups(of: store).verify(backup)
        try checkPath(sidecar.store)
        try sidecar.make(system)
        let owner = try RunOwner.take(sidecar, system)
        defer { withExtendedLifetime(owner) {} }
        let condition = try StoreCondition(of: sidecar.store, system)
        _ = try Recovery.healUnsound(sidecar, condition, system)
        let run = "\(startedAt.iso8601Basic)-\(system.uniqueName().prefix(8))"
        var outcome = RollbackReport(run: run, restored: backup, seconds: 0)
        // Only a sound store is backed up first.
        let size = if case .sound = condition { try system.status(of: sidecar.store)?.size ?? 0 } else { Int64(0) }
        let observer = observer.timed(by: Estimate(restoring: backup.manifest.size, over: size), system)
        if case .sound = condition {
            let lock = try StoreLock(sidecar.store, system, patience: options.patience, owner: owner)
            defer { lock.release() }
            lock.report(to: observer)
            _ = try Recovery.heal(lock, system)
            try checkSpace(backingUp: lock.connection, of: sidecar, restoring: backup, for: "The rollback")
            let pages: PageDigests
            (outcome.saved, pages) = try replace(lock, by: backup, run, from: currentVersion, observer)
            try finish(&outcome, pages, startedAt, lock, from: currentVersion)
        } else {
            let replacement = DamagedStoreRestore(
                migrator: self, backup: backup,
                journal: journal(of: backup, run, from: currentVersion, restoredUUID: backup.manifest.uuid),
                sidecar: sidecar, owner: owner, isMissing: condition == .missing, observer: observer)
            let restored = try RestoredPages(
                of: backup, keeping: numbersGiven(by: sidecar, over: nil, restoring: backup), run: run)
            defer { restored.close() }
            try KeptKeys.add(restored.unknownKeys, sidecar, of: backup.manifest.uuid, system)
            let lock = try replacement.perform(restored)
            defer { lock?.release() }
            if let lock { try finish(&outcome, restored.digests, startedAt, lock, from: currentVersion) }
            if let folder = outcome.setAside {
                let reason = if case .damaged(let reason) = condition { reason } else { "the store was gone" }
                MigrationLog(sidecar, system).append("What was there is in \(folder): \(reason)")
            }
        }
        observer.report(.done, 1, "The store is the one of \(backup.name)")
        return outcome
    }

    /// Checks that the path is missing or an ordinary file with one name; nothing else is replaced.
    private func checkPath(_ path: String) throws {
        if try system.exists(path) {
            try ReadOnlyStore.checkKind(path, system)
            return try StorePrecheck.checkFile(path, system)
        }
        guard try system.list(Path.folder(of: path)).contains(Path.name(of: path)) else { return }
        // A symbolic link to nothing.
        _ = try ReadOnlyStore.checkFile(path, system)
    }

    private func journal(
        of backup: StoreBackup, _ run: String, from version: String, _ before: StoreState? = nil,
        restoredUUID: String? = nil
    ) -> Journal {
        Journal(
            run: run, operation: .rollback, state: .committing, from: version, to: backup.manifest.version,
            startedAt: system.now.iso8601, schemaVersion: before?.schemaVersion ?? 0,
            oldChecksum: before?.checksum ?? "", newChecksum: nil, backup: backup.name,
            backups: Path.folder(of: backup.folder), newExternalFiles: [], restoredUUID: restoredUUID)
    }

    /// Replaces a sound store. Returns the backup of the previous state, and the pages that the store must have.
    private func replace(
        _ lock: StoreLock, by backup: StoreBackup, _ run: String, from version: String, _ observer: MigrationObserver
    ) throws -> (saved: StoreBackup, pages: PageDigests) {
        let (folder, sidecar) = (try backups(of: lock.sidecar.store), lock.sidecar)
        var journal = journal(of: backup, run, from: version, try StoreState(lock.connection))
        journal.state = .started
        do {
            let saved = try folder.make(of: lock, version: version, for: .rollback, observer) { name in
                journal.saved = Path.join(folder.folder, name)
                try journal.write(sidecar, system)
            }
            observer.report(.backup, 1, "Made the backup \(saved.name)")
            guard !observer.isCancelled() else { throw Executor.cancelled(sidecar.store) }
            return (saved, try restore(backup, &journal, lock, observer))
        } catch {
            // If it is unknown which store is in place, the journal stays, and the next run finds out.
            let isOld = journal.state == .started || (try? settled(lock)).map { !Recovery.isNew($0, journal) } == true
            if isOld { abandon(journal, after: error, sidecar) }
            throw error
        }
    }

    private func settled(_ lock: StoreLock) throws -> StoreState {
        try lock.settle()
        return try StoreState(lock.connection)
    }

    /// Ends a rollback that has changed nothing. The history names its backup; a cancelled rollback leaves none.
    private func abandon(_ journal: Journal, after error: any Error, _ sidecar: StoreRecords) {
        do {
            if let saved = journal.saved, try system.exists(saved) {
                if (error as? MigrationError)?.code == .cancelled {
                    try BackupFolder(Path.folder(of: saved), system).remove(StoreBackup(reading: saved, system))
                } else {
                    try RunHistory(sidecar, system).append(
                        StoreRun(
                            run: journal.run, operation: .rollback, result: .failed, from: journal.from, to: journal.to,
                            startTime: journal.startedAt, endTime: system.now.iso8601, seconds: 0,
                            backup: Path.name(of: saved), backups: Path.folder(of: saved), rows: 0, bytes: 0,
                            error: (error as? MigrationError).map { "\($0.code): \($0.message)" } ?? "\(error)"))
                }
            }
            // A file that was copied in part would go into the next backup.
            try Recovery.removeParts(below: sidecar.support, system)
            try Journal.remove(sidecar, system)
        } catch {
            MigrationLog(sidecar, system).append("Run \(journal.run): the cleanup failed: ", error)
        }
    }

    private func restore(
        _ backup: StoreBackup, _ journal: inout Journal, _ lock: StoreLock, _ observer: MigrationObserver
    ) throws -> PageDigests {
        let sidecar = lock.sidecar
        let restored = try RestoredPages(
            of: backup, keeping: numbersGiven(by: sidecar, over: lock.connection, restoring: backup), run: journal.run)
        defer { restored.close() }
        try KeptKeys.add(restored.unknownKeys, sidecar, of: backup.manifest.uuid, system)
        journal.newChecksum = try StoreState(restored.connection).checksum
        // The backup of the present state, made earlier, has its own copies.
        let storage = ExternalStorage(store: sidecar.store)
        if try !storage.files(on: system).isEmpty {
            let named = try ExternalStorage.names(in: lock.connection).subtracting(
                ExternalStorage.names(in: restored.connection))
            journal.droppedFiles = try storage.droppable(named, of: sidecar.store, on: system)
        }
        journal.state = .committing
        try journal.write(sidecar, system)
        do {
            try restoreExternalFiles(backup, sidecar)
            try restorePages(of: restored.connection, to: lock.connection, observer)
        } catch {
            guard let state = try? settled(lock), Recovery.isNew(state, journal) else { throw error }
            MigrationLog(sidecar, system).append("The restore reported an error, but the store is restored: ", error)
        }
        return restored.digests
    }

    /// Writes every page of a backup into a store, in one transaction.
    func restorePages(of backup: Connection, to store: Connection, _ observer: MigrationObserver) throws {
        try store.proving {
            try Backup(from: backup, to: store).run(stepPages: 4_096) { done, all in
                observer.report(.commit, Double(done) / Double(max(all, 1)), bytes: Int64(done) * 4_096)
                return true
            }
        }
    }

    /// Finishes a restored store. Only the proof of the restore may still fail; failed cleanup is logged, and the
    /// journal stays so that the next run cleans up.
    private func finish(
        _ outcome: inout RollbackReport, _ pages: PageDigests, _ startedAt: Timestamp, _ lock: StoreLock,
        from version: String
    ) throws {
        let (sidecar, run) = (lock.sidecar, outcome.run)
        do {
            try lock.connection.keepWALOnClose(false)
            try lock.connection.writeBackLog(system)
            try check(lock.connection, pages, outcome.restored)
            try Quarantine(sidecar, system).follow(rollbackTo: outcome.restored.name)
            try Recovery.keepAside(run, sidecar, system)
            if try system.exists(sidecar.setAside(run)) { outcome.setAside = sidecar.setAside(run) }
            outcome.seconds = system.now.seconds(since: startedAt)
            try record(outcome, startedAt, sidecar, from: version)
            if let journal = try Journal.read(sidecar, system) {
                try Recovery.removeDroppedFiles(journal, lock, system)
            }
            try system.removeTree(sidecar.work(run))
            try Journal.remove(sidecar, system)
        } catch let error as MigrationError where error.code == .verificationFailed {
            throw error
        } catch {
            MigrationLog(sidecar, system).append("The store is restored, but the cleanup failed: ", error)
        }
    }

    /// Restores the backup's external files. Other files stay; those that only the present state names go after the
    /// commit.
    func restoreExternalFiles(_ backup: StoreBackup, _ sidecar: StoreRecords) throws {
        let storeFolder = Path.folder(of: sidecar.store)
        // The store may have been renamed since; its folder of external data is named after it.
        let oldRoot = StoreRecords.supportName(ofStore: backup.manifest.storeName)
        for file in backup.manifest.externalFiles where file.path.hasPrefix(oldRoot + "/") {
            let destination = sidecar.support + file.path.dropFirst(oldRoot.count)
            if try system.status(of: destination)?.size == file.size,
                try system.digest(of: destination).hexadecimal == file.sha256
            {
                continue
            }
            try makeFolders(from: storeFolder, to: Path.folder(of: destination), sidecar.rights)
            let part = "\(destination).\(system.uniqueName()).part"
            try system.copyExactly(Path.join(backup.folder, file.path), to: part, sidecar.rights)
            try system.synchronise(part)
            try system.rename(part, to: destination)
            try system.synchronise(Path.folder(of: destination))
        }
    }

    private func makeFolders(from root: String, to folder: String, _ rights: FileRights) throws {
        guard folder != root, folder.hasPrefix(root), try !system.exists(folder) else { return }
        try makeFolders(from: root, to: Path.folder(of: folder), rights)
        try system.makeFolder(folder, rights)
        try system.synchronise(Path.folder(of: folder))
    }

    /// Reads every page of the restored store from its file again and compares it with the backup.
    private func check(_ connection: Connection, _ pages: PageDigests, _ backup: StoreBackup) throws {
        let page: Int?
        do {
            page = try PageDigests(connection).firstDifference(from: pages)
        } catch let error as MigrationError where [.storeCorrupted, .notAStore].contains(error.code) {
            page = 1
        }
        guard let page else { return }
        throw MigrationError(
            .verificationFailed, "The restored store does not match the backup: its page \(page) differs.",
            place: connection.path,
            remedy:
                "Check the disk and the memory of this machine, then restore \(backup.name) again. The backup is sound."
        )
    }

    private func record(
        _ outcome: RollbackReport, _ startedAt: Timestamp, _ sidecar: StoreRecords, from version: String
    ) throws {
        let backup = outcome.restored
        try RunHistory(sidecar, system).append(
            StoreRun(
                run: outcome.run, operation: .rollback, result: .done, from: version, to: backup.manifest.version,
                startTime: startedAt.iso8601, endTime: system.now.iso8601, seconds: outcome.seconds,
                backup: outcome.saved?.name, backups: outcome.saved.map { Path.folder(of: $0.folder) }, rows: 0,
                bytes: backup.manifest.size, error: nil, restored: backup.name))
        MigrationLog(sidecar, system).append("Run \(outcome.run): restored the backup \(backup.name).")
    }
}
