import MoultBasics
import MoultModel
import MoultSQLite

extension BackupFolder {
    /// A backup whose pages are copied, under a temporary name, not yet verified.
    package struct Draft {
        let folder: String
        let storeName: String
        /// The path of the backed-up store.
        let source: String
        let version: String
        let createdAt: Timestamp
        let state: StoreState
        let reason: StoreBackup.Manifest.Reason
        /// The size and the digest, where the file was read again while it was copied.
        var proof: Proof?

        var store: String { Path.join(folder, storeName) }
    }

    /// The result of reading a draft's file again.
    struct Proof: Sendable, Equatable {
        let size: Int64
        let sha256: String
        /// Rows by table, as the check of the pages counts them.
        var rows: [String: Int64] = [:]

        init(size: Int64, sha256: String) { (self.size, self.sha256) = (size, sha256) }

        init(of path: String, _ system: any System) throws {
            self.init(size: try system.status(of: path)?.size ?? 0, sha256: try system.digest(of: path).hexadecimal)
        }
    }

    package static let draftSuffix = ".part"

    /// Makes and verifies a backup of the store that a lock holds.
    ///
    /// - Parameter naming: called with the name that the backup is about to get.
    package func make(
        of lock: StoreLock, version: String, for reason: StoreBackup.Manifest.Reason,
        _ observer: MigrationObserver = .none, naming: (String) throws -> Void = { _ in }
    ) throws -> StoreBackup {
        // Copying takes less time than verifying, which reports no progress.
        let copying = observer.spanning(0...Estimate.copyingShare)
        return try proven(
            try draft(of: lock, version: version, for: reason, copyingExternalData: true, copying), naming: naming)
    }

    /// Verifies a draft and returns it as a backup; removes it if verification fails.
    package func proven(_ draft: Draft, naming: (String) throws -> Void = { _ in }) throws -> StoreBackup {
        do {
            return try finish(draft, try prove(draft), naming: naming)
        } catch {
            discard(draft)
            throw error
        }
    }

    /// - Parameter rights: the file rights of the backed-up store.
    package func makeFolder(_ rights: FileRights) throws {
        guard try !system.exists(folder) else { return }
        // Make the sidecar, in case the store was never changed.
        try system.makeFolder(Path.folder(of: folder), rights)
        try system.makeFolder(folder, rights)
        try system.synchronise(Path.folder(of: folder))
    }

    /// Copies every page through SQLite, including those in a WAL, and the external files. Clones the store's file
    /// instead if the volume can and the file is the whole store.
    func draft(
        of lock: StoreLock, version: String, for reason: StoreBackup.Manifest.Reason, copyingExternalData: Bool,
        _ observer: MigrationObserver
    ) throws -> Draft {
        try draft(
            of: lock.connection, named: Path.name(of: lock.sidecar.store), beside: lock.sidecar.store, version: version,
            for: reason, copyingExternalData: copyingExternalData, .like(lock.sidecar.store),
            cloning: lock.isInFileAlone, observer)
    }

    /// - Parameters:
    ///   - storeName: the name of the file in the backup.
    ///   - store: the path of the store, next to its external data.
    ///   - rights: the file rights of the backed-up store.
    ///   - isInFileAlone: whether the store's file is the whole store, and does not change.
    package func draft(
        of connection: Connection, named storeName: String, beside store: String, version: String,
        for reason: StoreBackup.Manifest.Reason, copyingExternalData: Bool, _ rights: FileRights,
        cloning isInFileAlone: Bool = false, _ observer: MigrationObserver
    ) throws -> Draft {
        let support = StoreRecords(store: store).support
        try makeFolder(rights)
        let createdAt = system.now.inMilliseconds
        let state = try StoreState(connection)
        let name = ".\(system.uniqueName())\(Self.draftSuffix)"
        var draft = Draft(
            folder: Path.join(folder, name), storeName: storeName, source: store,
            version: version.isEmpty ? state.unnamedVersion : version, createdAt: createdAt, state: state,
            reason: reason)
        try system.makeFolder(draft.folder, rights)
        do {
            if isInFileAlone, let copy = try FileCopy(of: connection, to: draft.store, system) {
                let isCloned = try system.cloneOpenFile(store, to: draft.store, rights)
                if !isCloned { try system.makeFile(draft.store, rights) }
                draft.proof = try copy.make(isCloned: isCloned) { done, all in
                    observer.report(.backup, Double(done) / Double(max(all, 1)), bytes: done)
                    return !observer.isCancelled()
                }
                guard draft.proof != nil else { throw Executor.cancelled(draft.store) }
            } else {
                try copyPages(from: connection, to: draft.store, rights, observer)
            }
            if copyingExternalData, try system.exists(support) {
                try system.copyTree(support, to: Path.join(draft.folder, Path.name(of: support)), rights)
            }
            return draft
        } catch {
            discard(draft)
            throw error
        }
    }

