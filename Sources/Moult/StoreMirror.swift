import MoultEngine
import MoultMirror
import MoultModel
import MoultReport
import MoultSystem

/// A second store, of another version, that follows a store that is in use.
///
///     let mirror = try await project.startMirror(of: "app.sqlite", at: "app-new.sqlite")
///     try await mirror.sync()
///     if try await mirror.verify().isEqual { try await mirror.cutOver() }
///
/// The value holds no store open: every call reads next to the first store how far the mirror is. Documentation/Mirror.md
/// says what a mirror promises and refuses.
public struct StoreMirror: Sendable {
    /// The path of the first store.
    public let store: String
    let project: Project
    let options: RunOptions

    /// Copies what apps wrote to the other store since the last sync. Both stores may be in use.
    ///
    /// - Parameters:
    ///   - comparingAll: compare every row, whatever history and lock counters say.
    ///   - overwriting: discard what something else has written to the store that follows; compares every row too.
    /// - Throws: `mirrorDiverged` if something else has written to the store that follows; `dataConflict` if rows do not
    ///   fit the other version; `planStale`, `locked`, `fileNotFound`, `cancelled`.
    @discardableResult
    public func sync(comparingAll: Bool = false, overwriting: Bool = false) async throws -> Sync {
        try await run { Sync(try $0.synchronise(all: comparingAll, overwriting: overwriting)) }
    }

    /// Says how far the store that follows is behind. Neither store is changed.
    public func status() async throws -> Status { try await run { Status(try $0.status()) } }

    /// Brings the store that follows up to date, and compares every value with a fresh migration of the other.
    public func verify() async throws -> Verification { try await run { Verification(try $0.verify()) } }

    /// Says where the second store is now, after it was moved.
    ///
    /// - Throws: `mirrorDiverged` if another store is there.
    public func moveSecond(to path: String) async throws { try await run { try $0.moveSecond(to: path) } }

    /// Switches to the second store: apps write to it from now on, and the first follows. No process may have the first
    /// store open.
    ///
    /// - Parameter acceptingLosses: whether to do it even if undoing it would lose something.
    /// - Returns: what undoing it would lose, in one sentence each.
    /// - Throws: `unsupported` with that list if it was not accepted; `verificationFailed` if the stores differ; `locked`.
    @discardableResult
    public func cutOver(acceptingLosses: Bool = false) async throws -> [String] {
        try await run { try $0.cutOver(acceptingLosses: acceptingLosses) }
    }

    /// Switches back to the first store, which has what was written to the second since.
    ///
    /// - Throws: `unsupported` if the cut-over cannot be undone; otherwise as ``cutOver(acceptingLosses:)``.
    public func undoCutOver() async throws { try await run { try $0.undoCutOver() } }

    /// Ends the mirror; both stores stay.
    public func stop() async throws { try await onThread { _ in try MoultMirror.StoreMirror.stop(store) } }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable (inout MoultMirror.StoreMirror) throws -> Value
    ) async throws -> Value {
        try await onThread { isCancelled in
            var mirror = try project.mirror(of: store, options, isCancelled)
            return try body(&mirror)
        }
    }
}

extension Project {
    /// Makes a second store by a migration to another version, and begins to follow the first, which is only read and may
    /// be in use.
    ///
    /// - Parameters:
    ///   - store: the path of the first store.
    ///   - path: the path of the second; nothing may exist there.
    ///   - version: the name of its version; nil for the current one.
    ///   - options: `acceptedLosses`, `allowsCloudKit` and `isExperimental` count.
    /// - Throws: `usage` if the store has a mirror or something is at the path; what planning and running a migration
    ///   throw. Then there is neither a second store nor a mirror.
    public func startMirror(
        of store: String, at path: String, to version: String? = nil, options: RunOptions = RunOptions()
    ) async throws -> StoreMirror {
        try await onThread { isCancelled in
            let versions = try versions(for: store)
            try versions.checkReleased()
            _ = try MoultMirror.StoreMirror.start(
                store, versions: versions, to: version, at: path, options: try preparation(in: versions, options),
                input: try mirrorInput(to: version, options), isCancelled: isCancelled)
            return StoreMirror(store: store, project: self, options: options)
        }
    }

    /// The mirror of a store, which this project or `moult mirror start` began with the same models and mapping.
    ///
    /// - Throws: `usage` if the store has no mirror; `planStale` if the mapping is not the one that it was begun with.
    public func mirror(of store: String, options: RunOptions = RunOptions()) async throws -> StoreMirror {
        try await onThread { _ in
            _ = try mirror(of: store, options) { false }
            return StoreMirror(store: store, project: self, options: options)
        }
    }

