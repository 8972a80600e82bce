import MoultSystem

/// A policy that decides which backups are kept: all of the last week, then one per week up to a month, never fewer
/// than ``minimumCount``, and the newest of each version. The newest sound backup is never removed.
public struct RetentionPolicy: Sendable, Hashable, Codable {
    /// Days for which every backup is kept.
    public var keepAllDays: Int
    /// Days for which one backup a week is kept.
    public var keepWeeklyDays: Int
    /// The number of backups kept whatever their age; at least one.
    public var minimumCount: Int
    /// Whether the newest sound backup of each version, and the one that a rollback would restore, are kept whatever their
    /// age, because no newer backup holds what they hold.
    public var keepsEachVersion: Bool

    /// The default: seven days, thirty days, three backups, and the newest of each version.
    public init() { self.init(keepsEachVersion: true) }

    /// A policy of your own, which removes what its numbers say.
    public init(
        keepAllDays: Int = 7, keepWeeklyDays: Int = 30, minimumCount: Int = 3, keepsEachVersion: Bool = false
    ) {
        self.keepAllDays = keepAllDays
        self.keepWeeklyDays = keepWeeklyDays
        self.minimumCount = minimumCount
        self.keepsEachVersion = keepsEachVersion
    }

    /// Keeps everything.
    public static let everything = RetentionPolicy(keepAllDays: .max, keepWeeklyDays: .max)

    /// The backups that may go by their ages, oldest first. Ages are from the manifests, never from the file system.
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
