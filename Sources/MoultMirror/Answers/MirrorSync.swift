import MoultModel

/// The means by which a mirror knows what was written.
public enum MirrorMeans: String, Sendable, Hashable, CaseIterable, Codable {
    /// By the transactions of persistent history.
    case history
    /// By a scan of the keys and lock counters of both stores.
    case scan
    /// Every row was compared.
    case comparison
}

/// The changes that one sync has made to the store that follows.
public struct MirrorSync: Sendable, Hashable {
    /// The means by which it was known what was written.
    public package(set) var means: MirrorMeans
    package var changes: MirrorChanges
    /// The reason why every row had to be compared, in one sentence; nil if that was not so, or only asked for.
    public package(set) var reason: String?
    /// The time that the sync took, in seconds.
    public package(set) var seconds: Double

    /// Rows that were inserted.
    public var inserted: Int64 { changes.inserted }
    /// Rows that were updated.
    public var updated: Int64 { changes.updated }
    /// Rows that were deleted.
    public var deleted: Int64 { changes.deleted }
    /// The time that the sync took.
    public var duration: Duration { .seconds(seconds) }

    package var document: JSONValue {
        [
            "format": 1, "means": .string(means.rawValue), "inserted": .integer(inserted),
            "updated": .integer(updated), "deleted": .integer(deleted), "reason": JSONValue(reason),
            "seconds": .double(seconds),
        ]
    }

    package var lines: [String] {
        let counts = "\(inserted) new, \(updated) changed, \(deleted) deleted"
        let what = changes.all == 0 ? "Nothing has been written since." : "Rows copied: \(counts)."
        return [what] + (reason.map { ["Every row was compared: \($0)"] } ?? [])
    }
}
