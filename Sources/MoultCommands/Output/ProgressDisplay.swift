import Moult
import MoultBasics
import MoultTools
import Synchronization

/// Shows the progress of a run on standard error: a bar on a terminal, an occasional line elsewhere, or one JSON object
/// for each report.
final class ProgressDisplay: Sendable {
    private struct State {
        var begun = ContinuousClock.now
        var firstRow: ContinuousClock.Instant?
        var lastShown: ContinuousClock.Instant?
        var isBarShown = false
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

    private func show(_ progress: MigrationProgress) {
        guard !console.tellsEvents else { return console.tell("progress", progress.members) }
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
                eraseBar(&state)
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
        console.sayRaw("\r\u{1B}[K" + line.bar(columns: console.errors.columns, style: console.errors.style))
        state.isBarShown = true
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
        state.withLock { eraseBar(&$0) }
        console.say("[Migration Debug] \(message)")
    }

    /// Restores the terminal.
    func end() { state.withLock { eraseBar(&$0) } }

    private func say(_ message: String) {
        console.say(isDebugging ? "[Migration Debug] \(message)" : console.errors.style.dim(message.printable))
    }

    private func eraseBar(_ state: inout State) {
        guard state.isBarShown else { return }
        console.sayRaw("\r\u{1B}[K")
        state.isBarShown = false
    }
}

extension MigrationProgress {
    /// The members of one report, for a program that reads them line by line.
    fileprivate var members: [JSONValue.Member] {
        [
            .init("phase", .string(phase.rawValue)), .init("fraction", .double(fraction)),
            .init("rows", .integer(rows)), .init("totalRows", .integer(totalRows)), .init("bytes", .integer(bytes)),
            .init("estimatedTimeRemaining", estimatedTimeRemaining.map(JSONValue.double) ?? .null),
            .init("message", JSONValue(message)),
        ]
    }
}

extension Option {
    static let events = flag("events", "Print progress as JSON on standard error, one object per line, for programs.")
}

extension Duration {
    var seconds: Double { self / .seconds(1) }
}
