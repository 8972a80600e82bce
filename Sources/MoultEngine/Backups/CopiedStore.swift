import MoultModel
import MoultPages
import MoultSQLite
import MoultStore
import MoultSystem

/// A store that was copied by hand, file by file, and is checked before it is used.
///
/// A store in WAL mode is two files. SQLite reports the main file alone as sound, but it shows an old state, or none.
/// Next to a WAL of another state it shows a third.
package struct CopiedStore {
    private let path: String
    private let system: any System

    /// - Parameter wasClosed: whether the app had closed the store, so that nothing was left in a WAL.
    /// - Throws: `backupInvalid` with the reason; what looking at a file throws that is no store.
    package init(_ path: String, wasClosed: Bool = false, _ system: any System = POSIXSystem()) throws {
        self.path = try StoreProbe.checkFile(path, system)
        self.system = system
        let log = try WriteAheadLog(beside: self.path, system)
        guard try log != nil || wasClosed || !Self.usesWAL(self.path, system) else {
            throw Self.invalid(
                "\(path) was in WAL mode, and there is no \(Path.name(of: path))-wal next to it: what the app wrote since "
                    + "the last checkpoint is missing.", path,
                "Copy the -wal together with it, or use \(.makeBackup). If the app had closed the "
                    + "store before, pass \(option: .wasClosed).")
        }
        if let reason = try log?.strangeness() {
            throw Self.invalid(
                "The \(Path.name(of: path))-wal next to \(path) \(reason.isCertain ? "belongs" : "may belong") to another "
                    + "file: \(reason.sentence)", path,
                "Copy both files again at one moment, or use \(.makeBackup).")
        }
        if try LogFrames(self.path + "-wal", system).isTorn {
            throw Self.invalid(
                "The \(Path.name(of: path))-wal next to \(path) ends inside a frame: \(LogFrames.tornTail)", path,
                "Copy both files again at one moment. If the -wal of the store itself ends like that, use "
                    + "\(.makeBackup) on the store.")
        }
    }

    /// Opens a private copy, in which SQLite may heal what a dead process left.
    func withConnection<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try StoreProbe.read(path, system: system) { try body($0.connection) }
    }

    /// The SQLite file format, section 1.3.3: 2 in both bytes for WAL.
    package static func usesWAL(_ path: String, _ system: any System) throws -> Bool {
        let header = try system.read(path, prefix: 20)
        return header.count == 20 && header[18] == 2 && header[19] == 2
    }

    private static func invalid(_ message: String, _ place: String, _ remedy: Remedy) -> MigrationError {
        MigrationError(.backupInvalid, message, place: place, remedy: remedy)
    }
}
