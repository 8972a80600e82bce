import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan

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
        ModelVersions(
            versions: versions.map(\.modelVersion), currentName: versions.last?.version.description)
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