    /// Copies every page through SQLite, reads the copy back, and compares it with the source, page by page.
    ///
    /// - Throws: `inputOutput` if a page differs.
    package func copyPages(
        from source: Connection, to path: String, _ rights: FileRights, _ observer: MigrationObserver
    ) throws {
        try system.makeFile(path, rights)
        // Concurrent changes must be in neither the copy nor the pages it is compared with.
        guard !source.isInTransaction else { return try copyAndCompare(source, path, observer) }
        try source.transaction(.deferred) {
            _ = try source.integer("SELECT count(*) FROM sqlite_master")
            try copyAndCompare(source, path, observer)
        }
    }

    private func copyAndCompare(_ source: Connection, _ path: String, _ observer: MigrationObserver) throws {
        try writePages(of: source, to: path, observer)
        try Self.compare(path, with: PageDigests(source, isCancelled: observer.isCancelled), observer)
    }

    private static func compare(_ path: String, with pages: PageDigests, _ observer: MigrationObserver) throws {
        let copied = try PageDigests(ofFile: path, isCancelled: observer.isCancelled)
        if let page = copied.firstDifference(from: pages) { throw MigrationError.changedOnTheWay(path, page: page) }
    }

    private func writePages(of source: Connection, to path: String, _ observer: MigrationObserver) throws {
        let copy = try Connection(path, mode: .readWrite)
        defer { copy.close() }
        // An unfinished draft is never read, so it needs no journal. The finished file is synchronised once.
        try copy.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")
        let pageSize = try source.integer("PRAGMA page_size") ?? 4096
        try Backup(from: source, to: copy).run(stepPages: 2_048) { done, all in
            observer.report(.backup, Double(done) / Double(max(all, 1)), bytes: Int64(done) * pageSize)
            return !observer.isCancelled()
        }
        // A small store is copied in one step, without a check for cancellation.
        guard !observer.isCancelled() else { throw Executor.cancelled(path) }
    }

    /// Synchronises a draft that no connection writes to and computes its SHA-256, unless that is known, while it is
    /// checked on another core.
    func prove(_ draft: Draft, isSequential: Bool = false) throws -> Proof {
        let check = BackgroundWork(isSequential: isSequential) {
            try Self.checkSoundness(of: draft.store, for: draft.reason, place: draft.source)
        }
        let read = Result {
            try system.synchronise(draft.store)
            return try draft.proof ?? Proof(of: draft.store, system)
        }
        let rows = try check.wait()
        var proof = try read.get()
        proof.rows = rows
        return proof
    }

