import Foundation
internal import MoultCoreData
import MoultObjects

/// A schema and the stores that hold its models.
///
///     let container = try ModelContainer(for: Note.self)
///     let context = ModelContext(container)
///
/// A store that is behind is migrated as the plan says, before the container is there.
public final class ModelContainer: Sendable {
    /// The models that the container was made for, in the version that its stores have.
    public let schema: Schema
    nonisolated(unsafe) public let migrationPlan: (any SchemaMigrationPlan.Type)?
    /// The configurations of the SQLite stores: one called `default` where none were given, none in the container of a
    /// migration's code.
    public let configurations: Set<ModelConfiguration>
    let stack: ModelStack
    @MainActor private var main: ModelContext?

    package var coordinator: ObjectCoordinator { stack.coordinator }

    /// - Parameter configurations: the stores; none means one called `default` in the program's own folder.
    /// - Throws: `SwiftDataError` with its name for it: ``SwiftDataError/loadIssueModelContainer``,
    ///   ``SwiftDataError/unknownSchema`` for a store of models that are not known here,
    ///   ``SwiftDataError/duplicateConfiguration`` and the others of configurations.
    public convenience init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: [ModelConfiguration]
    ) throws {
        try self.init(schema, migrationPlan, configurations) { _ in }
    }

    /// - Parameter adjust: has a last word about how the stores are opened.
    init(
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

    /// Opens the stores of a schema, as ``init(for:migrationPlan:configurations:)`` with a list of configurations does.
    public convenience init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: ModelConfiguration...
    ) throws {
        try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens stores of any kind, among them a ``DataStore`` of your own.
    ///
    /// - Throws: as with configurations of SQLite stores; what making the data store throws.
    @_disfavoredOverload
    public convenience init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [any DataStoreConfiguration]
    ) throws {
        try self.init(schema, migrationPlan, configurations) { _ in }
    }

    /// Opens stores of any kind for these models and those that they lead to.
    ///
    /// - Throws: as the initialiser that takes a schema.
    @_disfavoredOverload
    public convenience init(
        for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: any DataStoreConfiguration...
    ) throws {
        try self.init(Schema(types), migrationPlan, configurations) { _ in }
    }

    /// Opens the stores of these models and of those that they lead to.
    ///
    /// - Throws: as the initialiser that takes a schema.
    public convenience init(
        for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
    }

    /// A container over stores that are open already.
    init(_ stack: ModelStack) {
        schema = stack.schema
        (migrationPlan, configurations) = stack.origin
        self.stack = stack
    }

    /// The context of the main actor. It saves by itself (``ModelContext/autosaveEnabled``) and takes in what others
    /// of this container save.
    @MainActor public var mainContext: ModelContext {
        if let main { return main }
        let context = ModelContext(self)
        context.becomeMain()
        main = context
        return context
    }

    /// The identifier of the store that a configuration of this name opened: what ``PersistentIdentifier/storeIdentifier``
    /// of its models is. Nil for a name that no configuration has.
    public func storeIdentifier(forConfigurationNamed name: String) -> String? {
        stack.opened.first { $0.configuration == name }?.store
    }

    /// The name of the configuration that opened a store; nil for an identifier that no store has.
    public func configurationName(forStoreIdentifier identifier: String) -> String? {
        stack.opened.first { $0.store == identifier }?.configuration
    }

    /// Deletes every object of every store, whatever the delete rules. Models that somebody has keep what they hold, and
    /// belong to no context any more.
    public func erase() throws { try SwiftDataError.translating { try coordinator.erase() } }

    /// As ``erase()``; an error leaves everything as it is.
    public func deleteAllData() { try? erase() }
}

extension ModelContainer: Equatable {
    /// Whether both are the same container; two containers of one store are not equal.
    public static func == (left: ModelContainer, right: ModelContainer) -> Bool { left === right }
}

/// The result of a migration with a budget.
public enum BudgetedMigration: Sendable, Hashable {
    /// The stores are of the schema's version; a container opens them at once.
    case finished
    /// There is more to do: call again, and make no container before. The stores are as they were.
    ///
    /// - Parameters:
    ///   - fraction: of the store that is being migrated, 0 to 1.
    ///   - startedOver: why the work of earlier calls was discarded; nil if it was not.
    case unfinished(fraction: Double, startedOver: String?)
}

