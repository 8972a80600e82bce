import MoultSystem

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
        defer { all.add(.init(phase: phase, seconds: system.seconds(since: start))) }
        return try body()
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
