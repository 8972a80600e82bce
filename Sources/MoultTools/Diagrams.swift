import MoultExport
import MoultModel
import MoultPlan
import MoultReport
import MoultStore

extension Diagram {
    /// The tables of a store that contains no model.
    package init(tablesOf path: String, choice: EntityChoice) throws {
        self = try StoreProbe.read(path) { probe in
            try Diagram(tables: StoreContents(probe, in: nil), title: path, choice: choice)
        }
    }

    /// The difference between two versions.
    ///
    /// - Throws: `usage` for an answer that fits no question.
    package init(
        from older: ModelVersion, to newer: ModelVersion, answers: Answers, choice: EntityChoice
    ) throws {
        let difference = try ModelDiff(from: older, to: newer, answers: answers)
        try self.init(from: older, to: newer, difference, choice: choice)
    }

    /// The plan of a migration.
    package init(planOf session: StoreSession) {
        self.init(session.prepared.plan, rows: session.prepared.bound?.rowCounts ?? [:])
    }

    /// The history of a store.
    package init(historyOf keeper: StoreKeeper, _ versions: ModelVersions?) throws {
        self.init(
            history: try keeper.runs().runs, store: keeper.store, now: keeper.knownVersionName(of: keeper.store),
            versions: versions?.versions.map(\.name) ?? [])
    }
}
