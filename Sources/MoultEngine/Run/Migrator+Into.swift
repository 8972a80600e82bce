import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

extension Migrator {
    /// Migrates a store into another file. Does not change the store or its folder.
    ///
    /// Copies one consistent state of the store, including its WAL and its external data, next to the new path,
    /// migrates the copy, and renames it when it is complete. If the process dies, the next run for the same path
    /// removes the leftovers; so does ``recover(_:)``.
    ///
    /// - Returns: nil if the store already has the target version; the new file is a verified copy then.
    /// - Throws: `usage` if the path, or a related name next to it, is taken; `locked` if another process is making the
    ///   file or keeps writing to the store; what ``run(_:on:_:)`` throws. Nothing is made then.
    package func run(
        _ prepared: PreparedMigration, into path: String, _ observer: MigrationObserver = .none
    ) throws -> MigrationOutcome? {
        let migration = try prepared.migration()
        if let refusal = migration?.lossRefusal { throw refusal }
        let store = prepared.store
        let target = StoreRecords(store: path)
        let places = [path, target.support, target.folder]
        let unfinished = try StagedStore(at: path, taking: places, apartFrom: store, system)
        defer { unfinished.remove() }
        // The copy keeps the final file name, because its other files are named after it.
        let folder = Path.join(unfinished.folder, "store")
        try system.makeFolder(folder)
        let copy = StoreRecords(store: Path.join(folder, Path.name(of: path)))
        for finding in try DamagedSideFiles.findings(beside: store, system)
        where finding.code == DamagedSideFiles.code {
            observer.report(.lock, 1, "\(finding.message) It stays next to the store.")
        }
        if let migration {
            try SpaceRequirement(
                mirroring: StoreRecords(store: store), at: path, by: migration, isMirror: false, system
            ).check(for: "The migration", system)
        }
        do {
            try copyStore(store, to: copy, observer.part(0...0.2))
            var outcome = try migrate(copy.store, prepared, observer.part(0.2...0.95))
            try settle(copy.store)
            for (made, name) in [
                (copy.store, unfinished.new), (copy.support, unfinished.support), (copy.folder, unfinished.records),
            ] where try system.exists(made) {
                try system.rename(made, to: name)
            }
            if observer.isCancelled() { throw Executor.cancelled(store) }
            if let error = try unfinished.install(taking: places) { outcome?.untidied = error as? MigrationError }
            observer.onProgress(
                MigrationProgress(
                    phase: .done, fraction: 1, rows: outcome?.rows ?? 0, totalRows: outcome?.rows ?? 0,
                    bytes: outcome?.bytesAfter ?? 0, message: "The new store is at \(path)",
                    estimatedTimeRemaining: 0))
            return outcome
        } catch let error as MigrationError {
            // Errors of a volume or a folder are about the new store.
            let isOfDisk = [.insufficientStorage, .inputOutput, .readOnly].contains(error.code)
            throw error.naming(isOfDisk ? path : store, insteadOf: copy.store)
                .naming(Path.folder(of: path), insteadOf: folder)
        }
    }

    /// Core Data writes a file before it commits the row that names it, and removes one after the commit. The copy is
    /// consistent if no file disappeared in the meantime.
    private func copyStore(_ store: String, to copy: StoreRecords, _ observer: MigrationObserver) throws {
        let support = StoreRecords(store: store).support
        func files(_ folder: String) throws -> Set<String> {
            try system.exists(folder) ? Set(system.files(below: folder)) : []
        }
        for _ in 0..<5 {
            let before = try files(support)
            let isWhole = try ReadOnlyStore.read(store, system: system) { probe in
                for made in [copy.store, copy.support] { try system.removeTree(made) }
                let wanted = try before.union(files(support))
                try BackupFolder(Path.folder(of: copy.store), system)
                    .copyPages(from: probe.connection, to: copy.store, .like(store), observer)
                guard !wanted.isEmpty else { return true }
                do {
                    try system.copyTree(support, to: copy.support, .like(store))
                } catch let error as MigrationError where error.code == .fileNotFound {
                    return false
                }
                return try wanted.isSubset(of: files(copy.support))
            }
            if isWhole { return }
        }
        throw MigrationError(
            .locked, "Another process kept removing files of external data while they were copied.", place: store,
            remedy: "Close the app that uses the store, or try again when it is less busy.")
    }

    private func migrate(
        _ copy: String, _ prepared: PreparedMigration, _ observer: MigrationObserver
    ) throws -> MigrationOutcome? {
        var options = options
        // The original store is kept.
        (options.isFrugal, options.backupFolder) = (true, nil)
        let moved = try PreparedMigration(
            copy, versions: prepared.versions, to: prepared.plan.to.name, options: prepared.options, system: system)
        guard let migration = try moved.migration() else { return nil }
        let migrator = Migrator(options: options, system: system)
        var quiet = observer
        // No other process can have the copy open, so its lock phase says nothing about the original store.
        quiet.onProgress = { [onProgress = observer.onProgress] in if $0.phase != .lock { onProgress($0) } }
        let outcome = try migrator.run(migration, on: copy, quiet)
        // The copy is not yet renamed, so all of it must be tidied up.
        if let error = outcome.untidied { throw error }
        for path in try migrator.leftovers(of: StoreRecords(store: copy)) { try system.removeTree(path) }
        return outcome
    }

    /// Makes the file alone the store, sound and durable.
    private func settle(_ copy: String) throws {
        if let log = try system.status(of: copy + "-wal"), log.size > 0 {
            let connection = try Connection(copy, mode: .readWrite, isProven: true)
            defer { connection.close() }
            try connection.keepWALOnClose(false)
            try connection.writeBackLog(system)
        }
        for suffix in ReadOnlyStore.sideFileSuffixes {
            guard let status = try system.status(of: copy + suffix), status.size > 0, suffix != "-shm" else { continue }
            throw MigrationError(
                .inputOutput, "The log of the new store could not be written back.", place: copy + suffix,
                remedy: "Repair the disk, then run the command again. The store is unchanged.")
        }
        try system.synchronise(copy)
        try BackupFolder.checkSoundness(of: copy)
    }
}

extension MigrationObserver {
    /// Returns an observer for a part of the whole, 0 to 1, that does not include the end.
    fileprivate func part(_ range: ClosedRange<Double>) -> MigrationObserver {
        var observer = self
        observer.onProgress = { [onProgress] progress in
            var progress = progress
            progress.fraction = range.lowerBound + (range.upperBound - range.lowerBound) * progress.fraction
            if progress.phase == .done { progress.phase = .commit }
            onProgress(progress)
        }
        return observer
    }
}

extension MigrationError {
    /// Returns the error with the path that the user named in place of one in the folder of an unfinished store.
    fileprivate func naming(_ path: String, insteadOf made: String) -> MigrationError {
        var error = self
        error.message = message.replacing(made, with: path)
        error.place = place.replacing(made, with: path)
        error.remedy = remedy.replacing(made, with: path)
        error.cause = cause?.replacing(made, with: path)
        return error
    }
}
