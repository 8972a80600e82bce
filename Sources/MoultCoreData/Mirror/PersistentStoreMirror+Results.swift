import Foundation
import MoultEngine
import MoultMirror

extension PersistentStoreMirror {
    /// The means by which a mirror knows what was written.
    public enum Means: String, Sendable, Hashable, CaseIterable {
        /// The transactions of persistent history.
        case history
        /// A scan of the keys and lock counters of both stores.
        case scan
        /// Every row was compared.
        case comparison
    }

    /// The result of one step: what it has done to the store that follows.
    public struct Sync: Sendable, Hashable {
        /// The means by which the step knew what was written.
        public let means: Means
        /// Rows of the store that follows.
        public let inserted: Int
        /// Rows that were changed there.
        public let updated: Int
        /// Rows that were deleted there.
        public let deleted: Int
        /// The reason why every row had to be compared, in a sentence; nil if that was not so, or was wished for.
        public let reason: String?
        /// The duration of the step.
        public let seconds: Double

        init(_ outcome: MirrorOutcome) {
            means = Means(outcome.means)
            inserted = Int(clamping: outcome.changes.inserted)
            updated = Int(clamping: outcome.changes.updated)
            deleted = Int(clamping: outcome.changes.deleted)
            reason = outcome.reason
            seconds = outcome.seconds
        }
    }

    /// The state of a mirror.
    public struct Status: Sendable, Hashable {
        /// The store that apps write to, and the one that follows.
        public let primaryURL: URL
        /// The store that follows the one at ``primaryURL``.
        public let replicaURL: URL
        /// The versions of the first store and of the second.
        public let version: String
        /// The version of the second store.
        public let mirrorVersion: String
        /// Whether apps write to the second store.
        public let isCutOver: Bool
        /// Whether there is anything to take over.
        public let isBehind: Bool
        /// The means by which it is known what is still to be taken over.
        public let means: Means
        /// Transactions that are still to be taken over; nil without history.
        public let transactions: Int?
        /// Objects that were written since; nil if every row would have to be compared.
        public let objects: Int?
        /// The reason why single objects cannot be followed, in a sentence; nil if they can.
        public let reason: String?
        /// The parts of the cut-over that could not be undone when it was made, in sentences.
        public let losses: [String]

        init(_ status: MirrorStatus) {
            primaryURL = URL(fileURLWithPath: status.primary)
            replicaURL = URL(fileURLWithPath: status.replica)
            (version, mirrorVersion) = (status.record.from, status.record.to)
            isCutOver = status.record.state == .cutOver
            isBehind = status.isBehind
            means = Means(status.means)
            transactions = status.transactions.map(Int.init(clamping:))
            objects = status.objects.map(Int.init(clamping:))
            reason = status.reason
            losses = status.record.losses
        }
    }

    /// The result of the full comparison.
    public struct Verification: Sendable, Hashable {
        /// Whether nothing differs and nothing stood in the way of the comparison.
        public let isEqual: Bool
        /// The rows of the fresh migration that were compared.
        public let rows: Int
        /// The tables in which rows differ; empty where none do.
        public let differences: [Difference]
        /// Other things that differ: tables and indexes by name, metadata by key, files of external data.
        public let others: [String]
        /// The reason why the store that follows could not be brought up to date; nil if it could.
        public let obstacle: String?

        /// A table of the store that follows.
        public struct Difference: Sendable, Hashable {
            /// The name of the table in SQLite.
            public let table: String
            /// Rows that only a fresh migration has, or has so.
            public let missing: Int
            /// Rows that only the store that follows has, or has so.
            public let surplus: Int
            /// The first keys of either.
            public let keys: [Int]
        }

        init(_ verification: MirrorVerification) {
            isEqual = verification.isEqual
            rows = Int(clamping: verification.rows)
            others = verification.others
            obstacle = verification.obstacle
            differences = verification.differences.map {
                Difference(
                    table: $0.table, missing: Int(clamping: $0.missing), surplus: Int(clamping: $0.surplus),
                    keys: $0.keys.map(Int.init(clamping:)))
            }
        }
    }
}

extension PersistentStoreMirror.Means {
    init(_ means: MirrorMeans) {
        switch means {
        case .history: self = .history
        case .scan: self = .scan
        case .comparison: self = .comparison
        }
    }
}
