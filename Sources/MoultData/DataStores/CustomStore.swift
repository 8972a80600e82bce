import Foundation
import MoultBasics
import MoultModel
import MoultObjects

/// A custom data store, whose rows are copied into an in-memory store for contexts to read.
protocol CustomStore: RowOwner {
    /// The identifier of the in-memory store.
    var identifier: UUID { get }
    /// Copies the objects that the store finds.
    ///
    /// - Returns: the identities of the objects found, in the store's order; nil if the store leaves the fetch to the
    ///   copy, which then has every object of the class.
    func fetch<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, for context: ObjectContext
    ) throws -> [ObjectID]?
    /// Returns the count; nil if the store leaves the fetch to the copy.
    func count<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>, for context: ObjectContext) throws -> Int?
    /// Copies the objects that have not been copied yet, if the store has them.
    func copy(_ ids: [ObjectID], for context: ObjectContext) throws
    /// Copies all objects of the classes whose unique values a save must not repeat.
    func copyUnique(_ entityNames: Set<String>, for context: ObjectContext) throws
    /// Returns the identities; nil if the store leaves the fetch to the copy.
    func identifiers<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, for context: ObjectContext
    ) throws -> [PersistentIdentifier]?
    /// Copies the objects that the store itself has changed during the save.
    func copyReregistered(for context: ObjectContext) throws
    func begin(_ state: EditingState)
    func end(_ state: EditingState)
    /// Returns the history; nil for a transaction type that is not the store's.
    func history<Transaction: HistoryTransaction>(_ descriptor: HistoryDescriptor<Transaction>) throws -> [Transaction]?
    /// - Returns: whether the transaction type is the store's.
    func deleteHistory<Transaction: HistoryTransaction>(_ descriptor: HistoryDescriptor<Transaction>) throws -> Bool
}

/// An adapter between the contexts of a container and a data store. It is used under the coordinator's lock.
final class DataStoreCopy<Store: DataStore>: CustomStore {
    private let store: Store
    private let schema: Schema
    let identifier: UUID
    /// The copied snapshots, by identity.
    private var known: [ObjectID: DefaultSnapshot] = [:]
    private var reregistered: [Store.Snapshot] = []
    /// The snapshots of the current save; nil for an object that it deletes.
    private var saved: [ObjectID: DefaultSnapshot?] = [:]
    /// The error that left the store with changes unknown to contexts; nil if there is none.
    private var broken: MigrationError?

    init(_ store: Store, schema: Schema) {
        self.store = store
        self.schema = schema
        identifier = CustomIdentities.shared.store(store.identifier)
    }

    func begin(_ state: EditingState) { store.initializeState(for: state) }
    func end(_ state: EditingState) { store.invalidateState(for: state) }

    /// Runs code of the store, with the schema's classes available for decoding snapshots.
    private func asking<Result>(_ body: () throws -> Result) rethrows -> Result {
        try SnapshotClasses.$schema.withValue(schema) { try body() }
    }

    // MARK: - Reading

