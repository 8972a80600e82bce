import MoultModel
import MoultSQLite
import MoultSystem

/// A backup of a device that iTunes or the Finder has made: `Manifest.db` says which file has which name.
enum DeviceBackup {
    static let fileName = "Manifest.db"

    /// The domain and the path of each file that may be a store, by its name in the backup.
    ///
    /// - Throws: what opening a database throws; also where it is encrypted.
    static func names(in folder: String) throws -> [String: String] {
        let connection = try Connection(Path.join(folder, fileName), mode: .immutable)
        defer { connection.close() }
        // Flag 1 is a file, 2 a folder, 4 a link.
        let rows = try connection.rows(
            """
            SELECT fileID, domain || '/' || relativePath FROM Files
            WHERE flags = 1 AND relativePath NOT LIKE '%-wal' AND relativePath NOT LIKE '%-shm'
            """
        ) { ($0.text(0) ?? "", $0.text(1) ?? "") }
        return Dictionary(rows) { first, _ in first }
    }
}
