import Moult
import MoultBasics
import MoultTools
import Synchronization

/// Shows the progress of a run, or of other long work, on standard error: a bar on a terminal, an occasional line elsewhere, or one JSON object
/// for each report.
final class ProgressDisplay: Sendable {
    private struct State {
        var begun = ContinuousClock.now
        var firstRow: ContinuousClock.Instant?
        var lastShown: ContinuousClock.Instant?
        /// The last reported progress.
        var previous: MigrationProgress?
    }

    private let console: Console
    private let isDebugging: Bool
    private let state = Mutex(State())

    /// - Parameter isDebugging: whether to print the messages that Core Data prints under its migration debug flag.
    init(_ console: Console, isDebugging: Bool = Environment.isDebuggingMigration) {
        self.console = console
        self.isDebugging = isDebugging && !console.tellsEvents
    }

    /// An observer that shows progress and cancels the run on an interrupt.
    var observer: MigrationObserver {
        MigrationObserver(onProgress: { self.show($0) }, isCancelled: Interruption.heard)
    }

    /// Runs `body` with an observer that shows progress, then restores the terminal.
    static func during<Result>(_ console: Console, _ body: (MigrationObserver) throws -> Result) rethrows -> Result {
        let progress = ProgressDisplay(console)
        defer { progress.end() }
        return try body(progress.observer)
    }

    /// Runs a verb, and shows the progress of long work that is no run, such as a check or an export: after a second, a
    /// bar on a terminal, or an event for a program.
    static func metering<Result: Sendable>(
        _ console: Console, _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard console.errors.isTerminal || console.tellsEvents else { return try await body() }
        let meter = WorkMeter { console.show($0) }
        defer { console.eraseBar() }
        return try await WorkMeter.$current.withValue(meter, operation: body)
    }

    private func show(_ progress: MigrationProgress) {
        console.beginRun()
        guard !console.tellsEvents else {
            return console.tellProgress(
                progress.phase.rawValue, fraction: progress.fraction, rows: progress.rows,
                totalRows: progress.totalRows, bytes: progress.bytes, remaining: progress.estimatedTimeRemaining,
                message: progress.message)
        }
        state.withLock { state in
            let now = ContinuousClock.now
            if progress.rows > 0, state.firstRow == nil { state.firstRow = now }
            // Without a bar, print a line at the end of each phase.
            if let previous = state.previous, previous.phase != progress.phase, !console.errors.isTerminal {
                draw(previous, now, &state)
            }
            state.previous = progress
            // Print a line for each statement only in debug mode; the bar is enough otherwise.
            if let message = progress.message, isDebugging || progress.phase != .change {
                say(message)
            }
            if progress.phase != .done, isDue(now, state) { draw(progress, now, &state) }
        }
    }

    private func draw(_ progress: MigrationProgress, _ now: ContinuousClock.Instant, _ state: inout State) {
        guard progress.phase != .lock else { return }
        state.lastShown = now
        let line = line(progress, now, state)
        guard console.errors.isTerminal else { return console.say(line.text) }
        console.showBar(line)
    }

    /// Whether to draw: ten times a second on a terminal; elsewhere every second at first, then less often.
    private func isDue(_ now: ContinuousClock.Instant, _ state: State) -> Bool {
        let last = state.lastShown ?? state.begun
        if console.errors.isTerminal { return last.duration(to: now) >= .milliseconds(100) }
        return last.duration(to: now) >= max(.seconds(1), state.begun.duration(to: now) / 10)
    }

    private func line(_ progress: MigrationProgress, _ now: ContinuousClock.Instant, _ state: State) -> ProgressLine {
        // Only the change itself counts rows.
        let rows = progress.phase == .change ? progress.rows : 0
        return ProgressLine(
            phase: progress.phase.rawValue, fraction: progress.fraction, rows: Int(clamping: rows),
            totalRows: Int(clamping: progress.totalRows), bytes: Int(clamping: progress.bytes),
            elapsed: state.begun.duration(to: now).seconds,
            elapsedOnRows: state.firstRow.map { $0.duration(to: now).seconds } ?? 0,
            remaining: progress.estimatedTimeRemaining)
    }

    /// Prints a message in Core Data's own words, in debug mode only.
    func debug(_ message: String) {
        guard isDebugging else { return }
        console.say(MigrationDebug.line(message))
    }

    /// Restores the terminal.
    func end() { console.eraseBar() }

    private func say(_ message: String) {
        console.say(isDebugging ? MigrationDebug.line(message) : console.errors.style.dim(message.printable))
    }
}

extension Console {
    /// Shows a report of work that is no run. A run that has begun shows its own progress.
    fileprivate func show(_ report: WorkMeter.Report) {
        guard report.elapsed >= 1, !hasRun else { return }
        let word = report.activity == .read ? "read" : "write"
        guard !tellsEvents else {
            return tellProgress(
                word, fraction: report.fraction, rows: report.rows, totalRows: report.totalRows,
                remaining: report.remaining)
        }
        showBar(
            ProgressLine(
                phase: word, fraction: report.fraction, rows: Int(clamping: report.rows),
                totalRows: Int(clamping: report.totalRows), elapsed: report.elapsed, elapsedOnRows: report.elapsed,
                remaining: report.remaining))
    }

    /// Prints one report for a program that reads them line by line.
    fileprivate func tellProgress(
        _ phase: String, fraction: Double, rows: Int64, totalRows: Int64, bytes: Int64 = 0, remaining: Double?,
        message: String? = nil
    ) {
        tell(
            "progress",
            [
                .init("phase", .string(phase)), .init("fraction", .double(fraction)), .init("rows", .integer(rows)),
                .init("totalRows", .integer(totalRows)), .init("bytes", .integer(bytes)),
                .init("estimatedTimeRemaining", remaining.map(JSONValue.double) ?? .null),
                .init("message", JSONValue(message)),
            ])
    }
}

extension Option {
    static let events = flag("events", "Print progress as JSON on standard error, one object per line, for programs.")
}

extension Duration {
    var seconds: Double { self / .seconds(1) }
}