    func fetch<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, for context: ObjectContext
    ) throws -> [ObjectID]? {
        let request = request(descriptor, context)
        guard let found = try unlessPreferred({ try store.fetch(request) }) else {
            guard descriptor.predicate != nil || !descriptor.sortBy.isEmpty else {
                throw fault(
                    "does not answer a fetch without a predicate and an order",
                    "Have fetch(_:) return all models of the class for it.")
            }
            try copyAll(Model.self, for: context)
            return nil
        }
        let isWhole = descriptor.predicate == nil && descriptor.fetchLimit == nil && descriptor.fetchOffset == nil
        return try take(
            found.fetchedSnapshots, Array(found.relatedSnapshots.values), allOf: isWhole ? Model.self : nil,
            for: context)
    }

    func count<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, for context: ObjectContext
    ) throws -> Int? {
        try unlessPreferred { try store.fetchCount(request(descriptor, context)) }
    }

    func identifiers<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, for context: ObjectContext
    ) throws -> [PersistentIdentifier]? {
        try unlessPreferred { try store.fetchIdentifiers(request(descriptor, context)) }
    }

    private func request<Model: PersistentModel>(
        _ descriptor: FetchDescriptor<Model>, _ context: ObjectContext
    ) -> DataStoreFetchRequest<Model> {
        DataStoreFetchRequest(descriptor: descriptor, editingState: EditingState(context))
    }

    /// Returns the store's answer; nil if the store prefers to leave it to the copy.
    private func unlessPreferred<Result>(_ ask: () throws -> Result) throws -> Result? {
        do {
            return try asking(ask)
        } catch let error as DataStoreError where error == .preferInMemoryFilter || error == .preferInMemorySort {
            return nil
        }
    }

    func copyUnique(_ entityNames: Set<String>, for context: ObjectContext) throws {
        let lineages = entityNames.compactMap { schema.entitiesByName[$0]?.lineage }
        let unique = lineages.filter { $0.contains { !$0.uniquenessConstraints.isEmpty } }
        let roots = Set(unique.compactMap(\.last?.name))
        for type in roots.sorted().compactMap({ schema.types[$0] }) { try copyAll(type, for: context) }
    }

    private func copyAll<Model: PersistentModel>(_ type: Model.Type, for context: ObjectContext) throws {
        _ = try fetch(FetchDescriptor<Model>(), for: context)
    }

    func copy(_ ids: [ObjectID], for context: ObjectContext) throws {
        let missing = ids.filter { $0.store == identifier && known[$0] == nil }
        if missing.isEmpty { return }
        var incoming: [ObjectID: DefaultSnapshot] = [:]
        var gone: Set<ObjectID> = []
        try complete(&incoming, &gone, asking: Set(missing), for: context)
        try write(incoming, gone, for: context)
    }

    func copyReregistered(for context: ObjectContext) throws {
        defer { reregistered = [] }
        if !reregistered.isEmpty { _ = try take(reregistered, [], allOf: nil, for: context) }
    }

    /// Copies snapshots, and the snapshots that they refer to.
    ///
    /// - Parameter whole: the class of which the snapshots are all objects, so that any others are gone.
    private func take(
        _ found: [Store.Snapshot], _ related: [Store.Snapshot], allOf whole: (any PersistentModel.Type)?,
        for context: ObjectContext
    ) throws -> [ObjectID] {
        let snapshots = try found.map(own)
        var incoming: [ObjectID: DefaultSnapshot] = [:]
        for snapshot in try related.map(own) + snapshots { incoming[snapshot.objectID] = snapshot }
        var gone = whole.map { absent($0, from: incoming) } ?? []
        try complete(&incoming, &gone, asking: [], for: context)
        try write(incoming, gone, for: context)
        return snapshots.map(\.objectID)
    }

    /// Returns the identities of copied objects of a class that are no longer in the store.
    ///
    /// - Parameter present: the store's snapshots of the class, and possibly others.
    private func absent(_ type: any PersistentModel.Type, from present: [ObjectID: DefaultSnapshot]) -> Set<ObjectID> {
        let names = schema.entity(for: type)?.familyNames ?? []
        return Set(known.keys.filter { names.contains($0.entityName) && present[$0] == nil })
    }

    /// Returns the snapshot in the form to copy, after checking that it belongs to this store.
    private func own(_ snapshot: Store.Snapshot) throws -> DefaultSnapshot {
        let own = try asking { try snapshot as? DefaultSnapshot ?? DefaultSnapshot(decoding: snapshot) }
        let id = own.objectID
        guard id.store == identifier, schema.entitiesByName[id.entityName] != nil else {
            throw fault(
                "returned a snapshot of \(own.persistentIdentifier), which is not an object of it",
                "Give PersistentIdentifier.identifier(for:entityName:primaryKey:) the store's identifier, and copy a "
                    + "snapshot under that identity before it is kept.")
        }
        return own
    }

    /// Adds snapshots that the given ones refer to, if they were not copied yet or may have changed. Destinations that
    /// the store lacks are gone, and are removed from the relationships.
    private func complete(
        _ incoming: inout [ObjectID: DefaultSnapshot], _ gone: inout Set<ObjectID>, asking wanted: Set<ObjectID>,
        for context: ObjectContext
    ) throws {
        var wanted = wanted
        var asked: Set<ObjectID> = []
        for snapshot in incoming.values { wanted.formUnion(try unknown(snapshot)) }
        while true {
            wanted = wanted.filter { incoming[$0] == nil && !asked.contains($0) && !gone.contains($0) }
            guard !wanted.isEmpty else { break }
            asked.formUnion(wanted)
            var found = try cached(wanted, EditingState(context))
            let missing = wanted.subtracting(found.map(\.objectID))
            let types = Set(missing.map(\.entityName)).compactMap { schema.types[$0] }
            for type in types { found += try all(type, for: context) }
            wanted = []
            for snapshot in found where incoming[snapshot.objectID] == nil {
                incoming[snapshot.objectID] = snapshot
                wanted.formUnion(try unknown(snapshot))
            }
            for type in types { gone.formUnion(absent(type, from: incoming)) }
        }
        gone.subtract(incoming.keys)
        for (id, snapshot) in incoming {
            for (name, ids) in snapshot.destinations {
                let present = ids.filter { id in
                    incoming[id.objectID] != nil || known[id.objectID] != nil && !gone.contains(id.objectID)
                }
                if present.count < ids.count { incoming[id]?.lead(name, present) }
            }
        }
    }

    private func cached(_ ids: Set<ObjectID>, _ state: EditingState) throws -> [DefaultSnapshot] {
        let ids = ids.map(PersistentIdentifier.init).sorted()
        return try asking { try store.cachedSnapshots(for: ids, editingState: state) }.values.map(own)
    }

    private func all<Model: PersistentModel>(
        _ type: Model.Type, for context: ObjectContext
    ) throws -> [DefaultSnapshot] {
        let found = try asking { try store.fetch(request(FetchDescriptor<Model>(), context)) }
        return try (Array(found.relatedSnapshots.values) + found.fetchedSnapshots).map(own)
    }

    /// Returns the destinations that a snapshot has gained or lost since it was copied; all of them if it was not.
    private func unknown(_ snapshot: DefaultSnapshot) throws -> Set<ObjectID> {
        var ids: Set<ObjectID> = []
        let before = known[snapshot.objectID]
        for (name, destinations) in snapshot.destinations where destinations != before?.destinations[name] {
            if let temporary = destinations.first(where: \.objectID.isTemporary) {
                throw fault(
                    "returned \(snapshot.persistentIdentifier), whose \(name) leads to the temporary \(temporary)",
                    "In save(_:), give copy(persistentIdentifier:remappedIdentifiers:) the remapped identifiers of all "
                        + "inserted snapshots.")
            }
            let old = Set(before?.destinations[name]?.map(\.objectID) ?? [])
            ids.formUnion(old.symmetricDifference(destinations.map(\.objectID)))
        }
        for (name, destinations) in before?.destinations ?? [:] where snapshot.destinations[name] == nil {
            ids.formUnion(destinations.map(\.objectID))
        }
        return ids
    }

    /// Writes the differences to the copy. If they conflict with rows copied earlier, copies those classes completely.
    private func write(
        _ incoming: [ObjectID: DefaultSnapshot], _ gone: Set<ObjectID>, for context: ObjectContext
    ) throws {
        do {
            try writeOnce(incoming, gone, for: context)
        } catch is SaveConflicts {
            var (incoming, gone) = (incoming, gone)
            for type in Set(incoming.keys.map(\.entityName)).sorted().compactMap({ schema.types[$0] }) {
                for snapshot in try all(type, for: context) { incoming[snapshot.objectID] = snapshot }
                gone.formUnion(absent(type, from: incoming))
            }
            try complete(&incoming, &gone, asking: [], for: context)
            do {
                try writeOnce(incoming, gone, for: context)
            } catch is SaveConflicts {
                throw fault(
                    "returned objects that have the same values of a uniqueness constraint",
                    "Keep one of them in the store.")
            }
        }
    }

    private func writeOnce(
        _ incoming: [ObjectID: DefaultSnapshot], _ gone: Set<ObjectID>, for context: ObjectContext
    ) throws {
        let coordinator = context.coordinator
        guard let rows = coordinator.store(identifier) else { throw coordinator.noStore(holding: store.identifier) }
        var changes = ObjectChanges()
        for (id, snapshot) in incoming.sorted(by: { $0.key.key < $1.key.key }) where known[id] != snapshot {
            let shape = try rows.columns(of: id.entityName).shape
            if let before = known[id] {
                let values = snapshot.values(shape, unlike: before)
                if !values.isEmpty { changes.updated.append(.init(id: id, version: nil, values: values)) }
            } else {
                changes.inserted.append(.init(id: id, values: snapshot.values(shape)))
            }
        }
        changes.deleted = gone.sorted { $0.key < $1.key }.map { .init(id: $0, version: nil) }
        if !(changes.inserted.isEmpty && changes.updated.isEmpty && changes.deleted.isEmpty) {
            try coordinator.copy(changes, into: rows)
        }
        known.merge(incoming) { $1 }
        for id in gone { known[id] = nil }
    }

    // MARK: - Writing

    func save(_ objects: [Object], areWritten: [Bool], of context: ObjectContext) throws -> [ObjectID: ObjectID] {
        if let broken { throw broken }
        var (inserted, updated, deleted): ([DefaultSnapshot], [DefaultSnapshot], [DefaultSnapshot]) = ([], [], [])
        for (object, isWritten) in zip(objects, areWritten) {
            let id = object.id
            guard let type = schema.types[id.entityName] else { continue }
            if object.isDeleted {
                if let snapshot = known[id] { deleted.append(snapshot) }
            } else if id.isTemporary {
                inserted.append(try DefaultSnapshot(object, type))
            } else {
                let snapshot: DefaultSnapshot
                if !isWritten, let present = known[id] {
                    snapshot = try present.with(listsOf: object, type)
                } else {
                    snapshot = try DefaultSnapshot(object, type)
                }
                if snapshot != known[id] { updated.append(snapshot) }
            }
        }
        let request = DataStoreSaveChangesRequest(
            editingState: EditingState(context), inserted: try inserted.map(given), updated: try updated.map(given),
            deleted: try deleted.map(given))
        let result = try asking { try store.save(request) }
        let remapped = result.remappedIdentifiers
        try check(remapped, of: inserted)
        saved = [:]
        for snapshot in deleted { saved[snapshot.objectID] = .some(nil) }
        for snapshot in inserted + updated {
            let id = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            saved[id.objectID] = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: remapped)
        }
        reregistered = Array(result.snapshotsToReregister.values)
        return Dictionary(remapped.map { ($0.objectID, $1.objectID) }) { first, _ in first }
    }

    func didSave() {
        for (id, snapshot) in saved { known[id] = snapshot }
        saved = [:]
    }

    private func given(_ snapshot: DefaultSnapshot) throws -> Store.Snapshot {
        if let snapshot = snapshot as? Store.Snapshot { return snapshot }
        var related: [PersistentIdentifier: any BackingData] = [:]
        return Store.Snapshot(from: SnapshotBacking(snapshot), relatedBackingDatas: &related)
    }

    private func check(
        _ remapped: [PersistentIdentifier: PersistentIdentifier], of inserted: [DefaultSnapshot]
    ) throws {
        var given: Set<ObjectID> = []
        for snapshot in inserted {
            let id = remapped[snapshot.persistentIdentifier]?.objectID
            if let id, id.store == identifier, id.entityName == snapshot.objectID.entityName, known[id] == nil,
                given.insert(id).inserted
            {
                continue
            }
            let error = fault(
                "saved a new \(snapshot.persistentIdentifier.entityName) without giving it an identity of its own",
                "Return one for every inserted snapshot among the remapped identifiers. The store has the changes, and no "
                    + "context knows of it: nothing more is saved until the container is made again.")
            broken = error
            throw error
        }
    }

    func erase() throws {
        try asking { try store.erase() }
        known = [:]
    }

    // MARK: - History

    func history<Transaction: HistoryTransaction>(
        _ descriptor: HistoryDescriptor<Transaction>
    ) throws -> [Transaction]? {
        func ask<Provider: HistoryProviding>(_ provider: Provider) throws -> [Transaction]? {
            guard let own = descriptor as? HistoryDescriptor<Provider.HistoryType> else { return nil }
            return try asking { try provider.fetchHistory(own) } as? [Transaction]
        }
        return try (store as? any HistoryProviding).flatMap { try ask($0) }
    }

    func deleteHistory<Transaction: HistoryTransaction>(_ descriptor: HistoryDescriptor<Transaction>) throws -> Bool {
        func ask<Provider: HistoryProviding>(_ provider: Provider) throws -> Bool {
            guard let own = descriptor as? HistoryDescriptor<Provider.HistoryType> else { return false }
            try asking { try provider.deleteHistory(own) }
            return true
        }
        return try (store as? any HistoryProviding).map { try ask($0) } ?? false
    }

    private func fault(_ what: String, _ remedy: String) -> MigrationError {
        MigrationError(
            .dataConflict, "The data store \(store.identifier) \(what).", place: store.identifier, remedy: remedy)
    }
}

