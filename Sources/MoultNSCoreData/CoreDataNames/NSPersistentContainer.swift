import Foundation
import MoultCoreData
import MoultObjects
import Synchronization

/// A model, its stores and a main context.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    /// The name of the model and, by default, of the store's file.
    public let name: String
    /// The coordinator that holds the open stores.
    public let persistentStoreCoordinator: NSPersistentStoreCoordinator
    /// A context for reading.
    public let viewContext: NSManagedObjectContext
    private let descriptions: Mutex<[NSPersistentStoreDescription]>

    /// Creates a container with the model of the given name from the main bundle. Ends the program if there is none.
    public convenience init(name: String) {
        let container = orRaise("NSPersistentContainer(name: \"\(name)\")") { try PersistentContainer(name: name) }
        self.init(
            name: name,
            managedObjectModel: NSManagedObjectModel(
                container.managedObjectModel, versions: container.persistentStoreCoordinator.modelVersions))
    }

    /// Creates a container with a model.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self.name = name
        persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        viewContext = NSManagedObjectContext(.mainQueue)
        viewContext.persistentStoreCoordinator = persistentStoreCoordinator
        let url = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
        descriptions = Mutex([NSPersistentStoreDescription(url: url)])
    }

    /// Creates a container over a coordinator whose stores are open.
    init(name: String, over coordinator: NSPersistentStoreCoordinator) {
        self.name = name
        persistentStoreCoordinator = coordinator
        viewContext = NSManagedObjectContext(.mainQueue)
        viewContext.persistentStoreCoordinator = coordinator
        descriptions = Mutex([])
    }

    /// The model with which stores are opened.
    open var managedObjectModel: NSManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

    /// The stores to load.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get { descriptions.withLock { $0 } }
        set { descriptions.withLock { $0 = newValue } }
    }

    /// The default folder of stores.
    open class func defaultDirectoryURL() -> URL { PersistentContainer.defaultDirectoryURL() }

    /// Loads every described store, and calls the block once for each. Creates the folder of a store if it does not exist.
    open func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions {
            if description.type == NSSQLiteStoreType, !description.isReadOnly, let url = description.url,
                !url.isInMemory
            {
                // If it cannot be created, adding the store fails.
                try? FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            }
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
        }
    }

    /// Creates a new context for the same stores.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs a block asynchronously on another thread, with a new context.
    open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs a block off the caller's thread, with a new context.
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

/// The configuration of a store that a container opens.
open class NSPersistentStoreDescription: NSObject, NSCopying, @unchecked Sendable {
    let base: PersistentStoreDescription
    private(set) var postsRemoteChanges = false
    private var kept: [String: NSObject] = [:]

    /// Creates a description of the store at a URL. `/dev/null` means a store in memory, and `/dev/null/NAME` one that
    /// all coordinators of the process share.
    public init(url: URL) { base = PersistentStoreDescription(url: url) }

    /// Creates a description without a URL. Set ``url`` before use.
    public override init() {
        base = PersistentStoreDescription()
        base.type = .sqlite
    }

    init(_ base: PersistentStoreDescription) { self.base = base }

    /// Returns an independent description with the same properties.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreDescription(base.copy())
        (copy.postsRemoteChanges, copy.kept, copy.wantedType) = (postsRemoteChanges, kept, wantedType)
        return copy
    }

    /// The store's file.
    open var url: URL? {
        get { base.url }
        set { base.url = newValue }
    }
    /// `NSSQLiteStoreType` or `NSInMemoryStoreType`. A store of another type cannot be loaded.
    open var type: String {
        get { wantedType ?? base.type.rawValue }
        set {
            wantedType = newValue
            if let type = PersistentStore.StoreType(rawValue: newValue) { (base.type, wantedType) = (type, nil) }
        }
    }
    /// The type, if there are no stores of it.
    private var wantedType: String?
    /// The error with which loading a store of this type fails; nil for a type that exists.
    var unknownType: (any CoreDataError)? {
        wantedType.map { NSPersistentStore.StoreType(rawValue: $0).unknown }
    }
    /// The name of the configuration whose entities the store holds.
    open var configuration: String? {
        get { base.configuration }
        set { base.configuration = newValue }
    }
    /// Whether the store is opened read-only.
    open var isReadOnly: Bool {
        get { base.isReadOnly }
        set { base.isReadOnly = newValue }
    }
    /// The number of seconds to wait for another process.
    open var timeout: TimeInterval {
        get { base.timeout }
        set { base.timeout = newValue }
    }
    /// Whether the store is opened on another thread.
    open var shouldAddStoreAsynchronously: Bool {
        get { base.shouldAddStoreAsynchronously }
        set { base.shouldAddStoreAsynchronously = newValue }
    }
    /// Whether opening an older store migrates it.
    open var shouldMigrateStoreAutomatically: Bool {
        get { base.shouldMigrateStoreAutomatically }
        set { base.shouldMigrateStoreAutomatically = newValue }
    }
    /// Whether that migration may infer a mapping.
    open var shouldInferMappingModelAutomatically: Bool {
        get { base.shouldInferMappingModelAutomatically }
        set { base.shouldInferMappingModelAutomatically = newValue }
    }
    /// SQLite pragmas, by name.
    open var sqlitePragmas: [String: NSObject] { base.sqlitePragmas.mapValues { NSString(string: $0) } }
    /// Sets a pragma by name.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        base.setValue(value.map { "\($0)" }, forPragmaNamed: name)
    }
    /// The options by key.
    open var options: [String: NSObject] { kept }

    /// Sets an option. An unknown key is kept and has no effect, as in Core Data.
    open func setOption(_ option: NSObject?, forKey key: String) {
        kept[key] = option
        if key == NSPersistentStoreRemoteChangeNotificationPostOptionKey {
            postsRemoteChanges = (option as? NSNumber)?.boolValue ?? false
        } else if PersistentStoreOption.all.contains(key) {
            base.setOption(option.flatMap(storeOption), forKey: key)
        }
    }
}

