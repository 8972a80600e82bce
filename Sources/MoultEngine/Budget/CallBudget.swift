import MoultBasics
import MoultModel
import MoultStore

/// The time of one call, and the speed of the machine so far.
final class CallBudget {
    /// Thrown if the next unit has to wait for the next call.
    struct Stop: Error {
        let next: MigrationUnit
    }

    let clock: CallClock
    var checkpoint: MigrationCheckpoint
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
        _ budget: CallStart, _ migration: Pass, run: String, startedAt: Timestamp, size: Int64,
        _ system: any System
    ) {
        clock = budget.clock
        isResumed = budget.checkpoint != nil
        checkpoint =
            budget.checkpoint ?? MigrationCheckpoint(run: run, migration, startedAt: startedAt, size: size, system)
        guard case .seconds(let seconds) = clock.limit else {
            isLate = { false }
            return
        }
        let deadline = CostModel.deadline(seconds, end: checkpoint.endSeconds)
        isLate = { [clock] in clock.elapsed > deadline }
    }

    /// Seconds that are left for units.
    var left: Double {
        switch clock.limit {
        case .all: .infinity
        case .one: gained == 0 ? .infinity : 0
        case .seconds(let budget): budget - clock.elapsed - checkpoint.endSeconds * 2 - CostModel.end
        }
    }

    /// Whether several things may be done at the same time.
    var mayRunAhead: Bool { clock.limit != .one }

    func seconds(of unit: MigrationUnit) -> Double { unit.seconds * checkpoint.slowness }

    /// The first unit of a call is always begun: a budget is never shorter than the longest of them.
    func hasTime(for seconds: Double) -> Bool { gained == 0 || left >= seconds * CostModel.margin + surplus }

    /// Does one unit, where there is time for it.
    ///
    /// - Parameter seconds: how long it takes, where that is known in another way than by its estimate.
    func perform<Result>(
        _ unit: MigrationUnit, expecting seconds: Double? = nil, _ body: () throws -> Result
    ) throws -> Result {
        guard hasTime(for: seconds ?? self.seconds(of: unit)) else { throw Stop(next: unit) }
        let start = clock.elapsed
        note(unit, at: start)
        let result = try body()
        // One that is known better says nothing of the machine: it may be an app's code.
        if seconds == nil { learn(clock.elapsed - start, of: unit) }
        gained += 1
        return result
    }

    /// - Parameter start: the seconds of the call that have passed.
    func note(_ unit: MigrationUnit, at start: Double) { (self.unit, begun) = (unit, start) }

    /// Counts work done next to a unit as a unit of its own.
    func noteProgress() { gained += 1 }

    /// - Parameter seconds: that a unit has taken.
    func learn(_ seconds: Double, of unit: MigrationUnit) {
        guard unit.seconds > CostModel.smallUnit else {
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
struct CallStart {
    let clock: CallClock
    let checkpoint: MigrationCheckpoint?
}

/// The time of one call, next to its limit: of a migration with a budget, and of deferred work.
struct CallClock: Sendable {
    let limit: CallLimit
    /// When the call began, on the clock that never goes back.
    let started: UInt64
    let system: any System

    /// The seconds of the call that have passed.
    var elapsed: Double { system.seconds(since: started) }

    /// Whether the call has taken longer than its budget.
    var isOver: Bool { if case .seconds(let budget) = limit { elapsed > budget } else { false } }
}

extension MigrationObserver {
    /// Ends the run when its time is over.
    func ending(_ pace: CallBudget?) -> MigrationObserver {
        guard let pace else { return self }
        var observer = self
        observer.isCancelled = { [isCancelled, isLate = pace.isLate] in isCancelled() || isLate() }
        return observer
    }
}

/// A piece of a migration that is done completely or not at all, with its estimated time.
package struct MigrationUnit: Sendable, Hashable {
    package var sentence: String
    /// By ``CostModel``.
    package var seconds: Double

    package init(sentence: String, seconds: Double) { (self.sentence, self.seconds) = (sentence, seconds) }
}

/// The units of a migration that is done in several calls.
package struct MigrationUnits: Sendable {
    /// Bytes of the store.
    let size: Int64
    /// Its objects.
    let rows: Int64
    let script: StoreScript
    /// The reason why the work between the backup and the commit cannot be done in pieces; nil if it can.
    package let reasonForOne: String?
    /// Whether what the commit has put into the log is written back by itself.
    private let usesWAL: Bool
    private let instances: Int64
    /// The longest piece of the verification; nil if it has none.
    private let question: MigrationUnit?

    package init(_ migration: Pass, size: Int64, usesWAL: Bool) {
        (self.size, self.usesWAL) = (size, usesWAL)
        script = migration.script
        rows = (migration.rowFacts?.rowCounts.values.reduce(0) { $0 &+ $1 }) ?? 0
        instances = migration.policies == nil && migration.steps.isEmpty && migration.next == nil ? 0 : rows
        reasonForOne = migration.reasonForOneUnit
        question = migration.verification.longest
    }

    // MARK: - Units

    /// The reading of the rows that the plan was made from; done before the call has a run.
    private var look: MigrationUnit {
        MigrationUnit(sentence: "Read the rows.", seconds: CostModel.files + Double(rows) * CostModel.look)
    }
    var backup: MigrationUnit { unit("Back up the store.", CostModel.backup) }
    var soundness: MigrationUnit { unit("Check the pages of the backup.", CostModel.soundness) }
    var digest: MigrationUnit { unit("Compute the digest of the backup.", CostModel.digest) }
    var copy: MigrationUnit { unit("Create the working copy.", CostModel.copy) }
    var pages: MigrationUnit { unit("Check the pages of the new store.", CostModel.soundness) }
    var commit: MigrationUnit {
        unit(
            "Commit the new store, in one transaction.",
            usesWAL ? CostModel.commit - CostModel.writeBack : CostModel.commit)
    }
    var writeBack: MigrationUnit { unit("Write the log back.", CostModel.writeBack) }
    /// All of it, for what cannot be verified in pieces.
    var verification: MigrationUnit { unit("Verify the new store.", CostModel.verify) }

    /// Returns a unit that goes through all of the store.
    private func unit(_ sentence: String, _ secondsPerByte: Double) -> MigrationUnit {
        MigrationUnit(sentence: sentence, seconds: CostModel.files + Double(size) * secondsPerByte)
    }

    /// Everything but the backup.
    var whole: MigrationUnit {
        guard !script.isInPlace else {
            return MigrationUnit(sentence: "Change the store in place.", seconds: CostModel.inPlace)
        }
        let statements = unit(of: script.statements[...]).seconds
        let others = copy.seconds + verification.seconds + commit.seconds + Double(instances) * CostModel.object
        return MigrationUnit(
            sentence: "Change, verify and commit the copy, in one unit: \(reasonForOne ?? "it cannot be divided").",
            seconds: statements + others)
    }

    /// Whole statements.
    func unit(of statements: ArraySlice<StoreScript.Statement>) -> MigrationUnit {
        MigrationUnit(
            sentence: statements.first?.sentence ?? "", seconds: statements.reduce(0) { $0 + seconds(of: $1) })
    }

    /// Whether a statement touches no row, or a few of the store's own tables.
    func isOfTheCatalogue(_ statement: StoreScript.Statement) -> Bool { seconds(of: statement) <= CostModel.statement }

    private func seconds(of statement: StoreScript.Statement) -> Double {
        // Pairs of keys are in no count of objects.
        let touched = statement.rows.bound ?? max(rows, size / CostModel.bytesOfPair)
        return CostModel.statement + statement.seconds(touched, of: Double(size) / Double(max(rows, 1)))
    }

    // MARK: - The longest

    /// The unit that a budget has to have room for, with what every call does before it.
    package var longest: MigrationUnit {
        var unit = longestUnit
        unit.seconds = unit.seconds * CostModel.spare + CostModel.call
        return unit
    }

    private var longestUnit: MigrationUnit {
        guard !script.isInPlace else { return whole }
        let statements = script.statements.filter { $0.keys == nil }.map { unit(of: [$0]) }
        let units =
            [look, backup, soundness, digest]
            + (reasonForOne == nil ? [copy] + statements + [pages, question ?? verification, commit] : [whole])
        return units.max { $0.seconds < $1.seconds } ?? commit
    }
}

extension Pass {
    /// The reason why the work on the copy has to be done in one unit; nil if it can be done in pieces.
    fileprivate var reasonForOneUnit: String? {
        if policies != nil { return "a migration policy keeps its own state" }
        if let step = steps.first { return "the step \(step.name) keeps its own state" }
        if next != nil { return "the migration takes several passes" }
        if ruleLog != nil || rules != nil { return "rules are checked over the whole store" }
        if !newExternalFiles.isEmpty { return "files of external data are written" }
        return nil
    }
}
