import MoultModel
import MoultReport

/// The status of a store relative to the versions of a model.
public struct StoreStatus: Sendable, CustomStringConvertible {
    /// The cases exclude each other.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The store is of the version aimed at.
        case current
        /// The store is of an older version.
        case behind
        /// The store is of a later version.
        case ahead
        /// The store is of none of the versions.
        case unknown
        /// The file is not a store of Core Data or SwiftData.
        case notCoreData
    }

    /// The state of the store relative to the version aimed at.
    public let state: State
    /// The name of the store's version; nil if it is of none.
    public let version: String?
    /// The name of the version aimed at; nil if the model has no versions.
    public let target: String?
    /// The number of versions that the store is behind the target; negative if it is ahead; nil if its version is not
    /// known.
    public let versionsBehind: Int?
    /// The names of the model's versions, oldest first.
    public let versionNames: [String]
    /// The pending work: `deferredMigration`, `unfinishedRun`, `liveRun`, `pausedMigration`.
    public let pendingWork: [String]
    /// The part that is done of a migration that waits for its next call, 0 to 1; nil if none waits.
    public let fractionDone: Double?
    /// The findings in the model and in the store.
    public let findings: [Finding]
    /// The text that `moult status` prints.
    public let description: String
    /// The JSON that `moult status --json` prints, on one line.
    public let json: String

    init(_ report: StatusReport) {
        state = State(rawValue: report.status.name) ?? .unknown
        (version, target, versionNames) = (report.names.first, report.latest, report.order)
        versionsBehind =
            switch report.status {
            case .current: 0
            case .behind(_, let count, _): count
            case .ahead(_, let count, _): -count
            case .unknown, .notCoreData: nil
            }
        pendingWork = report.pendingWork
        fractionDone = report.paused?.fraction
        findings = report.noticed
        description = report.lines(style: .plain).joined(separator: "\n")
        json = report.document.compact
    }
}
