import MoultBasics
import MoultSQLite
import MoultStore

extension SpaceRequirement {
    /// Computes the space for a migration of a store.
    ///
    /// - Parameter connection: the connection to the store.
    init(
        _ migration: Pass, over connection: Connection, _ sidecar: StoreRecords, _ options: MigrationOptions,
        backups: String, isPaced: Bool = false, _ system: any System
    ) throws {
        var work = try Work(
            migration, over: connection, options, fileSize: try system.status(of: sidecar.store)?.size ?? 0,
            isPaced: isPaced)
        try work.addExternalData(of: sidecar, system)
        let temporary = options.temporaryFolder ?? system.sortingFolder
        self.init(work, beside: sidecar, backups: backups, temporary: temporary)
        let folder = Path.folder(of: sidecar.store)
        others[.deferred] = [
            Part(
                reason: "commit log", folder: folder,
                bytes: Self.commitLog(pages: work.catalogue, pageSize: work.pageSize)),
            .records(in: folder),
        ]
        (work.fileSize, work.isPaced) = (work.pages &* work.pageSize, false)
        others[.into] = Self.parts(copying: work, to: folder, temporary: temporary).map { part in
            var part = part
            part.isElsewhere = !part.isTemporary
            return part
        }
    }

    /// Returns the parts of a migration of a copy in a folder, of which nothing is kept but the new store.
    private static func parts(copying work: Work, to folder: String, temporary: String) -> [Part] {
        var copied = work
        (copied.isFrugal, copied.staysInStore) = (true, false)
        let new = StoreRecords(store: Path.join(folder, "store"))
        let run = SpaceRequirement(copied, beside: new, backups: folder, temporary: temporary)
        // The mirror's mark in the copy's metadata is a separate transaction.
        let mark = commitLog(pages: 8, pageSize: work.pageSize)
        return run.parts + [
            Part(reason: "copy of the store", folder: folder, bytes: work.pages &* work.pageSize &+ mark),
            Part(reason: "copy of external data", folder: folder, bytes: work.externalSpace),
        ]
    }

    /// Computes the space for a backup of a store, and for restoring another one over it.
    init(
        backingUp state: StoreState, of sidecar: StoreRecords, to folder: String,
        restoring other: StoreBackup.Manifest? = nil, _ system: any System
    ) throws {
        var work = Work(pages: state.pageCount, pageSize: state.pageSize, fileSize: 0)
        try work.addExternalData(of: sidecar, system)
        self.init(parts: Self.backup(work, in: folder))
        let place = Path.folder(of: sidecar.store)
        if let other {
            let pages = max(state.size, other.size) / max(state.pageSize, 1) &+ 1
            let file = try system.status(of: sidecar.store)?.size ?? 0
            var files = Work(pages: 0, pageSize: 0, fileSize: 0)
            files.externalFiles = Int64(other.externalFiles.count)
            files.externalBytes = other.externalFiles.reduce(0) { $0 &+ $1.size }
            parts += [
                Part(reason: "files of external data", folder: place, bytes: files.externalSpace),
                Part(
                    reason: "commit log", folder: place,
                    bytes: Self.commitLog(pages: pages, pageSize: state.pageSize) &+ max(0, other.size &- file)),
            ].filter { $0.bytes > 0 }
        }
        parts.append(.records(in: place))
    }

    /// Computes the space for rehearsing a migration in a folder, where nothing is kept.
    ///
    /// - Parameter isTemporary: whether it is the folder for temporary files.
    init(
        rehearsing migration: Pass, over connection: Connection, in folder: String, isTemporary: Bool,
        _ options: MigrationOptions, _ system: any System
    ) throws {
        let work = try Work(copying: migration, over: connection, options)
        self.init(
            work, beside: StoreRecords(store: Path.join(folder, "store")), backups: folder,
            temporary: options.temporaryFolder ?? system.sortingFolder)
        parts.removeAll { $0.time == .commit }
        guard isTemporary else { return }
        for index in parts.indices { parts[index].isTemporary = true }
    }

