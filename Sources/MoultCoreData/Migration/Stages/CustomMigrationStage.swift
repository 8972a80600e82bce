import Synchronization

/// An edge with code before and after its inferred mapping: `NSCustomMigrationStage`.
///
/// Use it for what inference cannot do and needs the whole store: to move an attribute into an entity of its own, to
/// recompute a total, to merge objects. The code works with untyped objects of just that version, on a copy: the store
/// sees one commit when everything has gone well. It may run again from the start, after a process died, on a store
/// that has never seen it.
public final class CustomMigrationStage: MigrationStage, @unchecked Sendable {
    /// Changes the objects of the store by the manager's ``StagedMigrationManager/container``; what it has not saved
    /// when it returns is lost, as in Core Data.
    public typealias Handler = @Sendable (StagedMigrationManager, CustomMigrationStage) throws -> Void

    /// The version that the stage starts from, which ``willMigrateHandler`` sees.
    public let currentModel: ManagedObjectModelReference
    /// The version that the stage leads to, which ``didMigrateHandler`` sees.
    public let nextModel: ManagedObjectModelReference
    private let handlers = Mutex<(will: Handler?, did: Handler?)>((nil, nil))

    /// A stage between two versions, without handlers yet. Whether they follow each other is checked when a store is
    /// opened.
    public init(migratingFrom currentModel: ManagedObjectModelReference, to nextModel: ManagedObjectModelReference) {
        self.currentModel = currentModel
        self.nextModel = nextModel
    }

    /// Runs on the store of the current version, before it is changed.
    public var willMigrateHandler: Handler? {
        get { handlers.withLock { $0.will } }
        set { handlers.withLock { $0.will = newValue } }
    }

    /// Runs on the store of the next version.
    public var didMigrateHandler: Handler? {
        get { handlers.withLock { $0.did } }
        set { handlers.withLock { $0.did = newValue } }
    }
}