extension EditingState {
    init(_ context: ObjectContext) { self.init(id: ObjectIdentifier(context), author: context.transactionAuthor) }
}

extension DefaultSnapshot {
    var objectID: ObjectID { persistentIdentifier.objectID }

    /// Creates a snapshot with the values of a snapshot of another type, from its encoding.
    fileprivate init(decoding snapshot: some DataStoreSnapshot) throws {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        self = try decoder.decode(DefaultSnapshot.self, from: try encoder.encode(snapshot))
    }

    /// Returns the snapshot with the changes that an object has made to its to-many relationships.
    fileprivate func with(listsOf object: Object, _ type: any PersistentModel.Type) throws -> DefaultSnapshot {
        var copy = self
        for property in type.schemaMetadata.keptProperties {
            guard case .toMany = property.shape else { continue }
            var before: Set<ObjectID> = []
            if case .toMany(let ids)? = try object.committedValues([property.name])[property.name] { before = Set(ids) }
            let now = Set(try object.toManyIDs(property.name))
            let kept = (destinations[property.name] ?? []).filter {
                now.contains($0.objectID) || !before.contains($0.objectID)
            }
            let added = now.subtracting(before).subtracting(kept.map(\.objectID))
            copy.lead(property.name, kept + added.map(PersistentIdentifier.init))
        }
        return copy
    }

