import Moult
import MoultBasics
import MoultEngine
import Synchronization

/// The distribution of a run's time over its phases, and in the phase that changes rows over statements and steps. The
/// times come from the progress that the run reports to its observer.
package final class RunProfile: Sendable {
    /// A stretch of a run's time: a phase, or a statement or step of it.
    package struct Span: Sendable, Equatable {
        package var name: String
        /// The table that a statement changes; nil for a phase or a step.
        package var table: String?
        package var phase: MigrationProgress.Phase
        /// Whether the span is a whole phase.
        package var isPhase: Bool
        /// Nanoseconds since the run began.
        package var start: UInt64
        package var duration: UInt64
        package var rows: Int64
        package var bytes: Int64
    }

    private struct State {
        /// The span of each phase, from its first report to its last.
        var phases: [MigrationProgress.Phase: Span] = [:]
        var statements: [Span] = []
        /// The time of the last report, in nanoseconds since the run began.
        var last: UInt64 = 0
    }

    private let begun: UInt64
    private let state = Mutex(State())

    /// - Parameter begun: the start of the run, in nanoseconds of any clock.
    package init(begun: UInt64) { self.begun = begun }

    /// Records a progress report. Two threads may report on two phases at the same time.
    ///
    /// - Parameter now: the time of the report, on the same clock.
    package func note(_ progress: MigrationProgress, at now: UInt64) {
        let moment = now >= begun ? now - begun : 0
        state.withLock { state in
            state.last = max(state.last, moment)
            var phase =
                state.phases[progress.phase]
                ?? Span(
                    name: progress.phase.rawValue, phase: progress.phase, isPhase: true, start: moment, duration: 0,
                    rows: 0, bytes: 0)
            phase.duration = max(phase.duration, moment - min(moment, phase.start))
            phase.rows = max(phase.rows, progress.phase == .change ? progress.rows : 0)
            phase.bytes = max(phase.bytes, progress.bytes)
            state.phases[progress.phase] = phase
            guard let message = progress.message, progress.phase == .change, !progress.isBeside else { return }
            let before = state.statements.last
            let start = before.map { $0.start + $0.duration } ?? phase.start
            let rows = state.statements.reduce(0) { $0 + $1.rows }
            state.statements.append(
                Span(
                    name: message, table: progress.table, phase: .change, isPhase: false, start: start,
                    duration: moment - min(moment, start), rows: max(0, progress.rows - rows), bytes: 0))
        }
    }

    /// Records the end of the run, whether it succeeded or not.
    package func end(at now: UInt64) { state.withLock { $0.last = max($0.last, now >= begun ? now - begun : 0) } }

    /// The phases and their statements, by start. A phase lasts until the next one begins, or until its last report.
    package var spans: [Span] {
        let state = state.withLock { $0 }
        var phases = MigrationProgress.Phase.allCases.compactMap { state.phases[$0] }
        for place in phases.indices {
            let end = place + 1 < phases.count ? phases[place + 1].start : state.last
            phases[place].duration = max(phases[place].duration, end - min(end, phases[place].start))
        }
        return (phases.filter { $0.phase != .done } + state.statements)
            .sorted { ($0.start, $1.duration) < ($1.start, $0.duration) }
    }

    // MARK: - Output

    /// The profile in the trace format, which Speedscope, Perfetto and Chrome open
    /// (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).
    package var trace: JSONValue {
        let events = spans.map { span -> JSONValue in
            let table = span.table.map { [JSONValue.Member("table", .string($0))] } ?? []
            return [
                "name": .string(span.name), "cat": .string(span.isPhase ? "phase" : "statement"), "ph": "X",
                "ts": .double(Double(span.start) / 1_000), "dur": .double(Double(span.duration) / 1_000), "pid": 1,
                "tid": 1,
                "args": .object([.init("rows", .integer(span.rows)), .init("bytes", .integer(span.bytes))] + table),
            ]
        }
        return ["traceEvents": .array(events), "displayTimeUnit": "ms"]
    }

    /// Returns the slowest phases and statements, the tables if there are several, and advice on the slowest part.
    package func lines(style: TextStyle, count: Int = 6) -> [String] {
        let spans = spans
        let parts = spans.filter { !$0.isPhase || $0.phase != .change || !spans.contains { !$0.isPhase } }
        let slowest = parts.sorted { $0.duration > $1.duration }.prefix(count)
        let whole = Double(parts.reduce(0) { $0 + $1.duration })
        guard let first = slowest.first, whole > 0 else { return [] }
        var table = TextTable([.left("slowest"), .right("time"), .right("part"), .right("rows"), .right("rows/s")])
        for span in slowest {
            let seconds = Double(span.duration) / 1e9
            table.add(
                span.isPhase ? span.name : "change: \(span.name)", Quantity.duration(seconds),
                "\(Int((Double(span.duration) / whole * 100).rounded())) %", Quantity.count(span.rows),
                span.rows >= 1_000 && seconds > 0 ? Quantity.count(Int(Double(span.rows) / seconds)) : "")
        }
        return table.lines(style: style) + tables(style: style, count: count) + [first.advice.text()]
    }

    /// Returns the tables that statements change, slowest first; nothing if there is only one.
    private func tables(style: TextStyle, count: Int) -> [String] {
        let statements = spans.filter { $0.table != nil }
        let sums = Dictionary(grouping: statements) { $0.table ?? "" }.map { name, spans in
            (name: name, time: spans.reduce(0) { $0 + $1.duration }, rows: spans.reduce(0) { $0 + $1.rows })
        }.sorted { ($1.time, $0.name) < ($0.time, $1.name) }
        guard sums.count > 1 else { return [] }
        var table = TextTable([.left("table"), .right("time"), .right("statements"), .right("rows")])
        for sum in sums.prefix(count) {
            table.add(
                sum.name, Quantity.duration(Double(sum.time) / 1e9),
                Quantity.count(statements.count { $0.table == sum.name }), Quantity.count(sum.rows))
        }
        return table.lines(style: style)
    }
}

extension RunProfile.Span {
    /// Advice for making the span faster, if it is the slowest.
    fileprivate var advice: Remedy {
        switch phase {
        case .backup:
            "The backup takes longest. \(option: .frugal) keeps none; \(option: .into(nil)) leaves the old store as it is."
        case .copy: "The copy takes longest. A volume that clones files, such as Btrfs or XFS, makes it at once."
        case .change:
            "A statement takes longest. \(.plan, .sql) shows it; \(option: .deferred) can leave what writes no row."
        case .verify:
            "The verification takes longest. It is not optional; \(option: .budget(nil)) shares it among several calls."
        case .commit: "The commit takes longest. It writes every page once: a faster volume helps."
        case .lock, .done:
            "The start takes longest: the file is checked, and other processes that have it open are waited for."
        }
    }
}
