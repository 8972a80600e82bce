import Foundation
import MoultCoreData
import Synchronization

/// A model, its stores and a context to begin with.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    /// The name of the model and, by default, of the store's file.
    public let name: String
    /// The coordinator that holds the open stores.
    public let persistentStoreCoordinator: NSPersistentStoreCoordinator
    /// A context for reading.
    public let viewContext: NSManagedObjectContext
    private let descriptions: Mutex<[NSPersistentStoreDescription]>

    /// A container of the model of that name among the resources of the main bundle. Ends the program if there is none.
    public convenience init(name: String) {
        let container = orRaise("NSPersistentContainer(name: \"\(name)\")") { try PersistentContainer(name: name) }
        self.init(
            name: name,
            managedObjectModel: NSManagedObjectModel(
                container.managedObjectModel, versions: container.persistentStoreCoordinator.versionsOfModel))
    }

    /// A container of a model.
    public convenience init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self.init(name: name, coordinator: NSPersistentStoreCoordinator(managedObjectModel: model))
        let url = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
        descriptions.withLock { $0 = [NSPersistentStoreDescription(url: url)] }
    }

    init(name: String, coordinator: NSPersistentStoreCoordinator) {
        self.name = name
        persistentStoreCoordinator = coordinator
        viewContext = NSManagedObjectContext(.mainQueue)
        viewContext.persistentStoreCoordinator = coordinator
        descriptions = Mutex([])
    }

    /// The model that stores are opened with.
    open var managedObjectModel: NSManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

    /// The stores to load.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get { descriptions.withLock { $0 } }
        set { descriptions.withLock { $0 = newValue } }
    }

    /// The default folder of stores.
    open class func defaultDirectoryURL() -> URL { PersistentContainer.defaultDirectoryURL() }

    /// Loads every store that is described. The block is called once for each.
    open func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let folder = Self.defaultDirectoryURL()
        for description in persistentStoreDescriptions {
            if description.type == NSSQLiteStoreType,
                description.url?.deletingLastPathComponent().standardizedFileURL == folder.standardizedFileURL
            {
                try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            }
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
        }
    }

    /// A context of its own over the same stores.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs a block with a context of its own, later and on another thread.
    open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs a block with a context of its own, off the caller's thread.
    open func performBackgroundTask<Result, Failure: Error>(
        _ block: @escaping (NSManagedObjectContext) throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let context = newBackgroundContext()
        return try await context.perform { () throws(Failure) -> Result in try block(context) }
    }
}

/// Unavailable: there is no CloudKit on Linux.
@available(*, unavailable, message: "there is no CloudKit on Linux; use NSPersistentContainer over the same store")
open class NSPersistentCloudKitContainer: NSPersistentContainer, @unchecked Sendable {}

/// Unavailable: there is no Spotlight on Linux.
@available(*, unavailable, message: "there is no Spotlight on Linux")
open class NSCoreDataCoreSpotlightDelegate: NSObject {}

/// Unavailable: stores are SQLite files or in memory.
@available(*, unavailable, message: "stores are SQLite files or in memory")
open class NSIncrementalStore: NSObject {}

/// Unavailable: stores are SQLite files or in memory.
@available(*, unavailable, message: "stores are SQLite files or in memory")
open class NSAtomicStore: NSObject {}
