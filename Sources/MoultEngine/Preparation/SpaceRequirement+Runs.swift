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
            temporary: options.temporaryFolder ?? system.temporaryFolder)
    }

    /// Computes the space for starting a mirror: a copy of the first store next to the second, and a migration of that
    /// copy without a backup.
    ///
    /// - Parameters:
    ///   - migration: the migration of the first store.
    ///   - state: the state of the first store.
    package init(
        mirroring store: StoreRecords, at second: String, by migration: Pass, on state: StoreState, _ system: any System
    ) throws {
        let folder = Path.folder(of: second)
        let work = Work(migration, on: state, fileSize: state.size, isFrugal: true)
        self.init(work, beside: StoreRecords(store: second), backups: folder, temporary: system.temporaryFolder)
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
            growth: (migration.growth?.bytes(of: state) ?? 0) &* (migration.next == nil ? 1 : 3), isFrugal: isFrugal,
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