    /// Returns the values of the snapshot's row. A list that the other end stores is written there.
    fileprivate func values(_ shape: EntityShape) -> [ObjectValue?] { shape.properties.map(value) }

    /// Returns the values that differ from those of an earlier snapshot.
    fileprivate func values(_ shape: EntityShape, unlike before: DefaultSnapshot) -> [String: ObjectValue] {
        var values: [String: ObjectValue] = [:]
        for property in shape.properties {
            let name = property.name
            if attributes[name] == before.attributes[name], destinations[name] == before.destinations[name] { continue }
            values[name] = value(property)
        }
        return values
    }

    private func value(_ property: EntityShape.Property) -> ObjectValue? {
        switch property {
        case .attribute(let name, _): return .attribute(attributes[name])
        case .relationship(let relationship, let inverse):
            let ids = (destinations[relationship.name] ?? []).map(\.objectID)
            if relationship.maxCount == 1 { return .toOne(ids.first) }
            return inverse?.maxCount == 1 ? nil : .toMany(ids)
        }
    }
}

extension Schema.Entity {
    /// The names of the entity and of all entities that inherit from it.
    fileprivate var familyNames: Set<String> { subentities.reduce(into: [name]) { $0.formUnion($1.familyNames) } }

    /// The entity and its ancestors, the topmost last.
    fileprivate var lineage: [Schema.Entity] { Array(sequence(first: self, next: \.superentity)) }
}
