import MoultBasics
import MoultModel
import MoultObjects
import MoultStore

/// The time of one call, and the speed of the machine so far.
final class CallBudget {
    /// Thrown when the next unit has to wait for the next call.
    struct Stop: Error {
        let next: MigrationUnit
    }

    let clock: CallClock
    var checkpoint: MigrationCheckpoint
    /// The seconds by which recent small units have exceeded their estimates.
    private var surplus = 0.0
    /// The number of finished units, which need not be repeated.
    private(set) var gained = 0
    /// The unit begun last, and the seconds of the call that had passed by then.
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

    /// The seconds left for units.
    var left: Double {
        switch clock.limit {
        case .all: .infinity
        case .units(let count): gained < count ? .infinity : 0
        case .seconds(let budget): budget - clock.elapsed - checkpoint.endSeconds * 2 - CostModel.end
        }
    }

    /// Whether units may run in parallel.
    var mayRunAhead: Bool { if case .units = clock.limit { false } else { true } }

    func seconds(of unit: MigrationUnit) -> Double { unit.seconds * checkpoint.slowness }

    /// Whether there is time for a unit. The first unit of a call always begins: a budget is never shorter than the
    /// longest unit.
    func hasTime(for seconds: Double) -> Bool { gained == 0 || left >= seconds * CostModel.margin + surplus }

    /// Performs one unit if there is time for it.
    ///
    /// - Parameter seconds: the expected time, if known better than from the unit's estimate.
    func perform<Result>(
        _ unit: MigrationUnit, expecting seconds: Double? = nil, _ body: () throws -> Result
    ) throws -> Result {
        guard hasTime(for: seconds ?? self.seconds(of: unit)) else { throw Stop(next: unit) }
        let start = clock.elapsed
        note(unit, at: start)
        let result = try body()
        // A better-known time says nothing about the machine: it may include app code.
        if seconds == nil { learn(clock.elapsed - start, of: unit) }
        gained += 1
        return result
    }

    /// - Parameter start: the seconds of the call that have passed.
    func note(_ unit: MigrationUnit, at start: Double) { (self.unit, begun) = (unit, start) }

    /// Counts work done alongside a unit as a unit of its own.
    func noteProgress() { gained += 1 }

    /// - Parameter seconds: the seconds that the unit has taken.
    func learn(_ seconds: Double, of unit: MigrationUnit) {
        guard unit.seconds > CostModel.smallUnit else {
            surplus = max(surplus * 0.9, seconds - unit.seconds)
            return
        }
        // A unit that was faster than estimated says little about the next one.
        let ratio = min(max(seconds / unit.seconds, 0.7), 10)
        checkpoint.slowness = (checkpoint.slowness + ratio) / 2
    }

    /// Whether the budget has run out, apart from the time to end the call.
    let isLate: @Sendable () -> Bool
}

/// The part of a migration that one call may do, and the checkpoint that it continues from.
struct CallStart {
    let clock: CallClock
    let checkpoint: MigrationCheckpoint?
}

/// The elapsed time of one call and its limit, for a migration with a budget or for deferred work.
struct CallClock: Sendable {
    let limit: CallLimit
    /// The start of the call on the monotonic clock.
    let started: UInt64
    let system: any System

    /// The seconds of the call that have passed.
    var elapsed: Double { system.seconds(since: started) }

    /// Whether the call has taken longer than its budget.
    var isOver: Bool { if case .seconds(let budget) = limit { elapsed > budget } else { false } }
}

extension MigrationObserver {
    /// Returns an observer that ends the run when its time is over.
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
    /// The estimated seconds, by ``CostModel``.
    package var seconds: Double

    package init(sentence: String, seconds: Double) { (self.sentence, self.seconds) = (sentence, seconds) }
}

