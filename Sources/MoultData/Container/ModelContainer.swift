import Foundation
import MoultBasics
public import MoultCoreData
import MoultObjects
import MoultSession

/// A schema and the stores that hold its models.
///
///     let container = try ModelContainer(for: Note.self)
///     let context = ModelContext(container)
///
/// Making a container migrates a store of an earlier version as the plan says.
public final class ModelContainer: Sendable {
    /// The models of the container, in the version of its stores.
    public let schema: Schema
    nonisolated(unsafe) public let migrationPlan: (any SchemaMigrationPlan.Type)?
    /// The configurations of the SQLite stores: one called `default` if none were given, and none in a container for a
    /// migration's code.
    public let configurations: Set<ModelConfiguration>
    let stack: ContainerStorage
    @MainActor private var main: ModelContext?

    package var coordinator: ObjectCoordinator { stack.coordinator }

    /// - Parameter configurations: the stores; an empty list means one called `default` in the program's own folder.
    /// - Throws: a `SwiftDataError`: ``SwiftDataError/loadIssueModelContainer``, ``SwiftDataError/unknownSchema`` for a
    ///   store of unknown models, ``SwiftDataError/duplicateConfiguration`` or another error about configurations.
    public convenience init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: [ModelConfiguration]
    ) throws {
        try self.init(schema, migrationPlan, configurations) { _ in }
    }

    /// - Parameter adjust: changes the way that the stores are opened, before they are.
    package init(
        _ schema: Schema, _ migrationPlan: (any SchemaMigrationPlan.Type)?,
        _ configurations: [any DataStoreConfiguration], adjusting adjust: @escaping (inout StoreOpener) -> Void
    ) throws {
        let given = configurations.isEmpty ? [ModelConfiguration(schema: schema)] : configurations
        self.schema = schema
        self.migrationPlan = migrationPlan
        self.configurations = Set(given.compactMap { $0 as? ModelConfiguration })
        stack = try ContainerStores(schema: schema, plan: migrationPlan, configurations: given, adjusting: adjust)
            .open()
        stack.origin = (migrationPlan, self.configurations)
    }

    /// Opens the stores of a schema, like ``init(for:migrationPlan:configurations:)`` with a list of configurations.
    public convenience init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: ModelConfiguration...
    ) throws {
        try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens stores of any kind, including a ``DataStore`` of your own.
    ///
    /// - Throws: the same errors as for SQLite stores, and what making the data store throws.
    @_disfavoredOverload
    public convenience init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [any DataStoreConfiguration]
    ) throws {
        try self.init(schema, migrationPlan, configurations) { _ in }
    }

    /// Opens stores of any kind for these models and the models that they refer to.
    ///
    /// - Throws: the same errors as the initialiser that takes a schema.
    @_disfavoredOverload
    public convenience init(
        for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: any DataStoreConfiguration...
    ) throws {
        try self.init(Schema(types), migrationPlan, configurations) { _ in }
    }

    /// Opens the stores of these models and the models that they refer to.
    ///
    /// - Throws: the same errors as the initialiser that takes a schema.
    public convenience init(
        for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Creates a container over open stores.
    init(_ stack: ContainerStorage) {
        schema = stack.schema
        (migrationPlan, configurations) = stack.origin
        self.stack = stack
    }

    /// The context of the main actor. It saves automatically (``ModelContext/autosaveEnabled``) and merges what other
    /// contexts of the container save.
    @MainActor public var mainContext: ModelContext {
        if let main { return main }
        let context = ModelContext(self)
        context.becomeMain()
        main = context
        return context
    }

    /// Returns the identifier of the store that the configuration with this name opened, which is the
    /// ``PersistentIdentifier/storeIdentifier`` of its models; nil if no configuration has the name.
    public func storeIdentifier(forConfigurationNamed name: String) -> String? {
        stack.opened.first { $0.configuration == name }?.store
    }

    /// Returns the name of the configuration that opened a store; nil if no store has the identifier.
    public func configurationName(forStoreIdentifier identifier: String) -> String? {
        stack.opened.first { $0.store == identifier }?.configuration
    }

    /// Deletes every object of every store, regardless of delete rules. Models still in use keep their values but no
    /// longer belong to a context.
    public func erase() throws { try SwiftDataError.translating { try coordinator.erase() } }

    /// The same as ``erase()``, except that an error is ignored and leaves everything unchanged.
    public func deleteAllData() { try? erase() }
}