    func mirror(
        of store: String, _ options: RunOptions, _ isCancelled: @escaping @Sendable () -> Bool
    ) throws -> MoultMirror.StoreMirror {
        let versions = try versions(for: store)
        return try MoultMirror.StoreMirror(
            of: store, versions: versions, options: try preparation(in: versions, options), isCancelled: isCancelled)
    }

    /// Returns the input by which `moult mirror` finds the models and the mapping.
    private func mirrorInput(to version: String?, _ options: RunOptions) throws -> [String: String] {
        let system = POSIXSystem()
        var input: [String: String] = [:]
        input["model"] = try path.map { try system.resolve($0) }
        input["order"] = order?.joined(separator: ",")
        input["to"] = version
        if mappingPaths.count == 1 { input["mapping"] = try system.resolve(mappingPaths[0]) }
        if options.isExperimental { input["experimental"] = "" }
        if options.allowsCloudKit { input["cloudkit"] = "" }
        if options.acceptedLosses == .all { input["accept-losses"] = "" }
        return input
    }
}

extension StoreMirror {
    /// The means by which a mirror knows what was written.
    public enum Means: String, Sendable, Hashable, CaseIterable {
        /// By the transactions of persistent history.
        case history
        /// By a scan of the keys and lock counters of both stores.
        case scan
        /// Every row was compared.
        case comparison

        init(_ means: MirrorMeans) { self = Means(rawValue: means.rawValue) ?? .comparison }
    }

    /// The changes that one sync has made to the store that follows.
    public struct Sync: Sendable, Hashable {
        /// The means by which it was known what was written.
        public let means: Means
        /// Rows that were inserted.
        public let inserted: Int64
        /// Rows that were updated.
        public let updated: Int64
        /// Rows that were deleted.
        public let deleted: Int64
        /// The reason why every row had to be compared, in one sentence; nil if that was not so, or only asked for.
        public let reason: String?
        /// The time that the sync took.
        public let duration: Duration

        init(_ outcome: MirrorOutcome) {
            (means, reason, duration) = (Means(outcome.means), outcome.reason, .seconds(outcome.seconds))
            (inserted, updated) = (outcome.changes.inserted, outcome.changes.updated)
            deleted = outcome.changes.deleted
        }
    }

    /// The status of a mirror.
    public struct Status: Sendable, Hashable {
        /// The path of the store that apps write to.
        public let primary: String
        /// The path of the store that follows.
        public let replica: String
        /// The name of the first store's version.
        public let from: String
        /// The name of the second store's version.
        public let to: String
        /// Whether apps write to the second store.
        public let isCutOver: Bool
        /// Whether there is anything to copy.
        public let isBehind: Bool
        /// The means by which it is known what was written.
        public let means: Means
        /// Transactions to copy; nil without history.
        public let transactions: Int64?
        /// Objects that were written since; nil if every row would have to be compared.
        public let objects: Int64?
        /// The reason why each sync compares every row, in one sentence; nil if it does not.
        public let reason: String?
        /// The losses that undoing the cut-over would cause, in one sentence each.
        public let losses: [String]

        init(_ status: MirrorStatus) {
            (primary, replica) = (status.primary, status.replica)
            (from, to, losses) = (status.record.from, status.record.to, status.record.losses)
            (isCutOver, isBehind) = (status.record.state == .cutOver, status.isBehind)
            (means, reason) = (Means(status.means), status.reason)
            (transactions, objects) = (status.transactions, status.objects)
        }
    }

    /// The result of the comparison with a fresh migration.
    public struct Verification: Sendable, Hashable {
        /// A table in which rows differ.
        public struct Difference: Sendable, Hashable {
            /// The table's name.
            public let table: String
            /// Rows that only the fresh migration has, or has so.
            public let missing: Int64
            /// Rows that only the store that follows has, or has so.
            public let surplus: Int64
            /// The first keys of either.
            public let keys: [Int64]
        }

        /// Whether nothing differs and the comparison was possible.
        public let isEqual: Bool
        /// Rows of the fresh migration that were compared.
        public let rows: Int64
        /// The tables in which rows differ.
        public let differences: [Difference]
        /// Other things that differ: tables, indexes, keys of the metadata, files of external data.
        public let others: [String]
        /// The reason why the store that follows could not be brought up to date; nil if it could.
        public let obstacle: String?

        init(_ verification: MirrorVerification) {
            (isEqual, rows) = (verification.isEqual, verification.rows)
            (others, obstacle) = (verification.others, verification.obstacle)
            differences = verification.differences.map {
                Difference(table: $0.table, missing: $0.missing, surplus: $0.surplus, keys: $0.keys)
            }
        }
    }
}
