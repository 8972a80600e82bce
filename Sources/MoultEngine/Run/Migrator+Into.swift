import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

extension Migrator {
    /// Migrates a store into another file; the store, and every file of its folder, stays as it is.
    ///
    /// The state of the store at one moment, with what lies in its WAL and its external data, is copied next to the new
    /// path, migrated there as any store is, and gets its name when it is whole. If the process dies, the next run for
    /// the same path removes what it left, and so does ``recover(_:)``.
    ///
    /// - Returns: nil if the store is of the target version already; the new file is a verified copy then.
    /// - Throws: `usage` if something is at the path, or of the same name next to it; `locked` if another process makes
    ///   it, or keeps writing to the store; what ``run(_:on:_:)`` throws. Then nothing is made.
    package func run(
        _ prepared: PreparedMigration, into path: String, _ observer: MigrationObserver = .none
    ) throws -> MigrationOutcome? {
        if let refusal = try prepared.migration()?.lossRefusal { throw refusal }
        let store = prepared.store
        let target = StoreRecords(store: path)
        let places = [path, target.support, target.folder]
        let unfinished = try StagedStore(at: path, taking: places, apartFrom: store, system)
        defer { unfinished.remove() }
        // Under its own name, after which what belongs to it is named.
        let folder = Path.join(unfinished.folder, "store")
        try system.makeFolder(folder)
        let copy = StoreRecords(store: Path.join(folder, Path.name(of: path)))
        for finding in try DamagedSideFiles.findings(beside: store, system)
        where finding.code == DamagedSideFiles.code {
            observer.report(.lock, 1, "\(finding.message) It stays next to the store.")
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
            // What a volume or a folder says is of the new store's.
            let isOfDisk = [.insufficientStorage, .inputOutput, .readOnly].contains(error.code)
            throw error.naming(isOfDisk ? path : store, insteadOf: copy.store)
                .naming(Path.folder(of: path), insteadOf: folder)
        }
    }

    /// Core Data writes a file before the row that names it is committed, and removes one after: the copy counts once
    /// none of them went away in the meantime.
    private func copyStore(_ store: String, to copy: StoreRecords, _ observer: MigrationObserver) throws {
        let support = StoreRecords(store: store).support
        func files(_ folder: String) throws -> Set<String> {
            try system.exists(folder) ? Set(system.files(below: folder)) : []
        }
        for _ in 0..<5 {
            let before = try files(support)
            let isWhole = try StoreProbe.read(store, system: system) { probe in
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
        // The store that it was made of is kept.
        (options.isFrugal, options.backupFolder) = (true, nil)
        let moved = try PreparedMigration(
            copy, versions: prepared.versions, to: prepared.plan.to.name, options: prepared.options, system: system)
        guard let migration = try moved.migration() else { return nil }
        let migrator = Migrator(options: options, system: system)
        var quiet = observer
        // No other process can have the copy open, which says nothing of the store itself.
        quiet.onProgress = { [onProgress = observer.onProgress] in if $0.phase != .lock { onProgress($0) } }
        let outcome = try migrator.run(migration, on: copy, quiet)
        // Nothing has its name yet, so nothing has to stay untidied.
        if let error = outcome.untidied { throw error }
        for path in try migrator.leftovers(of: StoreRecords(store: copy)) { try system.removeTree(path) }
        return outcome
    }

    /// Makes sure that the file alone is the store, sound and durable.
    private func settle(_ copy: String) throws {
        if let log = try system.status(of: copy + "-wal"), log.size > 0 {
            let connection = try Connection(copy, mode: .readWrite, isProven: true)
            defer { connection.close() }
            try connection.keepWALOnClose(false)
            try connection.writeBackLog(system)
        }
        for suffix in StoreProbe.sideFileSuffixes {
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
    /// For what is a part of the whole, 0 to 1, and not its end.
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
    /// With a path that the person has named, in place of one below the folder of an unfinished store.
    fileprivate func naming(_ path: String, insteadOf made: String) -> MigrationError {
        var error = self
        error.message = message.replacing(made, with: path)
        error.place = place.replacing(made, with: path)
        error.remedy = remedy.replacing(made, with: path)
        error.cause = cause?.replacing(made, with: path)
        return error
    }
}
