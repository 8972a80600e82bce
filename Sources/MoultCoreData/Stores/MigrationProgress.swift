import MoultEngine

/// Where the migration of a store is while it is opened.
public struct MigrationProgress: Sendable, Hashable {
    /// `lock`, `backup`, `copy`, `change`, `verify`, `commit` or `done`.
    public let phase: String
    /// Of the whole migration, 0 to 1, never less than before.
    public let fractionCompleted: Double
    /// Rows done so far, and all rows.
    public let rows: Int64
    public let totalRows: Int64
    /// What has just been done, in one sentence; nil between two such moments.
    public let message: String?

    init(_ progress: MoultEngine.MigrationProgress) {
        phase = progress.phase.rawValue
        fractionCompleted = progress.fraction
        rows = progress.rows
        totalRows = progress.totalRows
        message = progress.message
    }
}
