import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// The folder that holds the backups of one store.
package struct BackupFolder: Sendable {
    package let folder: String
    package let system: any System

    package init(_ folder: String, _ system: any System = POSIXSystem()) {
        self.folder = folder
        self.system = system
    }

    /// Returns the backups that have a readable manifest, oldest first.
    package func list() throws -> [StoreBackup] { try contents().backups }

    /// Returns the backups that have a readable manifest, oldest first, and those with an unreadable one, each with its
    /// error.
    package func contents() throws -> (backups: [StoreBackup], unreadable: [(name: String, error: MigrationError)]) {
        guard try system.exists(folder) else { return ([], []) }
        var backups: [StoreBackup] = []
        var unreadable: [(name: String, error: MigrationError)] = []
        for name in try system.list(folder) where !name.hasPrefix(".") {
            let path = Path.join(folder, name)
            do {
                backups.append(try StoreBackup(reading: path, system))
            } catch let error as MigrationError {
                // In a folder that a person has named, this may be an unrelated file or folder.
                guard (try? system.exists(Path.join(path, StoreBackup.manifestName))) != false || Self.isOwnName(name)
                else { continue }
                unreadable.append((name, error))
            }
        }
        return (backups.sorted { $0.isOlder(than: $1) }, unreadable)
    }

    /// Returns the backup with that name or path.
    package func backup(named name: String) throws -> StoreBackup { try [self].backup(named: name) }

    /// Returns the newest backup, optionally of one version.
    package func newest(ofVersion version: String? = nil) throws -> StoreBackup {
        let candidates = try list().filter { version == nil || $0.manifest.version == version }
        guard let newest = candidates.last else {
            throw MigrationError(
                .backupNotFound, "There is no backup\(version.map { " of version \($0)" } ?? "").", place: folder,
                remedy: try list().isEmpty
                    ? "Make one with \(.makeBackup)." : "\(.listBackups) shows the others.")
        }
        return newest
    }

    /// Verifies that a backup matches its manifest: size, SHA-256, soundness, version hashes, row counts and external
    /// files.
    ///
    /// - Parameter fromDrive: whether to read the files from the drive instead of the system's cache, if the system
    ///   can.
    /// - Throws: `backupInvalid` with the difference.
    package func verify(_ backup: StoreBackup, fromDrive: Bool = false) throws {
        let manifest = backup.manifest
        // Symbolic links to the backup's folder are permitted; those inside it are not.
        let folder = try system.resolve(backup.folder)
        if fromDrive {
            for path in [manifest.storeName] + manifest.externalFiles.map(\.path) {
                let path = Path.join(folder, path)
                if try system.status(of: path)?.kind == .file { try system.forgetCache(of: path) }
            }
        }
        try verify(manifest.storeName, in: folder, size: manifest.size, sha256: manifest.sha256)
        for file in manifest.externalFiles { try verify(file.path, in: folder, size: file.size, sha256: file.sha256) }
        let connection = try Connection(backup.store, mode: .immutable)
        defer { connection.close() }
        do {
            try connection.checkPages(place: backup.store)
        } catch let error as MigrationError where ReadOnlyStore.unreadable.contains(error.code) {
            throw StoreBackup.invalid("The backup is damaged.", backup.store, cause: error.cause ?? error.message)
        }
        let state = try StoreState(connection)
        guard (state.hashes?.entities ?? [:]).mapValues(\.base64) == manifest.versionHashes else {
            throw StoreBackup.invalid("The backup's version does not match its manifest.", backup.store)
        }
        guard try connection.rowCounts() == manifest.rows else {
            throw StoreBackup.invalid("The backup's row counts do not match its manifest.", backup.store)
        }
    }

    private func verify(_ file: String, in folder: String, size: Int64, sha256: String) throws {
        let path = Path.join(folder, file)
        guard let status = try system.status(of: path) else {
            throw StoreBackup.invalid("The file \(file) of the backup is missing.", path)
        }
        // A symbolic link would include a file from elsewhere in the backup; reading a pipe would never end.
        guard status.kind == .file, try system.resolve(path) == path else {
            throw StoreBackup.invalid("\(path) is not a plain file of the backup.", path)
        }
        guard status.size == size else {
            throw StoreBackup.invalid(
                "\(path) has \(Quantity.count(status.size, "byte")); its manifest says \(Quantity.count(size)).", path)
        }
        guard try system.digest(of: path).hexadecimal == sha256 else {
            throw StoreBackup.invalid("The contents of \(path) do not match the manifest.", path)
        }
    }

    /// Whether a backup verifies.
    ///
    /// - Throws: the error of one that cannot be read, because it may be whole.
    package func isWhole(_ backup: StoreBackup) throws -> Bool {
        do {
            try verify(backup)
            return true
        } catch let error as MigrationError where Self.isFault(error) {
            return false
        }
    }

    /// Whether an error of verifying a backup is one of its contents; with any other, the backup may be whole.
    package static func isFault(_ error: MigrationError) -> Bool {
        [.backupInvalid, .unsupported].contains(error.code)
    }

    /// Removes the backups that the policy does not keep, but never the newest one that verifies, nor a newer one that
    /// cannot be read, because it may be whole. Returns the removed backups.
    ///
    /// - Parameter name: the name of a backup that is also kept, if the policy keeps each version.
    @discardableResult
    package func prune(_ policy: RetentionPolicy, keeping name: String? = nil) throws -> [StoreBackup] {
        let all = try list()
        let expired = policy.expired(of: all, now: system.now)
        guard !expired.isEmpty else { return [] }
        var unread: [StoreBackup] = []
        func isWhole(_ backup: StoreBackup) -> Bool {
            do {
                return try self.isWhole(backup)
            } catch {
                unread.append(backup)
                return false
            }
        }
        let newestGood = all.last(where: isWhole)
        // The newest sound backup of each version with an expired one.
        var kept: [[String: String]: StoreBackup] = [:]
        if policy.keepsEachVersion {
            for version in Set(expired.map(\.manifest.identity)) {
                kept[version] = all.last { $0.manifest.identity == version && isWhole($0) }
            }
        }
        let going = expired.filter { backup in
            backup != newestGood && kept[backup.manifest.identity] != backup && !unread.contains(backup)
                && !(policy.keepsEachVersion && backup.name == name)
        }
        for backup in going { try remove(backup) }
        try system.synchronise(folder)
        return going
    }

    /// Returns the sentence about a removed backup, for the console and the log.
    package static func removal(of name: String) -> String {
        "Removed the backup \(name), which the retention policy does not keep."
    }

    package func remove(_ backup: StoreBackup) throws {
        // If the removal stops half-way, the next run removes the rest, as it does for an unfinished backup.
        let going = Path.join(Path.folder(of: backup.folder), ".\(system.uniqueName())\(Self.draftSuffix)")
        try system.rename(backup.folder, to: going)
        // Otherwise a power cut could leave a part of the backup under its name.
        try system.synchronise(Path.folder(of: going))
        try system.removeTree(going)
    }

    /// Whether a name is a backup's: it begins with a time, `20261128T195442Z-`.
    private static func isOwnName(_ name: String) -> Bool {
        let time = name.prefix(17)
        return time.count == 17 && time.hasSuffix("Z-") && time.dropLast(2).filter { $0 != "T" }.allSatisfy(\.isNumber)
    }
}

