import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultObjects
import Synchronization

/// A model, its stores and a context to begin with: `NSPersistentContainer`.
///
///     let container = try PersistentContainer(name: "Library")
///     try await container.loadPersistentStores()
///     let context = container.viewContext
///
/// A store that is behind the model is migrated when it is loaded, along the versions found beside the model.
open class PersistentContainer: @unchecked Sendable {
    /// The name of the model and, by default, of the store's file.
    public let name: String
    /// The coordinator that holds the open stores; every context of the container is over it.
    public let persistentStoreCoordinator: PersistentStoreCoordinator
    /// For reading, on whatever thread; it merges what others save if it is told to.
    public let viewContext: ManagedObjectContext
    private let descriptions: Mutex<[PersistentStoreDescription]>

    /// The model that stores are opened with, and migrated to.
    public var managedObjectModel: ManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

    /// The stores to load; set them before ``loadPersistentStores()``. By default one, `<name>.sqlite` in
    /// ``defaultDirectoryURL()``.
    public var persistentStoreDescriptions: [PersistentStoreDescription] {
        get { descriptions.withLock { $0 } }
        set { descriptions.withLock { $0 = newValue } }
    }

    /// A container of the model of that name (`.momd`, `.xcdatamodeld`) among the resources of a bundle.
    ///
    /// - Throws: `modelNotFound` if there is none, `modelInvalid` if it cannot be read.
    public convenience init(name: String, bundle: Bundle = .main) throws {
        let folders = [bundle.resourceURL, bundle.bundleURL].compactMap(\.self)
        try self.init(
            name: name, versions: ModelVersions(contentsOf: try ModelLocation.model(named: name, in: folders)))
    }

    /// A container of the model at a URL, with all its versions.
    ///
    /// - Throws: `modelNotFound` if there is none, `modelInvalid` if it cannot be read.
    public convenience init(name: String, modelURL: URL) throws {
        try self.init(name: name, versions: ModelVersions(contentsOf: modelURL))
    }

    /// A container of the current one of several versions; stores of the others are migrated.
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

    /// A container of a model. A store of another version is migrated by the versions given, or by the model that it
    /// carries.
    public init(name: String, managedObjectModel: ManagedObjectModel, versions: ModelVersions? = nil) {
        self.name = name
        persistentStoreCoordinator = PersistentStoreCoordinator(
            managedObjectModel: managedObjectModel, versions: versions)
        viewContext = ManagedObjectContext(.mainQueue)
        viewContext.persistentStoreCoordinator = persistentStoreCoordinator
        let url = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
        descriptions = Mutex([PersistentStoreDescription(url: url)])
    }

    /// A container whose stores are open already.
    init(name: String, coordinator: PersistentStoreCoordinator) {
        self.name = name
        persistentStoreCoordinator = coordinator
        viewContext = ManagedObjectContext(.mainQueue)
        viewContext.persistentStoreCoordinator = coordinator
        descriptions = Mutex([])
    }

    /// Returns the folder of stores without a location of their own: a folder with the program's name in the user's
    /// application support folder.
    open class func defaultDirectoryURL() -> URL {
        let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        let base = support ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
        return base.appendingPathComponent(ProcessInfo.processInfo.processName)
    }

    // MARK: - Loading

    /// Loads every store that is described and not loaded yet. `completion` is called exactly once for each.
    public func loadPersistentStores(
        completionHandler completion: @escaping @Sendable (PersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions {
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: completion)
        }
    }

    /// Loads every store that is described, off the caller's thread. Those that load stay loaded, should another fail.
    ///
    /// - Throws: the first error; with several, `place` and `cause` name the others.
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

    /// A context of its own over the same stores.
    open func newBackgroundContext() -> ManagedObjectContext {
        ManagedObjectContext(persistentStoreCoordinator: persistentStoreCoordinator)
    }

    /// Runs `body` with a context of its own, off the caller's thread.
    public func performBackgroundTask<Value: Sendable>(
        _ body: @escaping @Sendable (ManagedObjectContext) throws -> Value
    ) async throws -> Value {
        let context = newBackgroundContext()
        return try await context.perform { try body(context) }
    }

