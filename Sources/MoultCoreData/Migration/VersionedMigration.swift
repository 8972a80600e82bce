import Foundation
import MoultModel
import MoultObjects
import MoultPlan

/// The extent of a migration.
public enum MigrationType: String, Sendable, Hashable, Comparable, CaseIterable {
    /// The schema changes by inference: properties and entities are added, removed, renamed, made optional.
    case lightweight
    /// Code computes what the new version holds, after its schema has changed.
    case dataTransformation
    /// The structure changes: entities are split, joined, related otherwise, by a mapping model or by code.
    case heavyweight

    /// Whether the left type does less than the right one.
    public static func < (left: MigrationType, right: MigrationType) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }

    /// Seconds that a migration takes of which nobody said how long it takes.
    var usualTime: TimeInterval {
        switch self {
        case .lightweight: 30
        case .dataTransformation: 45
        case .heavyweight: 120
        }
    }
}

/// A migration from one version to a later one: its steps, how long it takes, and whether a backup is made.
///
/// Between neighbours that nobody registered a migration for, the inferred one is taken. One that spans several
/// versions is a shortcut, which is preferred to walking: prove it with ``VersionRegistry/verifyShortcut(to:onCopyOf:)``.
public struct VersionedMigration: Sendable, CustomStringConvertible {
    /// The version of a store before the migration.
    public let from: SemanticVersion
    /// The version of a store after the migration, later than ``from``.
    public let to: SemanticVersion
    /// The extent of the migration; it also gives the default of ``estimatedTime``.
    public let type: MigrationType
    /// Seconds; over a path they add up.
    public let estimatedTime: TimeInterval
    /// Whether the migration must keep a backup of the old store.
    public let backupRequired: Bool
    /// The mapping of each entity and property, instead of the inferred one; nil for the inferred mapping.
    public let mapping: MappingModel?
    /// The app's own steps, which run in this order when the schema has changed.
    public let customMigrationSteps: [MigrationStep]
    /// In one sentence.
    public let description: String

    /// - Parameters:
    ///   - estimatedTime: seconds; nil for what a migration of the type usually takes.
    ///   - backupRequired: whether the store before is kept; only a migration none of whose parts requires it keeps none.
    ///   - mapping: followed instead of what would be inferred, as a heavyweight migration needs it. What it leaves
    ///     out is completed as Core Data would; its policies are in the registry that the migration is run with.
    ///   - customMigrationSteps: run in order when the schema has changed.
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

    /// Several that follow each other, as one; mappings follow each other too, and are no one mapping.
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
/// It runs on a copy of the store, which is put in place when every step has gone well; the store itself needs no
/// rollback. What the code does elsewhere does: files, servers, preferences.
public struct MigrationStep: Sendable {
    /// Changes objects; what it has not saved when it returns is saved for it.
    public typealias Code = @Sendable (ManagedObjectContext) async throws -> Void

    /// The name of the step in plans and errors; unique within its migration.
    public let name: String
    /// A sentence that says what the step does.
    public let description: String
    let execute: Code
    let rollback: Code?

    /// - Parameters:
    ///   - execute: may run again from the start, after the process died, on a copy that it has never changed.
    ///   - rollback: takes back what the step did outside of the store, also where it did a part of it only. Called
    ///     when the step or anything after it fails, the last step first, and at the end of a rehearsal.
    public init(name: String, description: String, execute: @escaping Code, rollback: Code? = nil) {
        self.name = name
        self.description = description
        self.execute = execute
        self.rollback = rollback
    }

    /// The step as a plan names it.
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
    /// Two versions may have equal models, where only code changes the data between them.
    public let model: ManagedObjectModel
    /// A sentence that says what is new in the version.
    public let description: String
    /// When it was released, such as `2025-03-01`; free text.
    public let date: String
    /// The type of the migration that makes a store of the version before one of this.
    public let type: MigrationType

    /// A released version; `type` says how a store of the version before becomes one of this, by inference unless
    /// given.
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

    /// The version as the engine knows it. Its number is the first identifier of its model, which a migration writes
    /// into the store's own metadata (`NSStoreModelVersionIdentifiers`) in the commit that makes the store one of it.
    var modelVersion: ModelVersion {
        var model = model
        let own = model.versionIdentifiers.filter { !$0.isEmpty && $0 != version.description }
        model.versionIdentifiers = [version.description] + own
        return ModelVersion(names: [version.description], model: model)
    }
}

/// A version by number, such as 1.2.0: a change of the first breaks, of the second adds, of the third repairs.
public struct SemanticVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The first number, which changes with the meaning of the data.
    public let major: Int
    /// The second number, which changes with additions.
    public let minor: Int
    /// The third number, which changes with repairs.
    public let patch: Int

    /// A version of these numbers; 1.2 is 1.2.0.
    public init(_ major: Int, _ minor: Int, _ patch: Int = 0) {
        (self.major, self.minor, self.patch) = (major, minor, patch)
    }

    /// Reads `1.2.0`, or `1.2` for it; nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.allSatisfy(\.isNumber) ? Int(part) : nil }
        guard numbers.count == parts.count, (2...3).contains(parts.count) else { return nil }
        self.init(numbers[0], numbers[1], numbers.count > 2 ? numbers[2] : 0)
    }

    /// All three numbers, such as `1.2.0`.
    public var description: String { "\(major).\(minor).\(patch)" }

    /// Whether the left version is earlier; numbers are compared one after the other.
    public static func < (left: SemanticVersion, right: SemanticVersion) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }
}