    /// Computes the space for a salvage next to the new store.
    ///
    /// - Parameters:
    ///   - store: the damaged store.
    ///   - new: the new store.
    package init(salvaging store: StoreRecords, to new: StoreRecords, _ system: any System) throws {
        let folder = Path.folder(of: new.store)
        let sizes = try ["", "-wal", "-journal"].map { try system.status(of: store.store + $0)?.size ?? 0 }
        let bytes = sizes.reduce(0, &+)
        var work = Work(pages: 0, pageSize: 0, fileSize: 0)
        if store.support != new.support { try work.addExternalData(of: store, system) }
        // The damaged copy is removed before the new store is filled from the recovered rows, through a log.
        self.init(parts: [
            Part(reason: "recovered rows", folder: folder, bytes: bytes),
            Part(reason: "copy of the damaged store", folder: folder, bytes: bytes).taken(.beforeCommit),
            Part(reason: "new store", folder: folder, bytes: bytes).taken(.commit),
            Part(
                reason: "log of the new store", folder: folder,
                bytes: Self.commitLog(pages: bytes / 4_096, pageSize: 4_096)
            ).taken(.commit),
            Part(reason: "copy of external data", folder: folder, bytes: work.externalSpace).taken(.commit),
            .records(in: folder),
        ])
    }

    /// Computes the space for starting a mirror, or for a migration into another file: a copy of the first store next to
    /// the second, and a migration of that copy without a backup.
    ///
    /// - Parameters:
    ///   - migration: the migration of the first store.
    ///   - isMirror: whether the first store has records of the second.
    package init(
        mirroring store: StoreRecords, at second: String, by migration: Pass, isMirror: Bool = true,
        _ system: any System
    ) throws {
        var work = try ReadOnlyStore.read(store.store, system: system) { probe in
            try Work(copying: migration, over: probe.connection, MigrationOptions())
        }
        try work.addExternalData(of: store, system)
        self.init(
            parts: Self.parts(copying: work, to: Path.folder(of: second), temporary: system.sortingFolder)
                + (isMirror ? [.records(in: Path.folder(of: store.store))] : []))
    }
}

extension SpaceRequirement.Work {
    /// Creates the work of a migration of a copy, which is not kept.
    fileprivate init(copying migration: Pass, over connection: Connection, _ options: MigrationOptions) throws {
        var options = options
        options.isFrugal = true
        try self.init(
            migration, over: connection, options, fileSize: StoreState(connection).size, isPaced: false)
    }

    fileprivate init(
        _ migration: Pass, over connection: Connection, _ options: MigrationOptions, fileSize: Int64, isPaced: Bool
    ) throws {
        let state = try StoreState(connection)
        let space = try migration.growth?.space(
            of: migration.script, over: connection, state, memory: options.cacheSize)
        let isFrugal = options.isFrugal
        self.init(
            pages: state.pageCount, pageSize: state.pageSize, fileSize: fileSize,
            growth: migration.newBytes &+ (space?.growth ?? 0) &* (migration.next == nil ? 1 : 3)
                &+ (isPaced ? migration.policies?.bytesOfNotes(pageSize: state.pageSize) ?? 0 : 0),
            sorted: migration.sortsUnknown ? nil : space?.sorted ?? 0, changed: space?.changed, kept: space?.kept ?? 0,
            catalogue: space?.catalogue ?? 0,
            freePages: migration.freePages?.count ?? 0, usesWAL: state.usesWAL,
            needsBackup: migration.script.needsBackup, isFrugal: isFrugal, isInPlace: migration.script.isInPlace,
            staysInStore: migration.staysInStore && !isFrugal && !isPaced, keptCopies: migration.keptCopies,
            hasFurtherPasses: migration.next != nil, isPaced: isPaced, isCompacted: migration.isCompacted,
            isJournalled: isPaced || migration.policies != nil || !migration.steps.isEmpty)
    }

    fileprivate mutating func addExternalData(of sidecar: StoreRecords, _ system: any System) throws {
        externalFiles = try system.exists(sidecar.support) ? Int64(system.files(below: sidecar.support).count) : 0
        externalBytes = try system.size(below: sidecar.support)
    }
}
