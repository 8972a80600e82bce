import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultSession

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A second store, with another version of the model, that is kept in sync with a store in use.
///
///     let mirror = try await PersistentStoreMirror.start(storeAt: url, versions: versions, at: newURL)
///     try await mirror.sync()
///     if try await mirror.verify().isEqual { try await mirror.cutOver() }
///
/// The value only refers to files next to the first store. Every call reads the state of the mirror from there, so you
/// can recreate the value at each launch
/// (``init(ofStoreAt:versions:registry:migrationAnswers:allowsUncertainVersionHashes:)``), and use it alongside `moult
/// mirror`. For the guarantees and limits of a mirror, see Documentation/Mirror.md.
///
/// Every call works on a thread of its own and can be cancelled with its task. It then throws `cancelled` and leaves
/// both stores as they were. Apps, including this one, may write to the first store meanwhile, except during `start`
/// and the calls that reverse the direction.
public struct PersistentStoreMirror: Sendable {
    /// The first store.
    public let url: URL
    private let context: StoreSession.Context
    private let options: RunOptions

    /// Opens the existing mirror of a store.
    ///
    /// - Parameters:
    ///   - versions: the versions with which the mirror was started.
    ///   - registry: the code and mapping models with which it was started.
    ///   - migrationAnswers: the answers with which it was started.
    ///   - allowsUncertainVersionHashes: the setting with which it was started.
    /// - Throws: `usage` if the store has no mirror; `planStale` if the migration from one version to the other differs
    ///   from the one with which the mirror was started.
    public init(
        ofStoreAt url: URL, versions: ModelVersions, registry: MigrationRegistry = MigrationRegistry(),
        migrationAnswers: Data? = nil, allowsUncertainVersionHashes: Bool = false
    ) throws {
        try self.init(url, versions, registry, migrationAnswers, allowsUncertainVersionHashes)
        _ = try mirror { false }
    }

    private init(
        _ url: URL, _ versions: ModelVersions, _ registry: MigrationRegistry, _ answers: Data?, _ isExperimental: Bool
    ) throws {
        let context = StoreSession.Context(
            versions, answers: try answers.map { try Answers(json: [UInt8]($0)) } ?? .none, registry: registry,
            losses: .asTheVersionsSay())
        var options = RunOptions()
        options.isExperimental = isExperimental
        (self.url, self.context, self.options) = (url, context, options)
    }

    /// Creates the second store by a migration to another version, and starts to mirror the first.
    ///
    /// - Parameters:
    ///   - url: the first store. This process must not have it open; other processes may.
    ///   - version: the version of the second store; nil for the current one.
    ///   - mirrorURL: the location of the second store, where no file exists.
    ///   - registry: the code and the mapping models that the migration needs.
    ///   - migrationAnswers: answers to questions of the migration, as the JSON that the error `question` prints.
    ///   - allowsUncertainVersionHashes: whether a guessed version hash may be written
    ///     (`PersistentStoreOption.allowsUncertainVersionHashes`).
    /// - Throws: `usage` if there is already a mirror, or a file at the location; `locked` if this process has the
    ///   store open; `question` if the models are ambiguous; the errors of planning and migration. After an error there
    ///   is neither a second store nor a mirror.
    public static func start(
        storeAt url: URL, versions: ModelVersions, to version: String? = nil, at mirrorURL: URL,
        registry: MigrationRegistry = MigrationRegistry(), migrationAnswers: Data? = nil,
        allowsUncertainVersionHashes: Bool = false
    ) async throws -> PersistentStoreMirror {
        let mirror = try Self(url, versions, registry, migrationAnswers, allowsUncertainVersionHashes)
        return try await BlockingWork.run("PersistentStoreMirror") { isCancelled in
            try checkIsClosed(url)
            _ = try MirroredStore.start(
                StoreRequest(url.path, to: version, .migrateInto(mirrorURL.path), mirror.options), mirror.context,
                isCancelled: isCancelled)
            return mirror
        }
    }

    /// Checks that this process does not have the store open. Reading a store opens and closes its file, which would
    /// release the locks of this process's own connections.
    private static func checkIsClosed(_ url: URL) throws {
        let system = POSIXSystem()
        guard try system.exists(url.path), OpenStoreRegistry.shared.contains(try system.resolve(url.path)) else {
            return
        }
        throw MigrationError(
            .locked, "This process has the store open.", place: url.path,
            remedy: "Start the mirror before the store is loaded, or remove the store from its coordinator first.")
    }

