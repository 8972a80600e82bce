import MoultBasics
import MoultSQLite
import MoultStore
import Synchronization

/// The progress of a run: told often, cheap to make, and never ahead of what has happened.
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
    /// A sentence that says what has just been done; nil between two such moments.
    public package(set) var message: String?
    /// The table that the message is about; nil for none or several.
    package var table: String?
    /// Whether the message is about work beside that of the phase: a backup is verified while the script runs.
    package var isBeside = false
    /// Seconds that the run still takes, 0 when it is done; nil before anything of it was measured.
    package var estimatedTimeRemaining: Double?

    /// The time that the run still takes, zero when it is done; nil before anything of it was measured.
    public var timeLeft: Duration? { estimatedTimeRemaining.map { .seconds($0) } }
}

/// An observer of a run, which may also end it.
package struct MigrationObserver: Sendable {
    /// Called on the thread of the run, or on that of a check next to it.
    package var onProgress: @Sendable (MigrationProgress) -> Void
    /// Asked often; a run that is told true ends with the error `cancelled` and the store as it was. From the first
    /// page of the commit on it is not asked any more.
    package var isCancelled: @Sendable () -> Bool
    /// The rows that the run reads or writes in all.
    var totalRows: Int64 = 0
    /// The part of the phase that reports are about, 0 to 1.
    private var span: ClosedRange<Double> = 0...1
    /// The shares of the phases in the whole.
    private var estimate = RunEstimate.milestones
    private var clock: RunClock?

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
        observer.totalRows = script.rows
        return observer
    }

    /// Tells fractions that follow the time that was expected and never go back, and the time left.
    ///
    /// - Parameter start: the part of the run that was done before.
    func timed(by estimate: RunEstimate, from start: Double = 0, _ system: any System) -> MigrationObserver {
        let clock = RunClock(estimate, from: start, system)
        var observer = self
        (observer.estimate, observer.clock) = (estimate, clock)
        observer.onProgress = { [onProgress] in onProgress(clock.timing($0)) }
        return observer
    }

    /// The fraction, 0 to 1, that a timed run has reported.
    var reached: Double { clock?.reached ?? 0 }

    /// For what does one of several pieces of a pass's work.
    ///
    /// - Parameter weights: how long each piece takes next to the others.
    func piece(_ number: Int, of weights: [Double], in pass: Migration) -> MigrationObserver {
        let all = weights.reduce(0, +)
        guard all > 0, weights.indices.contains(number) else { return self }
        let before = weights.prefix(number).reduce(0, +)
        var observer = self
        observer.span = pass.span
        return observer.spanning(min(before / all, 1)...min((before + weights[number]) / all, 1))
    }

    /// For what does a part of this part of a phase, 0 to 1.
    func spanning(_ part: ClosedRange<Double>) -> MigrationObserver {
        var observer = self
        let width = span.upperBound - span.lowerBound
        let start = span.lowerBound + width * part.lowerBound
        observer.span = start...max(start, min(span.lowerBound + width * part.upperBound, 1))
        return observer
    }

    /// Returns the seconds that a part of the phase `change` is expected to take here; 0 where nothing is known.
    func expectedSeconds(of part: Double, at now: UInt64) -> Double {
        clock?.expectedSeconds(of: part * (span.upperBound - span.lowerBound), in: .change, at: now) ?? 0
    }

    /// - Parameter part: of the phase, 0 to 1.
    func report(
        _ phase: MigrationProgress.Phase, _ part: Double, rows: Int64 = 0, bytes: Int64 = 0, _ message: String? = nil,
        table: String? = nil, isBeside: Bool = false
    ) {
        let range = estimate.range(of: phase)
        let part = min(max(part, 0), 1)
        let share = span.lowerBound + (span.upperBound - span.lowerBound) * part
        let fraction = range.lowerBound + (range.upperBound - range.lowerBound) * share
        onProgress(
            MigrationProgress(
                phase: phase, fraction: fraction, rows: rows, totalRows: totalRows, bytes: bytes, message: message,
                table: table, isBeside: isBeside))
    }

    /// Runs what tells nothing of itself, such as a verification: how far it is follows from the time, and cancelling
    /// ends the statement that runs on the connection.
    ///
    /// - Parameter phase: nil if it is no phase of its own.
    func watching<Result>(
        _ connection: Connection, as phase: MigrationProgress.Phase?, _ body: () throws -> Result
    ) rethrows -> Result {
        if let phase { report(phase, 0, rows: totalRows) }
        var last = clock?.now ?? 0
        connection.onProgress(every: 20_000) {
            if let phase, let clock, clock.now &- last > 50_000_000 {
                last = clock.now
                report(phase, clock.expectedPart(of: phase), rows: totalRows)
            }
            return !isCancelled()
        }
        defer { connection.onProgress(nil) }
        return try body()
    }
}

