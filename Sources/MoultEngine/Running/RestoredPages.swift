import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// The pages that a restore writes: those of the backup, with the counters as high as the store's, so that no number is
/// given twice.
///
/// The few pages that differ from the backup's are in memory; the backup itself is only read.
struct RestoredPages {
    let connection: Connection
    let digests: PageDigests

    /// - Parameters:
    ///   - given: the numbers that are in use.
    ///   - run: the run that restores.
    init(of backup: StoreBackup, keeping given: GivenNumbers, run: String) throws {
        let pages = try Connection(overlaying: backup.store)
        do {
            try pages.transaction { try given.keep(in: pages, run: run) }
            digests = try PageDigests(pages)
            connection = pages
        } catch {
            pages.close()
            throw error
        }
    }

    func close() { connection.close() }
}

extension Migrator {
    /// Returns the numbers given out by a store that is damaged or gone, as far as it and its backups say.
    func numbersGiven(by sidecar: Sidecar) -> GivenNumbers {
        var given = GivenNumbers()
        let backups = (try? backupFolders(of: sidecar.store).contents().backups) ?? []
        for path in [sidecar.store] + backups.map(\.store) {
            guard let connection = try? Connection(path, mode: .immutable) else { continue }
            defer { connection.close() }
            if let numbers = try? GivenNumbers(connection) { given.merge(numbers) }
        }
        return given
    }
}
