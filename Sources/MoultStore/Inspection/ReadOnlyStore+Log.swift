import MoultBasics
import MoultSQLite

extension ReadOnlyStore {
    /// Returns the metadata of a store next to which an app that was killed has left its log, without copying either.
    ///
    /// Under SQLite's exclusive lock, the index of the log is in memory, so that no `-shm` is made or changed; and the log
    /// is neither written back nor removed when the connection closes. The lock is held for the time of the call.
    ///
    /// - Returns: nil for a store without a log, and for one that cannot be read in this way, such as while another process
    ///   has it open.
    package static func metadata(besideLogOf path: String, system: any System) -> StoreMetadata? {
        guard let path = try? system.resolve(path),
            let log = try? system.status(of: path + "-wal"), log.kind == .file, log.size > 0,
            // SQLite would roll a journal back.
            let journal = try? system.status(of: path + "-journal")?.size ?? 0, journal == 0,
            let header = try? system.read(path, prefix: 100), header.count == 100, header.isInWALMode,
            let connection = try? Connection(path, mode: .readWrite)
        else { return nil }
        defer { connection.close() }
        do {
            try connection.keepWALOnClose(true)
            try connection.execute("PRAGMA query_only = ON; PRAGMA locking_mode = EXCLUSIVE")
            return try StoreMetadata(from: connection)
        } catch {
            return nil
        }
    }
}
