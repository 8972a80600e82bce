import Synchronization

/// One part of a way from version to version: `NSMigrationStage`. See ``LightweightMigrationStage`` and
/// ``CustomMigrationStage``.
public class MigrationStage: @unchecked Sendable {
    private let name = Mutex<String?>(nil)

    init() {}

    /// The name of the stage in plans, progress and errors.
    public var label: String? {
        get { name.withLock { $0 } }
        set { name.withLock { $0 = newValue } }
    }
}

/// Versions that follow each other by inferred mappings: `NSLightweightMigrationStage`.
public final class LightweightMigrationStage: MigrationStage, @unchecked Sendable {
    /// Oldest first, each as `ManagedObjectModel.versionChecksum` gives it.
    public let versionChecksums: [String]

    /// - Parameter versionChecksums: of the versions that the stage goes through, oldest first.
    public init(_ versionChecksums: [String]) { self.versionChecksums = versionChecksums }
}
