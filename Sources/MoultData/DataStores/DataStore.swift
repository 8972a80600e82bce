/// Keeps models in a place and a form of your own: files, a server, another database.
///
///     let container = try ModelContainer(for: Trip.self, configurations: JSONStoreConfiguration(…))
///
/// A container copies what the store gives it into memory, where contexts read it: whatever is asked of a context is
/// asked of the store first, and a save is given to the store before anything else knows of it. The container calls the
/// store from one thread at a time, while its other contexts wait: do not wait in it for another thread that may use a
/// context or a model of the container, such as the main actor. The two threads may wait for each other for ever.
public protocol DataStore: AnyObject {
    /// Describes a store of this kind.
    associatedtype Configuration: DataStoreConfiguration where Configuration.Store == Self
    /// The form in which models come and go.
    associatedtype Snapshot: DataStoreSnapshot

    var configuration: Configuration { get }
    /// The same for the same store in every process; ``PersistentIdentifier/storeIdentifier`` of its models.
    var identifier: String { get }
    /// The models that the store holds.
    var schema: Schema { get }

    /// Opens the store; one of an earlier version is brought to this one here.
    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

    /// Called when a context begins to use the store.
    func initializeState(for editingState: EditingState)
    /// Called when that context is gone.
    func invalidateState(for editingState: EditingState)

    /// The models that a request asks for, in its order. Without a predicate and a limit these are all of the class: one
    /// that is left out is taken for deleted.
    ///
    /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` for a request that
    ///   the container is to answer, out of all models of the class.
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot>
    /// Returns the number of models that a request asks for.
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int
    /// The identities of the models that a request asks for.
    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]

    /// Keeps all changes, or throws and keeps none.
    ///
    /// - Returns: the identity that the store gives each inserted model, by its temporary one: one that no other model
    ///   has.
    func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot>

    /// Deletes everything.
    func erase() throws

    /// Models that the store has at hand, out of those that others lead to. The container fetches the rest.
    func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
    /// Does nothing.
    public func initializeState(for editingState: EditingState) {}
    /// Does nothing.
    public func invalidateState(for editingState: EditingState) {}
    /// As many as ``fetch(_:)`` finds.
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try fetch(request).fetchedSnapshots.count
    }
    /// The identities of what ``fetch(_:)`` finds.
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        try fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
    }
    /// - Throws: ``DataStoreError/unsupportedFeature``.
    public func erase() throws { throw DataStoreError.unsupportedFeature }
    /// None.
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

/// A data store that keeps a history of its saves; ``ModelContext/fetchHistory(_:)`` asks it for its transactions.
public protocol HistoryProviding: DataStore {
    associatedtype HistoryType: HistoryTransaction

    func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
    func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}

/// Describes one store of a container, and says of which kind it is.
public protocol DataStoreConfiguration: Hashable {
    associatedtype Store: DataStore where Store.Configuration == Self

    var name: String { get }
    /// The models that the store holds; the container sets it to all of its own where it is nil.
    var schema: Schema? { get set }
    /// Called before the store is made.
    ///
    /// - Throws: what keeps it from being made.
    func validate() throws
}

extension DataStoreConfiguration {
    /// Nothing is checked.
    public func validate() throws {}
}

/// The values of one model as a data store keeps them.
public protocol DataStoreSnapshot: Codable, Sendable {
    /// - Parameter relatedBackingDatas: the values of other models, by their identities. The container gives none and reads
    ///   none.
    init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

    var persistentIdentifier: PersistentIdentifier { get }

    /// The same values under another identity, leading to the identities that others have now.
    func copy(
        persistentIdentifier: PersistentIdentifier, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> Self
}

/// The keys under which every snapshot encodes itself: the container reads a snapshot of a type of your own by them, with
/// values as ``DefaultSnapshot`` encodes them.
public enum DataStoreSnapshotCodingKey: CodingKey, Sendable {
    case persistentIdentifier
    /// A property, by its name.
    case modeledProperty(String)

    /// The key of that name.
    public init(stringValue: String) {
        self = stringValue == Self.identifierName ? .persistentIdentifier : .modeledProperty(stringValue)
    }
    /// Nil: snapshots have names.
    public init?(intValue: Int) { nil }

    /// `persistentIdentifier`, or the property's name.
    public var stringValue: String {
        switch self {
        case .persistentIdentifier: Self.identifierName
        case .modeledProperty(let name): name
        }
    }
    /// Nil.
    public var intValue: Int? { nil }

    private static let identifierName = "persistentIdentifier"
}

/// A reason why a data store does not do what it is asked for. The container answers a fetch in its place for the two
/// that prefer it; the others are errors of the fetch or the save.
public enum DataStoreError: Error, Hashable, Sendable {
    /// The predicate cannot be asked of the store.
    case invalidPredicate
    /// The container is to filter all models of the class.
    case preferInMemoryFilter
    /// The container is to sort all models of the class.
    case preferInMemorySort
    /// The store does not do this at all.
    case unsupportedFeature
}

// MARK: - Requests

/// A request of a context to fetch models from a data store.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
    /// The fetch of the context; one of all models of the class where unsaved changes may decide what it finds.
    public let descriptor: FetchDescriptor<T>
    /// The editing state of the context that asks.
    public let editingState: EditingState
}

/// The result of a fetch from a data store.
public struct DataStoreFetchResult<ModelType: PersistentModel, SnapshotType: DataStoreSnapshot>: Sendable {
    /// That of the request.
    public let descriptor: FetchDescriptor<ModelType>
    /// In the order that was asked for.
    public let fetchedSnapshots: [SnapshotType]
    /// Models that the found ones lead to, as far as the store has them at hand.
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
    /// New models, under temporary identities: the relationships of all snapshots may lead to these.
    public let inserted: [SnapshotType]
    /// Changed models with all their values, both ends of a relationship that changed among them; also a model whose
    /// deletion was undone after a save.
    public let updated: [SnapshotType]
    /// Deleted models, as the store gave them.
    public let deleted: [SnapshotType]
}

/// The result of saving changes to a data store.
public final class DataStoreSaveChangesResult<T: DataStoreSnapshot>: Sendable {
    /// The identifier of the store.
    public let storeIdentifier: String
    /// The identity of each inserted model by its temporary one.
    public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    /// Models that the store changed while it saved; contexts without changes of theirs show what it made of them.
    public let snapshotsToReregister: [PersistentIdentifier: T]
    /// The position of the save in the store's history; nil without one. The container does not read it.
    public let historyToken: (any HistoryToken)?

    /// Of a store with a history.
    public init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:], historyToken: (any HistoryToken)?
    ) {
        (self.storeIdentifier, self.remappedIdentifiers) = (storeIdentifier, remappedIdentifiers)
        (self.snapshotsToReregister, self.historyToken) = (snapshotsToReregister, historyToken)
    }

    /// Of a store without a history.
    public convenience init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:]
    ) {
        self.init(
            for: storeIdentifier, remappedIdentifiers: remappedIdentifiers,
            snapshotsToReregister: snapshotsToReregister, historyToken: nil)
    }
}
