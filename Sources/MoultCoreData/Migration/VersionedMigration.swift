import Foundation
import MoultModel
import MoultObjects
import MoultPlan

/// The extent of a migration.
public enum MigrationType: String, Sendable, Hashable, Comparable, CaseIterable {
    /// Inferred schema changes: properties and entities are added, removed, renamed or made optional.
    case lightweight
    /// Changes of data: code computes new values after the schema has changed.
    case dataTransformation
    /// Structural changes: a mapping model or code splits, joins or relates entities differently.
    case heavyweight

    /// Returns whether the left type is less extensive than the right one.
    public static func < (left: MigrationType, right: MigrationType) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }

    /// The default estimate of a migration's time, in seconds.
    var usualTime: TimeInterval {
        switch self {
        case .lightweight: 30
        case .dataTransformation: 45
        case .heavyweight: 120
        }
    }
}

/// A migration from one version to a later one: its steps, its estimated time, and whether it needs a backup.
///
/// Consecutive versions without a registered migration use the inferred one. A migration that spans several versions is
/// a shortcut, which is preferred to migrating version by version. Verify it with
/// ``VersionRegistry/verifyShortcut(to:onCopyOf:)``.
public struct VersionedMigration: Sendable, CustomStringConvertible {
    /// The version of a store before the migration.
    public let from: SemanticVersion
    /// The version of a store after the migration, later than ``from``.
    public let to: SemanticVersion
    /// The extent of the migration; it also gives the default of ``estimatedTime``.
    public let type: MigrationType
    /// The estimated time in seconds. The times of a path are added up.
    public let estimatedTime: TimeInterval
    /// Whether the migration must keep a backup of the old store.
    public let backupRequired: Bool
    /// The mapping to use for each entity and property; nil for the inferred mapping.
    public let mapping: MappingModel?
    /// The app's own steps, which run in this order after the schema has changed.
    public let customMigrationSteps: [MigrationStep]
    /// A one-sentence description.
    public let description: String

    /// - Parameters:
    ///   - estimatedTime: the time in seconds; nil for the default of the type.
    ///   - backupRequired: whether to keep a backup of the old store. A run keeps no backup only if none of its
    ///     migrations requires one.
    ///   - mapping: the mapping to use instead of the inferred one, for a heavyweight migration. Whatever it omits is
    ///     completed as in Core Data. Its policies must be in the registry with which the migration runs.
    ///   - customMigrationSteps: the steps to run in order after the schema has changed.
    public init(
        from: SemanticVersion, to: SemanticVersion, type: MigrationType, estimatedTime: TimeInterval? = nil,
        backupRequired: Bool = true, mapping: MappingModel? = nil, customMigrationSteps: [MigrationStep] = [],
        description: String
    ) {
        self.from = from
        self.to = to
        self.type = type
        self.estimatedTime = estimatedTime ?? type.usualTime
        self.backupRequired = backupRequired
        self.mapping = mapping
        self.customMigrationSteps = customMigrationSteps
        self.description = description
    }

    /// Combines consecutive migrations into one. If there are several, the result has no mapping, because their
    /// mappings run one after another.
    init?(_ path: [VersionedMigration]) {
        guard let first = path.first, let last = path.last else { return nil }
        self.init(
            from: first.from, to: last.to, type: path.map(\.type).max() ?? .lightweight,
            estimatedTime: path.reduce(0) { $0 + $1.estimatedTime },
            backupRequired: path.contains(where: \.backupRequired), mapping: path.count == 1 ? first.mapping : nil,
            customMigrationSteps: path.flatMap(\.customMigrationSteps),
            description: path.map(\.description).joined(separator: " "))
    }
}

/// One step of a migration between two versions: code that changes the objects of the new version.
///
/// The code runs on a copy of the store, which is put in place after every step has succeeded, so the store itself
/// needs no rollback. Changes made elsewhere do: files, servers, preferences.
public struct MigrationStep: Sendable {
    /// A closure that changes objects. Any unsaved changes are saved when it returns.
    public typealias Code = @Sendable (ManagedObjectContext) async throws -> Void