/// The folders that hold the backups of one store.
extension [BackupFolder] {
    /// Returns the combined ``BackupFolder/contents()`` of all folders.
    package func contents() throws -> (backups: [StoreBackup], unreadable: [(name: String, error: MigrationError)]) {
        let contents = try map { try $0.contents() }
        return (contents.flatMap(\.backups).sorted { $0.isOlder(than: $1) }, contents.flatMap(\.unreadable))
    }

    /// Returns all backups of a store, oldest first, each with its error if its manifest is unreadable. Of such a
    /// backup only the name is known, and the time in the name.
    package func all(of store: String) throws -> [StoreBackup] {
        let all = try flatMap { folder in
            let (backups, unreadable) = try folder.contents()
            return backups
                + unreadable.map { name, error in
                    let manifest = StoreBackup.Manifest(
                        storeName: Path.name(of: store), version: "", createdAt: Timestamp(startOf: name), size: 0,
                        sha256: "")
                    return StoreBackup(folder: Path.join(folder.folder, name), manifest: manifest, error: error)
                }
        }
        return all.sorted { $0.isOlder(than: $1) }
    }

    /// Returns the backup with that name or path.
    package func backup(named name: String) throws -> StoreBackup {
        for folder in self {
            let path = name.contains("/") ? name : Path.join(folder.folder, name)
            if try folder.system.exists(path) { return try StoreBackup(reading: path, folder.system) }
        }
        let names = try contents().backups.map(\.name)
        throw MigrationError(
            .backupNotFound, "There is no backup \(name).", place: map(\.folder).joined(separator: ", "),
            remedy: names.isEmpty ? "No backup has been made yet." : "Name one of \(names.joined(separator: ", ")).")
    }
}

