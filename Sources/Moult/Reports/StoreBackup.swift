import MoultEngine
public import MoultModel
import MoultSystem

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A backup: a complete store in its own folder, with its original file names.
public struct StoreBackup: Sendable, Equatable {
    let backup: MoultEngine.StoreBackup
    /// The error that reading its manifest meets, so that the backup cannot be used as it is; nil for any other backup.
    /// With an error, only its name, its folder and when it was made are known.
    public let error: MigrationError?

    init(_ backup: MoultEngine.StoreBackup) { self.init(backup, nil) }

    init(_ backup: MoultEngine.StoreBackup, _ error: MigrationError?) {
        (self.backup, self.error) = (backup, error)
    }

    var folderOfBackups: BackupFolder { BackupFolder(Path.folder(of: backup.folder)) }

    /// The backup's name, which no other backup of the store has.
    public var name: String { backup.name }
    /// The path of the backup's folder.
    public var folder: String { backup.folder }
    /// The path of the store in it, which can be opened there.
    public var store: String { backup.store }
    /// The name of the store's version as the run knew it; empty if it was not known.
    public var version: String { backup.manifest.version }
    /// When it was made.
    public var createdAt: Date { backup.manifest.createdAt.date }
    /// The size of the store's file, in bytes.
    public var bytes: Int64 { backup.manifest.size }
    /// Rows by table.
    public var rows: [String: Int64] { backup.manifest.rows }
    /// The SHA-256 of the store's file, hexadecimal.
    public var sha256: String { backup.manifest.sha256 }
    /// The number of files of external data.
    public var externalFiles: Int { backup.manifest.externalFiles.count }
    /// The reason why it was made: `migration`, `finish`, `repair`, `rollback`, `request` or `imported`; nil if it is
    /// not known.
    public var reason: String? { backup.manifest.reason?.rawValue }
}

extension Timestamp {
    var date: Date { Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9) }
}