extension ModelContainer: Equatable {
    /// Returns whether both are the same container; two containers of one store are not equal.
    public static func == (left: ModelContainer, right: ModelContainer) -> Bool { left === right }
}

extension StoreLaunch {
    /// Creates the launch of the stores of a container with the same schema, plan and configurations.
    ///
    /// - Throws: what making a container throws for a schema, a plan or configurations that do not fit each other.
    public init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: ModelConfiguration...
    ) throws {
        try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
    }

    fileprivate init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)?, configurations: [ModelConfiguration]
    ) throws {
        let given = configurations.isEmpty ? [ModelConfiguration(schema: schema)] : configurations
        self = try ContainerStores(schema: schema, plan: migrationPlan, configurations: given).launch()
    }
}

/// The result of a migration with a budget.
public enum BudgetedMigration: Sendable, Hashable {
    /// The stores have the schema's version, so a container opens them at once.
    case finished
    /// The migration needs another call; make no container before it has finished. The stores are unchanged.
    ///
    /// - Parameters:
    ///   - fraction: the part of the current store's migration that is done, 0 to 1.
    ///   - startedOver: why the work of earlier calls was discarded; nil if it was kept.
    case unfinished(fraction: Double, startedOver: String?)
}

extension ModelContainer {
    /// Migrates stores for a limited time, continuing where the last call ended. Call it before you make a container
    /// with the same schema, plan and configurations.
    ///
    /// The old store stays in place until the last call replaces it, in one transaction.
    ///
    /// - Parameter budget: the time in seconds, at least as long as the longest step that cannot be interrupted.
    /// - Throws: what making a container throws; its cause is `budgetTooSmall`, with the time needed, if the budget is
    ///   too small.
    public static func migrate(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration..., budget: TimeInterval
    ) throws -> BudgetedMigration {
        let launch = try StoreLaunch(for: schema, migrationPlan: migrationPlan, configurations: configurations)
        do {
            let progress = try launch.migrate(within: budget)
            return progress.map { .unfinished(fraction: $0.fraction, startedOver: $0.startedOver) } ?? .finished
        } catch let error as MigrationError {
            throw SwiftDataError(opening: error)
        }
    }