    /// Checks a file that no connection writes to.
    ///
    /// - Parameters:
    ///   - reason: the purpose of the backup; only a change of tables requires every index to match its table.
    ///   - place: the path that the error names; nil for the file's own.
    /// - Returns: the rows by table.
    @discardableResult
    package static func checkSoundness(
        of path: String, for reason: StoreBackup.Manifest.Reason = .migration, place: String? = nil
    ) throws -> [String: Int64] {
        let connection = try Connection(path, mode: .immutable)
        defer { connection.close() }
        let (faults, entries) = try PageCheck(connection).faults(limit: 1)
        guard let fault = faults.first else { return try connection.rowCounts(knowing: entries) }
        // SQLite says what it finds in its own words, and which index to make again.
        switch reason {
        case .migration, .finish: try connection.checkSoundness(place: place ?? path)
        case .repair, .rollback, .move, .request, .imported:
            try connection.checkPages(place: place ?? path)
            guard fault.kind == .page else { return try connection.rowCounts() }
        }
        throw MigrationError(
            .storeCorrupted, "The database is damaged.", place: place ?? path,
            remedy: fault.kind == .page
                ? MigrationError.damagedStoreRemedy : "\(.repair, .only(["indexes"])) makes the index again.",
            cause: "\(fault.tree): \(fault.message)")
    }

    /// Gives a verified draft its manifest and its name.
    ///
    /// - Parameter naming: called with the name before the backup has it, so that a run can record it.
    func finish(_ draft: Draft, _ proof: Proof, naming: (String) throws -> Void = { _ in }) throws -> StoreBackup {
        // A call that died may have begun to write the manifest.
        for name in try system.list(draft.folder)
        where name.hasPrefix(StoreBackup.manifestName) && name != draft.storeName {
            try system.remove(Path.join(draft.folder, name))
        }
        let files = try system.files(below: draft.folder).filter { $0 != draft.storeName }.map { path in
            let whole = Path.join(draft.folder, path)
            return StoreBackup.Manifest.File(
                path: path, size: try system.status(of: whole)?.size ?? 0,
                sha256: try system.digest(of: whole).hexadecimal)
        }
        let manifest = StoreBackup.Manifest(
            storeName: draft.storeName, version: draft.version, createdAt: draft.createdAt, uuid: draft.state.uuid,
            versionHashes: (draft.state.hashes?.entities ?? [:]).mapValues(\.base64), rows: proof.rows,
            size: proof.size, sha256: proof.sha256, externalFiles: files, reason: draft.reason,
            tool: MoultVersion.number)
        try StoreBackup.write(manifest, to: draft.folder, system)
        let backup = StoreBackup(folder: try freeName(version: draft.version, at: draft.createdAt), manifest: manifest)
        try naming(backup.name)
        try system.rename(draft.folder, to: backup.folder)
        try system.synchronise(folder)
        return backup
    }

    func discard(_ draft: Draft) { _ = try? system.removeTree(draft.folder) }

    /// Returns an unused name, `<UTC time>-<version>-<n>`, so that two backups in one second, or of one version, never
    /// collide.
    package func freeName(version: String, at time: Timestamp) throws -> String {
        let version = String(version.map { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" ? $0 : "_" })
        let stem = "\(time.iso8601Basic)-\(version.isEmpty ? "unknown" : String(version.prefix(60)))"
        var number = 1
        while try system.exists(Path.join(folder, "\(stem)-\(number)")) { number += 1 }
        return Path.join(folder, "\(stem)-\(number)")
    }

    /// Removes the drafts of runs that died, except one that a migration's next call needs. Requires the lock of the
    /// store's sidecar.
    package func removeDrafts(of sidecar: StoreRecords) throws {
        try removeDrafts(except: MigrationCheckpoint.read(sidecar, system)?.draft?.name)
    }

    /// Removes the drafts of runs that died. Requires the store's lock.
    ///
    /// - Parameter kept: the name of a draft that is still needed.
    func removeDrafts(except kept: String? = nil) throws {
        for path in try drafts(except: kept) { try system.removeTree(path) }
    }

    /// Returns the paths of unfinished backups.
    func drafts(except kept: String? = nil) throws -> [String] {
        guard try system.exists(folder) else { return [] }
        return try system.list(folder).filter { name in
            name.hasPrefix(".") && name.hasSuffix(Self.draftSuffix) && name != kept
        }.map { Path.join(folder, $0) }
    }
}
