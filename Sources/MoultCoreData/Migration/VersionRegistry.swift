import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultSession
import MoultStore

/// The released versions of an app's data, by semantic version number, and the migrations between them.
///
///     let versions = try VersionRegistry(
///         [RegisteredVersion(SemanticVersion(1, 0), model: first, description: "…"), …],
///         migrations: [VersionedMigration(from: …, to: …, type: .dataTransformation, customMigrationSteps: […], …)])
///     try await versions.migrate(storeAt: url) { fraction, message in … }
///
/// A store records its own version, and version numbers are never reused. The engine migrates from each version to the
/// next, or with a migration registered across several versions, and commits everything at once.
public struct VersionRegistry: Sendable {
    /// The versions, oldest first.
    public let versions: [RegisteredVersion]
    /// The registered migrations, in the given order. Consecutive versions without one are migrated by inference.
    public let migrations: [VersionedMigration]

    /// - Throws: `stagesInvalid`, listing every problem: a version number that is used twice or out of order, a
    ///   migration to an unknown or earlier version, a duplicate migration, steps with the same name.
    public init(_ versions: [RegisteredVersion], migrations: [VersionedMigration] = []) throws {
        self.versions = versions
        self.migrations = migrations
        let issues = Self.issues(of: versions, migrations)
        guard issues.isEmpty else {
            throw MigrationError(
                .stagesInvalid, "The versions do not fit together: \(issues.joined(separator: " "))",
                remedy: "Give every release its own number, in order, and each migration two of them.")
        }
    }

    private static func issues(of versions: [RegisteredVersion], _ migrations: [VersionedMigration]) -> [String] {
        var issues: [String] = versions.isEmpty ? ["There is none."] : []
        for (older, newer) in zip(versions, versions.dropFirst()) where older.version >= newer.version {
            issues.append("\(newer.version) comes after \(older.version), which is not earlier.")
        }
        let known = Set(versions.map(\.version))
        var seen: Set<[SemanticVersion]> = []
        for migration in migrations {
            let name = "The migration from \(migration.from) to \(migration.to)"
            if migration.from >= migration.to { issues.append("\(name) does not lead to a later version.") }
            for end in [migration.from, migration.to] where !known.contains(end) {
                issues.append("\(name) names the version \(end), which is not registered.")
            }
            if !seen.insert([migration.from, migration.to]).inserted { issues.append("\(name) occurs twice.") }
            let names = migration.customMigrationSteps.map(\.name)
            for name in Set(names.filter { name in names.count { $0 == name } > 1 }).sorted() {
                issues.append("Two of its steps are called \(name) from \(migration.from) to \(migration.to).")
            }
        }
        return issues
    }

    /// The newest version.
    public var current: RegisteredVersion? { versions.last }

    /// The registered version with the given number; nil if there is none.
    public subscript(version: SemanticVersion) -> RegisteredVersion? { versions.first { $0.version == version } }

    /// The versions in the form that a container expects, oldest first, each named by its number.
    public var modelVersions: ModelVersions {
        ModelVersions(versions: versions.map(\.modelVersion), currentName: versions.last?.version.description)
    }

    /// The steps and versions in the form that the command line and a store description expect.
    public var migrationRegistry: MigrationRegistry {
        let models = modelVersions
        var registry = MigrationRegistry(models: { models })
        register(in: &registry)
        return registry
    }

    /// Adds the migrations to a registry with the app's other code.
    public func register(in registry: inout MigrationRegistry) {
        if registry.models == nil { registry.models = { [modelVersions] in modelVersions } }
        for migration in migrations {
            let name = "\(migration.from) to \(migration.to)"
            let steps = migration.customMigrationSteps.map { $0.planned(in: name) }
            let undone = migration.customMigrationSteps.filter { $0.rollback != nil }.map(\.name)
            registry.stages.append(
                RegisteredStage(
                    from: migration.from.description, to: migration.to.description, name: name,
                    sentence: migration.description,
                    undo: undone.isEmpty
                        ? nil : "The backup restores it; \(undone.joined(separator: ", ")) also roll back.",
                    after: steps))
            if let mapping = migration.mapping {
                registry.register(
                    mapping: mapping, from: migration.from.description, to: migration.to.description, named: name)
            }
            for (step, code) in zip(steps, migration.customMigrationSteps) { registry.steps[step.name] = code.code }
        }
    }
}