/// The progress of a run and its remaining time, from the expected and the actual times of its phases.
///
/// The phase under way is judged by its own pace as soon as a tenth of it is done; those that are still to come by what
/// was expected of them, times how much longer than expected the run has taken so far.
final class RunClock: Sendable {
    private struct State {
        var phase = MigrationProgress.Phase.lock
        /// When the phase was told of first, and which part of it was done by then.
        var begun: UInt64
        var start: Double
        /// The most that was told; two threads may tell.
        var highest: Double
        /// Seconds that phases without code have taken, and those that were expected of them.
        var taken = 0.0
        var expected = 0.0
    }

    private let estimate: RunEstimate
    private let system: any System
    private let state: Mutex<State>

    /// - Parameter start: the part that an earlier call has done.
    init(_ estimate: RunEstimate, from start: Double = 0, _ system: any System) {
        self.estimate = estimate
        self.system = system
        state = Mutex(State(begun: system.monotonicNanoseconds, start: start, highest: start))
    }

    var now: UInt64 { system.monotonicNanoseconds }

    /// The highest fraction that was told, in this call or one before.
    var reached: Double { state.withLock { $0.highest } }

    /// The progress with a fraction that is never less than one told before, and the time left.
    func timing(_ progress: MigrationProgress) -> MigrationProgress {
        let now = now
        return state.withLock { state in
            var progress = progress
            progress.fraction = max(progress.fraction, state.highest)
            if order(progress.phase) > order(state.phase) { enter(progress, at: now, &state) }
            state.highest = progress.fraction
            progress.estimatedTimeRemaining = remaining(progress, at: now, state)
            return progress
        }
    }

    /// The part of a phase that is done by now if it takes as long as was expected, for one that tells nothing of
    /// itself.
    func expectedPart(of phase: MigrationProgress.Phase) -> Double {
        let now = now
        return state.withLock { state in
            guard state.phase == phase else { return 0 }
            let whole = estimate.seconds[phase, default: 0] * pace((state.taken, state.expected))
            return Self.approach(system.seconds(since: state.begun, to: now) / whole)
        }
    }

    /// Returns the seconds that a part of a phase is expected to take on this machine.
    func expectedSeconds(of part: Double, in phase: MigrationProgress.Phase, at now: UInt64) -> Double {
        state.withLock { state in
            part * estimate.seconds[phase, default: 0] * pace(measured(to: state.highest, at: now, state))
        }
    }

    /// The part of something that is done after so much of the time that it was expected to take: it comes ever closer
    /// to 1.
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

    /// Seconds that were taken so far, and those that were expected; an app's code is left out.
    private func measured(to fraction: Double, at now: UInt64, _ state: State) -> (taken: Double, expected: Double) {
        if state.phase == .change && estimate.hasCode { return (state.taken, state.expected) }
        return (
            state.taken + system.seconds(since: state.begun, to: now),
            state.expected + max(0, fraction - state.start) * estimate.total
        )
    }

    /// Returns the factor by which phases take longer here than expected: from what was measured, and a little of all
    /// as expected.
    private func pace(_ measured: (taken: Double, expected: Double)) -> Double {
        let known = estimate.total * 0.02
        return known > 0 ? (measured.taken + known) / (measured.expected + known) : 1
    }

    /// Nil before anything was measured.
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

    /// - Parameter earlier: of the calls before, in a run with a budget.
    init(after earlier: [MigrationOutcome.Timing] = [], _ system: any System) {
        all = earlier
        self.system = system
    }

    func measure<Result>(_ phase: MigrationProgress.Phase, _ body: () throws -> Result) rethrows -> Result {
        let start = system.monotonicNanoseconds
        defer { add(phase, since: start) }
        return try body()
    }

    /// - Parameter start: on the clock that never goes back.
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
