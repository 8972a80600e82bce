import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultSession
import Synchronization

/// A model, its stores and a main context: `NSPersistentContainer`.
///
///     let container = try PersistentContainer(name: "Library")
///     try await container.loadPersistentStores()
///     let context = container.viewContext
///
/// A store with an older version of the model is migrated when it is loaded, through the versions found next to the
/// model.
open class PersistentContainer: @unchecked Sendable {
    /// The name of the model and, by default, of the store's file.
    public let name: String
    /// The coordinator that holds the open stores and serves all contexts of the container.
    public let persistentStoreCoordinator: PersistentStoreCoordinator
    /// A context for reading, on any thread. It merges the saves of other contexts if you enable that.
    public let viewContext: ManagedObjectContext
    private let descriptions: Mutex<[PersistentStoreDescription]>

    /// The model with which stores are opened, and to which they are migrated.
    public var managedObjectModel: ManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

    /// The stores to load; set them before ``loadPersistentStores()``. The default is one store, `<name>.sqlite` in
    /// ``defaultDirectoryURL()``.
    public var persistentStoreDescriptions: [PersistentStoreDescription] {
        get { descriptions.withLock { $0 } }
        set { descriptions.withLock { $0 = newValue } }
    }

    /// Creates a container with the model of the given name (`.momd`, `.xcdatamodeld`) in a bundle.
    ///
    /// - Throws: `modelNotFound` if there is none, `modelInvalid` if it cannot be read.
    public convenience init(name: String, bundle: Bundle = .main) throws {
        let folders = [bundle.resourceURL, bundle.bundleURL].compactMap(\.self)
        try self.init(
            name: name, versions: ModelVersions(contentsOf: try ModelLocation.model(named: name, in: folders)))
    }

    /// Creates a container with the model at a URL and all its versions.
    ///
    /// - Throws: `modelNotFound` if there is none, `modelInvalid` if it cannot be read.
    public convenience init(name: String, modelURL: URL) throws {
        try self.init(name: name, versions: ModelVersions(contentsOf: modelURL))
    }

    /// Creates a container with the current one of several versions. Stores with other versions are migrated.
    ///
    /// - Throws: `modelNotFound` if there are none.
    public convenience init(name: String, versions: ModelVersions) throws {
        if let fault = versions.currentFault { throw fault }
        guard let current = versions.current else {
            throw MigrationError(
                .modelNotFound, "The model \(name) has no versions.", place: name,
                remedy: "Give at least one version.")
        }
        self.init(name: name, managedObjectModel: current.model, versions: versions)
    }

    /// Creates a container with a model. A store with another version is migrated by means of the given versions, or of
    /// the model stored in it.
    public init(name: String, managedObjectModel: ManagedObjectModel, versions: ModelVersions? = nil) {
        self.name = name
        persistentStoreCoordinator = PersistentStoreCoordinator(
            managedObjectModel: managedObjectModel, versions: versions)
        viewContext = ManagedObjectContext(.mainQueue)
        viewContext.persistentStoreCoordinator = persistentStoreCoordinator
        let url = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
        descriptions = Mutex([PersistentStoreDescription(url: url)])
    }

    /// Creates a container whose stores are already open.
    init(name: String, coordinator: PersistentStoreCoordinator) {
        self.name = name
        persistentStoreCoordinator = coordinator
        viewContext = ManagedObjectContext(.mainQueue)
        viewContext.persistentStoreCoordinator = coordinator
        descriptions = Mutex([])
    }

    /// Returns the default folder for stores: a folder with the program's name in the user's application support
    /// folder.
    open class func defaultDirectoryURL() -> URL {
        let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        let base = support ?? URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent(".local/share")
        return base.appendingPathComponent(ProcessInfo.processInfo.processName)
    }

    // MARK: - Loading

    /// Loads every described store, and calls `completion` exactly once for each.
    public func loadPersistentStores(
        completionHandler completion: @escaping @Sendable (PersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions {
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: completion)
        }
    }

    /// Loads every described store, off the caller's thread. If one fails, the others stay loaded.
    ///
    /// - Throws: the first error. If there are several, its `cause` describes the others.
    public func loadPersistentStores() async throws {
        var errors: [any Error] = []
        for description in persistentStoreDescriptions {
            do {
                try await load(description)
            } catch {
                errors.append(error)
            }
        }
        guard let first = errors.first else { return }
        if var error = first as? MigrationError, errors.count > 1 {
            let others = errors.dropFirst().map { "\($0)" }.joined(separator: "; ")
            error.cause = [error.cause, "and \(others)"].compactMap(\.self).joined(separator: "; ")
            throw error
        }
        throw first
    }

