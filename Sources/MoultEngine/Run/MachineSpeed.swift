import MoultBasics
import Synchronization

/// The progress of a run and its remaining time, from the expected and the actual times of its phases.
///
/// The current phase is judged by its own pace once a tenth of it is done. Later phases take their estimated time,
/// scaled by how much slower than estimated the run has been so far.
final class MachineSpeed: Sendable {
    private struct State {
        var phase = MigrationProgress.Phase.lock
        /// The time of the first report of the phase, and the part of it that was done then.
        var begun: UInt64
        var start: Double
        /// The highest fraction and the most rows reported; two threads may report.
        var highest: Double
        var rows: Int64 = 0
        /// The actual and the expected seconds of the phases without code.
        var taken = 0.0
        var expected = 0.0
    }

    private let estimate: Estimate
    private let system: any System
    private let state: Mutex<State>

    /// - Parameter start: the part that an earlier call has done.
    init(_ estimate: Estimate, from start: Double = 0, _ system: any System) {
        self.estimate = estimate
        self.system = system
        state = Mutex(State(begun: system.monotonicNanoseconds, start: start, highest: start))
    }

    var now: UInt64 { system.monotonicNanoseconds }

    /// The highest fraction reported, in this call or an earlier one.
    var reached: Double { state.withLock { $0.highest } }

    /// Returns the progress with a fraction and rows that never decrease, and the time left.
    func timing(_ progress: MigrationProgress) -> MigrationProgress {
        let now = now
        return state.withLock { state in
            var progress = progress
            progress.fraction = max(progress.fraction, state.highest)
            // Code may have written more rows than were expected.
            state.rows = max(progress.rows, state.rows)
            (progress.rows, progress.totalRows) = (state.rows, max(progress.totalRows, state.rows))
            if order(progress.phase) > order(state.phase) { enter(progress, at: now, &state) }
            state.highest = progress.fraction
            progress.estimatedTimeRemaining = remaining(progress, at: now, state)
            return progress
        }
    }

    /// Returns the seconds that a part of a phase is expected to take on this machine.
    func expectedSeconds(of part: Double, in phase: MigrationProgress.Phase, at now: UInt64) -> Double {
        state.withLock { state in
            part * estimate.seconds[phase, default: 0] * pace(measured(to: state.highest, at: now, state))
        }
    }

    /// Returns the estimated part done after a multiple of the expected time; it approaches 1 but never reaches it.
    static func approach(_ time: Double) -> Double {
        guard time.isFinite else { return 0 }
        return time < 0.8 ? time : 1 - 0.04 / (time - 0.6)
    }

    // MARK: - Parts

    private func order(_ phase: MigrationProgress.Phase) -> Int {
        MigrationProgress.Phase.allCases.firstIndex(of: phase) ?? 0
    }

    private func enter(_ progress: MigrationProgress, at now: UInt64, _ state: inout State) {
        (state.taken, state.expected) = measured(to: progress.fraction, at: now, state)
        (state.phase, state.begun, state.start) = (progress.phase, now, progress.fraction)
    }

    /// Returns the actual and the expected seconds so far, leaving out app code.
    private func measured(to fraction: Double, at now: UInt64, _ state: State) -> (taken: Double, expected: Double) {
        if state.phase == .change && estimate.hasCode { return (state.taken, state.expected) }
        return (
            state.taken + system.seconds(since: state.begun, to: now),
            state.expected + max(0, fraction - state.start) * estimate.total
        )
    }

    /// Returns the factor by which phases take longer here than expected, from the measurements and a small share of
    /// the estimate.
    private func pace(_ measured: (taken: Double, expected: Double)) -> Double {
        let known = estimate.total * 0.02
        return known > 0 ? (measured.taken + known) / (measured.expected + known) : 1
    }

    /// Returns the remaining seconds; nil before anything was measured.
    private func remaining(_ progress: MigrationProgress, at now: UInt64, _ state: State) -> Double? {
        guard progress.phase != .done else { return 0 }
        guard progress.phase != .lock, estimate.total > 0, progress.fraction > 0 else { return nil }
        let range = estimate.range(of: progress.phase)
        let tellsItself = progress.phase != .verify && progress.phase != .copy
        let pace = pace(
            tellsItself ? measured(to: progress.fraction, at: now, state) : (state.taken, state.expected))
        let later = max(0, 1 - max(range.upperBound, progress.fraction)) * estimate.total * pace
        let left = max(0, range.upperBound - progress.fraction)
        let expected = left * estimate.total * pace
        let (done, width) = (progress.fraction - state.start, range.upperBound - range.lowerBound)
        guard tellsItself, done > 0, width > 0 else { return later + expected }
        let measured = system.seconds(since: state.begun, to: now) / done * left
        let weight = min(1, done / width * 10)
        return later + weight * measured + (1 - weight) * expected
    }
}

/// Seconds by phase, in the order in which the phases began.
final class PhaseTimings {
    private(set) var all: [MigrationOutcome.Timing]
    private let system: any System

    /// - Parameter earlier: the timings of earlier calls, in a run with a budget.
    init(after earlier: [MigrationOutcome.Timing] = [], _ system: any System) {
        all = earlier
        self.system = system
    }

    func measure<Result>(_ phase: MigrationProgress.Phase, _ body: () throws -> Result) rethrows -> Result {
        let start = system.monotonicNanoseconds
        defer { add(phase, since: start) }
        return try body()
    }

    /// - Parameter start: the start time on the monotonic clock.
    func add(_ phase: MigrationProgress.Phase, since start: UInt64) {
        all.add(.init(phase: phase, seconds: system.seconds(since: start)))
    }
}

extension [MigrationOutcome.Timing] {
    /// Adds the seconds to those of the same phase, if there are any.
    mutating func add(_ timing: MigrationOutcome.Timing) {
        if let known = firstIndex(where: { $0.phase == timing.phase }) {
            self[known].seconds += timing.seconds
        } else {
            append(timing)
        }
    }
}
