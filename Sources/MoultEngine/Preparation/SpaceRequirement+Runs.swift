import MoultBasics
import MoultStore

extension SpaceRequirement {
    /// Computes the space for a migration of a store in the given state.
    init(
        _ migration: Pass, on state: StoreState, _ sidecar: StoreRecords, _ options: MigrationOptions,
        backups: String, isPaced: Bool = false, _ system: any System
    ) throws {
        // Only the catalogue changes.
        guard migration.script.needsBackup else {
            self.init(parts: [])
            return
        }
        var work = Work(
            migration, on: state, fileSize: try system.status(of: sidecar.store)?.size ?? 0,
            isFrugal: options.isFrugal, isPaced: isPaced)
        try work.addExternalData(of: sidecar, system)
        self.init(
            work, beside: sidecar, backups: backups,
            temporary: options.temporaryFolder ?? system.sortingFolder)
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
        rehearsing migration: Pass, on state: StoreState, in folder: String, isTemporary: Bool,
        _ options: MigrationOptions, _ system: any System
    ) {
        let work = Work(migration, on: state, fileSize: state.size, isFrugal: true)
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
    ///   - state: the state of the first store.
    package init(
        mirroring store: StoreRecords, at second: String, by migration: Pass, on state: StoreState, _ system: any System
    ) throws {
        let folder = Path.folder(of: second)
        let work = Work(migration, on: state, fileSize: state.size, isFrugal: true)
        self.init(work, beside: StoreRecords(store: second), backups: folder, temporary: system.sortingFolder)
        var copied = Work(pages: state.pageCount, pageSize: state.pageSize, fileSize: 0)
        try copied.addExternalData(of: store, system)
        // The mirror's mark in the copy's metadata is a separate transaction.
        let mark = Self.commitLog(pages: 8, pageSize: state.pageSize)
        parts += [
            Part(reason: "copy of the store", folder: folder, bytes: state.size &+ mark),
            Part(reason: "copy of external data", folder: folder, bytes: copied.externalSpace),
            .records(in: Path.folder(of: store.store)),
        ]
    }
}

extension SpaceRequirement.Work {
    fileprivate init(
        _ migration: Pass, on state: StoreState, fileSize: Int64, isFrugal: Bool, isPaced: Bool = false
    ) {
        self.init(
            pages: state.pageCount, pageSize: state.pageSize, fileSize: fileSize,
            growth: migration.newBytes &+ (migration.growth?.bytes(of: state) ?? 0) &* (migration.next == nil ? 1 : 3)
                &+ (isPaced ? migration.policies?.bytesOfNotes(pageSize: state.pageSize) ?? 0 : 0),
            sorted: migration.sorted, changed: migration.growth?.changedPages(by: migration.script, of: state),
            freePages: migration.freePages?.count ?? 0, usesWAL: state.usesWAL, isFrugal: isFrugal,
            isInPlace: migration.script.isInPlace,
            staysInStore: migration.staysInStore && !isFrugal && !isPaced, keptCopies: migration.keptCopies,
            hasFurtherPasses: migration.next != nil, isPaced: isPaced, isCompacted: migration.isCompacted,
            isJournalled: isPaced || migration.policies != nil || !migration.steps.isEmpty)
    }

    fileprivate mutating func addExternalData(of sidecar: StoreRecords, _ system: any System) throws {
        externalFiles = try system.exists(sidecar.support) ? Int64(system.files(below: sidecar.support).count) : 0
        externalBytes = try system.size(below: sidecar.support)
    }
}
