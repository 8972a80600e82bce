import MoultModel
import MoultStore
import MoultSystem

/// The time of one call, and the speed of the machine so far.
final class MigrationPace {
    /// Thrown if the next unit has to wait for the next call.
    struct Stop: Error {
        let next: MigrationUnit
    }

    let limit: DeferredLimit
    var checkpoint: MigrationCheckpoint
    private let system: any System
    private let started: UInt64
    /// The seconds by which recent small units have exceeded their estimates.
    private var surplus = 0.0
    /// Units that are done, and need not be done again.
    private(set) var gained = 0
    /// The unit that was begun last, and the seconds of the call that had passed by then.
    private(set) var unit: MigrationUnit?
    private(set) var begun = 0.0

    /// Seconds that the last checkpoint took to write.
    var lastSave = 0.0

    /// Whether an earlier call has left something to continue from.
    let isResumed: Bool

    init(
        _ budget: MigrationBudget, _ migration: Migration, run: String, startedAt: Timestamp, size: Int64,
        _ system: any System
    ) {
        (limit, started, self.system) = (budget.limit, budget.started, system)
        isResumed = budget.checkpoint != nil
        checkpoint =
            budget.checkpoint ?? MigrationCheckpoint(run: run, migration, startedAt: startedAt, size: size, system)
        guard case .seconds(let seconds) = budget.limit else {
            isLate = { false }
            return
        }
        let deadline = max(seconds / 2, seconds - checkpoint.endSeconds * 1.5 - 0.02)
        isLate = { [started = budget.started] in system.seconds(since: started) > deadline }
    }

    var elapsed: Double { system.seconds(since: started) }

    /// Seconds that are left for units.
    var left: Double {
        switch limit {
        case .all: .infinity
        case .one: gained == 0 ? .infinity : 0
        case .seconds(let budget): budget - elapsed - checkpoint.endSeconds * 2 - 0.03
        }
    }

    /// Whether several things may be done at the same time.
    var mayRunAhead: Bool { limit != .one }

    func seconds(of unit: MigrationUnit) -> Double { unit.seconds * checkpoint.slowness }

    /// The first unit of a call is always begun: a budget is never shorter than the longest of them.
    func hasTime(for seconds: Double) -> Bool { gained == 0 || left >= seconds * Self.margin + surplus }

    /// The factor by which a unit may exceed its expected time before its call ends late.
    static let margin = 1.3

    /// Does one unit, where there is time for it.
    ///
    /// - Parameter seconds: how long it takes, where that is known in another way than by its estimate.
    func perform<Result>(
        _ unit: MigrationUnit, expecting seconds: Double? = nil, _ body: () throws -> Result
    ) throws -> Result {
        guard hasTime(for: seconds ?? self.seconds(of: unit)) else { throw Stop(next: unit) }
        let start = system.monotonicNanoseconds
        note(unit, at: start)
        let result = try body()
        // One that is known better says nothing of the machine: it may be an app's code.
        if seconds == nil { learn(system.seconds(since: start), of: unit) }
        gained += 1
        return result
    }

    /// - Parameter start: on the clock that never goes back.
    func note(_ unit: MigrationUnit, at start: UInt64) {
        (self.unit, begun) = (unit, system.seconds(since: started, to: start))
    }

    /// Counts work done next to a unit as a unit of its own.
    func gain() { gained += 1 }

    /// - Parameter seconds: that a unit has taken.
    func learn(_ seconds: Double, of unit: MigrationUnit) {
        guard unit.seconds > 0.02 else {
            surplus = max(surplus * 0.9, seconds - unit.seconds)
            return
        }
        // A unit that took less than it might have says little of the next.
        let ratio = min(max(seconds / unit.seconds, 0.7), 10)
        checkpoint.slowness = (checkpoint.slowness + ratio) / 2
    }

    /// Whether the budget has run out, but for what the end of the call takes.
    let isLate: @Sendable () -> Bool
}

/// The amount of a migration that one call may do, and the checkpoint that it continues from.
struct MigrationBudget {
    let limit: DeferredLimit
    /// When the call began, on the clock that never goes back.
    let started: UInt64
    let checkpoint: MigrationCheckpoint?
}

extension MigrationObserver {
    /// Ends the run when its time is over.
    func ending(_ pace: MigrationPace?) -> MigrationObserver {
        guard let pace else { return self }
        var observer = self
        observer.isCancelled = { [isCancelled, isLate = pace.isLate] in isCancelled() || isLate() }
        return observer
    }
}
