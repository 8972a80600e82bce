import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore

/// The version of a store, compared with a target version.
public struct StoreVersionStatus: Sendable, Hashable {
    /// The version that the store is of.
    public let version: SemanticVersion
    /// The version that it is compared with.
    public let target: SemanticVersion
    /// By how many versions the store is behind; negative where it is ahead.
    public let versionsBehind: Int
}

extension VersionRegistry {
    /// Reads the version of a store from its own metadata, without changing a byte, and compares it with a target
    /// version.
    ///
    /// - Parameter target: the version to compare with; nil for the newest.
    /// - Throws: `storeUnknown` if it is of none; `incompatibleVersion` for a target that is not registered; what a
    ///   file that is no store throws.
    public func status(ofStoreAt url: URL, target: SemanticVersion? = nil) throws -> StoreVersionStatus {
        try StoreProbe.read(url.path) { try status(of: StoreSnapshot($0.connection), target: target) }
    }

    private func status(of snapshot: StoreSnapshot, target: SemanticVersion?) throws -> StoreVersionStatus {
        let models = modelVersions
        let identifiers = snapshot.metadata.versionIdentifiers
        guard let position = models.position(matching: snapshot.hashes, identifiers: identifiers) else {
            throw MigrationError.storeUnknown(nearest: models.nearest(to: snapshot.hashes))
        }
        let version = versions[position].version
        let goal = target ?? current?.version ?? version
        guard let end = versions.firstIndex(where: { $0.version == goal }) else { throw incompatible(version, goal) }
        return StoreVersionStatus(
            version: version, target: goal, versionsBehind: end - position)
    }

    /// Brings a store to a version, off the caller's thread: on a copy, verified, put in place in one commit.
    ///
    /// - Parameters:
    ///   - target: nil for the newest version.
    ///   - stopsAtEachVersion: whether each version on the way is a backup and a commit of its own.
    ///   - registry: more of the app's code, such as policies; the versions' own steps need not be in it.
    ///   - onProgress: told often, on the thread that migrates: the part that is done, the time left, the rows.
    /// - Returns: the migrations that have run; none where the store is of the version already.
    /// - Throws: `cancelled` if the task was; `incompatibleVersion` if the store is later than the target;
    ///   `stageFailed` naming the step, and what the engine throws. The store is as it was then.
    @discardableResult
    public func migrate(
        storeAt url: URL, to target: SemanticVersion? = nil, stopsAtEachVersion: Bool = false,
        registry: MigrationRegistry = MigrationRegistry(),
        onProgress: @escaping @Sendable (MigrationProgress) -> Void
    ) async throws -> [VersionedMigration] {
        try await BlockingWork.run("VersionRegistry") { isCancelled in
            try self.migrate(
                storeAt: url, to: target, stopsAtEachVersion: stopsAtEachVersion, registry: registry,
                MigrationObserver(telling: onProgress, isCancelled: isCancelled))
        }
    }

    /// The same, told only the part that is done, 0 to 1, and what has just been done, after it was done.
    @discardableResult
    public func migrate(
        storeAt url: URL, to target: SemanticVersion? = nil, stopsAtEachVersion: Bool = false,
        registry: MigrationRegistry = MigrationRegistry(),
        progressHandler: @escaping @Sendable (Double, String) -> Void = { _, _ in }
    ) async throws -> [VersionedMigration] {
        try await migrate(
            storeAt: url, to: target, stopsAtEachVersion: stopsAtEachVersion, registry: registry,
            onProgress: { now in if let message = now.message { progressHandler(now.fractionCompleted, message) } })
    }

    func migrate(
        storeAt url: URL, to target: SemanticVersion? = nil, stopsAtEachVersion: Bool = false,
        registry: MigrationRegistry = MigrationRegistry(), on system: any System = POSIXSystem(),
        _ observer: MigrationObserver
    ) throws -> [VersionedMigration] {
        var options = RunOptions()
        options.stopsAtEachVersion = stopsAtEachVersion
        var way: [VersionedMigration] = []
        let session = try StoreSession(at: url.path, options, on: system) { connection in
            let status = try status(of: StoreSnapshot(connection), target: target)
            way = try path(from: status.version, to: status.target)
            guard !way.isEmpty else { return nil }
            var context = StoreSession.Context(modelVersions, registry: registry)
            register(in: &context.registry)
            context.losses = .asTheVersionsSay()
            options.keepsBackup = way.contains(where: \.backupRequired)
            return (StoreRequest(url.path, to: status.target.description, .migrate, options), context)
        }
        _ = try session?.run(observer)
        return way
    }

    /// Puts the newest backup of a version back in place of a store; what is there now is backed up first.
    ///
    /// - Throws: `backupNotFound` if there is none of that version; `backupInvalid` before anything is done.
    public func rollBack(storeAt url: URL, to version: SemanticVersion) async throws {
        try await BlockingWork.run("VersionRegistry") { _ in
            let migrator = RunOptions().migrator()
            let backup = try migrator.backups(of: url.path).newest(ofVersion: version.description)
            let present = try? self.status(ofStoreAt: url).version.description
            _ = try migrator.rollback(url.path, to: backup, currentVersion: present ?? "")
        }
    }
}

extension VersionRegistry {
    /// For an app's tests: whether the registered shortcuts do to a store what walking from version to version does.
    ///
    /// - Parameter url: a store of the version that a shortcut starts at; it stays as it is.
    /// - Throws: `verificationFailed` that says what differs; `usage` if no shortcut leads to the target from there.
    public func verifyShortcut(to target: SemanticVersion? = nil, onCopyOf url: URL) throws {
        let proof = ShortcutProof(modelVersions, options: .init(registry: migrationRegistry))
        let differences = try proof.differences(on: url.path, to: target?.description)
        guard let first = differences.first else { return }
        throw MigrationError(
            .verificationFailed,
            "The shortcut gives another result than the single migrations. \(differences.joined(separator: " "))",
            place: String(first.prefix { $0 != ":" }), remedy: "Correct the shortcut, or remove it.")
    }
}
