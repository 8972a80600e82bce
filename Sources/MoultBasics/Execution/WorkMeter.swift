import Synchronization

/// A meter of long work, which counts rows, pages or bytes in whatever module does the work, and reports them.
///
/// The caller of the work sets ``current``. The loops below find it there, so the calls in between do not pass it on. Work
/// without a loop in Moult, such as one SQL statement, advances by SQLite's progress callbacks (``pulse(_:)``).
package final class WorkMeter: Sendable {
    /// The meter of the present work; nil if its progress is not reported.
    @TaskLocal package static var current: WorkMeter?

    /// The kind of the work.
    package enum Activity: Sendable, Hashable {
        /// Reading a store, to check it or to copy what it holds.
        case read
        /// Writing new rows.
        case write
    }

    /// The progress at one moment.
    package struct Report: Sendable, Hashable {
        package var activity: Activity
        /// The part of the work that is done, 0 to 1, never less than before.
        package var fraction: Double
        /// Rows done, and all rows that are expected; 0 if rows are not counted one by one.
        package var rows: Int64
        package var totalRows: Int64
        /// The seconds since the meter was made, and those that are left, if they can be estimated.
        package var elapsed: Double
        package var remaining: Double?
    }

    private struct State {
        var activity = Activity.read
        /// The part of the whole work that the present part covers.
        var range = 0.0...1.0
        /// The units of the present part: all that are expected, and those done.
        var total = 0.0
        var done = 0.0
        /// The rows that loops count, over all parts.
        var rows: Int64 = 0
        var totalRows: Int64 = 0
        /// The units of the piece that no loop counts, and the beats heard during it.
        var piece = 0.0
        var beats = 0.0
        /// The beats that a unit takes, learned from the pieces so far.
        var beatsOfUnit = 60.0
        var reached = 0.0
        var lastReport: UInt64 = 0
        var calls: UInt64 = 0
    }

    private let state = Mutex(State())
    private let begun: UInt64
    private let clock: @Sendable () -> UInt64
    private let onReport: @Sendable (Report) -> Void

    /// - Parameters:
    ///   - clock: returns nanoseconds that never decrease.
    ///   - onReport: receives a report at most twenty times a second, on the thread of the work.
    package init(
        clock: @escaping @Sendable () -> UInt64 = { POSIXSystem().monotonicNanoseconds },
        _ onReport: @escaping @Sendable (Report) -> Void
    ) {
        (self.clock, self.onReport, begun) = (clock, onReport, clock())
    }

    // MARK: - Parts of the work

    /// Runs a part of the work, which ends at the given part of the surrounding one, 0 to 1.
    package static func part<Result>(upTo end: Double, _ body: () throws -> Result) rethrows -> Result {
        guard let meter = current else { return try body() }
        let outer = meter.state.withLock { state in
            let outer = state
            let width = state.range.upperBound - state.range.lowerBound
            let last = state.range.lowerBound + width * min(max(end, 0), 1)
            let first = min(max(state.range.lowerBound, state.reached), last)
            (state.range, state.total, state.done) = (first...last, 0, 0)
            return outer
        }
        defer {
            meter.state.withLock { state in
                state.reached = max(state.reached, state.range.upperBound)
                (state.range, state.total, state.done) = (outer.range, outer.total, outer.done)
            }
        }
        return try body()
    }

    /// A piece of work with its relative size.
    package typealias Piece<Element> = (size: Int64, work: () throws -> [Element])

    /// Runs pieces of work one after another as one part that ends at `end`, and returns what they make.
    ///
    /// - Parameter beats: the pulses that a unit of size is expected to take, until the first piece shows it.
    package static func each<Element>(
        upTo end: Double = 1, beats: Double = 60, _ pieces: [Piece<Element>]
    ) throws -> [Element] {
        try part(upTo: end) {
            current?.expect(units: pieces.reduce(0) { $0 + Double(max($1.size, 1)) }, beats)
            return try pieces.flatMap { piece in
                guard let meter = current else { return try piece.work() }
                meter.begin(piece.size)
                defer { meter.end() }
                return try piece.work()
            }
        }
    }

    /// Announces rows that loops will count with ``advance(by:)``.
    package static func expect(rows: Int64, _ activity: Activity = .read) {
        current?.state.withLock { state in
            state.activity = activity
            state.total += Double(max(rows, 0))
            state.totalRows &+= max(rows, 0)
        }
    }

    /// Announces pieces other than rows, such as files, that a loop will count with ``advance(by:)``.
    package static func expect(pieces: Int) { current?.expect(units: Double(pieces), 60) }

    private func expect(units: Double, _ beats: Double) {
        state.withLock { state in
            state.total += units
            state.beatsOfUnit = beats
        }
    }

    private func begin(_ size: Int64) {
        state.withLock { ($0.piece, $0.beats) = (Double(max(size, 1)), 0) }
    }

    private func end() {
        state.withLock { state in
            if state.beats > 0 { state.beatsOfUnit = max(state.beats / state.piece, 1e-6) }
            state.done += state.piece
            (state.piece, state.beats) = (0, 0)
        }
        report(isDue: true)
    }

    // MARK: - Progress

    /// Counts rows that are done.
    package func advance(by rows: Int64 = 1) {
        let calls = state.withLock { state in
            state.done += Double(rows)
            if state.totalRows > 0 { state.rows = min(state.rows + rows, state.totalRows) }
            state.calls &+= 1
            return state.calls
        }
        // Asking for the time takes longer than counting.
        if calls < 64 || calls & 0x3F == 0 { report(isDue: false) }
    }

    /// Notes progress within a piece of work: instructions of SQLite, or bytes that were read.
    package func pulse(_ beats: Int) {
        state.withLock { $0.beats += Double(beats) }
        report(isDue: false)
    }

    /// Notes the progress of a run inside the present part.
    package func reach(_ fraction: Double, rows: Int64, of totalRows: Int64) {
        state.withLock { state in
            (state.activity, state.total, state.done) = (.write, 1, min(max(fraction, 0), 1))
            (state.rows, state.totalRows) = (rows, totalRows)
        }
        report(isDue: false)
    }

    private func report(isDue: Bool) {
        let now = clock()
        let report = state.withLock { state -> Report? in
            guard isDue || now &- state.lastReport >= 50_000_000 else { return nil }
            state.lastReport = now
            let inPiece = state.piece * min(state.beats / max(state.piece * state.beatsOfUnit, 1), 0.95)
            let share = state.total > 0 ? min((state.done + inPiece) / state.total, 1) : 0
            let width = state.range.upperBound - state.range.lowerBound
            state.reached = max(state.reached, state.range.lowerBound + width * share)
            // Nothing was announced yet.
            guard state.reached > 0 else { return nil }
            let elapsed = Double(now &- begun) / 1e9
            let remaining = state.reached >= 0.02 ? elapsed * (1 - state.reached) / state.reached : nil
            return Report(
                activity: state.activity, fraction: state.reached, rows: state.rows, totalRows: state.totalRows,
                elapsed: elapsed, remaining: remaining)
        }
        if let report { onReport(report) }
    }
}
