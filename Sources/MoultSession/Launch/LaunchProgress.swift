import MoultEngine
import Observation
import Synchronization

/// The progress of a launch, for a screen that shows it.
///
///     ProgressView(value: launch.progress.fraction) { Text(launch.progress.words) }
@MainActor
@Observable
public final class LaunchProgress {
    /// The phase of the migration; nil before one has begun.
    public private(set) var phase: MigrationProgress.Phase?
    /// The part of the migration that is done, 0 to 1.
    public private(set) var fraction = 0.0
    /// The estimated time left; nil before anything was measured.
    public private(set) var timeLeft: Duration?
    /// A sentence about what is being done, in English; empty before a migration has begun.
    public private(set) var words = ""

    @ObservationIgnored private nonisolated let latest = Mutex<MigrationProgress?>(nil)

    nonisolated init() {}

    /// Shows the latest report. Reports arrive faster than a screen is drawn, so one task shows all that arrive before
    /// it runs.
    nonisolated func note(_ report: MigrationProgress) {
        let isFirst = latest.withLock { latest in
            defer { latest = report }
            return latest == nil
        }
        guard isFirst else { return }
        Task { @MainActor in
            guard let report = latest.withLock({ $0.take() }) else { return }
            show(StoreLaunch.Progress(report.phase, report.fraction, timeLeft: report.timeLeft))
        }
    }

    /// Shows that everything is done.
    nonisolated func end() { Task { @MainActor in show(StoreLaunch.Progress(.done, 1, timeLeft: .zero)) } }

    private func show(_ progress: StoreLaunch.Progress) {
        (phase, fraction, timeLeft, words) = (progress.phase, progress.fraction, progress.timeLeft, progress.words)
    }
}