    /// The name of the step in plans and errors; unique within its migration.
    public let name: String
    /// A sentence about what the step does.
    public let description: String
    let execute: Code
    let rollback: Code?

    /// - Parameters:
    ///   - execute: the code. If the process dies, it may run again from the start, on a copy that it has never
    ///     changed.
    ///   - rollback: undoes the step's changes outside the store, even if the step ran only in part. It is called if
    ///     the step or anything after it fails, in reverse order of the steps, and at the end of a rehearsal.
    public init(name: String, description: String, execute: @escaping Code, rollback: Code? = nil) {
        self.name = name
        self.description = description
        self.execute = execute
        self.rollback = rollback
    }

    /// Returns the step in the form of a plan.
    func planned(in migration: String) -> CodeStep {
        CodeStep(
            name: "\(migration) \(name)", sentence: description,
            undo: rollback == nil ? nil : "The step has a rollback.")
    }

    var code: StepCode {
        let execute = execute
        var code = StepCode { try Self.run(execute, on: $0.coordinator) }
        if let rollback { code.undo = { try Self.run(rollback, on: $0.coordinator) } }
        return code
    }

    private static func run(_ code: @escaping Code, on objects: ObjectCoordinator) throws {
        let context = ManagedObjectContext(persistentStoreCoordinator: try PersistentStoreCoordinator(over: objects))
        try BlockingTask.run { try await code(context) }
        try context.performAndWait { if context.hasChanges { try context.save() } }
    }
}

/// One released version of an app's data.
public struct RegisteredVersion: Sendable {
    /// The version's number, unique in a ``VersionRegistry``.
    public let version: SemanticVersion
    /// The model. Two versions may have equal models if only code changes the data between them.
    public let model: ManagedObjectModel
    /// A sentence about what is new in the version.
    public let description: String
    /// The release date as free text, such as `2025-03-01`.
    public let date: String
    /// The type of the migration from the previous version to this one.
    public let type: MigrationType

    /// Creates a released version. `type` is the type of the migration from the previous version, lightweight by
    /// default.
    public init(
        _ version: SemanticVersion, model: ManagedObjectModel, description: String, date: String = "",
        type: MigrationType = .lightweight
    ) {
        self.version = version
        self.model = model
        self.description = description
        self.date = date
        self.type = type
    }

    /// The version in the engine's form. Its number is the first version identifier of its model. The commit of a
    /// migration writes it to the store's metadata (`NSStoreModelVersionIdentifiers`).
    var modelVersion: ModelVersion {
        var model = model
        let own = model.versionIdentifiers.filter { !$0.isEmpty && $0 != version.description }
        model.versionIdentifiers = [version.description] + own
        return ModelVersion(names: [version.description], model: model)
    }
}

/// A version number such as 1.2.0. The first part changes for breaking changes, the second for additions, the third for
/// fixes.
public struct SemanticVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The first part, which changes with the meaning of the data.
    public let major: Int
    /// The second part, which changes with additions.
    public let minor: Int
    /// The third part, which changes with fixes.
    public let patch: Int

    /// Creates a version from its parts; 1.2 is 1.2.0.
    public init(_ major: Int, _ minor: Int, _ patch: Int = 0) {
        (self.major, self.minor, self.patch) = (major, minor, patch)
    }

    /// Parses `1.2.0`, or `1.2` as its short form; nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.allSatisfy(\.isNumber) ? Int(part) : nil }
        guard numbers.count == parts.count, (2...3).contains(parts.count) else { return nil }
        self.init(numbers[0], numbers[1], numbers.count > 2 ? numbers[2] : 0)
    }

    /// All three parts, such as `1.2.0`.
    public var description: String { "\(major).\(minor).\(patch)" }

    /// Returns whether the left version is earlier. The parts are compared in order.
    public static func < (left: SemanticVersion, right: SemanticVersion) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }
}
