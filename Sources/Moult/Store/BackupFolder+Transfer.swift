import MoultBasics
import MoultEngine
import MoultSQLite
import MoultStore

extension BackupFolder {
    /// Copies a backup out of the folder, verified before and after: into a folder, or into an archive if the path ends
    /// with `.tar`.
    ///
    /// - Throws: `usage` if the path is taken; `locked` if another process writes there; `backupInvalid`.
    package func export(_ backup: StoreBackup, to path: String) throws {
        try verify(backup)
        guard path.hasSuffix(".tar") else { return try exportFolder(backup, to: path) }
        let archive = try TapeArchive.Writer(path, system)
        do {
            // The manifest comes last, so that a reader already has every file that it names.
            for file in backup.manifest.files + [StoreBackup.manifestName] {
                try archive.add(file: Path.join(backup.folder, file), as: file)
            }
            // The archive is verified before it gets its name.
            try archive.finish { part in
                try withUnpacked(part, in: StagedPath.make(for: path, system)) { _ in }
            }
        } catch {
            archive.discard()
            throw error
        }
    }

    private func exportFolder(_ backup: StoreBackup, to path: String) throws {
        let part = try StagedPath.begin(path, system)
        do {
            try copyFiles(of: backup, to: part, .like(backup.store))
            try verify(StoreBackup(reading: part, system))
            try StagedPath.end(part, as: path, system)
        } catch {
            _ = try? system.removeTree(part)
            throw error
        }
        try system.synchronise(Path.folder(of: path))
    }

    /// Imports an exported backup, a folder or an archive, or a store that was copied by hand.
    ///
    /// The next run removes its temporary files if it dies. The caller holds the lock of the store's sidecar
    /// (``Migrator/importBackup(_:for:version:wasClosed:)``).
    ///
    /// - Parameters:
    ///   - version: the version name for a store that was copied by hand.
    ///   - wasClosed: whether the app had closed that store, so that no WAL is missing.
    ///   - rights: the file rights of the backed-up store, regardless of those of the import.
    /// - Throws: `backupInvalid` with the reason if it is incomplete.
    package func take(
        _ path: String, version: String = "", wasClosed: Bool = false, _ rights: FileRights = .own
    ) throws -> StoreBackup {
        guard let status = try system.status(of: path) else {
            throw MigrationError(
                .fileNotFound, "Nothing is at \(path).", place: path, remedy: "Check the path of the backup.")
        }
        if status.kind == .folder { return try take(try StoreBackup(reading: path, system), rights) }
        let header = try system.read(path, prefix: 16)
        if header.starts(with: ReadOnlyStore.magic) || !path.hasSuffix(".tar") {
            return try takeCopy(path, version, wasClosed: wasClosed, rights)
        }
        try makeFolder(rights)
        return try withUnpacked(path, in: draftPath()) { try take($0, rights) }
    }

    private func take(_ backup: StoreBackup, _ rights: FileRights) throws -> StoreBackup {
        try verify(backup)
        try makeFolder(rights)
        let part = draftPath()
        do {
            try copyFiles(of: backup, to: part, rights)
            try verify(StoreBackup(reading: part, system))
            let name = try freeName(version: backup.manifest.version, at: backup.manifest.createdAt)
            try system.rename(part, to: name)
            try system.synchronise(folder)
            return try StoreBackup(reading: name, system)
        } catch {
            _ = try? system.removeTree(part)
            throw error
        }
    }

    /// Copies only the files that the manifest names, and makes them durable; the manifest comes last.
    private func copyFiles(of backup: StoreBackup, to folder: String, _ rights: FileRights) throws {
        try system.makeFolder(folder, rights)
        var folders: Set<String> = [folder]
        for file in backup.manifest.files + [StoreBackup.manifestName] {
            var parent = folder
            for part in file.split(separator: "/").dropLast() {
                parent = Path.join(parent, String(part))
                if folders.insert(parent).inserted { try system.makeFolder(parent, rights) }
            }
            let copy = Path.join(folder, file)
            try system.copy(Path.join(backup.folder, file), to: copy, rights)
            try system.synchronise(copy)
        }
        for folder in folders.sorted(by: >) { try system.synchronise(folder) }
    }

    private func draftPath() -> String { Path.join(folder, ".\(system.uniqueName())\(Self.draftSuffix)") }

    /// Unpacks an archive into a scratch folder and verifies its contents.
    @discardableResult
    private func withUnpacked<Result>(
        _ archive: String, in scratch: String, _ body: (StoreBackup) throws -> Result
    ) throws -> Result {
        try system.makeFolder(scratch)
        defer { _ = try? system.removeTree(scratch) }
        let reader = TapeArchive.Reader(archive, system)
        // Files that the manifest does not name are never written.
        try reader.unpack(into: scratch) { $0 == StoreBackup.manifestName }
        let backup = try StoreBackup(reading: scratch, system)
        let files = Set(backup.manifest.files)
        try reader.unpack(into: scratch, where: files.contains)
        try verify(backup)
        return try body(backup)
    }

    private func takeCopy(
        _ path: String, _ version: String, wasClosed: Bool, _ rights: FileRights
    ) throws -> StoreBackup {
        let copy = try CopiedStore(path, wasClosed: wasClosed, system)
        return try copy.withConnection { connection in
            let draft = try draft(
                of: connection, named: Path.name(of: path), beside: path, version: version, for: .imported,
                copyingExternalData: true, rights, .none)
            return try proven(draft)
        }
    }
}

/// A store that was copied by hand, file by file, which must be checked before use.
///
/// A store in WAL mode is two files. SQLite reports the main file alone as sound, although it holds an old state, or
/// none. Next to a WAL of another state it shows a third one.
package struct CopiedStore {
    private let path: String
    private let system: any System

    /// - Parameter wasClosed: whether the app had closed the store, so that nothing was left in a WAL.
    /// - Throws: `backupInvalid` with the reason; what examining a file that is not a store throws.
    package init(_ path: String, wasClosed: Bool = false, _ system: any System = POSIXSystem()) throws {
        self.path = try ReadOnlyStore.checkFile(path, system)
        self.system = system
        let log = try WriteAheadLog(beside: self.path, system)
        guard try wasClosed || MissingLog(of: self.path, system) == nil else {
            throw Self.invalid(
                "\(path) was in WAL mode, and there is no \(Path.name(of: path))-wal next to it: what the app wrote since "
                    + "the last checkpoint may be missing.", path,
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

    /// Opens a private copy, which SQLite may recover from a dead process.
    func withConnection<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try ReadOnlyStore.read(path, system: system) { try body($0.connection) }
    }

    private static func invalid(_ message: String, _ place: String, _ remedy: Remedy) -> MigrationError {
        MigrationError(.backupInvalid, message, place: place, remedy: remedy)
    }
}