    // MARK: - Synchronisation

    /// Applies the changes written since the last sync.
    ///
    /// - Parameters:
    ///   - comparingAll: whether to compare every row, whatever history and lock counters indicate.
    ///   - overwriting: whether to discard changes that others have written to the replica; this also compares every
    ///     row.
    /// - Throws: `locked`, `fileNotFound`; `mirrorDiverged` if others have written to the replica, or the other store
    ///   was migrated; `dataConflict` if rows do not fit the other version.
    @discardableResult
    public func sync(comparingAll: Bool = false, overwriting: Bool = false) async throws -> Sync {
        try await run { try $0.synchronise(all: comparingAll, overwriting: overwriting) }
    }

    /// Returns the status of the mirror without writing to either store.
    ///
    /// - Throws: the errors of ``sync(comparingAll:overwriting:)`` if a sync is impossible.
    public func status() async throws -> Status { try await run { try $0.status() } }

    /// Brings the replica up to date, and compares every value of every row with the result of a fresh migration of the
    /// other store. It fixes nothing.
    public func verify() async throws -> Verification { try await run { try $0.verify() } }

    /// Records the new location of the second store after it was moved.
    ///
    /// - Throws: `mirrorDiverged` if another store is at the location.
    public func moveSecond(to mirrorURL: URL) async throws {
        try await run { mirror in
            try Self.checkIsClosed(mirrorURL)
            try mirror.moveSecond(to: mirrorURL.path)
        }
    }

    // MARK: - Cut-over

    /// Makes the second store the one that apps write to. From then on, the first store is its replica.
    ///
    /// No process, including this one, may have the first store open.
    ///
    /// - Parameter acceptingLosses: whether to cut over even if some or all of the later writes to the second store
    ///   could not be undone.
    /// - Returns: the changes that cannot be undone, one sentence each.
    /// - Throws: `unsupported` with that list if it was not accepted; `verificationFailed` if the stores differ;
    ///   `locked`.
    @discardableResult
    public func cutOver(acceptingLosses: Bool = false) async throws -> [String] {
        try await run { try $0.cutOver(acceptingLosses: acceptingLosses) }
    }

    /// Reverses the cut-over: apps write to the first store again, which includes all changes written to the second
    /// since.
    ///
    /// No process may have the second store open.
    ///
    /// - Throws: `unsupported` if the cut-over was one-way; otherwise the errors of ``cutOver(acceptingLosses:)``.
    public func undoCutOver() async throws { try await run { try $0.undoCutOver() } }

    /// Ends the mirror and keeps both stores.
    ///
    /// - Throws: `usage` if the store has no mirror.
    public static func stop(storeAt url: URL) async throws {
        try await BlockingWork.run("PersistentStoreMirror") { _ in try MirroredStore.stop(url.path) }
    }

    // MARK: - Helpers

    private func mirror(_ isCancelled: @escaping @Sendable () -> Bool) throws -> MirroredStore {
        try MirroredStore(of: url.path, context, options, isCancelled: isCancelled)
    }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable (inout MirroredStore) throws -> Value
    ) async throws -> Value {
        try await BlockingWork.run("PersistentStoreMirror") { isCancelled in
            var mirror = try mirror(isCancelled)
            return try body(&mirror)
        }
    }
}

extension PersistentStoreMirror {
    /// The means by which a mirror detects changes.
    public typealias Means = MirrorMeans
    /// The changes that one sync has made to the replica.
    public typealias Sync = MirrorSync
    /// The status of a mirror.
    public typealias Status = MirrorStatus
    /// The result of the comparison with a fresh migration.
    public typealias Verification = MirrorVerification
}

extension MirrorStatus {
    /// The store that apps write to.
    public var primaryURL: URL { URL(fileURLWithPath: primary) }
    /// The replica of the store at ``primaryURL``.
    public var replicaURL: URL { URL(fileURLWithPath: replica) }
    /// The name of the first store's version.
    public var version: String { from }
    /// The name of the second store's version.
    public var mirrorVersion: String { to }
}
