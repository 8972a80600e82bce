import Foundation

/// A store that keeps models in a place and format of your own: files, a server, another database.
///
///     let container = try ModelContainer(for: Trip.self, configurations: JSONStoreConfiguration(…))
///
/// The container copies the store's objects into memory, where contexts read them. A context's requests go to the store
/// first, and so does a save. The container calls the store from one thread at a time, while its other contexts wait.
/// Do not wait in the store for another thread that may use a context or a model of the container, such as the main
/// actor: the two could wait for each other forever.
public protocol DataStore: AnyObject {
    /// The configuration type for stores of this kind.
    associatedtype Configuration: DataStoreConfiguration where Configuration.Store == Self
    /// The form in which models are exchanged with the container.
    associatedtype Snapshot: DataStoreSnapshot

    var configuration: Configuration { get }
    /// The store's identifier, the same in every process; its models have it as
    /// ``PersistentIdentifier/storeIdentifier``.
    var identifier: String { get }
    /// The models that the store holds.
    var schema: Schema { get }

    /// Opens the store. Migrate a store of an earlier version here.
    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

    /// Called when a context begins to use the store.
    func initializeState(for editingState: EditingState)
    /// Called when that context has been released.
    func invalidateState(for editingState: EditingState)

    /// Returns the models that a request matches, in its order. Without a predicate, a limit and an offset, return all
    /// models of the class: any other is considered deleted.
    ///
    /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` to have the container
    ///   answer the request from all models of the class.
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot>
    /// Returns the number of models that a request matches.
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int
    /// Returns the identities of the models that a request matches.
    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]

    /// Saves all changes, or throws and saves none.
    ///
    /// - Returns: the new identity of each inserted model, by its temporary one. No other model may have it.
    func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot>

    /// Deletes everything.
    func erase() throws

    /// Returns models that the store has at hand, among those that others refer to. The container fetches the rest.
    func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
    /// Does nothing.
    public func initializeState(for editingState: EditingState) {}
    /// Does nothing.
    public func invalidateState(for editingState: EditingState) {}
    /// Returns the number of models that ``fetch(_:)`` finds.
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try fetch(request).fetchedSnapshots.count
    }
    /// Returns the identities of the models that ``fetch(_:)`` finds.
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        try fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
    }
    /// - Throws: ``DataStoreError/unsupportedFeature``.
    public func erase() throws { throw DataStoreError.unsupportedFeature }
    /// Returns no models.
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

/// A data store that keeps a history of its saves, for ``ModelContext/fetchHistory(_:)``.
public protocol HistoryProviding: DataStore {
    associatedtype HistoryType: HistoryTransaction

    func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
    func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}

/// The configuration of one of a container's stores, which determines the kind of store.
public protocol DataStoreConfiguration: Hashable {
    associatedtype Store: DataStore where Store.Configuration == Self

    var name: String { get }
    /// The models that the store holds. If it is nil, the container sets it to its own schema.
    var schema: Schema? { get set }
    /// Called before the store is created.
    ///
    /// - Throws: an error that prevents creating the store.
    func validate() throws
}

extension DataStoreConfiguration {
    /// Does nothing.
    public func validate() throws {}
}

/// The values of one model, in the form that a data store keeps.
public protocol DataStoreSnapshot: Codable, Sendable {
    /// - Parameter relatedBackingDatas: the values of other models, by their identities. The container passes none and
    ///   reads none.
    init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

    var persistentIdentifier: PersistentIdentifier { get }

    /// Returns the same values under another identity, with relationships that refer to the new identities of others.
    func copy(
        persistentIdentifier: PersistentIdentifier, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> Self
}

/// The keys under which every snapshot encodes itself. The container uses them to read a snapshot of a custom type,
/// with values encoded as ``DefaultSnapshot`` encodes them.
public enum DataStoreSnapshotCodingKey: CodingKey, Sendable {
    case persistentIdentifier
    /// A property, by its name.
    case modeledProperty(String)

    /// Creates the key with a name.
    public init(stringValue: String) {
        self = stringValue == Self.identifierName ? .persistentIdentifier : .modeledProperty(stringValue)
    }
    /// Returns nil: snapshots have names only.
    public init?(intValue: Int) { nil }

    /// The string `persistentIdentifier`, or the property's name.
    public var stringValue: String {
        switch self {
        case .persistentIdentifier: Self.identifierName
        case .modeledProperty(let name): name
        }
    }
    /// Always nil.
    public var intValue: Int? { nil }

    private static let identifierName = "persistentIdentifier"
}

/// A reason why a data store does not carry out a request. For the two cases of in-memory evaluation the container
/// answers the fetch instead; the others are errors of the fetch or the save.
public enum DataStoreError: Error, Hashable, Sendable {
    /// The store does not support the predicate.
    case invalidPredicate
    /// The container should filter all models of the class.
    case preferInMemoryFilter
    /// The container should sort all models of the class.
    case preferInMemorySort
    /// The store does not support the request at all.
    case unsupportedFeature
}

extension DataStoreError: LocalizedError {
    /// A sentence that says what the data store does not support.
    public var errorDescription: String? {
        switch self {
        case .invalidPredicate: "The data store does not support this predicate."
        case .preferInMemoryFilter: "The data store does not filter by this predicate."
        case .preferInMemorySort: "The data store does not sort by this property."
        case .unsupportedFeature: "The data store does not support this request."
        }
    }
}

// MARK: - Requests

/// A request of a context to fetch models from a data store.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
    /// The context's fetch, or a fetch of all models of the class if unsaved changes may affect the result.
    public let descriptor: FetchDescriptor<T>
    /// The editing state of the context that makes the request.
    public let editingState: EditingState
}

/// The result of a fetch from a data store.
public struct DataStoreFetchResult<ModelType: PersistentModel, SnapshotType: DataStoreSnapshot>: Sendable {
    /// The descriptor of the request.
    public let descriptor: FetchDescriptor<ModelType>
    /// The models found, in the requested order.
    public let fetchedSnapshots: [SnapshotType]
    /// Models that the found ones refer to, if the store has them at hand.
    public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

    /// Creates the result of a fetch, with related models if the store has them at hand.
    public init(
        descriptor: FetchDescriptor<ModelType>, fetchedSnapshots: [SnapshotType],
        relatedSnapshots: [PersistentIdentifier: SnapshotType] = [:]
    ) {
        (self.descriptor, self.fetchedSnapshots) = (descriptor, fetchedSnapshots)
        self.relatedSnapshots = relatedSnapshots
    }
}

/// A request of a context to save changes to a data store.
public struct DataStoreSaveChangesRequest<SnapshotType: DataStoreSnapshot>: Sendable {
    /// The editing state of the context that saves, with its author.
    public let editingState: EditingState
    /// New models, under temporary identities, which the relationships of all snapshots may refer to.
    public let inserted: [SnapshotType]
    /// Changed models with all their values, including both ends of a changed relationship. A model whose deletion was
    /// undone after a save is among them.
    public let updated: [SnapshotType]
    /// Deleted models, as the store last provided them.
    public let deleted: [SnapshotType]
}

/// The result of saving changes to a data store.
public final class DataStoreSaveChangesResult<T: DataStoreSnapshot>: Sendable {
    /// The identifier of the store.
    public let storeIdentifier: String
    /// The new identity of each inserted model, by its temporary one.
    public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    /// Models that the store itself changed during the save. Contexts show its values unless they have changes of their
    /// own.
    public let snapshotsToReregister: [PersistentIdentifier: T]
    /// The position of the save in the store's history; nil without a history. The container does not read it.
    public let historyToken: (any HistoryToken)?

    /// Creates the result for a store with a history.
    public init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:], historyToken: (any HistoryToken)?
    ) {
        (self.storeIdentifier, self.remappedIdentifiers) = (storeIdentifier, remappedIdentifiers)
        (self.snapshotsToReregister, self.historyToken) = (snapshotsToReregister, historyToken)
    }

    /// Creates the result for a store without a history.
    public convenience init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:]
    ) {
        self.init(
            for: storeIdentifier, remappedIdentifiers: remappedIdentifiers,
            snapshotsToReregister: snapshotsToReregister, historyToken: nil)
    }
}