/// The units of a migration that is done in several calls.
package struct MigrationUnits: Sendable {
    /// The size of the store in bytes.
    let size: Int64
    /// The number of its objects.
    let rows: Int64
    let script: StoreScript
    /// The reason why the work between the backup and the commit cannot be done in pieces; nil if it can.
    package let reasonForOne: String?
    /// Whether the WAL is written back after the commit, as a separate unit.
    private let usesWAL: Bool
    private let instances: Int64
    /// The checks of the new store, of which ``longest`` asks for the longest piece.
    private let checks: Verification

    private let hasPolicies: Bool

    /// - Parameter reason: a reason for one unit that has shown in an earlier piece.
    package init(_ migration: Pass, size: Int64, usesWAL: Bool, reasonForOne reason: String? = nil) {
        (self.size, self.usesWAL) = (size, usesWAL)
        script = migration.script
        rows = (migration.rowFacts?.rowCounts.values.reduce(0) { $0 &+ $1 }) ?? 0
        instances = migration.policies == nil && migration.steps.isEmpty && migration.next == nil ? 0 : rows
        reasonForOne = migration.reasonForOneUnit ?? reason
        hasPolicies = migration.policies != nil
        checks = migration.verification
    }

    // MARK: - Units

    /// The unit that reads the rows for the plan, done before the call has a run.
    private var look: MigrationUnit {
        MigrationUnit(sentence: "Read the rows.", seconds: CostModel.files + Double(rows) * CostModel.look)
    }
    var backup: MigrationUnit { unit("Back up the store.", CostModel.backup) }
    var soundness: MigrationUnit { unit("Check the pages of the backup.", CostModel.soundness) }
    var digest: MigrationUnit { unit("Compute the digest of the backup.", CostModel.digest) }
    var copy: MigrationUnit { unit("Create the working copy.", CostModel.copy) }
    /// The statement for one relationship; the other work of policies is divided.
    private var linksOfPolicies: MigrationUnit {
        MigrationUnit(
            sentence: MigrationManager.sentenceOfLinks, seconds: CostModel.statement + Double(rows) * CostModel.update)
    }
    var pages: MigrationUnit { unit("Check the pages of the new store.", CostModel.soundness) }
    var commit: MigrationUnit {
        unit(
            "Commit the new store, in one transaction.",
            usesWAL ? CostModel.commit - CostModel.writeBack : CostModel.commit)
    }
    var writeBack: MigrationUnit { unit("Write the log back.", CostModel.writeBack) }
    /// The whole verification, when it cannot be done in pieces.
    var verification: MigrationUnit { unit("Verify the new store.", CostModel.verify) }

    /// Returns a unit that processes the whole store.
    private func unit(_ sentence: String, _ secondsPerByte: Double) -> MigrationUnit {
        MigrationUnit(sentence: sentence, seconds: CostModel.files + Double(size) * secondsPerByte)
    }

    /// Everything except the backup.
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

    /// Returns the unit of whole statements.
    func unit(of statements: ArraySlice<StoreScript.Statement>) -> MigrationUnit {
        MigrationUnit(
            sentence: statements.first?.sentence ?? "", seconds: statements.reduce(0) { $0 + seconds(of: $1) })
    }

    /// Whether a statement touches no row, or only a few rows of the store's own tables.
    func isOfTheCatalogue(_ statement: StoreScript.Statement) -> Bool { seconds(of: statement) <= CostModel.statement }

    private func seconds(of statement: StoreScript.Statement) -> Double {
        // Pairs of keys are not in any count of objects.
        let touched = statement.rows.bound ?? max(rows, size / CostModel.bytesOfPair)
        return CostModel.statement + statement.seconds(touched, of: Double(size) / Double(max(rows, 1)))
    }

    // MARK: - The longest unit

    /// The unit that a budget must have room for, including the work that every call does before it.
    package var longest: MigrationUnit {
        var unit = longestUnit
        unit.seconds = unit.seconds * CostModel.spare + CostModel.call
        return unit
    }

    private var longestUnit: MigrationUnit {
        guard !script.isInPlace else { return whole }
        let statements = script.statements.filter { $0.keys == nil }.map { unit(of: [$0]) }
        let links = hasPolicies ? [linksOfPolicies] : []
        let units =
            [look, backup, soundness, digest]
            + (reasonForOne == nil
                ? [copy] + statements + links + [pages, checks.longest ?? verification, commit] : [whole])
        return units.max { $0.seconds < $1.seconds } ?? commit
    }
}

extension Pass {
    /// The reason why the work on the copy must be one unit; nil if it can be done in pieces.
    fileprivate var reasonForOneUnit: String? {
        if let step = steps.first { return "the step \(step.name) keeps its own state" }
        if next != nil { return "the migration takes several passes" }
        if let policy = policies?.nameOfStateful { return Self.reason(policy) }
        if ruleLog != nil || rules != nil { return "rules are checked over the whole store" }
        if !newExternalFiles.isEmpty { return "files of external data are written" }
        return nil
    }

    static func reason(_ policy: String) -> String { "the policy \(policy) keeps its own state" }
}

extension CallBudget: PolicyPace {
    var elapsed: Double { clock.elapsed }
    var isCounted: Bool { !mayRunAhead }

    func perform(_ sentence: String, seconds: Double, isMeasured: Bool, _ body: () throws -> Void) throws {
        let unit = MigrationUnit(sentence: sentence, seconds: seconds)
        // The time of an app's code says nothing about the machine.
        try perform(unit, expecting: isMeasured ? seconds : self.seconds(of: unit), body)
    }
}
