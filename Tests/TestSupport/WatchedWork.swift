import MoultBasics
import Synchronization

/// The progress that work reports while it runs, on a clock that advances whenever it is read.
package final class WatchedWork: Sendable {
    private let list = Mutex<[WorkMeter.Report]>([])
    private let time = Mutex<UInt64>(0)

    /// The reports in order.
    package var reports: [WorkMeter.Report] { list.withLock { $0 } }

    /// Runs the work.
    package init(_ work: () throws -> Void) rethrows {
        let meter = WorkMeter(
            clock: {
                self.time.withLock { time in
                    time += 60_000_000
                    return time
                }
            },
            { report in self.list.withLock { $0.append(report) } })
        try WorkMeter.$current.withValue(meter) { try work() }
    }

    /// What is wrong with the reports of long work, in words; nil if they go from the beginning to the end.
    package var fault: String? {
        let fractions = reports.map(\.fraction)
        if fractions != fractions.sorted() { return "They go back: \(fractions)" }
        if !fractions.allSatisfy((0...1).contains) { return "They leave the range: \(fractions)" }
        if Set(fractions).count < 4 { return "They do not move: \(fractions)" }
        if fractions.last.map({ $0 < 0.75 }) ?? true { return "They end early: \(fractions)" }
        return reports.first { $0.rows > $0.totalRows }.map { "More rows than all: \($0)" }
    }
}
