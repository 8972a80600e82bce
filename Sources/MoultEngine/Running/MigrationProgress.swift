import MoultStore
import Synchronization

/// Where a run is: told often, cheap to make, and never ahead of what has happened (B-34).
package struct MigrationProgress: Sendable, Equatable {
    package enum Phase: String, Sendable, CaseIterable {
        case lock, backup, copy, change, verify, commit, done

        /// The part of the whole that the phase takes, after W-20: backup made at 0.1, change from 0.2 to 0.9.
        var range: ClosedRange<Double> {
            switch self {
            case .lock: 0...0
            case .backup: 0...0.1
            case .copy: 0.1...0.2
            case .change: 0.2...0.8
            case .verify: 0.8...0.9
            case .commit: 0.9...1
            case .done: 1...1
            }
        }
    }

    package var phase: Phase
    /// Of the whole run, 0 to 1, never less than before.
    package var fraction: Double
    /// Rows done so far, estimated inside a statement, and all rows.
    package var rows: Int64
    package var totalRows: Int64
    /// Bytes copied so far, of backup and commit together.
    package var bytes: Int64
    /// What has just been done, in one sentence; nil between two such moments.
    package var message: String?
}

/// Who watches a run, and may end it.
package struct MigrationObserver: Sendable {
    /// Called on the thread of the run, or on that of a check beside it.
    package var onProgress: @Sendable (MigrationProgress) -> Void
    /// Asked often; a run that is told true ends with the error `cancelled` and the store as it was. From the first
    /// page of the commit on it is not asked any more.
    package var isCancelled: @Sendable () -> Bool
    /// The rows that the run reads or writes in all.
    var totalRows: Int64 = 0
    /// The part of the phase `change` that reports of it are about, 0 to 1.
    private var span: ClosedRange<Double> = 0...1

    package init(
        onProgress: @escaping @Sendable (MigrationProgress) -> Void = { _ in },
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.onProgress = onProgress
        self.isCancelled = isCancelled
    }

    package static let none = MigrationObserver()

    func withTotalRows(of script: StoreScript) -> MigrationObserver {
        var observer = self
        observer.totalRows = script.statements.reduce(0) { $0 + $1.rows }
        return observer
    }

    /// Tells no part of the whole that is less than one told before.
    func neverGoingBack() -> MigrationObserver {
        let highest = HighestFraction()
        var observer = self
        observer.onProgress = { [onProgress] progress in
            var progress = progress
            progress.fraction = highest.reach(progress.fraction)
            onProgress(progress)
        }
        return observer
    }

    /// For what does one of several equal pieces of a pass's work.
    func piece(_ number: Int, of count: Int, in pass: Migration) -> MigrationObserver {
        var observer = self
        let width = (pass.span.upperBound - pass.span.lowerBound) / Double(max(count, 1))
        let start = min(pass.span.lowerBound + width * Double(number), 1)
        observer.span = start...min(start + width, 1)
        return observer
    }

    /// For what does a part of this part of the phase `change`, 0 to 1.
    func spanning(_ part: ClosedRange<Double>) -> MigrationObserver {
        var observer = self
        let width = span.upperBound - span.lowerBound
        let start = span.lowerBound + width * part.lowerBound
        observer.span = start...max(start, min(span.lowerBound + width * part.upperBound, 1))
        return observer
    }

    /// - Parameter part: of the phase, 0 to 1.
    func report(
        _ phase: MigrationProgress.Phase, _ part: Double, rows: Int64 = 0, bytes: Int64 = 0, _ message: String? = nil
    ) {
        let range = phase.range
        let part = min(max(part, 0), 1)
        let share = phase == .change ? span.lowerBound + (span.upperBound - span.lowerBound) * part : part
        let fraction = range.lowerBound + (range.upperBound - range.lowerBound) * share
        onProgress(
            MigrationProgress(
                phase: phase, fraction: fraction, rows: rows, totalRows: totalRows, bytes: bytes, message: message))
    }
}

/// The most that was told of a run, which two threads may tell.
private final class HighestFraction: Sendable {
    private let value = Mutex(0.0)

    func reach(_ fraction: Double) -> Double {
        value.withLock { value in
            value = max(value, fraction)
            return value
        }
    }
}