    /// Runs `body` with a context of its own, later and on another thread.
    public func performBackgroundTask(_ body: @escaping @Sendable (ManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { body(context) }
    }

    /// Says which class the objects of its entity have.
    ///
    /// - Throws: `unknownKey` if the model has no entity for the class.
    public func register(_ classes: ManagedObject.Type...) throws {
        for type in classes { try persistentStoreCoordinator.register(type) }
    }
}

/// The result of a migration call with a time budget.
public enum BudgetedMigration: Sendable, Hashable {
    /// The stores are of the model's version.
    case finished
    /// There is more to do: call again, and do not load the stores before. They are as they were.
    ///
    /// - Parameters:
    ///   - fraction: of the store that is being migrated, 0 to 1.
    ///   - startedOver: why the work of earlier calls was thrown away, such as that the app has written to the store in
    ///     between; nil where it was not.
    case unfinished(fraction: Double, startedOver: String?)
}

extension PersistentContainer {
    /// Migrates the described stores for at most so many seconds, and continues where the last call has ended.
    ///
    /// An app that is killed when its launch takes too long calls this at each launch, or from a background task, until
    /// it is finished, and loads its stores then. A store is the old one until the last call puts the new one in place,
    /// in one transaction.
    ///
    /// - Parameter budget: seconds; no shorter than the longest piece that cannot be interrupted.
    /// - Throws: `budgetTooSmall` with the time that is needed, before anything is done; what migrating a store throws.
    public func migrate(budget: TimeInterval) throws -> BudgetedMigration {
        try StoreLoader.migrate(
            persistentStoreDescriptions.map { description in
                try StoreLoader(
                    description, model: managedObjectModel, versions: persistentStoreCoordinator.modelVersions)
            }, within: budget)
    }
}

extension StoreLoader {
    /// Migrates stores one after the other for as long as there is time.
    ///
    /// - Parameter budget: seconds.
    package static func migrate(_ loaders: [StoreLoader], within budget: Double) throws -> BudgetedMigration {
        let system = POSIXSystem()
        let started = system.monotonicNanoseconds
        var hasMigrated = false
        for loader in loaders {
            let spent = hasMigrated ? system.seconds(since: started) : 0
            do {
                guard let report = try loader.migrate(within: budget - spent) else { continue }
                switch report.outcome {
                case .nothingToDo: continue
                case .paused: return .unfinished(fraction: report.fraction, startedOver: report.startedOver)
                case .migrated, .rehearsed: hasMigrated = true
                }
            } catch let error as MigrationError where error.code == .budgetTooSmall && hasMigrated {
                // The next call has all of its time for this store.
                return .unfinished(fraction: 0, startedOver: nil)
            }
        }
        return .finished
    }
}

/// An interface to stored objects, for code that works over either face: Core Data's or SwiftData's.
public typealias DataModel = MoultObjects.DataModel

/// The objects of one entity in a container's stores.
public struct CoreDataModel<Record: ManagedObject>: DataModel {
    /// The container whose stores hold the objects.
    public let container: PersistentContainer
    /// The entity whose objects are meant, those of its sub-entities included.
    public let entityName: String

    /// The objects of an entity in a container.
    public init(_ container: PersistentContainer, entityName: String) {
        self.container = container
        self.entityName = entityName
    }

    /// A fetch of every object of the entity, without order.
    public var all: FetchRequest<Record> { FetchRequest<Record>(entityName: entityName) }

    /// A background context of its own over the container's stores.
    public func createContext() -> ManagedObjectContext { container.newBackgroundContext() }

    /// Fetches in the context's turn.
    ///
    /// - Throws: what ``ManagedObjectContext/fetch(_:)`` throws.
    public func fetch(_ fetch: FetchRequest<Record>, in context: ManagedObjectContext) throws -> [Record] {
        try context.performAndWait { try context.fetch(fetch) }
    }

    /// Saves a context that has changes, in its turn; does nothing for one that has none.
    ///
    /// - Throws: what ``ManagedObjectContext/save()`` throws.
    public func save(_ context: ManagedObjectContext) throws {
        try context.performAndWait { if context.hasChanges { try context.save() } }
    }
}
