import MoultEngine
import MoultModel
import MoultReport
import MoultTransform

/// The result of a migration, or of the rehearsal of one.
public struct MigrationReport: Sendable, CustomStringConvertible {
    /// The outcome of a call that migrates or rehearses.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// The store is of the version aimed at already.
        case nothingToDo
        /// The store is of the version aimed at now.
        case migrated
        /// Everything was done and verified on a copy, and the store is unchanged.
        case rehearsed
        /// The call has used its budget. The store is unchanged, and the next call continues.
        case paused
    }

    /// The outcome of the call.
    public let outcome: Outcome
    /// The name of the version before.
    public let from: String
    /// The name of the version aimed at.
    public let to: String
    /// The name of the run in the store's history; nil if there was none.
    public private(set) var run: String?
    /// Rows that were estimated to be touched.
    public private(set) var rows: Int64 = 0
    /// The size of the store before, in bytes.
    public private(set) var bytesBefore: Int64 = 0
    /// The size of the new store, in bytes.
    public private(set) var bytesAfter: Int64 = 0
    /// The time of each phase, in order.
    public private(set) var timings: [Timing] = []
    /// The backup to go back to; nil if none was made or kept.
    public private(set) var backup: StoreBackup?
    /// The losses, counted: objects, values and links that are not in the new store.
    public private(set) var losses: [MigrationLoss] = []
    /// The outcomes of the objects of entity mappings with migration policies, counted pass by pass.
    public private(set) var policies: [InstanceCounts] = []
    /// The rules of the app that do not hold, or that could not be checked, when the run has ended.
    public private(set) var rules: [Finding] = []
    /// Objects that went to the quarantine, or would go there.
    public private(set) var quarantined: Int64 = 0
    /// The outcome of recovering an earlier run that had not ended.
    public private(set) var recovery = RecoveryOutcome.nothing
    /// The names of the backups that the retention policy let go.
    public private(set) var prunedBackups: [String] = []
    /// The tasks that are left for ``Project/finish(_:within:options:)``, in one sentence each.
    public private(set) var deferredWork: [String] = []
    /// The free space that the run needs, in bytes.
    public private(set) var spaceNeeded: Int64 = 0
    /// The error that kept the cleanup from finishing, as on a full volume; nil if it is finished. The store is whole
    /// in any case.
    public private(set) var unfinishedCleanup: MigrationError?
    /// The part of the whole migration that is done, 0 to 1; less than 1 only if it is paused.
    public private(set) var fraction = 1.0
    /// The text that `moult migrate` prints.
    public let description: String
    /// The JSON that `moult migrate --json` prints, on one line; empty for a call that is paused.
    public let json: String

    /// A phase, and the time that it took.
    public struct Timing: Sendable, Hashable {
        /// The phase.
        public let phase: RunProgress.Phase
        /// The time that the phase took, in all passes together.
        public let duration: Duration
    }

    /// The time of all phases together.
    public var duration: Duration { timings.reduce(.zero) { $0 + $1.duration } }
}

extension MigrationReport {
    /// - Parameter outcome: nil if there was nothing to do.
    init(_ prepared: PreparedMigration, _ outcome: MigrationOutcome?) {
        let plan = prepared.plan
        guard let outcome else {
            self.init(.nothingToDo, prepared, OutcomeReport(nothingToDoAt: plan.to.name))
            return
        }
        self.init(.migrated, prepared, OutcomeReport(plan, outcome, deferral: prepared.deferral))
        run = outcome.run
        (rows, bytesBefore, bytesAfter) = (outcome.rows, outcome.bytesBefore, outcome.bytesAfter)
        timings = outcome.seconds.map(Timing.init)
        backup = outcome.backup.map(StoreBackup.init)
        (losses, policies, quarantined) = (outcome.losses, outcome.policies, outcome.quarantined)
        rules = [Finding](outcome.rules)
        recovery = RecoveryOutcome(rawValue: outcome.recovery.rawValue) ?? .nothing
        prunedBackups = outcome.pruned
        spaceNeeded = outcome.space.total
        unfinishedCleanup = outcome.untidied
    }

    init(_ prepared: PreparedMigration, _ rehearsal: RehearsalOutcome) {
        self.init(.rehearsed, prepared, OutcomeReport(prepared.plan, rehearsal, deferral: prepared.deferral))
        (rows, bytesBefore, bytesAfter) = (rehearsal.rows, rehearsal.bytesBefore, rehearsal.bytesAfter)
        timings = rehearsal.seconds.map(Timing.init)
        (losses, policies, quarantined) = (rehearsal.losses, rehearsal.policies, rehearsal.quarantined)
        rules = [Finding](rehearsal.rules)
        spaceNeeded = rehearsal.space.total
    }

    init(_ prepared: PreparedMigration, _ outcome: BudgetOutcome) {
        switch outcome {
        case .nothingToDo: self.init(prepared, MigrationOutcome?.none)
        case .finished(let outcome, _): self.init(prepared, outcome)
        case .paused(let pause): self.init(pause)
        }
    }

    private init(_ pause: MigrationPause) {
        outcome = .paused
        (from, to, run, fraction) = (pause.from, pause.to, pause.run, pause.fraction)
        let over = pause.startedOver.map { "\($0) The migration starts over. " } ?? ""
        description =
            "\(over)Not finished: \(Int(pause.fraction * 100)) % of \(pause.from.printable) → "
            + "\(pause.to.printable). Call it again to continue. Next: \(pause.next.printable)"
        json = ""
    }

    private init(_ outcome: Outcome, _ prepared: PreparedMigration, _ report: OutcomeReport) {
        self.outcome = outcome
        (from, to) = (prepared.plan.from.name, prepared.plan.to.name)
        description =
            outcome == .nothingToDo
            ? "The store is already of version \(to.printable). There is nothing to do."
            : report.lines(style: .plain).joined(separator: "\n")
        json = report.document.compact
        guard outcome != .nothingToDo, let deferral = prepared.deferral, deferral.isPossible else { return }
        deferredWork = deferral.tasks.map(\.sentence)
    }
}

extension MigrationReport.Timing {
    fileprivate init(_ timing: MigrationOutcome.Timing) {
        phase = RunProgress.Phase(rawValue: timing.phase.rawValue) ?? .change
        duration = .seconds(timing.seconds)
    }
}

extension [Finding] {
    /// Creates the findings of the rules that do not hold, or could not be checked, when a run has ended.
    fileprivate init(_ reports: [RuleReport]) { self.init(reports.last?.present ?? []) }

    /// The rules that do not hold, or that could not be checked.
    init(_ rules: [RuleFinding]) {
        self = rules.filter { $0.isBroken || $0.obstacle != nil }.map { rule in
            let count = Quantity.count(rule.count, "object breaks it", plural: "objects break it")
            var finding = Finding(
                code: rule.rule, severity: rule.severity == .error && rule.isBroken ? .error : .warning,
                place: rule.entityName,
                message: rule.obstacle.map { "\(rule.sentence) It could not be checked: \($0)" }
                    ?? "\(rule.sentence) \(count).",
                remedy: rule.obstacle == nil ? "Correct the data, or apply the fix of the rule." : "")
            finding.keys = rule.examples.map(\.id.key)
            finding.values = rule.examples.map(\.safeDetail).filter { !$0.isEmpty }
            return finding
        }
    }
}