extension ModelContainer {
    /// Migrates stores for at most so many seconds, and continues where the last call has ended; made before a
    /// container of the same schema, plan and configurations.
    ///
    /// A store is the old one until the last call puts the new one in place, in one transaction.
    ///
    /// - Parameter budget: seconds; no shorter than the longest piece that cannot be interrupted.
    /// - Throws: what making a container throws; `budgetTooSmall` as its cause with the time that is needed.
    public static func migrate(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration..., budget: TimeInterval
    ) throws -> BudgetedMigration {
        let given = configurations.isEmpty ? [ModelConfiguration(schema: schema)] : configurations
        let stores = ContainerStores(schema: schema, plan: migrationPlan, configurations: given)
        return switch try stores.migrate(within: budget) {
        case .finished: .finished
        case .unfinished(let fraction, let startedOver): .unfinished(fraction: fraction, startedOver: startedOver)
        }
    }

    /// Opens a store with the newest version of a plan: makes it, or migrates it, and says how that goes.
    ///
    /// - Parameters:
    ///   - plan: checked first, with every fault told at once.
    ///   - url: nil for `default.store` in the program's own folder.
    ///   - isCloudKitEnabled: accepted, and without effect: see ``ModelConfiguration/CloudKitDatabase``.
    ///   - logger: told of a migration's start and end.
    ///   - onProgress: told often while the store is migrated, on this thread: the part that is done, the time left, the
    ///     rows.
    ///   - isCancelled: asked often; true ends a migration with the error `cancelled`, and the store as it was.
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

    /// The same, with the models that the app works with; they must be those of a version of the plan.
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

    // MARK: - Told less

    /// The same, told only the part that is done, 0 to 1, and what has just been done, in one sentence.
    public static func makeContainer(
        migrationPlan plan: any SchemaMigrationPlan.Type, url: URL? = nil, isCloudKitEnabled: Bool = false,
        logger: (any MigrationLogging)? = nil, onProgress: (@Sendable (Double, String?) -> Void)? = nil,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws -> ModelContainer {
        try makeVersionedContainer(
            schema: newest(of: plan), migrationPlan: plan, url: url, isCloudKitEnabled: isCloudKitEnabled,
            logger: logger, onProgress: onProgress, isCancelled: isCancelled)
    }

    /// The same, with the models that the app works with; they must be those of a version of the plan.
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

/// Opens a store with a version of a plan: makes it, or migrates it.
///
/// - Parameters:
///   - url: nil for `default.store` in the program's own folder.
///   - isCloudKitEnabled: accepted, and without effect: see ``ModelConfiguration/CloudKitDatabase``.
/// - Throws: what making a ``ModelContainer`` throws.
public func makeVersionedContainer(
    schema: any VersionedSchema.Type, migrationPlan: any SchemaMigrationPlan.Type, url: URL? = nil,
    isCloudKitEnabled: Bool = false
) throws -> ModelContainer {
    try SwiftDataConfiguration(schema: schema, isCloudKitEnabled: isCloudKitEnabled)
        .makeContainer(migrationPlan: migrationPlan, url: url)
}

/// The common interface to objects, for code that works over either face.
public typealias DataModel = MoultObjects.DataModel

/// The objects of one model in a container's stores.
public struct SwiftDataModel<Record: PersistentModel>: DataModel {
    /// The container whose stores hold the objects.
    public let container: ModelContainer

    /// The objects of a model in a container.
    public init(_ container: ModelContainer, for type: Record.Type = Record.self) { self.container = container }

    /// A fetch of every object of the model, without order.
    public var all: FetchDescriptor<Record> { FetchDescriptor<Record>() }

    /// A context of its own over the container's stores.
    public func createContext() -> ModelContext { ModelContext(container) }

    /// The objects that a descriptor asks for.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public func fetch(_ fetch: FetchDescriptor<Record>, in context: ModelContext) throws -> [Record] {
        try context.fetch(fetch)
    }

    /// Saves a context that has changes; does nothing for one that has none.
    ///
    /// - Throws: what saving a ``ModelContext`` throws.
    public func save(_ context: ModelContext) throws { if context.hasChanges { try context.save() } }
}