    private func load(_ description: PersistentStoreDescription) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue(label: "loadPersistentStores").async { [persistentStoreCoordinator] in
                continuation.resume(with: Result { _ = try persistentStoreCoordinator.add(description) })
            }
        }
    }

    // MARK: - Contexts

    /// Creates a new context for the same stores.
    open func newBackgroundContext() -> ManagedObjectContext {
        ManagedObjectContext(persistentStoreCoordinator: persistentStoreCoordinator)
    }

    /// Runs `body` with a new context, off the caller's thread.
    public func performBackgroundTask<Value: Sendable>(
        _ body: @escaping @Sendable (ManagedObjectContext) throws -> Value
    ) async throws -> Value {
        let context = newBackgroundContext()
        return try await context.perform { try body(context) }
    }

    /// Runs `body` asynchronously on another thread, with a new context.
    public func performBackgroundTask(_ body: @escaping @Sendable (ManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { body(context) }
    }

    /// Registers the classes for the objects of their entities.
    ///
    /// - Throws: `unknownKey` if the model has no entity for the class.
    public func register(_ classes: ManagedObject.Type...) throws {
        for type in classes { try persistentStoreCoordinator.register(type) }
    }
}

/// The result of a migration call with a time budget.
public enum BudgetedMigration: Sendable, Hashable {
    /// All stores have the model's version.
    case finished
    /// More work remains. Call again, and do not load the stores until it is finished. They are unchanged so far.
    ///
    /// - Parameters:
    ///   - fraction: the completed fraction of the store being migrated, 0 to 1.
    ///   - startedOver: the reason why the work of earlier calls was discarded, such as that the app has written to the
    ///     store meanwhile; nil if it was not.
    case unfinished(fraction: Double, startedOver: String?)
}

extension PersistentContainer {
    /// Migrates the described stores within a time limit, and continues where the last call ended.
    ///
    /// If the system may kill your app because its launch takes too long, call this at each launch, or from a
    /// background task, until it is finished; then load the stores. The old store stays in place until the last call
    /// replaces it, in one transaction.
    ///
    /// - Parameter budget: the limit in seconds, at least the time of the longest part that cannot be interrupted.
    /// - Throws: `budgetTooSmall` with the required time, before any work is done; the errors of migrating a store.
    public func migrate(budget: TimeInterval) throws -> BudgetedMigration {
        BudgetedMigration(try StoreLaunch(self).migrate(within: budget))
    }
}

extension StoreLaunch {
    /// Creates the launch of the stores that a container describes, with their options, code and answers.
    ///
    /// - Throws: `usage` for an option that Moult does not know.
    public init(_ container: PersistentContainer) throws {
        self.init(
            try container.persistentStoreDescriptions.map { description in
                try StoreLoader(
                    description, model: container.managedObjectModel,
                    versions: container.persistentStoreCoordinator.modelVersions)
            })
    }
}

extension BudgetedMigration {
    /// - Parameter progress: the progress of the store that needs another call; nil if there is none.
    package init(_ progress: StoreLaunch.Progress?) {
        self = progress.map { .unfinished(fraction: $0.fraction, startedOver: $0.startedOver) } ?? .finished
    }
}

/// An interface to stored objects, for code that works with both Core Data's and SwiftData's API.
public typealias DataModel = MoultObjects.DataModel

/// The objects of one entity in a container's stores.
public struct CoreDataModel<Record: ManagedObject>: DataModel {
    /// The container whose stores hold the objects.
    public let container: PersistentContainer
    /// The entity of the objects; those of its sub-entities are included.
    public let entityName: String

    /// Creates an interface to the objects of an entity in a container.
    public init(_ container: PersistentContainer, entityName: String) {
        self.container = container
        self.entityName = entityName
    }

    /// A fetch of every object of the entity, unsorted.
    public var all: FetchRequest<Record> { FetchRequest<Record>(entityName: entityName) }

    /// Creates a background context for the container's stores.
    public func createContext() -> ManagedObjectContext { container.newBackgroundContext() }

    /// Fetches with exclusive access to the context.
    ///
    /// - Throws: the errors of ``ManagedObjectContext/fetch(_:)``.
    public func fetch(_ fetch: FetchRequest<Record>, in context: ManagedObjectContext) throws -> [Record] {
        try context.performAndWait { try context.fetch(fetch) }
    }

    /// Saves a context, with exclusive access to it, if it has changes.
    ///
    /// - Throws: the errors of ``ManagedObjectContext/save()``.
    public func save(_ context: ManagedObjectContext) throws {
        try context.performAndWait { if context.hasChanges { try context.save() } }
    }
}
