import Foundation
import MoultModel

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
