import MoultEngine

/// The progress of a run.
public struct RunProgress: Sendable, Hashable {
    /// A phase of a run.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Waiting for the store, which no other process may have open.
        case lock
        /// Copying the store into a backup.
        case backup
        /// Making the working copy.
        case copy
        /// Running the statements and the app's own code.
        case change
        /// Comparing the new store with the old one.
        case verify
        /// Putting the new store in place.
        case commit
        /// Nothing more: the run has succeeded.
        case done
    }

    /// The phase that the run is in.
    public let phase: Phase
    /// The part of the whole run that is done, 0 to 1, never less than before.
    public let fraction: Double
    /// Rows done so far.
    public let rows: Int64
    /// All rows that the run is estimated to touch.
    public let totalRows: Int64
    /// Bytes copied so far, of backup and commit together.
    public let bytes: Int64
    /// The time that the run still takes, zero when it is done; nil before anything of it was measured.
    public let timeLeft: Duration?
    /// A sentence that says what has just been done; nil between two such moments.
    public let message: String?

    init(_ progress: MigrationProgress) {
        phase = Phase(rawValue: progress.phase.rawValue) ?? .change
        fraction = progress.fraction
        rows = progress.rows
        totalRows = progress.totalRows
        bytes = progress.bytes
        timeLeft = progress.estimatedTimeRemaining.map { .seconds($0) }
        message = progress.message
    }
}
