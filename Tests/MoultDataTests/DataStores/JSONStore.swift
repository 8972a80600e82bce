import Foundation
import MoultData

/// A store that keeps everything in one file of JSON, as Apple's example of a data store does.
final class JSONStoreConfiguration: DataStoreConfiguration {
    typealias Store = JSONStore

    let name: String
    var schema: Schema?
    let fileURL: URL

    init(name: String = "json", schema: Schema? = nil, fileURL: URL) {
        self.name = name
        self.schema = schema
        self.fileURL = fileURL
    }

    static func == (left: JSONStoreConfiguration, right: JSONStoreConfiguration) -> Bool {
        left.name == right.name && left.fileURL == right.fileURL
    }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

final class JSONStore: DataStore {
    typealias Configuration = JSONStoreConfiguration
    typealias Snapshot = DefaultSnapshot

    let configuration: JSONStoreConfiguration
    let schema: Schema
    let identifier: String
    /// Spoils a save or its result.
    nonisolated(unsafe) static var spoiling: ((DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> Bool)?

    init(_ configuration: JSONStoreConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        schema = configuration.schema!
        identifier = configuration.fileURL.path
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        let names = family(schema.entity(for: T.self))
        let found = try read().values.filter { names.contains($0.persistentIdentifier.entityName) }
        let sorted = found.sorted { $0.persistentIdentifier < $1.persistentIdentifier }
        let rest = sorted.dropFirst(request.descriptor.fetchOffset ?? 0)
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: Array(rest.prefix(request.descriptor.fetchLimit ?? .max)))
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        if try Self.spoiling?(request) ?? false { return DataStoreSaveChangesResult(for: identifier) }
        var snapshots = try read()
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            let temporary = snapshot.persistentIdentifier
            remapped[temporary] = try .identifier(
                for: identifier, entityName: temporary.entityName, primaryKey: UUID())
        }
        for snapshot in request.inserted + request.updated {
            let id = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            snapshots[id] = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: remapped)
        }
        for snapshot in request.deleted { snapshots[snapshot.persistentIdentifier] = nil }
        try write(snapshots)
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
    }

    func erase() throws { try write([:]) }

    private func family(_ entity: Schema.Entity?) -> Set<String> {
        guard let entity else { return [] }
        return entity.subentities.reduce(into: [entity.name]) { $0.formUnion(family($1)) }
    }

    private func read() throws -> [PersistentIdentifier: DefaultSnapshot] {
        guard FileManager.default.fileExists(atPath: configuration.fileURL.path) else { return [:] }
        let found = try JSONDecoder().decode([DefaultSnapshot].self, from: Data(contentsOf: configuration.fileURL))
        return Dictionary(found.map { ($0.persistentIdentifier, $0) }) { first, _ in first }
    }

    private func write(_ snapshots: [PersistentIdentifier: DefaultSnapshot]) throws {
        let sorted = snapshots.values.sorted { $0.persistentIdentifier < $1.persistentIdentifier }
        try JSONEncoder().encode(sorted).write(to: configuration.fileURL, options: .atomic)
    }
}

/// A store that keeps its models in a SQLite store of its own, and counts what it is asked for.
struct CountingConfiguration: DataStoreConfiguration {
    typealias Store = CountingStore

    var inner: ModelConfiguration
    var name: String { inner.name }
    var schema: Schema? {
        get { inner.schema }
        set { inner.schema = newValue }
    }
}

final class CountingStore: DataStore, HistoryProviding {
    let configuration: CountingConfiguration
    let inner: DefaultStore
    nonisolated(unsafe) static var states: Set<ObjectIdentifier> = []
    var schema: Schema { inner.schema }
    var identifier: String { inner.identifier }

    init(_ configuration: CountingConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        inner = try DefaultStore(configuration.inner, migrationPlan: migrationPlan)
    }

    func initializeState(for editingState: EditingState) { Self.states.insert(editingState.id) }
    func invalidateState(for editingState: EditingState) { Self.states.remove(editingState.id) }
    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try inner.fetch(request) }
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try inner.fetchCount(request)
    }
    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try inner.save(request) }
    func erase() throws { try inner.erase() }
    func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        try inner.cachedSnapshots(for: persistentIdentifiers, editingState: editingState)
    }
    func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] { try inner.fetchHistory(descriptor) }
    func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        try inner.deleteHistory(descriptor)
    }
}

/// A store in memory whose snapshots are of a type of its own.
final class OwnSnapshotConfiguration: DataStoreConfiguration {
    typealias Store = OwnSnapshotStore

    var name: String { "own" }
    var schema: Schema?
    var kept: [PersistentIdentifier: OwnSnapshot] = [:]

    static func == (left: OwnSnapshotConfiguration, right: OwnSnapshotConfiguration) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The values as text, in the order of their names.
struct OwnSnapshot: DataStoreSnapshot {
    let persistentIdentifier: PersistentIdentifier
    var json: Data

    init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]) {
        let snapshot = DefaultSnapshot(from: backingData, relatedBackingDatas: &relatedBackingDatas)
        persistentIdentifier = snapshot.persistentIdentifier
        json = (try? JSONEncoder().encode(snapshot)) ?? Data()
    }

    init(from decoder: any Decoder) throws {
        let snapshot = try DefaultSnapshot(from: decoder)
        persistentIdentifier = snapshot.persistentIdentifier
        json = try JSONEncoder().encode(snapshot)
    }

    func encode(to encoder: any Encoder) throws {
        try JSONDecoder().decode(DefaultSnapshot.self, from: json).copy(persistentIdentifier: persistentIdentifier)
            .encode(to: encoder)
    }

    func copy(
        persistentIdentifier: PersistentIdentifier, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> OwnSnapshot {
        var copy = self
        if let snapshot = try? JSONDecoder().decode(DefaultSnapshot.self, from: json),
            let data = try? JSONEncoder().encode(
                snapshot.copy(persistentIdentifier: persistentIdentifier, remappedIdentifiers: remappedIdentifiers))
        {
            copy = OwnSnapshot(persistentIdentifier, data)
        }
        return copy
    }

    private init(_ persistentIdentifier: PersistentIdentifier, _ json: Data) {
        self.persistentIdentifier = persistentIdentifier
        self.json = json
    }
}

final class OwnSnapshotStore: DataStore {
    typealias Snapshot = OwnSnapshot

    let configuration: OwnSnapshotConfiguration
    let schema: Schema
    let identifier = "own"

    init(_ configuration: OwnSnapshotConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        schema = configuration.schema ?? Schema([])
    }

    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, OwnSnapshot> {
        let name = Schema.entityName(for: T.self)
        return DataStoreFetchResult(
            descriptor: request.descriptor,
            fetchedSnapshots: configuration.kept.values.filter { $0.persistentIdentifier.entityName == name })
    }

    /// The first key of each save is that of its place among all.
    func save(
        _ request: DataStoreSaveChangesRequest<OwnSnapshot>
    ) throws -> DataStoreSaveChangesResult<OwnSnapshot> {
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for (number, snapshot) in request.inserted.enumerated() {
            let old = snapshot.persistentIdentifier
            remapped[old] = try .identifier(
                for: identifier, entityName: old.entityName, primaryKey: configuration.kept.count + number + 1)
        }
        for snapshot in request.inserted + request.updated {
            let id = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            configuration.kept[id] = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: remapped)
        }
        for snapshot in request.deleted { configuration.kept[snapshot.persistentIdentifier] = nil }
        return DataStoreSaveChangesResult(
            for: identifier, remappedIdentifiers: remapped, snapshotsToReregister: configuration.kept)
    }
}
