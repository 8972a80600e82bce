import MoultBasics
import MoultSQLite
import MoultStore

/// The progress of a run: reported often, cheap to make, and never ahead of the work that is done.
public struct MigrationProgress: Sendable, Hashable {
    /// A phase of a run.
    public enum Phase: String, Sendable, Hashable, CaseIterable, Codable {
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
    public package(set) var phase: Phase
    /// The part of the whole run that is done, 0 to 1, never less than before.
    public package(set) var fraction: Double
    /// Rows done so far, estimated inside a statement.
    public package(set) var rows: Int64
    /// All rows that the run is estimated to touch.
    public package(set) var totalRows: Int64
    /// Bytes copied so far, of backup and commit together.
    public package(set) var bytes: Int64
    /// A sentence about the work just done; nil if there is nothing new to report.
    public package(set) var message: String?
    /// The table that the message is about; nil for none or several.
    package var table: String?
    /// Whether the message is about work done in parallel with the phase, such as verifying a backup while the script
    /// runs.
    package var isBeside = false
    /// The estimated seconds left, 0 when the run is done; nil before anything was measured.
    package var estimatedTimeRemaining: Double?

    /// The estimated time left, zero when the run is done; nil before anything was measured.
    public var timeLeft: Duration? { estimatedTimeRemaining.map { .seconds($0) } }
}

/// An observer of a run, which can also cancel it.
package struct MigrationObserver: Sendable {
    /// Called on the thread of the run, or on the thread of a parallel check.
    package var onProgress: @Sendable (MigrationProgress) -> Void
    /// Called often. When it returns true, the run ends with the error `cancelled` and leaves the store unchanged. Not
    /// called once the commit has started.
    package var isCancelled: @Sendable () -> Bool
    /// The total number of rows that the run reads or writes.
    var totalRows: Int64 = 0
    /// The part of the phase that reports cover, 0 to 1.
    private var span: ClosedRange<Double> = 0...1
    /// The share of each phase in the whole run.
    private var estimate = Estimate.milestones
    private var clock: MachineSpeed?

    package init(
        onProgress: @escaping @Sendable (MigrationProgress) -> Void = { _ in },
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.onProgress = onProgress
        self.isCancelled = isCancelled
    }

    package static let none = MigrationObserver()

    /// Returns an observer that expects the rows of a pass: those of its statements, and the objects that policies
    /// process. The objects that steps write are known only as they are written.
    func withTotalRows(of pass: Pass) -> MigrationObserver {
        var observer = self
        observer.totalRows = pass.script.rows + (pass.policies?.objects ?? 0)
        return observer
    }

    /// Returns an observer that reports fractions based on the estimated times, which never decrease, and the time
    /// left.
    ///
    /// - Parameter start: the part of the run that earlier calls did.
    package func timed(by estimate: Estimate, from start: Double = 0, _ system: any System) -> MigrationObserver {
        let clock = MachineSpeed(estimate, from: start, system)
        var observer = self
        (observer.estimate, observer.clock) = (estimate, clock)
        observer.onProgress = { [onProgress] in onProgress(clock.timing($0)) }
        return observer
    }

    /// The fraction, 0 to 1, that a timed run has reached.
    var reached: Double { clock?.reached ?? 0 }

    /// Returns an observer for one of several pieces of a pass's work.
    ///
    /// - Parameter weights: the relative time of each piece.
    func piece(_ number: Int, of weights: [Double], in pass: Pass) -> MigrationObserver {
        let all = weights.reduce(0, +)
        guard all > 0, weights.indices.contains(number) else { return self }
        let before = weights.prefix(number).reduce(0, +)
        var observer = self
        observer.span = pass.span
        return observer.spanning(min(before / all, 1)...min((before + weights[number]) / all, 1))
    }

    /// Returns an observer for a part of the current part of a phase, 0 to 1.
    func spanning(_ part: ClosedRange<Double>) -> MigrationObserver {
        var observer = self
        let width = span.upperBound - span.lowerBound
        let start = span.lowerBound + width * part.lowerBound
        observer.span = start...max(start, min(span.lowerBound + width * part.upperBound, 1))
        return observer
    }

    /// - Parameter part: the part of the phase that is done, 0 to 1.
    package func report(
        _ phase: MigrationProgress.Phase, _ part: Double, rows: Int64 = 0, bytes: Int64 = 0, _ message: String? = nil,
        table: String? = nil, isBeside: Bool = false
    ) {
        let range = estimate.range(of: phase)
        let part = min(max(part, 0), 1)
        let share = span.lowerBound + (span.upperBound - span.lowerBound) * part
        let fraction = range.lowerBound + (range.upperBound - range.lowerBound) * share
        onProgress(
            MigrationProgress(
                phase: phase, fraction: fraction, rows: rows, totalRows: max(totalRows, rows), bytes: bytes,
                message: message, table: table, isBeside: isBeside))
    }

    /// Runs work that reports no progress of its own, such as a statement or a verification. The part that is done is
    /// estimated, and cancelling interrupts the statement that runs on the connection.
    ///
    /// - Parameters:
    ///   - phase: the phase of the work; nil if it is not a phase of its own.
    ///   - steps: the instructions of SQLite that the work is expected to take; nil to estimate by the time.
    ///   - isInterrupted: whether cancelling interrupts a statement.
    ///   - rows: returns the number of rows done at a part of the work, 0 to 1; nil if all are done.
    func watching<Result>(
        _ connection: Connection, as phase: MigrationProgress.Phase? = nil, steps: Double? = nil,
        isInterrupted: Bool = true, rows: ((_ part: Double) -> Int64)? = nil, during body: () throws -> Result
    ) rethrows -> Result {
        var (last, taken) = (clock?.now ?? 0, 0.0)
        let (begun, width) = (last, span.upperBound - span.lowerBound)
        let expected = phase.flatMap { clock?.expectedSeconds(of: width, in: $0, at: begun) } ?? 0
        return try connection.watched(
            by: {
                // SQLite adds up a statement's steps when it pauses; a statement of a script never pauses.
                taken += Double(Connection.instructionsPerPulse)
                if let phase, let clock, clock.now &- last > 50_000_000 {
                    last = clock.now
                    let part =
                        steps.map { min(taken / $0, 0.99) }
                        ?? MachineSpeed.approach(Double(last &- begun) / 1e9 / expected)
                    report(phase, part, rows: rows?(part) ?? totalRows)
                }
                return !isInterrupted || !isCancelled()
            }, during: body)
    }
}
