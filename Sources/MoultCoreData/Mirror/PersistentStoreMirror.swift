import Foundation
import Moult
import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan

/// A second store, of another version of the model, that is kept in step with a store that is in use.
///
///     let mirror = try await PersistentStoreMirror.start(storeAt: url, versions: versions, at: newURL)
///     try await mirror.sync()
///     if try await mirror.verify().isEqual { try await mirror.cutOver() }
///
/// The value is a name for what lies beside the first store: every call reads there where the mirror stands, so it may be
/// made anew at each launch (``init(ofStoreAt:versions:registry:migrationAnswers:allowsUncertainVersionHashes:)``), and
/// used beside `moult mirror`. What a mirror promises, and what it refuses, is in Documentation/Mirror.md.
///
/// Every call does its work on a thread of its own, and may be cancelled with its task: then it throws `cancelled`, and
/// both stores are as they were. Apps may write to the first store meanwhile, this one too, but for `start` and the
/// calls that turn the direction.
public struct PersistentStoreMirror: Sendable {
    /// The first store.
    public let url: URL
    private let context: StoreSession.Context
    private let options: RunOptions

    /// The mirror that a store has.
    ///
    /// - Parameters:
    ///   - versions: those that the mirror was begun with.
    ///   - registry: the same code and mapping models.
    ///   - migrationAnswers: the same answers.
    ///   - allowsUncertainVersionHashes: as it was begun.
    /// - Throws: `usage` if the store has no mirror; `planStale` if the way from one version to the other is not the
    ///   one that it was begun with.
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

    /// Makes the second store by the migration to another version, and begins to follow the first.
    ///
    /// - Parameters:
    ///   - url: the first store, which this process does not have open; others may.
    ///   - version: that of the second store; nil for the current one.
    ///   - mirrorURL: a place where nothing is.
    ///   - registry: the code and the mapping models that the migration needs.
    ///   - migrationAnswers: answers to the questions that it may ask, as the JSON that the error `question` prints.
    ///   - allowsUncertainVersionHashes: whether a version hash that is a guess may be written
    ///     (``PersistentStoreOption/allowsUncertainVersionHashes``).
    /// - Throws: `usage` where there is a mirror, or something at the place; `locked` where this process has the store
    ///   open; `question` where the models leave open what a thing is; what planning and the migration throw. Then there
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

    /// Looking at a store opens and closes its file, at which this process would lose the locks of its connections.
    private static func checkIsClosed(_ url: URL) throws {
        let system = POSIXSystem()
        guard try system.exists(url.path), OpenStoreRegistry.shared.contains(try system.resolve(url.path)) else {
            return
        }
        throw MigrationError(
            .locked, "This process has the store open.", place: url.path,
            remedy: "Start the mirror before the store is loaded, or remove the store from its coordinator first.")
    }

    // MARK: - In step

    /// Takes over what was written since the last time.
    ///
    /// - Parameters:
    ///   - comparingAll: compare every row, whatever history and lock counters say.
    ///   - overwriting: give up what something else has written to the store that follows; compares every row too.
    /// - Throws: `locked`, `fileNotFound`; `mirrorDiverged` where something else has written to the store that follows,
    ///   or the other was migrated; `dataConflict` if rows do not fit the other version.
    @discardableResult
    public func sync(comparingAll: Bool = false, overwriting: Bool = false) async throws -> Sync {
        try await run { try $0.synchronise(all: comparingAll, overwriting: overwriting) }
    }

    /// Says where the mirror stands, without writing to either store.
    ///
    /// - Throws: as ``sync(comparingAll:overwriting:)``, where nothing could be taken over.
    public func status() async throws -> Status { try await run { try $0.status() } }

    /// Brings the store that follows up to date, and compares every value of every row with what a fresh migration of the
    /// other gives. Nothing is put right.
    public func verify() async throws -> Verification { try await run { try $0.verify() } }

    /// Says where the second store is now, after it was moved.
    ///
    /// - Throws: `mirrorDiverged` if another store is at the place.
    public func moveSecond(to mirrorURL: URL) async throws {
        try await run { mirror in
            try Self.checkIsClosed(mirrorURL)
            try mirror.moveSecond(to: mirrorURL.path)
        }
    }

    // MARK: - Turning round

    /// Makes the second store the one that apps write to; the first follows it from then on.
    ///
    /// Nobody may have the first store open, this process included.
    ///
    /// - Parameter acceptingLosses: cut over although some of what is written to the second store afterwards, or all of
    ///   it, could not be undone.
    /// - Returns: what cannot be undone, in sentences.
    /// - Throws: `unsupported` with that list where it was not accepted; `verificationFailed` if the stores differ;
    ///   `locked`.
    @discardableResult
    public func cutOver(acceptingLosses: Bool = false) async throws -> [String] {
        try await run { try $0.cutOver(acceptingLosses: acceptingLosses) }
    }

    /// Takes the cut-over back: apps write to the first store again, which has what was written to the second since.
    ///
    /// Nobody may have the second store open.
    ///
    /// - Throws: `unsupported` if the cut-over was made as one that is not undone; as ``cutOver(acceptingLosses:)``.
    public func undoCutOver() async throws { try await run { try $0.undoCutOver() } }

    /// Ends the mirror; both stores stay.
    ///
    /// - Throws: `usage` if the store has none.
    public static func stop(storeAt url: URL) async throws {
        try await BlockingWork.run("PersistentStoreMirror") { _ in try MirroredStore.stop(url.path) }
    }

    // MARK: - Parts

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
    /// The means by which a mirror knows what was written.
    public typealias Means = MirrorMeans
    /// The changes that one sync has made to the store that follows.
    public typealias Sync = MirrorSync
    /// The status of a mirror.
    public typealias Status = MirrorStatus
    /// The result of the comparison with a fresh migration.
    public typealias Verification = MirrorVerification
}

extension MirrorStatus {
    /// The store that apps write to.
    public var primaryURL: URL { URL(fileURLWithPath: primary) }
    /// The store that follows the one at ``primaryURL``.
    public var replicaURL: URL { URL(fileURLWithPath: replica) }
    /// The name of the first store's version.
    public var version: String { from }
    /// The name of the second store's version.
    public var mirrorVersion: String { to }
}
