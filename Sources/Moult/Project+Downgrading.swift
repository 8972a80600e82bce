import MoultCare
import MoultEngine
import MoultModel
import MoultReport

extension Project {
    /// Brings a store back to an older version. If every value of the store has a place there, the store is migrated
    /// back; otherwise nothing is changed, and the report has the losses and the newest backup of that version, which
    /// ``restore(_:to:options:)`` restores.
    ///
    /// The report's errors: `usage` for a version that is newer than the store's; `storeUnknown`, `noPath`, `locked`,
    /// `insufficientStorage`; `cancelled`, `migrationFailed`, `verificationFailed` with the store as it was.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - version: the name of the older version; nil for the current one.
    ///   - isRehearsal: whether to do everything on a copy that is not kept.
    ///   - options: how the store is changed.
    public func downgrade(
        _ store: String, to version: String? = nil, isRehearsal: Bool = false, options: RunOptions = RunOptions()
    ) -> StoreTask<DowngradeReport> {
        task("downgrade", store) { observer, _ in
            try keeper(of: store, options).downgrade(
                to: version, answers: { try answers(for: $0, store) }, isRehearsal: isRehearsal, observer)
        }
    }
}
