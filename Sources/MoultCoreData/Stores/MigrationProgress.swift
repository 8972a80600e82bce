import MoultEngine

/// The progress of the migration of a store.
public struct MigrationProgress: Sendable, Hashable {
    /// `lock`, `backup`, `copy`, `change`, `verify`, `commit` or `done`.
    public let phase: String
    /// Of the whole migration, 0 to 1, never less than before.
    public let fractionCompleted: Double
    /// Rows done so far, and all rows.
    public let rows: Int64
    /// All rows that the migration is estimated to touch.
    public let totalRows: Int64
    /// Bytes copied so far, of backup and commit together.
    public let bytes: Int64
    /// Seconds that the migration still takes, 0 when it is done; nil before anything of it was measured.
    public let estimatedTimeRemaining: Double?
    /// A sentence that says what has just been done; nil between two such moments.
    public let message: String?

    init(_ progress: MoultEngine.MigrationProgress) {
        phase = progress.phase.rawValue
        fractionCompleted = progress.fraction
        rows = progress.rows
        totalRows = progress.totalRows
        bytes = progress.bytes
        estimatedTimeRemaining = progress.estimatedTimeRemaining
        message = progress.message
    }
}

extension MigrationObserver {
    init(
        telling onProgress: @escaping @Sendable (MigrationProgress) -> Void, isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.init(onProgress: { onProgress(MigrationProgress($0)) }, isCancelled: isCancelled)
    }
}
