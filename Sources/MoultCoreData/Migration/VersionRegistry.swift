import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore

/// Every released version of an app's data by its semantic number, and the migrations between them.
///
///     let versions = try VersionRegistry(
///         [RegisteredVersion(SemanticVersion(1, 0), model: first, description: "…"), …],
///         migrations: [VersionedMigration(from: …, to: …, type: .dataTransformation, customMigrationSteps: […], …)])
///     try await versions.migrate(storeAt: url) { fraction, message in … }
///
/// A store says itself which version it is of. Versions are never reused. The engine goes from each version to the next,
/// or by a migration that is registered across several, and all of it is one commit.
public struct VersionRegistry: Sendable {
    /// Oldest first.
    public let versions: [RegisteredVersion]
    /// The registered migrations, as they were given. Neighbours without one are migrated by inference.
    public let migrations: [VersionedMigration]

    /// - Throws: `stagesInvalid` with everything that is wrong: a number used twice or out of order, a migration that
    ///   leads nowhere or back or exists twice, steps of one name.
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

    /// The registered version of that number; nil where there is none.
    public subscript(version: SemanticVersion) -> RegisteredVersion? { versions.first { $0.version == version } }

    /// The versions as a container takes them, oldest first, each called by its number.
    public var modelVersions: ModelVersions {
        ModelVersions(versions: versions.map(\.modelVersion), currentName: versions.last?.version.description)
    }

    /// The steps and versions as the command line and a store's description take them.
    public var migrationRegistry: MigrationRegistry {
        let models = modelVersions
        var registry = MigrationRegistry(models: { models })
        register(in: &registry)
        return registry
    }

    /// Adds the migrations to a registry that holds other code of the app.
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
    /// The migrations that lead from one version to a later one: fewest first, over registered ones and neighbours, of
    /// which the rest is inferred.
    ///
    /// - Returns: none where the two are one.
    /// - Throws: `incompatibleVersion` if the way would lead back, or a version is not registered.
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

    /// The whole way from one version to a later one as one migration: its time is the sum, its steps are all steps.
    ///
    /// - Returns: nil if the two are one.
    /// - Throws: `incompatibleVersion` if the way would lead back, or a version is not registered.
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
        return StoreVersionStatus(version: version, target: goal, versionsBehind: end - position)
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
