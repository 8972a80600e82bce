import Moult
import MoultSession

/// A second store, of another version, that follows a store in use.
///
///     let mirror = try await project.startMirror(of: "app.sqlite", at: "app-new.sqlite")
///     try await mirror.sync()
///     if try await mirror.verify().isEqual { try await mirror.cutOver() }
///
/// The value holds no store open: each call reads the mirror's progress from a record next to the first store.
/// Documentation/Mirror.md describes the guarantees and limits of a mirror.
public struct StoreMirror: Sendable {
    /// The path of the first store.
    public let store: String
    let project: Project
    let options: RunOptions

    /// Copies the changes since the last sync from the store that apps write to. Both stores may be in use.
    ///
    /// - Parameters:
    ///   - comparingAll: compare every row, whatever history and lock counters say.
    ///   - overwriting: discard what something else has written to the store that follows; compares every row too.
    /// - Throws: `mirrorDiverged` if something else has written to the store that follows; `dataConflict` if rows do not
    ///   fit the other version; `planStale`, `locked`, `fileNotFound`, `cancelled`.
    @discardableResult
    public func sync(comparingAll: Bool = false, overwriting: Bool = false) async throws -> Sync {
        try await run { try $0.synchronise(all: comparingAll, overwriting: overwriting) }
    }

    /// Returns how far the store that follows is behind. Neither store is changed.
    public func status() async throws -> Status { try await run { try $0.status() } }

    /// Brings the store that follows up to date, and compares every value with a fresh migration of the other.
    public func verify() async throws -> Verification { try await run { try $0.verify() } }

    /// Records the new path of the second store after it was moved.
    ///
    /// - Throws: `mirrorDiverged` if another store is there.
    public func moveSecond(to path: String) async throws { try await run { try $0.moveSecond(to: path) } }

    /// Switches to the second store: apps write to it from now on, and the first follows. No process may have the first
    /// store open.
    ///
    /// - Parameter acceptingLosses: whether to continue even if undoing the cut-over would lose data.
    /// - Returns: the losses that undoing it would cause, in one sentence each.
    /// - Throws: `unsupported` with that list if it was not accepted; `verificationFailed` if the stores differ; `locked`.
    @discardableResult
    public func cutOver(acceptingLosses: Bool = false) async throws -> [String] {
        try await run { try $0.cutOver(acceptingLosses: acceptingLosses) }
    }

    /// Switches back to the first store, which has the changes made to the second since.
    ///
    /// - Throws: `unsupported` if the cut-over cannot be undone; otherwise as ``cutOver(acceptingLosses:)``.
    public func undoCutOver() async throws { try await run { try $0.undoCutOver() } }

    /// Ends the mirror; both stores stay.
    public func stop() async throws { try await onThread { _ in try MirroredStore.stop(store) } }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable (inout MirroredStore) throws -> Value
    ) async throws -> Value {
        try await onThread { isCancelled in
            var mirror = try project.mirror(of: store, options, isCancelled)
            return try body(&mirror)
        }
    }
}

extension Project {
    /// Makes a second store by a migration to another version, and starts to follow the first, which is only read and
    /// may be in use.
    ///
    /// - Parameters:
    ///   - store: the path of the first store.
    ///   - path: the path of the second; nothing may exist there.
    ///   - version: the name of its version; nil for the current one.
    ///   - options: `acceptedLosses`, `allowsCloudKit` and `isExperimental` apply.
    /// - Throws: `usage` if the store has a mirror or a file exists at the path; the errors of planning and running a
    ///   migration. After an error there is neither a second store nor a mirror.
    public func startMirror(
        of store: String, at path: String, to version: String? = nil, options: RunOptions = RunOptions()
    ) async throws -> StoreMirror {
        try await onThread { isCancelled in
            let request = StoreRequest(store, to: version, .migrateInto(path), options, models: models)
            _ = try MirroredStore.start(request, context(for: store), isCancelled: isCancelled)
            return StoreMirror(store: store, project: self, options: options)
        }
    }

    /// Opens the mirror of a store, which this project or `moult mirror start` started with the same models and
    /// mapping.
    ///
    /// - Throws: `usage` if the store has no mirror; `planStale` if the mapping is not the one that it was started
    ///   with.
    public func mirror(of store: String, options: RunOptions = RunOptions()) async throws -> StoreMirror {
        try await onThread { _ in
            _ = try mirror(of: store, options) { false }
            return StoreMirror(store: store, project: self, options: options)
        }
    }

    func mirror(
        of store: String, _ options: RunOptions, _ isCancelled: @escaping @Sendable () -> Bool
    ) throws -> MirroredStore {
        try MirroredStore(of: store, context(for: store), options, isCancelled: isCancelled)
    }
}

extension StoreMirror {
    /// The means by which a mirror finds changes.
    public typealias Means = MirrorMeans
    /// The changes that one sync has made to the store that follows.
    public typealias Sync = MirrorSync
    /// The status of a mirror.
    public typealias Status = MirrorStatus
    /// The result of the comparison with a fresh migration.
    public typealias Verification = MirrorVerification
}
