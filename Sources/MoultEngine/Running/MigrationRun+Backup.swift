import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

// MARK: - The backup

extension MigrationRun {
    /// The backup is what a script reads, and what the rows are compared with. A frugal run takes it away in the end.
    func withDraft<Result>(_ body: (BackupFolder.Draft) throws -> Result) throws -> Result {
        let draft = try timings.measure(.backup) {
            try backups.draft(
                of: lock, version: migration.from, for: migration.reason, copyingExternalData: !options.isFrugal,
                observer)
        }
        do {
            return try body(draft)
        } catch {
            backups.discard(draft)
            throw error
        }
    }

    /// The draft is verified on the other core while the script reads it; both only read.
    func prove(_ draft: BackupFolder.Draft) -> BackgroundWork<BackupFolder.Proof> {
        BackgroundWork(isSequential: options.isSequential) { [backups, options] in
            try backups.prove(draft, isSequential: options.isSequential)
        }
    }

    /// Waits for the proof and gives the backup its name; a frugal run keeps none.
    ///
    /// - Parameter phase: the one that the run is in.
    func finish(
        _ draft: BackupFolder.Draft, _ proof: BackgroundWork<BackupFolder.Proof>,
        during phase: MigrationProgress.Phase = .change
    ) throws -> StoreBackup? {
        let proof = try proof.wait()
        bytes += proof.size
        guard !options.isFrugal else { return nil }
        let backup = try named { try backups.finish(draft, proof, naming: $0) }
        let start = migration.span.lowerBound
        observer.spanning(start...start)
            .report(phase, 1, rows: observer.totalRows, "Made the backup \(backup.name)", isBeside: true)
        return backup
    }

    /// The journal names a backup before it has its name, so that no death leaves one that no run names.
    func named(_ make: ((String) throws -> Void) throws -> StoreBackup) throws -> StoreBackup {
        do {
            return try make { name in
                journal.backup = name
                try journal.write(sidecar, system)
            }
        } catch {
            if let name = journal.backup, try !system.exists(Path.join(backups.folder, name)) { journal.backup = nil }
            throw error
        }
    }
}
