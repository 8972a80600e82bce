import MoultTransform
import Synchronization

/// The findings of rules, and the changes that their fixes have made, at one moment of a run.
package struct RuleReport: Sendable, Hashable {
    /// Such as `before the migration`.
    package var moment: String
    package var findings: [RuleFinding]
    package var fixes: [RuleFixOutcome]
    /// The findings that are left after the fixes; empty where there were none.
    package var remaining: [RuleFinding]

    package init(
        moment: String, findings: [RuleFinding], fixes: [RuleFixOutcome] = [], remaining: [RuleFinding] = []
    ) {
        self.moment = moment
        self.findings = findings
        self.fixes = fixes
        self.remaining = remaining
    }

    /// The findings that hold for the store now.
    package var present: [RuleFinding] { fixes.isEmpty ? findings : remaining }
}

/// Collects the reports of a run, and how many objects the source had.
package final class RuleLog: Sendable {
    private struct State {
        var reports: [RuleReport] = []
        var sourceCounts: [String: Int] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package var reports: [RuleReport] { state.withLock { $0.reports } }

    func add(_ report: RuleReport) {
        // A run that is rehearsed first, or begun again, says the same again.
        state.withLock { state in
            state.reports.removeAll { $0.moment == report.moment }
            state.reports.append(report)
        }
    }

    /// Objects by entity, sub-entities included.
    var sourceCounts: [String: Int] {
        get { state.withLock { $0.sourceCounts } }
        set { state.withLock { $0.sourceCounts = newValue } }
    }
}

extension [RuleReport] {
    /// Objects that fixes have changed, deleted or made.
    package var fixed: Int64 { flatMap(\.fixes).reduce(0) { $0 + $1.changed + $1.deleted + $1.inserted } }
}