/// Converts an option to the type that MoultCoreData expects.
func storeOption(_ value: Any) -> (any Sendable)? {
    switch value {
    case let manager as NSStagedMigrationManager: manager.base
    case let number as NSNumber:
        number.doubleValue == 0 || number.doubleValue == 1
            ? number.intValue as any Sendable : number.doubleValue
    case let flag as Bool: flag
    case let number as Int: number
    case let number as Double: number
    case let text as NSString: text.substring(from: 0)
    case let text as String: text
    case let texts as [String: String]: texts
    case let texts as [String]: texts
    case let texts as NSArray: texts.map { "\($0)" }
    case let texts as NSDictionary:
        texts.reduce(into: [String: String]()) { all, entry in
            if let key = entry.key as? String { all[key] = "\(entry.value)" }
        }
    default: "\(value)"
    }
}

/// One open store of a coordinator.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    let base: PersistentStore
    /// Posts remote change notifications, if the store has the option.
    var writes: WritesObservation?
    weak var coordinator: NSPersistentStoreCoordinator?
    /// The options that the store was opened with.
    open internal(set) var options: [AnyHashable: Any]?

    /// The kinds of stores.
    public struct StoreType: RawRepresentable, Sendable, Hashable {
        /// Core Data's name for the kind.
        public let rawValue: String
        /// Creates a kind from Core Data's name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A store in a SQLite file.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// A store in memory.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        /// A store in one binary file. There are no such stores: adding one throws 134000.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)

        func moult() throws -> PersistentStore.StoreType {
            if let type = PersistentStore.StoreType(rawValue: rawValue) { return type }
            throw unknown
        }

        /// The error for a kind of which there are no stores.
        var unknown: any CoreDataError { Unknown(type: rawValue) }

        private struct Unknown: CoreDataError {
            let type: String
            var coreData: (constant: String, number: Int)? {
                ("NSPersistentStoreInvalidTypeError", NSPersistentStoreInvalidTypeError)
            }
            var description: String {
                "There are no stores of type \(type). Use NSSQLiteStoreType or NSInMemoryStoreType."
            }
        }
    }

    init(_ base: PersistentStore, _ coordinator: NSPersistentStoreCoordinator) {
        self.base = base
        self.coordinator = coordinator
    }

    /// The store's file; `/dev/null` for a store in memory.
    open var url: URL? { base.url ?? .inMemory }
    /// Core Data's name for the kind of store.
    open var type: String { base.type.rawValue }
    /// The name of the configuration whose entities the store holds.
    open var configurationName: String { base.configurationName ?? "PF_DEFAULT_CONFIGURATION_NAME" }
    /// The UUID of the store.
    open var identifier: String! { base.identifier.uuidString }
    /// Whether the store was opened read-only.
    open var isReadOnly: Bool { base.isReadOnly }
    /// The coordinator in which the store is open.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? { coordinator }
    /// The metadata of the store. Setting it writes the app's own entries at once. A closed store has those that were
    /// last known.
    open var metadata: [String: Any]! {
        get { coordinator?.metadata(for: self) ?? lastMetadata }
        set {
            if let coordinator { coordinator.setMetadata(newValue, for: self) } else { lastMetadata = newValue ?? [:] }
        }
    }
    /// The metadata as they were last read or, for a store that cannot be written, set.
    var lastMetadata: [String: Any] = [:]

    /// Returns whether both are the same open store.
    open override func isEqual(_ object: Any?) -> Bool { (object as? NSPersistentStore)?.base === base }
    /// A hash of the store's identity as an object.
    open override var hash: Int { ObjectIdentifier(base).hashValue }
}