extension VersionRegistry {
    /// Returns the shortest sequence of migrations from one version to a later one. It uses registered migrations, and
    /// inferred ones between consecutive versions.
    ///
    /// - Returns: the migrations; an empty array if the two versions are the same.
    /// - Throws: `incompatibleVersion` if the target is earlier, or a version is not registered.
    public func path(from: SemanticVersion, to: SemanticVersion) throws -> [VersionedMigration] {
        guard let start = versions.firstIndex(where: { $0.version == from }),
            let end = versions.firstIndex(where: { $0.version == to }), start <= end
        else {
            throw incompatible(from, to)
        }
        guard start < end else { return [] }
        var best: [SemanticVersion: [VersionedMigration]] = [from: []]
        for position in (start + 1)...end {
            let (older, newer) = (versions[position - 1], versions[position])
            var arrivals = migrations.filter { $0.to == newer.version }
            if !arrivals.contains(where: { $0.from == older.version }) {
                arrivals.append(
                    VersionedMigration(
                        from: older.version, to: newer.version, type: newer.type, description: newer.description))
            }
            let ways = arrivals.compactMap { last in best[last.from].map { $0 + [last] } }
            best[newer.version] = ways.min { $0.count < $1.count }
        }
        return best[to] ?? []
    }

    /// Returns the whole migration from one version to a later one as a single migration, with the total time and all
    /// steps.
    ///
    /// - Returns: the combined migration; nil if the two versions are the same.
    /// - Throws: `incompatibleVersion` if the target is earlier, or a version is not registered.
    public func migrationPlan(from: SemanticVersion, to: SemanticVersion) throws -> VersionedMigration? {
        VersionedMigration(try path(from: from, to: to))
    }

    func incompatible(_ from: SemanticVersion, _ to: SemanticVersion) -> MigrationError {
        let names = versions.map(\.version.description).joined(separator: ", ")
        let missing = [from, to].filter { self[$0] == nil }.map(\.description)
        return MigrationError(
            .incompatibleVersion,
            missing.isEmpty
                ? "No migration leads from \(from) back to \(to)."
                : "The version \(missing.joined(separator: " and ")) is not registered.",
            place: missing.first ?? from.description,
            remedy: missing.isEmpty
                ? "Roll back to a backup of \(to), or choose a later version." : "Name one of: \(names).")
    }
}

/// The version of a store, compared with a target version.
public struct StoreVersionStatus: Sendable, Hashable {
    /// The version of the store.
    public let version: SemanticVersion
    /// The version with which it is compared.
    public let target: SemanticVersion
    /// The number of versions that the store is behind; negative if it is ahead.
    public let versionsBehind: Int
}

extension VersionRegistry {
    /// Reads the version of a store from its metadata, without modifying it, and compares it with a target version.
    ///
    /// - Parameter target: the version to compare with; nil for the newest.
    /// - Throws: `storeUnknown` if the store has no registered version; `incompatibleVersion` for a target that is not
    ///   registered; other errors for a file that is not a store.
    public func status(ofStoreAt url: URL, target: SemanticVersion? = nil) throws -> StoreVersionStatus {
        try ReadOnlyStore.read(url.path) { try status(of: StoreSnapshot($0.connection), target: target) }
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
        return StoreVersionStatus(version: version, target: goal, versionsBehind: end - position)
    }

    /// Migrates a store to a version, off the caller's thread. The migration works on a copy, which is verified and put
    /// in place in one commit.
    ///
    /// - Parameters:
    ///   - target: the target version; nil for the newest.
    ///   - stopsAtEachVersion: whether to make a backup and a commit for each version in between.
    ///   - registry: the app's other code, such as policies; it need not include the versions' own steps.
    ///   - onProgress: called often, on the migrating thread, with the completed fraction, the remaining time, and the
    ///     rows.
    /// - Returns: the migrations that have run; an empty array if the store is already at the version.
    /// - Throws: `cancelled` if the task was cancelled; `incompatibleVersion` if the store is newer than the target;
    ///   `stageFailed`, naming the step; the engine's errors. After an error, the store is unchanged.
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

    /// Migrates a store in the same way, and reports only the completed fraction, from 0 to 1, with a message after
    /// each completed step.
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

    /// Replaces a store with the newest backup of a version, after backing up its current contents.
    ///
    /// - Throws: `backupNotFound` if there is no backup of that version; `backupInvalid`, before anything is changed.
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
    /// Checks, in an app's tests, that the registered shortcuts give a store the same result as migrating version by
    /// version.
    ///
    /// - Parameter url: a store of the version at which a shortcut starts; it is not changed.
    /// - Throws: `verificationFailed`, describing the differences; `usage` if no shortcut leads from there to the
    ///   target.
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