    /// Opens a store with the newest version of a plan, making or migrating it as necessary, and reports progress.
    ///
    /// - Parameters:
    ///   - plan: the plan, which is checked first; all its faults are reported together.
    ///   - url: the store; nil for `default.store` in the program's own folder.
    ///   - isCloudKitEnabled: accepted, but without effect: see ``ModelConfiguration/CloudKitDatabase``.
    ///   - logger: receives the start and the end of a migration.
    ///   - onProgress: called often during a migration, on this thread, with the part that is done, the time left and
    ///     the rows.
    ///   - isCancelled: called often; return true to end the migration with the error `cancelled` and leave the store
    ///     unchanged.
    /// - Throws: what making a container throws.
    public static func makeContainer(
        migrationPlan plan: any SchemaMigrationPlan.Type, url: URL? = nil, isCloudKitEnabled: Bool = false,
        logger: (any MigrationLogging)? = nil, onProgress: @escaping @Sendable (MigrationProgress) -> Void,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws -> ModelContainer {
        try makeVersionedContainer(
            schema: newest(of: plan), migrationPlan: plan, url: url, isCloudKitEnabled: isCloudKitEnabled,
            logger: logger, onProgress: onProgress, isCancelled: isCancelled)
    }

    /// The same, with the models that the app works with, which must be those of a version of the plan.
    public static func makeVersionedContainer(
        schema: Schema, migrationPlan plan: any SchemaMigrationPlan.Type, url: URL? = nil,
        isCloudKitEnabled: Bool = false, logger: (any MigrationLogging)? = nil,
        onProgress: @escaping @Sendable (MigrationProgress) -> Void, isCancelled: (@Sendable () -> Bool)? = nil
    ) throws -> ModelContainer {
        let mirror: ModelConfiguration.CloudKitDatabase = isCloudKitEnabled ? .automatic : .none
        let configuration =
            url.map { ModelConfiguration(url: $0, cloudKitDatabase: mirror) }
            ?? ModelConfiguration(cloudKitDatabase: mirror)
        return try ModelContainer(schema, plan, [configuration]) { opener in
            opener.logger = logger
            opener.isCancelled = isCancelled
            opener.onProgress = onProgress
        }
    }

    private static func newest(of plan: any SchemaMigrationPlan.Type) -> Schema {
        plan.schemas.last.map { Schema(versionedSchema: $0) } ?? Schema([])
    }

    /// Opens the stores of a schema off the caller's actor, so that a migration blocks no screen. If the task is
    /// cancelled, a migration ends with the error `cancelled` and leaves the store unchanged.
    ///
    /// - Parameter onProgress: called often during a migration, on another thread.
    /// - Throws: what making a container throws.
    public static func open(
        for schema: Schema, migrationPlan plan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration..., onProgress: (@Sendable (MigrationProgress) -> Void)? = nil
    ) async throws -> ModelContainer {
        nonisolated(unsafe) let plan = plan
        return try await BlockingWork.run("ModelContainer.open") { isCancelled in
            try ModelContainer(schema, plan, configurations) { opener in
                (opener.onProgress, opener.isCancelled) = (onProgress, isCancelled)
            }
        }
    }

    // MARK: - Simpler progress

    /// The same, except that `onProgress` receives only the part that is done, 0 to 1, and a sentence about the last
    /// step.
    public static func makeContainer(
        migrationPlan plan: any SchemaMigrationPlan.Type, url: URL? = nil, isCloudKitEnabled: Bool = false,
        logger: (any MigrationLogging)? = nil, onProgress: (@Sendable (Double, String?) -> Void)? = nil,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws -> ModelContainer {
        try makeVersionedContainer(
            schema: newest(of: plan), migrationPlan: plan, url: url, isCloudKitEnabled: isCloudKitEnabled,
            logger: logger, onProgress: onProgress, isCancelled: isCancelled)
    }

    /// The same, with the models that the app works with, which must be those of a version of the plan.
    public static func makeVersionedContainer(
        schema: Schema, migrationPlan plan: any SchemaMigrationPlan.Type, url: URL? = nil,
        isCloudKitEnabled: Bool = false, logger: (any MigrationLogging)? = nil,
        onProgress: (@Sendable (Double, String?) -> Void)? = nil, isCancelled: (@Sendable () -> Bool)? = nil
    ) throws -> ModelContainer {
        try makeVersionedContainer(
            schema: schema, migrationPlan: plan, url: url, isCloudKitEnabled: isCloudKitEnabled, logger: logger,
            onProgress: { now in onProgress?(now.fractionCompleted, now.message) }, isCancelled: isCancelled)
    }
}

/// Opens a store with a version of a plan, making or migrating it as necessary.
///
/// - Parameters:
///   - url: the store; nil for `default.store` in the program's own folder.
///   - isCloudKitEnabled: accepted, but without effect: see ``ModelConfiguration/CloudKitDatabase``.
/// - Throws: what making a ``ModelContainer`` throws.
public func makeVersionedContainer(
    schema: any VersionedSchema.Type, migrationPlan: any SchemaMigrationPlan.Type, url: URL? = nil,
    isCloudKitEnabled: Bool = false
) throws -> ModelContainer {
    try SwiftDataConfiguration(schema: schema, isCloudKitEnabled: isCloudKitEnabled)
        .makeContainer(migrationPlan: migrationPlan, url: url)
}

/// The common interface to objects, for code that works with either API.
public typealias DataModel = MoultObjects.DataModel

/// The objects of one model in a container's stores.
public struct SwiftDataModel<Record: PersistentModel>: DataModel {
    /// The container whose stores hold the objects.
    public let container: ModelContainer

    /// Creates the collection of a model's objects in a container.
    public init(_ container: ModelContainer, for type: Record.Type = Record.self) { self.container = container }

    /// A fetch of every object of the model, in no particular order.
    public var all: FetchDescriptor<Record> { FetchDescriptor<Record>() }

    /// Creates a context over the container's stores.
    public func createContext() -> ModelContext { ModelContext(container) }

    /// Returns the objects that a descriptor matches.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public func fetch(_ fetch: FetchDescriptor<Record>, in context: ModelContext) throws -> [Record] {
        try context.fetch(fetch)
    }

    /// Saves a context if it has changes.
    ///
    /// - Throws: what saving a ``ModelContext`` throws.
    public func save(_ context: ModelContext) throws { if context.hasChanges { try context.save() } }
}