extension Timestamp {
    /// Creates the time at the start of a backup's name, `20261128T195442Z-`; 1970 for any other name.
    fileprivate init(startOf name: String) {
        let characters = Array(name.prefix(16))
        func part(_ range: Range<Int>) -> String { String(characters[range]) }
        let known =
            characters.count < 16
            ? nil
            : Timestamp(iso8601: "\(part(0..<4))-\(part(4..<6))-\(part(6..<11)):\(part(11..<13)):\(part(13..<16))")
        self = known ?? Timestamp(seconds: 0)
    }
}

/// A policy that decides which backups are kept: all of the last week, then one per week up to a month, never fewer
/// than ``minimumCount``, and the newest of each version. The newest sound backup is never removed.
public struct RetentionPolicy: Sendable, Hashable, Codable {
    /// Days for which every backup is kept.
    public var keepAllDays: Int
    /// Days for which one backup a week is kept.
    public var keepWeeklyDays: Int
    /// The number of backups kept regardless of their age; at least one.
    public var minimumCount: Int
    /// Whether the newest sound backup of each version, and the one that a rollback would restore, are kept regardless
    /// of their age, because no newer backup has their contents.
    public var keepsEachVersion: Bool

    /// The default: seven days, thirty days, three backups, and the newest of each version.
    public init() { self.init(keepsEachVersion: true) }

    /// A custom policy, which removes backups according to its numbers.
    public init(keepAllDays: Int = 7, keepWeeklyDays: Int = 30, minimumCount: Int = 3, keepsEachVersion: Bool = false) {
        (self.keepAllDays, self.keepWeeklyDays) = (keepAllDays, keepWeeklyDays)
        (self.minimumCount, self.keepsEachVersion) = (minimumCount, keepsEachVersion)
    }

    /// Keeps everything.
    public static let everything = RetentionPolicy(keepAllDays: .max, keepWeeklyDays: .max)

    /// Returns the backups that may be removed because of their ages, oldest first. Ages are from the manifests, never
    /// from the file system.
    package func expired(of backups: [StoreBackup], now: Timestamp) -> [StoreBackup] {
        let newestFirst = backups.sorted { $1.isOlder(than: $0) }
        var weeks: Set<Int64> = []
        var expired: [StoreBackup] = []
        for (position, backup) in newestFirst.enumerated() {
            let days = now.seconds(since: backup.manifest.createdAt) / 86_400
            // The epoch was a Thursday; weeks begin on Monday.
            let week = (backup.manifest.createdAt.seconds + 3 * 86_400) / (7 * 86_400)
            let isKept =
                position < max(minimumCount, 1) || days < Double(keepAllDays)
                || (days < Double(keepWeeklyDays) && weeks.insert(week).inserted)
            if !isKept { expired.append(backup) }
        }
        return expired.reversed()
    }
}
